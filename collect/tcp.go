package collect

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"belfry"
)

const (
	tcpConnections = 4096        // at one port
	tcpPerAddress  = 1024        // of them from one address
	tcpSilent      = time.Second // after which a connection may have to make room for another
	tlsHandshake   = 10 * time.Second

	// acceptTimeout is how long a port that is to be closed takes those that the system has accepted.
	acceptTimeout = 20 * time.Millisecond
)

// errDrained ends a connection that was read because its receiver goes: nothing more came for a while, or it took too long.
var errDrained = errors.New("the receiver is stopping")

// listenTCP opens a port for streams, with TLS if there is a configuration for it.
func (e *Env) listenTCP(addr string, secure *tls.Config) func(*port) (io.Closer, error) {
	return func(p *port) (io.Closer, error) {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, CannotListen(addr, err)
		}
		ctx, stop := context.WithCancel(context.Background())
		s := &tcpSocket{env: e, port: p, tls: secure, most: tcpConnections, share: tcpPerAddress, delimiterWait: delimiterWait, addresses: map[netip.Addr]*connList{}}
		p.drain = s.drain
		e.connLimit.portOpened(p.customer)
		accepted := make(chan struct{})
		p.serving.Go(func() {
			defer close(accepted)
			s.accept(ctx, l)
		})
		return closing(func() error {
			drained := s.shut()
			l.(*net.TCPListener).SetDeadline(time.Now().Add(acceptTimeout))
			<-accepted
			err := l.Close()
			p.await(drained())
			stop()
			s.closeAll()
			e.connLimit.portClosed(p.customer)
			return err
		}), nil
	}
}

// tcpSocket are the connections at a port. The mutex of places guards what changes.
type tcpSocket struct {
	env       *Env
	port      *port
	tls       *tls.Config
	most      int // connections
	share     int // of them from one address
	delimiterWait      time.Duration
	conns     connList
	addresses map[netip.Addr]*connList // those of each address
	until     time.Time             // when reading ends, once the port is to be closed; else zero
	over      bool
}

func (s *tcpSocket) accept(ctx context.Context, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of descriptors, perhaps
			continue
		}
		c := s.add(conn)
		if c == nil {
			conn.Close()
			continue
		}
		s.port.serving.Go(func() {
			defer s.remove(c)
			s.serve(ctx, c)
		})
	}
}

// countRefused books a connection from an address that there was no room for: as one message, whatever it would have sent.
func (s *tcpSocket) countRefused(from netip.Addr) {
	if b, _ := s.port.binding(from); b != nil {
		b.stats.Receive(1)
		b.stats.Drop(DropConnections, 1)
	}
}

// add takes a new connection, unless there are too many; those are booked.
func (s *tcpSocket) add(conn net.Conn) *connection {
	c := &connection{conn: conn, of: s, from: addrOf(conn.RemoteAddr()).Addr(), ended: make(chan struct{})}
	now := time.Now()
	c.heard.Store(now.UnixNano())
	s.env.connLimit.mu.Lock()
	defer s.env.connLimit.mu.Unlock()
	if s.over {
		return nil
	}
	if !s.room(c.from, now.Add(-tcpSilent).UnixNano()) {
		s.countRefused(c.from)
		return nil
	}
	if !s.until.IsZero() {
		c.drain(s.until)
	}
	c.register()
	return c
}

// room makes room for a connection from an address. Those that send nothing have to go, the longest silent first: of the same
// address if that has its share already, else of the port; and then of a customer, see places.
func (s *tcpSocket) room(from netip.Addr, quiet int64) bool {
	if same := s.addresses[from]; same != nil && same.Len() >= s.share {
		if !same.evict(quiet, quiet) {
			return false
		}
	} else if s.conns.Len() >= s.most && !s.conns.evict(quiet, quiet) {
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

// each calls f for the connections that are open. The mutex of places is held.
func (s *tcpSocket) each(f func(*connection)) {
	for at := s.conns.Front(); at != nil; at = at.Next() {
		f(at.Value.(*connEntry).connection)
	}
}

// drain reads what has arrived from senders that have no receiver any more once this one is gone, and ends their connections. It returns a
// channel that is closed when that is done.
func (s *tcpSocket) drain(b *binding) <-chan struct{} {
	s.env.connLimit.mu.Lock()
	defer s.env.connLimit.mu.Unlock()
	until := time.Now().Add(drainTimeout)
	var ending []chan struct{}
	s.each(func(c *connection) {
		if s.port.matches(b, c.from) && !s.port.stays(c.from) {
			c.drain(until)
			ending = append(ending, c.ended)
		}
	})
	return allClosed(ending)
}

// shut makes all connections end once what has arrived is read, also those that are still to be accepted. The function that it returns
// is for when there are no more of these; its channel is closed when all have ended.
func (s *tcpSocket) shut() (drained func() <-chan struct{}) {
	s.env.connLimit.mu.Lock()
	defer s.env.connLimit.mu.Unlock()
	s.until = time.Now().Add(drainTimeout)
	s.each(func(c *connection) { c.drain(s.until) })
	return func() <-chan struct{} {
		s.env.connLimit.mu.Lock()
		defer s.env.connLimit.mu.Unlock()
		var ending []chan struct{}
		s.each(func(c *connection) { ending = append(ending, c.ended) })
		return allClosed(ending)
	}
}

// allClosed is closed when all of the channels are.
func allClosed(list []chan struct{}) <-chan struct{} {
	all := make(chan struct{})
	go func() {
		defer close(all)
		for _, c := range list {
			<-c
		}
	}()
	return all
}

func (s *tcpSocket) closeAll() {
	s.env.connLimit.mu.Lock()
	defer s.env.connLimit.mu.Unlock()
	s.over = true
	s.each(func(c *connection) { c.conn.Close() })
}

// serve reads messages from a connection until it ends.
func (s *tcpSocket) serve(ctx context.Context, c *connection) {
	conn, from := c.conn, addrOf(c.conn.RemoteAddr())
	b, ok := s.port.binding(from.Addr())
	if b == nil {
		return
	}
	if ok && s.port.leaving(b) { // the sender could not know
		c.drain(time.Now().Add(drainTimeout))
	}
	if !ok {
		b.stats.Receive(1)
		b.stats.Drop(DropSource, 1)
		return
	}
	if s.tls != nil {
		secure := tls.Server(conn, s.tls)
		conn.SetDeadline(time.Now().Add(tlsHandshake))
		switch err := secure.HandshakeContext(ctx); {
		case errors.Is(err, io.EOF): // nothing was sent, as by who only looks whether the port is open
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
	case in.broken: // nobody knows what is lost, or whether anything is
		s.env.Totals.Reset.Add(1)
		s.env.Log.Debug("a connection to a receiver broke", "resource", b.resource, "from", from.Addr())
	case in.cut && !c.counted.Load():
		s.countRefused(from.Addr())
	case s.tls != nil:
		conn.Close() // which tells the sender that all of it was read
	}
}

// stream is a connection whose messages are read. Those that are whole are gathered, and handed over before anybody waits
// for more: so a sender with much to say costs little, and one with little to say is heard at once.
type stream struct {
	*connection
	ctx    context.Context
	port   *port
	conn   net.Conn // with TLS if the port has it
	from   netip.AddrPort
	ip     string
	in     framer
	text   []byte // of whole messages, one behind the other
	ends   []int  // of each
	long   []int  // how many bytes each had if it was cut, else 0
	raws   []raw
	unbound  bool // there is nobody any more who takes them
	broken bool // the connection: what was on its way is lost
	cut    bool // it was ended here, in the middle of a message or while the sender was sending
}

const (
	streamBytes    = 1 << 15 // that are read at once
	streamMessages = 1 << 9  // that are handed over at once
)

func newStream(ctx context.Context, p *port, c *connection, conn net.Conn, from netip.AddrPort, look time.Duration) *stream {
	s := &stream{connection: c, ctx: ctx, port: p, conn: conn, from: from, ip: from.Addr().WithZone("").String()}
	s.in = framer{in: bufio.NewReaderSize(s, streamBytes), delimiterWait: look, limit: func(until time.Time) { conn.SetReadDeadline(until) }}
	c.reading.Store(true)
	return s
}

// read takes messages until the connection ends, or nobody wants them: their receiver was changed or removed.
func (s *stream) read() {
	for !s.unbound {
		message, long, err := s.in.next()
		if errors.Is(err, errDrained) || errors.Is(err, net.ErrClosed) {
			s.cut = s.cut || len(message) > 0
			message = nil // the rest of it will not come
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

// Read is for the buffer: it wants more, so what is whole goes first. Once the connection is to be drained it reads as long as something
// comes, but not for ever.
func (s *stream) Read(b []byte) (int, error) {
	s.flush()
	for {
		until := s.until.Load()
		if until != 0 {
			s.conn.SetReadDeadline(time.Unix(0, min(until, time.Now().Add(drainIdle).UnixNano())))
		}
		n, err := s.conn.Read(b)
		if n > 0 {
			s.heard.Store(time.Now().UnixNano())
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
			return n, err // the framer has waited long enough
		}
	}
}

// flush gives the whole messages to their receiver.
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

// secure makes the configuration of TLS from the answers of a resource.
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
