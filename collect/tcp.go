package collect

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"belfry"
)

const (
	tcpConnections = 4096        // per port
	tcpPerAddress  = 1024        // of these per address
	tcpSilent      = time.Second // after which a connection may be closed to make room
	tlsHandshake   = 10 * time.Second

	// acceptTimeout is how long a port that is being closed accepts connections that are already established.
	acceptTimeout = 20 * time.Millisecond
)

// errDrained ends a connection that is drained: no data came for a while, or the time is up.
var errDrained = errors.New("the receiver is stopping")

// tcpSocket accepts and reads the connections of a port. The connLimiter's mutex guards conns, addresses, until and over.
type tcpSocket struct {
	env           *Env
	port          *port
	listener      *net.TCPListener
	limit         int // connections
	share         int // of these per address
	delimiterWait time.Duration
	stop          context.CancelFunc
	accepting     sync.WaitGroup
	serving       sync.WaitGroup

	conns     connList
	addresses map[netip.Addr]*connList
	until     time.Time // when reading ends, once the port is being closed; else zero
	over      bool
}

// listenTCP opens the TCP socket of a port.
func listenTCP(e *Env, p *port) (*tcpSocket, error) {
	l, err := net.Listen("tcp", p.spec.addr)
	if err != nil {
		return nil, CannotListen(p.spec.addr, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &tcpSocket{
		env: e, port: p, listener: l.(*net.TCPListener), limit: tcpConnections, share: tcpPerAddress, delimiterWait: delimiterWait,
		stop: stop, addresses: map[netip.Addr]*connList{},
	}
	e.connLimit.portOpened(p.customer)
	s.accepting.Go(func() { p.run(func() { s.accept(ctx) }) })
	return s, nil
}

func (s *tcpSocket) accept(ctx context.Context) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			time.Sleep(10 * time.Millisecond) // perhaps out of descriptors
			continue
		}
		s.port.run(func() { s.begin(ctx, conn) })
	}
}

// begin serves a new connection, or closes it if there is no room.
func (s *tcpSocket) begin(ctx context.Context, conn net.Conn) {
	var c *connection
	defer func() {
		if c == nil {
			conn.Close()
		}
	}()
	if c = s.add(conn); c != nil {
		s.serving.Go(func() { s.port.run(func() { s.serveGuarded(ctx, c) }) })
	}
}

// serveGuarded serves a connection. A panic ends the connection, and costs the message that was being read.
func (s *tcpSocket) serveGuarded(ctx context.Context, c *connection) {
	defer s.remove(c)
	err := s.env.guard(func() error {
		s.serve(ctx, c)
		return nil
	})
	if err != nil {
		s.countLost(c.from, DropFault)
	}
}

// countLost counts a connection that is refused or fails as one message, whatever it would have sent.
func (s *tcpSocket) countLost(from netip.Addr, why Drop) {
	if b, _ := s.port.route(from); b != nil {
		b.stats.Receive(1)
		b.stats.Drop(why, 1)
	}
}

// add registers a new connection. It returns nil, and counts the connection, if there are too many.
func (s *tcpSocket) add(conn net.Conn) *connection {
	c := &connection{conn: conn, of: s, from: addrOf(conn.RemoteAddr()).Addr(), ended: make(chan struct{})}
	now := time.Now()
	c.lastSeen.Store(now.UnixNano())
	s.env.connLimit.mu.Lock()
	defer s.env.connLimit.mu.Unlock()
	if s.over {
		return nil
	}
	if !s.room(c.from, now.Add(-tcpSilent).UnixNano()) {
		s.countLost(c.from, DropConnections)
		return nil
	}
	if !s.until.IsZero() {
		c.drain(s.until)
	}
	c.register()
	return c
}

// room makes room for a connection from an address by closing silent ones, the longest silent first: of the address if it has
// its share, otherwise of the port, and then of a customer, see connLimiter.
func (s *tcpSocket) room(from netip.Addr, quiet int64) bool {
	if same := s.addresses[from]; same != nil && same.Len() >= s.share {
		if !same.evict(quiet, quiet) {
			return false
		}
	} else if s.conns.Len() >= s.limit && !s.conns.evict(quiet, quiet) {
		return false
	}
	return s.env.connLimit.admit(s.port.customer, s.env.Streams, quiet)
}

func (s *tcpSocket) remove(c *connection) {
	c.conn.Close()
	s.env.connLimit.mu.Lock()
	defer s.env.connLimit.mu.Unlock()
	close(c.ended)
	c.unregister()
}

// all iterates over the open connections. The connLimiter's mutex is held.
func (s *tcpSocket) all() iter.Seq[*connection] {
	return func(yield func(*connection) bool) {
		for at := s.conns.Front(); at != nil && yield(at.Value.(*connEntry).connection); at = at.Next() {
		}
	}
}

// drain reads what has arrived from senders that have no other receiver than this one, and ends their connections.
func (s *tcpSocket) drain(b *binding) {
	awaitEnd(s.drainOnlyFor(b))
}

func (s *tcpSocket) drainOnlyFor(b *binding) (ending []*connection) {
	s.env.connLimit.mu.Lock()
	defer s.env.connLimit.mu.Unlock()
	for c := range s.all() {
		if s.port.onlyFor(b, c.from) {
			c.drain(time.Now().Add(drainTimeout))
			ending = append(ending, c)
		}
	}
	return ending
}

// close reads what has arrived, also from connections that wait to be accepted, and closes the socket and its connections.
func (s *tcpSocket) close() {
	limit := &s.env.connLimit
	limit.mu.Lock()
	s.until = time.Now().Add(drainTimeout)
	for c := range s.all() {
		c.drain(s.until)
	}
	limit.mu.Unlock()
	s.listener.SetDeadline(time.Now().Add(acceptTimeout))
	s.accepting.Wait()
	s.listener.Close()
	limit.mu.Lock()
	ending := slices.Collect(s.all())
	limit.mu.Unlock()
	awaitEnd(ending)
	s.stop()
	limit.mu.Lock()
	s.over = true
	for c := range s.all() {
		c.conn.Close()
	}
	limit.mu.Unlock()
	limit.portClosed(s.port.customer)
	s.serving.Wait()
}

// awaitEnd waits until drained connections have ended, up to a time limit: their receivers may be too slow to read everything.
func awaitEnd(ending []*connection) {
	timeout := time.NewTimer(drainTimeout)
	defer timeout.Stop()
	for _, c := range ending {
		select {
		case <-c.ended:
		case <-timeout.C:
			return
		}
	}
}

// serve reads messages from a connection until it ends.
func (s *tcpSocket) serve(ctx context.Context, c *connection) {
	conn, from := c.conn, addrOf(c.conn.RemoteAddr())
	b, ok := s.port.route(from.Addr())
	if b == nil {
		return
	}
	if ok && b.leaving() { // it was accepted while the receiver leaves
		c.drain(time.Now().Add(drainTimeout))
	}
	if !ok {
		b.stats.Receive(1)
		b.stats.Drop(DropSource, 1)
		return
	}
	if s.port.spec.tls != nil {
		secure := tls.Server(conn, s.port.spec.tls)
		conn.SetDeadline(time.Now().Add(tlsHandshake))
		switch err := secure.HandshakeContext(ctx); {
		case errors.Is(err, io.EOF): // a port probe
			return
		case errors.Is(err, syscall.ECONNRESET):
			s.env.Totals.Reset.Add(1)
			return
		case err != nil:
			b.stats.Receive(1)
			b.stats.Drop(DropAccess, 1)
			return
		}
		conn.SetDeadline(time.Time{})
		conn = secure
	}
	in := newStream(ctx, s.port, c, conn, from, s.delimiterWait)
	in.read()
	switch {
	case in.broken: // it is unknown whether a message is lost
		s.env.Totals.Reset.Add(1)
		s.env.Log.Debug("a connection to a receiver broke", "resource", b.resource, "from", from.Addr())
	case in.cut && !c.counted.Load():
		s.countLost(from.Addr(), DropConnections)
	case s.port.spec.tls != nil:
		conn.Close() // sends close_notify: everything was read
	}
}

// stream reads the messages of a connection. Complete messages are collected, and dispatched before the stream waits for more
// data: many messages are cheap, and a single one is not delayed.
type stream struct {
	*connection
	ctx     context.Context
	port    *port
	conn    net.Conn // with TLS if the port has it
	from    netip.AddrPort
	ip      string
	in      framer
	text    []byte // complete messages, concatenated
	ends    []int  // end of each message in text
	long    []int  // how many bytes each had if it was cut, else 0
	raws    []raw
	unbound bool // the sender has no receiver any more
	broken  bool // the connection was reset
	cut     bool // we ended it within a message, or while data was arriving
}

const (
	streamBytes    = 1 << 15 // read at once
	streamMessages = 1 << 9  // dispatched at once
)

func newStream(ctx context.Context, p *port, c *connection, conn net.Conn, from netip.AddrPort, wait time.Duration) *stream {
	s := &stream{connection: c, ctx: ctx, port: p, conn: conn, from: from, ip: from.Addr().WithZone("").String()}
	s.in = framer{in: bufio.NewReaderSize(s, streamBytes), conn: conn, delimiterWait: wait}
	c.reading.Store(true)
	return s
}

// read reads messages until the connection ends or its sender has no receiver any more.
func (s *stream) read() {
	for !s.unbound {
		message, long, err := s.in.next()
		if errors.Is(err, errDrained) || errors.Is(err, net.ErrClosed) {
			s.cut = s.cut || len(message) > 0
			message = nil // its end is missing
		}
		if len(message) > 0 {
			s.text = append(s.text, message...)
			s.ends, s.long = append(s.ends, len(s.text)), append(s.long, long)
		}
		if err != nil || len(s.ends) == streamMessages {
			s.flush()
		}
		if err != nil {
			return
		}
	}
}

// Read fills the buffer of the framer. Complete messages are dispatched first. While draining it reads as long as data comes,
// up to a limit.
func (s *stream) Read(b []byte) (int, error) {
	s.flush()
	for {
		until := s.until.Load()
		if until != 0 {
			s.conn.SetReadDeadline(time.Unix(0, min(until, time.Now().Add(drainIdle).UnixNano())))
		}
		n, err := s.conn.Read(b)
		if n > 0 {
			s.lastSeen.Store(time.Now().UnixNano())
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			s.broken = s.broken || err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed)
			return n, err
		}
		if until != 0 {
			s.cut = s.cut || time.Now().UnixNano() >= until
			return n, errDrained
		}
		if s.until.Load() == 0 {
			return n, err // the deadline of the framer
		}
	}
}

// flush dispatches the complete messages.
func (s *stream) flush() {
	if len(s.ends) == 0 {
		return
	}
	text, at, begin := string(s.text), belfry.At(time.Now()), 0
	raws := s.raws[:0]
	for i, end := range s.ends {
		raws = append(raws, raw{from: s.from, ip: s.ip, at: at, text: text[begin:end], fullSize: s.long[i]})
		begin = end
	}
	s.unbound = !s.port.dispatch(s.ctx, raws, true)
	clear(raws)
	s.raws, s.ends, s.long, s.text = raws, s.ends[:0], s.long[:0], s.text[:0]
}

// secure returns the TLS configuration of a resource. The column is the one that is wrong.
func secure(answers map[string]string) (c *tls.Config, column string, err error) {
	if answers["certificate"] == "" {
		return nil, "certificate", errors.New("with protocol tls a certificate is needed, in PEM")
	}
	if answers["certificate_key"] == "" {
		return nil, "certificate_key", errors.New("with protocol tls the private key of the certificate is needed, in PEM")
	}
	pair, err := tls.X509KeyPair([]byte(answers["certificate"]), []byte(answers["certificate_key"]))
	if err != nil {
		return nil, "certificate", fmt.Errorf("certificate and certificate_key do not go together: %w", err)
	}
	// Without tickets a sender is sent nothing after the handshake: one that writes and closes with a ticket unread resets the
	// connection, and what it wrote is lost.
	c = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, SessionTicketsDisabled: true}
	if ca := answers["client_ca"]; ca != "" {
		c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !c.ClientCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, "client_ca", errors.New("client_ca holds no certificate in PEM")
		}
	}
	return c, "", nil
}
