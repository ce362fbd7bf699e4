package collect

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"belfry"
)

// pinger sends echo requests and hands answers to those who wait for them. All collectors share one socket per family: the
// kernel copies every answer to every raw socket, so with a thousand sockets each answer would be read a thousand times.
type pinger struct {
	mu      sync.Mutex
	users   int
	sockets [2]*echoSocket // of IPv4 and IPv6; nil until needed
	waiting map[uint64]chan<- echo
	next    uint16
	readers sync.WaitGroup
	pace    echoPace
}

// echo is what came back for a request.
type echo struct {
	at  time.Time
	err error // a router's or host's word that it cannot be reached
}

// echoSocket is a socket of one family.
type echoSocket struct {
	conn    net.PacketConn
	request icmp.Type
	reply   icmp.Type
	lost    icmp.Type // destination unreachable
	dgram   bool      // unprivileged: the kernel chooses the id, and addresses are those of UDP
}

// enter counts somebody who will ping, until the function it gives back is called. With the last one the sockets go.
func (p *pinger) enter() (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users++
	return func() {
		p.mu.Lock()
		p.users--
		if p.users > 0 {
			p.mu.Unlock()
			return
		}
		for i, s := range p.sockets {
			if s != nil {
				s.conn.Close()
				p.sockets[i] = nil
			}
		}
		p.mu.Unlock()
		p.readers.Wait()
		p.pace.forget()
	}
}

// socket gives that of a family, and opens it if need be.
func (p *pinger) socket(a netip.Addr) (*echoSocket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := 0
	if a.Is6() {
		i = 1
	}
	if p.sockets[i] != nil {
		return p.sockets[i], nil
	}
	s, err := openEcho(a.Is6())
	if err != nil {
		return nil, err
	}
	if p.waiting == nil {
		p.waiting = map[uint64]chan<- echo{}
	}
	p.sockets[i] = s
	p.readers.Go(func() { p.read(s) })
	return s, nil
}

// echoBuffer is what the kernel may hold of answers that come all at once.
const echoBuffer = 4 << 20

// openEcho opens a raw socket, or else one for which no privilege is needed.
func openEcho(six bool) (*echoSocket, error) {
	s := &echoSocket{request: ipv4.ICMPTypeEcho, reply: ipv4.ICMPTypeEchoReply, lost: ipv4.ICMPTypeDestinationUnreachable}
	raw, own, any := "ip4:icmp", "udp4", "0.0.0.0"
	if six {
		s.request, s.reply, s.lost = ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply, ipv6.ICMPTypeDestinationUnreachable
		raw, own, any = "ip6:ipv6-icmp", "udp6", "::"
	}
	conn, err := net.ListenPacket(raw, any)
	if err == nil {
		conn.(*net.IPConn).SetReadBuffer(echoBuffer) // as far as the system grants it
		s.conn = conn
		return s, nil
	}
	unprivileged, err2 := icmp.ListenPacket(own, any)
	if err2 == nil {
		s.conn, s.dgram = unprivileged, true
		return s, nil
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, errors.New("may not send echo requests: give the service CAP_NET_RAW (AmbientCapabilities= in systemd, or setcap cap_net_raw+ep), or let its group into net.ipv4.ping_group_range")
	}
	return nil, fmt.Errorf("cannot open a socket for echo requests: %w", err)
}

// errNoEcho says that nothing came back in time.
var errNoEcho = errors.New("no answer")

// ping sends one request of so many bytes for a customer, once it may, and waits for its answer.
func (p *pinger) ping(ctx context.Context, c belfry.CustomerID, a netip.Addr, size int, timeout time.Duration) (time.Duration, error) {
	s, err := p.socket(a)
	if err != nil {
		return 0, err
	}
	if err := p.pace.wait(ctx, c, size); err != nil {
		return 0, err
	}
	token, seq, answer := p.await()
	defer p.forget(token)
	packet, err := s.packet(token, seq, size)
	if err != nil {
		return 0, err
	}
	sent := time.Now()
	if _, err := s.conn.WriteTo(packet, s.address(a)); err != nil {
		return 0, fmt.Errorf("cannot send: %w", bare(err))
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case e := <-answer:
		return max(e.at.Sub(sent), 0), e.err
	case <-timer.C:
		return 0, errNoEcho
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// bare takes an error out of its wrapping with addresses of ours.
func bare(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

// await makes a word by which an answer is recognised, whatever the kernel does to ids. Nobody can guess it.
func (p *pinger) await() (token uint64, seq int, answer <-chan echo) {
	var b [8]byte
	rand.Read(b[:])
	token = binary.BigEndian.Uint64(b[:])
	c := make(chan echo, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	p.waiting[token] = c
	return token, int(p.next), c
}

func (p *pinger) forget(token uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, token)
}

func (s *echoSocket) packet(token uint64, seq, size int) ([]byte, error) {
	data := make([]byte, max(size, 8))
	binary.BigEndian.PutUint64(data, token)
	m := icmp.Message{Type: s.request, Body: &icmp.Echo{ID: os.Getpid() & 0xffff, Seq: seq, Data: data}}
	return m.Marshal(nil) // of IPv6 the kernel makes the checksum
}

func (s *echoSocket) address(a netip.Addr) net.Addr {
	if s.dgram {
		return net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0))
	}
	return &net.IPAddr{IP: a.AsSlice(), Zone: a.Zone()}
}

// read hands answers over until the socket is closed.
func (p *pinger) read(s *echoSocket) {
	buffer := make([]byte, 1<<16)
	for {
		n, _, err := s.conn.ReadFrom(buffer)
		at := time.Now()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // the system is short of something
			continue
		}
		token, lost, ok := s.parse(buffer[:n])
		if !ok {
			continue
		}
		e := echo{at: at}
		if lost {
			e.err = errors.New("the network says that it cannot be reached")
		}
		p.mu.Lock()
		answer := p.waiting[token]
		delete(p.waiting, token)
		p.mu.Unlock()
		if answer != nil {
			answer <- e
		}
	}
}

// parse finds the word in an answer, or in the request that a message of failure quotes. Others ping on this machine, too,
// and a raw socket hears everything: what is not ours has no word that anybody waits for.
func (s *echoSocket) parse(b []byte) (token uint64, lost, ok bool) {
	const header = 8
	if len(b) < header {
		return 0, false, false
	}
	switch int(b[0]) {
	case typeNumber(s.reply):
		b = b[header:]
	case typeNumber(s.lost):
		if b = quoted(b[header:], s.request == ipv6.ICMPTypeEchoRequest); len(b) < header || int(b[0]) != typeNumber(s.request) {
			return 0, false, false
		}
		b, lost = b[header:], true
	default:
		return 0, false, false
	}
	if len(b) < 8 {
		return 0, false, false
	}
	return binary.BigEndian.Uint64(b), lost, true
}

// quoted is the ICMP message inside a quoted packet.
func quoted(b []byte, six bool) []byte {
	n := 40
	if !six {
		if len(b) == 0 {
			return nil
		}
		n = int(b[0]&0x0f) * 4
	}
	if len(b) < n {
		return nil
	}
	return b[n:]
}

func typeNumber(t icmp.Type) int {
	if t, ok := t.(ipv4.ICMPType); ok {
		return int(t)
	}
	return int(t.(ipv6.ICMPType))
}
