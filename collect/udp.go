package collect

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/ipv4"

	"belfry"
)

const (
	udpBuffer     = 64 << 20 // requested; the system may grant less
	udpBatch      = 64       // packets that are read at once
	udpLength     = 1 << 16
	udpNames      = 1 << 12     // senders whose addresses are cached as text
	dropsInterval = time.Second // between reads of the kernel's drop counter

	// When a receiver leaves, what has arrived for it is read first: all of it if the socket accepts nothing new, otherwise
	// for a limited time. A packet may be announced and then turn out to be broken, so each read has a limit, too.
	drainTimeout = 3 * time.Second
	drainIdle    = 100 * time.Millisecond
)

// udpSocket reads the packets of a port.
type udpSocket struct {
	port    *port
	conn    *net.UDPConn
	batch   *ipv4.PacketConn // reads many packets with one call, also of IPv6
	buffer  int              // bytes that the system grants for packets that wait
	packets []ipv4.Message
	names   map[netip.Addr]string // addresses of senders as text
	raws    []raw                 // scratch memory of read
	stop    context.CancelFunc
	shut    atomic.Bool        // the system drops what arrives from now on
	drains  chan chan struct{} // requests to read what has arrived; each is closed when that is done
	done    chan struct{}      // closed when everything is read
	running sync.WaitGroup
}

// listenUDP opens the UDP socket of a port. If packets are answered, the destination address of each is recorded, unless the port has
// one address only.
func listenUDP(p *port) (*udpSocket, error) {
	conn, err := net.ListenPacket("udp", p.spec.addr)
	if err != nil {
		return nil, CannotListen(p.spec.addr, err)
	}
	u := conn.(*net.UDPConn)
	control := 0 // bytes of control messages
	if host, _, err := net.SplitHostPort(p.spec.addr); err == nil && p.spec.replies && anyAddress(host) {
		control = recordDestination(u)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &udpSocket{
		port: p, conn: u, batch: ipv4.NewPacketConn(u), buffer: growBuffer(u, udpBuffer), packets: newPackets(control),
		names: map[netip.Addr]string{}, stop: stop, drains: make(chan chan struct{}, udpBatch), done: make(chan struct{}),
	}
	s.running.Go(func() { p.run(func() { s.run(ctx) }) })
	s.running.Go(func() { p.run(s.countDrops) })
	return s, nil
}

// newPackets allocates the buffers of one batch.
func newPackets(control int) []ipv4.Message {
	packets := make([]ipv4.Message, udpBatch)
	room, oob := make([]byte, udpBatch*udpLength), make([]byte, udpBatch*control)
	for i := range packets {
		packets[i].Buffers = [][]byte{room[i*udpLength : (i+1)*udpLength]}
		packets[i].OOB = oob[i*control : (i+1)*control]
	}
	return packets
}

// run reads packets until ctx ends, and then those that wait. drain and close set a read deadline to interrupt a read.
func (s *udpSocket) run(ctx context.Context) {
	defer close(s.done)
	for ctx.Err() == nil {
		select {
		case drained := <-s.drains:
			all := []chan struct{}{drained}
			for len(s.drains) > 0 {
				all = append(all, <-s.drains)
			}
			s.readWaiting(ctx)
			s.conn.SetReadDeadline(time.Time{})
			for _, drained := range all {
				close(drained)
			}
		default:
			s.read(ctx)
		}
	}
	s.readWaiting(ctx)
}

// read reads and dispatches one batch of packets, and reports whether that is possible. After a panic the receivers of the port end,
// but the port is read until they have left.
func (s *udpSocket) read(ctx context.Context) bool {
	open := 0
	err := s.port.env.guard(func() error {
		s.readBatch(ctx, &open)
		return nil
	})
	if err != nil {
		s.port.fail(err, open)
		time.Sleep(10 * time.Millisecond)
	}
	return err == nil
}

// readBatch reads one batch of packets and dispatches them: consecutive packets of one sender together. Their texts share one
// allocation, as they are used and released together. Open is how many are read and not dispatched.
//
// If one receiver has the port for itself and its inbox is full, it waits: then the kernel drops what comes too fast, which is
// cheaper than reading it first. Receivers that share a port must not wait for each other.
func (s *udpSocket) readBatch(ctx context.Context, open *int) {
	n, err := s.batch.ReadBatch(s.packets, 0)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.conn.SetReadDeadline(time.Time{})
		return
	}
	if err != nil {
		time.Sleep(10 * time.Millisecond) // the system is out of some resource
		return
	}
	*open = n
	packets, at, wait := s.packets[:n], belfry.At(time.Now()), s.port.exclusive()
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
	raws := s.raws[:0]
	for i := range packets {
		from := addrOf(packets[i].Addr)
		if i > 0 && from.Addr() != raws[begin].from.Addr() {
			*open -= i - begin
			s.port.dispatch(ctx, raws[begin:], wait)
			begin = i
		}
		n := packets[i].N
		raws = append(raws, raw{
			from: from, ip: s.name(from.Addr().WithZone("")), at: at, text: text[:n],
			socket: s, to: destination(packets[i].OOB[:packets[i].NN]),
		})
		text = text[n:]
	}
	*open = 0
	s.port.dispatch(ctx, raws[begin:], wait)
	clear(raws)
	s.raws = raws
}

// readWaiting reads until no packet waits.
func (s *udpSocket) readWaiting(ctx context.Context) {
	for end := time.Now().Add(drainTimeout); readable(s.conn) && (s.shut.Load() || time.Now().Before(end)); {
		s.conn.SetReadDeadline(time.Now().Add(drainIdle))
		if !s.read(ctx) {
			return
		}
	}
}

// name returns an address as text.
func (s *udpSocket) name(a netip.Addr) string {
	text, ok := s.names[a]
	if !ok {
		if len(s.names) >= udpNames {
			clear(s.names)
		}
		text = a.String()
		s.names[a] = text
	}
	return text
}

// reply sends a packet back to a sender, from the address to which it has sent.
func (s *udpSocket) reply(to netip.AddrPort, from netip.Addr, packet []byte) error {
	return replyFrom(s.conn, to, from, packet)
}

// drain reads the packets that wait, those of all receivers.
func (s *udpSocket) drain() {
	timeout := time.NewTimer(drainTimeout)
	defer timeout.Stop()
	drained := make(chan struct{})
	select {
	case s.drains <- drained:
	case <-timeout.C:
		return
	}
	s.conn.SetReadDeadline(time.Now())
	select {
	case <-drained:
	case <-s.done:
	case <-timeout.C:
	}
}

// close makes the system drop, and count, new packets where it can, reads those that wait, and closes the socket.
func (s *udpSocket) close() {
	s.shut.Store(dropNewPackets(s.conn))
	s.stop()
	s.conn.SetReadDeadline(time.Now())
	s.running.Wait()
	s.conn.Close()
}

// addrOf returns the address of a sender, unmapped. A link-local address keeps its zone, which a reply needs.
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

// countDrops adds the packets that the kernel dropped to the counters, until everything is read. The kernel counts them by socket, not by
// sender, so they go to the first receiver of the port.
func (s *udpSocket) countDrops() {
	last := uint32(0)
	tick := time.NewTicker(dropsInterval)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-tick.C:
		case <-s.done:
			open = false // read the counter once more
		}
		now, ok := kernelDrops(s.conn)
		if b := s.port.first(); ok && b != nil && now != last {
			n := int(now - last) // it may wrap around
			b.stats.Receive(n)
			b.stats.Drop(DropKernel, n)
			last = now
		}
	}
}
