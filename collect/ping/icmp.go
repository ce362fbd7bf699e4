package ping

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// echoSocket is the socket of one address family.
type echoSocket struct {
	conn    net.PacketConn
	request icmp.Type
	reply   icmp.Type
	lost    icmp.Type // destination unreachable
	dgram   bool      // unprivileged: the kernel chooses the id, and addresses are those of UDP
}

// socket returns the socket of a family, opened if need be.
func (p *Pinger) socket(a netip.Addr) (*echoSocket, error) {
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
	p.sockets[i] = s
	p.ended.Go(func() { p.read(s) })
	return s, nil
}

// closeSockets closes the sockets, which ends their readers. The mutex is held.
func (p *Pinger) closeSockets() {
	for i, s := range p.sockets {
		if s != nil {
			s.conn.Close()
			p.sockets[i] = nil
		}
	}
}

// echoBuffer is the receive buffer for replies that arrive together.
const echoBuffer = 4 << 20

// openEcho opens a raw socket, or an unprivileged one.
func openEcho(six bool) (*echoSocket, error) {
	s := &echoSocket{request: ipv4.ICMPTypeEcho, reply: ipv4.ICMPTypeEchoReply, lost: ipv4.ICMPTypeDestinationUnreachable}
	raw, own, any := "ip4:icmp", "udp4", "0.0.0.0"
	if six {
		s.request, s.reply, s.lost = ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply, ipv6.ICMPTypeDestinationUnreachable
		raw, own, any = "ip6:ipv6-icmp", "udp6", "::"
	}
	conn, err := net.ListenPacket(raw, any)
	if err == nil {
		conn.(*net.IPConn).SetReadBuffer(echoBuffer) // up to the limit of the system
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

// errNoEcho: no reply came in time.
var errNoEcho = errors.New("no answer")

// errUnreachable: a router or host reported it.
var errUnreachable = errors.New("the network says that it cannot be reached")

// write sends a request. Only run calls it: all requests share one buffer.
func (p *Pinger) write(r echoRequest) error {
	s, err := p.socket(r.to)
	if err != nil {
		return err
	}
	p.number++
	p.buffer = s.packet(p.buffer, r.token, p.number, r.size)
	if _, err := s.conn.WriteTo(p.buffer, s.address(r.to)); err != nil {
		return fmt.Errorf("cannot send: %w", systemError(err))
	}
	return nil
}

// systemError unwraps an error, without our own addresses.
func systemError(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

// echoLongest is the largest payload.
const echoLongest = 65_000

// packet encodes a request into a buffer. The reply is recognized by the token, whatever the kernel does to ids.
func (s *echoSocket) packet(buffer []byte, token uint64, seq uint16, size int) []byte {
	const header = 8
	n := header + max(size, 8)
	if cap(buffer) < n {
		buffer = make([]byte, n)
	}
	b := buffer[:n]
	b[0], b[1], b[2], b[3] = byte(typeNumber(s.request)), 0, 0, 0
	binary.BigEndian.PutUint16(b[4:], uint16(os.Getpid()))
	binary.BigEndian.PutUint16(b[6:], seq)
	binary.BigEndian.PutUint64(b[header:], token)
	if s.request == ipv4.ICMPTypeEcho { // the kernel computes the checksum of IPv6
		sum := uint32(0)
		for i := 0; i+1 < header+8; i += 2 { // the rest is 0
			sum += uint32(binary.BigEndian.Uint16(b[i:]))
		}
		for sum > 0xffff {
			sum = sum>>16 + sum&0xffff
		}
		binary.BigEndian.PutUint16(b[2:], ^uint16(sum))
	}
	return b
}

func (s *echoSocket) address(a netip.Addr) net.Addr {
	if s.dgram {
		return net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0))
	}
	return &net.IPAddr{IP: a.AsSlice(), Zone: a.Zone()}
}

// read receives replies until the socket is closed.
func (p *Pinger) read(s *echoSocket) {
	buffer := make([]byte, 1<<16)
	for {
		n, _, err := s.conn.ReadFrom(buffer)
		at := time.Now()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // the system is out of some resource
			continue
		}
		p.receive(s, buffer[:n], at)
	}
}

// receive handles a packet. Anyone can send one: a panic must not end the reader.
func (p *Pinger) receive(s *echoSocket, packet []byte, at time.Time) {
	defer func() {
		if fault := recover(); fault != nil {
			p.logPanic(fault, 0)
		}
	}()
	token, lost, ok := s.parse(packet)
	if !ok {
		return
	}
	var failed error
	if lost {
		failed = errUnreachable
	}
	p.requestDone(token, at, failed)
}

// parse finds the token in a reply, or in the request that an error message quotes. A raw socket receives everything, also for
// other programs: their packets have no token that is awaited.
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

// quoted returns the ICMP message inside a quoted packet.
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
