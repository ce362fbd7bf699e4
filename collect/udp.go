package collect

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/ipv4"

	"belfry"
)

const (
	udpBuffer = 64 << 20 // that we ask for; the system grants what it likes
	udpBatch  = 64       // packets that are read at once
	udpLength = 1 << 16
	dropsInterval = time.Second // how often the system is asked what it dropped
)

// listenUDP opens a port for packets. If some are answered, it is noted at which address each arrived, unless there is one alone.
func listenUDP(addr string, answers bool) func(*port) (io.Closer, error) {
	return func(p *port) (io.Closer, error) {
		conn, err := net.ListenPacket("udp", addr)
		if err != nil {
			return nil, CannotListen(addr, err)
		}
		u := conn.(*net.UDPConn)
		p.buffer = growBuffer(u, udpBuffer)
		noted := 0
		if host, _, err := net.SplitHostPort(addr); err == nil && answers && anyAddress(host) {
			noted = recordDestination(u)
		}
		p.reply = func(to netip.AddrPort, as netip.Addr, packet []byte) error {
			return replyFrom(u, to, as, packet)
		}
		ctx, stop := context.WithCancel(context.Background())
		counted := make(chan struct{})
		r := newUDPReader(p, u, noted)
		p.drain = r.settle
		p.serving.Go(func() { r.run(ctx) })
		p.serving.Go(func() {
			defer close(counted)
			p.countDrops(u, r.done)
		})
		return closing(func() error {
			r.shut.Store(dropNewPackets(u)) // what comes now is dropped, and counted, so that there is an end to what has come
			stop()
			u.SetReadDeadline(time.Now())
			<-counted
			return u.Close()
		}), nil
	}
}

type closing func() error

func (c closing) Close() error { return c() }

// newPackets makes room for those that are read at once.
func newPackets(noted int) []ipv4.Message {
	packets := make([]ipv4.Message, udpBatch)
	room, notes := make([]byte, udpBatch*udpLength), make([]byte, udpBatch*noted)
	for i := range packets {
		packets[i].Buffers = [][]byte{room[i*udpLength : (i+1)*udpLength]}
		packets[i].OOB = notes[i*noted : (i+1)*noted]
	}
	return packets
}

// packets hands over what was read at once: to each receiver together what came for it one after the other. All texts share
// one piece of memory, as they come and go together.
//
// A receiver that has the port for itself and no room is waited for: then the system drops what comes too fast, which
// costs less than to read it first. Where others share the port they must not wait for it.
func (p *port) packets(ctx context.Context, senders *senders, packets []ipv4.Message) {
	at := belfry.At(time.Now())
	wait := p.exclusive()
	size := 0
	for i := range packets {
		size += packets[i].N
	}
	var all strings.Builder
	all.Grow(size)
	for i := range packets {
		all.Write(packets[i].Buffers[0][:packets[i].N])
	}
	text, begin := all.String(), 0
	raws := senders.raws[:0]
	for i := range packets {
		from := addrOf(packets[i].Addr)
		if i > 0 && from.Addr() != raws[begin].from.Addr() {
			p.dispatch(ctx, raws[begin:], wait)
			begin = i
		}
		n := packets[i].N
		raws = append(raws, raw{from, senders.name(from.Addr().WithZone("")), at, text[:n], 0, destination(packets[i].OOB[:packets[i].NN])})
		text = text[n:]
	}
	p.dispatch(ctx, raws[begin:], wait)
	clear(raws)
	senders.raws = raws
}

// senders is what the reader of a port remembers from one packet to the next.
type senders struct {
	names map[netip.Addr]string
	raws  []raw
}

// sendersKnown is of how many the addresses are kept as text; then they are forgotten.
const sendersKnown = 1 << 12

// name is an address as text.
func (s *senders) name(a netip.Addr) string {
	text, ok := s.names[a]
	if !ok {
		if len(s.names) >= sendersKnown {
			clear(s.names)
		}
		text = a.String()
		s.names[a] = text
	}
	return text
}

// addrOf is the address of a sender, as people write it. One that is good on a single link says on which: else nobody could be
// answered there.
func addrOf(a net.Addr) netip.AddrPort {
	var at netip.AddrPort
	switch a := a.(type) {
	case *net.UDPAddr:
		at = a.AddrPort()
	case *net.TCPAddr:
		at = a.AddrPort()
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// countDrops books what the system had no room for, until everything is read. It knows of packets alone, not of whom they were
// for, so the first receiver of the port counts them.
func (p *port) countDrops(u *net.UDPConn, read <-chan struct{}) {
	last := uint32(0)
	tick := time.NewTicker(dropsInterval)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-tick.C:
		case <-read:
			open = false // one more look
		}
		now, ok := kernelDrops(u)
		if b := p.first(); ok && b != nil && now != last {
			n := int(now - last) // it may turn over
			b.stats.Receive(n)
			b.stats.Drop(DropKernel, n)
			last = now
		}
	}
}
