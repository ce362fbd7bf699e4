package collect

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/ipv4"
)

const (
	udpBuffer = 64 << 20 // that we ask for; the system grants what it likes
	udpBatch  = 64       // packets that are read at once
	udpLength = 1 << 16
	dropsLook = time.Second // how often the system is asked what it dropped
)

// listenUDP opens a port for packets.
func listenUDP(addr string) func(*port) (io.Closer, error) {
	return func(p *port) (io.Closer, error) {
		conn, err := net.ListenPacket("udp", addr)
		if err != nil {
			return nil, cannotListen(addr, err)
		}
		u := conn.(*net.UDPConn)
		p.buffer = growBuffer(u, udpBuffer)
		p.reply = func(to netip.AddrPort, packet []byte) error {
			_, err := u.WriteToUDPAddrPort(packet, to)
			return err
		}
		ctx, stop := context.WithCancel(context.Background())
		read, counted := make(chan struct{}), make(chan struct{})
		p.serving.Go(func() {
			defer close(read)
			p.readUDP(ctx, u)
		})
		p.serving.Go(func() {
			defer close(counted)
			p.countDrops(u, read)
		})
		return closing(func() error {
			stop()
			shutOut(u) // what comes now is dropped, and counted, so that there is an end to what has come
			u.SetReadDeadline(time.Now())
			<-counted
			return u.Close()
		}), nil
	}
}

type closing func() error

func (c closing) Close() error { return c() }

// Once a port is to be closed, what waits there is read: until nothing has come for a moment, but not for ever where the
// system cannot keep others out.
const (
	lastPacket  = 5 * time.Millisecond
	lastPackets = 500 * time.Millisecond
)

// readUDP hands packets to the receivers until ctx ends and the port has nothing more.
func (p *port) readUDP(ctx context.Context, u *net.UDPConn) {
	conn := ipv4.NewPacketConn(u) // reads many packets with one call, of IPv6, too
	packets := make([]ipv4.Message, udpBatch)
	room := make([]byte, udpBatch*udpLength)
	for i := range packets {
		packets[i].Buffers = [][]byte{room[i*udpLength : (i+1)*udpLength]}
	}
	var end time.Time // when it is enough; zero until the port is to be closed
	for {
		n, err := conn.ReadBatch(packets, 0)
		if late := errors.Is(err, os.ErrDeadlineExceeded); late && end.IsZero() {
			end = time.Now().Add(lastPackets)
		} else if late || errors.Is(err, net.ErrClosed) || !end.IsZero() && time.Now().After(end) {
			return
		}
		if !end.IsZero() {
			u.SetReadDeadline(time.Now().Add(lastPacket))
		}
		if err != nil {
			if end.IsZero() {
				time.Sleep(10 * time.Millisecond) // the system is short of something
			}
			continue
		}
		at := time.Now()
		for i := range packets[:n] {
			p.packet(ctx, packets[i].Addr, at, packets[i].Buffers[0][:packets[i].N])
		}
	}
}

func (p *port) packet(ctx context.Context, sender net.Addr, at time.Time, b []byte) {
	from := addrOf(sender)
	d, ok := p.desk(from.Addr())
	if d == nil {
		return // the last one is just leaving
	}
	d.account.Receive(1)
	if !ok {
		d.account.Drop(DropSource, 1)
		return
	}
	d.take(ctx, from, at, b, false)
}

// addrOf is the address of a sender, as people write it.
func addrOf(a net.Addr) netip.AddrPort {
	var at netip.AddrPort
	switch a := a.(type) {
	case *net.UDPAddr:
		at = a.AddrPort()
	case *net.TCPAddr:
		at = a.AddrPort()
	}
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

// countDrops books what the system had no room for, until everything is read. It knows of packets alone, not of whom they were
// for, so the first receiver of the port counts them.
func (p *port) countDrops(u *net.UDPConn, read <-chan struct{}) {
	last := uint32(0)
	tick := time.NewTicker(dropsLook)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-tick.C:
		case <-read:
			open = false // one more look
		}
		now, ok := kernelDrops(u)
		if d := p.first(); ok && d != nil && now != last {
			n := int(now - last) // it may turn over
			d.account.Receive(n)
			d.account.Drop(DropKernel, n)
			last = now
		}
	}
}
