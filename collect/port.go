package collect

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"belfry"
)

// ports holds the open ports, by protocol and address. The first receiver that is attached to an address opens its socket and the
// last one that is detached closes it. Receivers of one customer may share a port, and messages are routed by the address of
// their sender; a port is never shared between customers.
type ports struct {
	mu   sync.Mutex
	open map[string]*port
}

// portSpec says which port a receiver needs.
type portSpec struct {
	protocol string // udp or tcp
	addr     string
	agreed   string      // must be equal for all receivers that share the port
	replies  bool        // udp: some packets are answered
	tls      *tls.Config // tcp: nil without TLS
}

// key identifies the port. All spellings of the unspecified address are the same port, as they are for the system.
func (s *portSpec) key() string {
	addr := s.addr
	if host, port, err := net.SplitHostPort(addr); err == nil && anyAddress(host) {
		addr = ":" + port
	}
	return s.protocol + " " + addr
}

// same reports whether both specs are served by the same open port.
func (s *portSpec) same(o *portSpec) bool {
	return s.protocol == o.protocol && s.addr == o.addr && s.agreed == o.agreed
}

// anyAddress reports whether a host means all addresses of the machine.
func anyAddress(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.IsUnspecified()
}

// port is an open socket with the receivers that are bound to it.
type port struct {
	env      *Env
	key      string
	customer belfry.CustomerID
	spec     portSpec
	udp      *udpSocket // for protocol udp
	tcp      *tcpSocket // for protocol tcp
	closing  atomic.Bool

	mu       sync.Mutex                 // serializes changes of the bindings; held until the socket is closed
	bindings atomic.Pointer[[]*binding] // sorted by resource; the slice never changes
}

// drain reads what has arrived for a binding that is removed while others stay. The port's mutex is held; not meanwhile, as
// several may be drained at the same time.
func (p *port) drain(b *binding) {
	p.mu.Unlock()
	defer p.mu.Lock()
	if p.udp != nil {
		p.udp.drain()
	}
	if p.tcp != nil {
		p.tcp.drain(b)
	}
}

// closeSocket reads what has arrived and closes the socket.
func (p *port) closeSocket() {
	if p.udp != nil {
		p.udp.close()
	}
	if p.tcp != nil {
		p.tcp.close()
	}
}

// binding routes what arrives at a port from some networks to the inbox of a receiver.
type binding struct {
	customer belfry.CustomerID
	resource belfry.ID
	stats    *ReceiverStats
	inbox    *inbox
	allow    networks

	ctx  context.Context // ends when the receiver is to leave the port
	stop context.CancelFunc
	port *port // set by attach

	faults chan error // end the receiver
}

func newBinding(ctx context.Context, t Task, stats *ReceiverStats, in *inbox, allow networks) *binding {
	b := &binding{customer: t.Customer, resource: t.Resource, stats: stats, inbox: in, allow: allow, faults: make(chan error, 1)}
	b.ctx, b.stop = context.WithCancel(ctx)
	return b
}

// fail ends the receiver with an error, unless it is ending with another one.
func (b *binding) fail(err error) {
	select {
	case b.faults <- err:
	default:
	}
}

// leaving reports whether the receiver is about to be detached.
func (b *binding) leaving() bool { return b.ctx.Err() != nil }

// attach binds a receiver to the port of a spec, and opens the port if need be. It waits for a port that is being closed.
func (e *Env) attach(b *binding, spec portSpec) error {
	for {
		p, err := e.findOrOpen(b, spec)
		if err != nil {
			return err
		}
		p.mu.Lock()
		if !p.closing.Load() {
			defer p.mu.Unlock()
			return p.bind(b)
		}
		p.mu.Unlock()
	}
}

// findOrOpen returns the open port of a spec, opened for this binding if need be; or one that is in the way and about to be closed.
func (e *Env) findOrOpen(b *binding, spec portSpec) (p *port, err error) {
	e.ports.mu.Lock()
	defer e.ports.mu.Unlock()
	for _, o := range e.ports.open {
		if o.customer == b.customer || !overlap(o.spec.addr, spec.addr) {
			continue
		}
		if o.closing.Load() {
			return o, nil
		}
		return nil, notGranted(spec.addr)
	}
	key := spec.key()
	if p = e.ports.open[key]; p != nil {
		if p.spec.agreed != spec.agreed && !p.closing.Load() {
			return nil, fmt.Errorf("another receiver has %s already, with another certificate or protocol; choose another port", key)
		}
		return p, nil
	}
	p = &port{env: e, key: key, customer: b.customer, spec: spec}
	p.bindings.Store(&[]*binding{b}) // before the first message is read
	if spec.protocol == "tcp" {
		p.tcp, err = listenTCP(e, p)
	} else {
		p.udp, err = listenUDP(p)
	}
	if err != nil {
		return nil, err
	}
	if e.ports.open == nil {
		e.ports.open = map[string]*port{}
	}
	e.ports.open[key] = p
	return p, nil
}

// bind adds a binding, in the place of the one that its receiver had. It fails if another receiver takes messages from everywhere,
// too. The port's mutex is held.
func (p *port) bind(b *binding) error {
	all := slices.DeleteFunc(slices.Clone(*p.bindings.Load()), func(o *binding) bool { return o.resource == b.resource })
	for _, o := range all {
		if len(o.allow) == 0 && len(b.allow) == 0 && !o.leaving() {
			return fmt.Errorf("another receiver takes everything that arrives on %s; say in allow from where this one takes messages, or choose another port", p.key)
		}
	}
	b.port = p
	all = append(all, b)
	slices.SortFunc(all, func(a, b *binding) int { return cmp.Compare(a.resource, b.resource) })
	p.bindings.Store(&all)
	return nil
}

// rebind replaces a binding by one of the same receiver that takes messages from other networks.
func (p *port) rebind(b *binding) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bind(b)
}

// detach removes a binding from its port, and closes the port after the last one. The binding stays in place until what has arrived for it
// is read, so that no other receiver gets it or counts it as refused.
func (e *Env) detach(b *binding) {
	b.stop()
	p := b.port
	if p == nil { // attach has failed
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for drained := false; !p.closing.Load(); drained = true {
		all := *p.bindings.Load()
		if len(all) == 1 {
			e.closePort(p)
		}
		if len(all) == 1 || drained {
			rest := slices.DeleteFunc(slices.Clone(all), func(o *binding) bool { return o.resource == b.resource })
			p.bindings.Store(&rest)
			return
		}
		p.drain(b)
	}
}

// closePort closes a port. Its mutex is held.
func (e *Env) closePort(p *port) {
	p.closing.Store(true)
	p.closeSocket()
	e.ports.mu.Lock()
	defer e.ports.mu.Unlock()
	delete(e.ports.open, p.key)
}

// closePorts closes all ports at once, before their receivers end.
func (e *Env) closePorts() {
	e.ports.mu.Lock()
	open := slices.Collect(maps.Values(e.ports.open))
	e.ports.mu.Unlock()
	var closed sync.WaitGroup
	for _, p := range open {
		closed.Go(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if !p.closing.Load() {
				e.closePort(p)
			}
		})
	}
	closed.Wait()
}

// exclusive reports whether one receiver has the port for itself.
func (p *port) exclusive() bool { return len(*p.bindings.Load()) == 1 }

// smallestBuffer returns the smallest receive buffer of all UDP ports; 0 when there is none.
func (p *ports) smallestBuffer() (least int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.open {
		if o.udp != nil && o.udp.buffer > 0 && (least == 0 || o.udp.buffer < least) {
			least = o.udp.buffer
		}
	}
	return least
}

// dispatch puts messages of one sender into the inbox of its receiver, and reports whether there is one. With wait it may block
// until there is room; otherwise messages are dropped when the inbox is full. It does not keep the slice.
func (p *port) dispatch(ctx context.Context, all []raw, wait bool) bool {
	if len(all) == 0 {
		return true
	}
	b, ok := p.route(all[0].from.Addr())
	if b == nil {
		return false // the last one has just left
	}
	b.stats.Receive(len(all))
	if !ok {
		b.stats.Drop(DropSource, len(all))
		return false
	}
	err := p.env.guard(func() error {
		lost := b.inbox.put(ctx, all, wait)
		b.stats.Drop(DropOverloaded, lost)
		return nil
	})
	if err != nil {
		b.stats.Drop(DropFault, len(all))
		b.fail(err)
	}
	return err == nil
}

// run runs one of the port's goroutines. A panic in it ends the receivers of the port.
func (p *port) run(f func()) {
	err := p.env.guard(func() error {
		f()
		return nil
	})
	if err != nil {
		p.fail(err, 0)
	}
}

// fail ends all receivers of the port with an error, after a panic while the port was read. The first one counts the messages that
// are lost.
func (p *port) fail(err error, lost int) {
	if b := p.first(); b != nil {
		b.stats.Receive(lost)
		b.stats.Drop(DropFault, lost)
	}
	for _, b := range *p.bindings.Load() {
		b.fail(err)
	}
}

// route finds the binding for a sender: the one with the longest matching network, then one that is not leaving, then the oldest resource.
// If none matches, ok is false and the first binding counts the message, so that senders do not learn which receivers exist.
func (p *port) route(from netip.Addr) (b *binding, ok bool) {
	all := *p.bindings.Load()
	best := -1
	for _, o := range all {
		if bits := o.allow.match(from); bits > best || b != nil && bits == best && b.leaving() && !o.leaving() {
			best, b = bits, o
		}
	}
	if b == nil && len(all) > 0 {
		return all[0], false
	}
	return b, b != nil
}

// first returns the binding that counts what concerns the port as a whole; nil if there is none.
func (p *port) first() *binding {
	if all := *p.bindings.Load(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// onlyFor reports whether a sender has no receiver once this one has left.
func (p *port) onlyFor(b *binding, from netip.Addr) bool {
	return b.allow.match(from) >= 0 && !slices.ContainsFunc(*p.bindings.Load(), func(o *binding) bool {
		return !o.leaving() && o.allow.match(from) >= 0
	})
}

// CannotListen says why a port could not be opened, and what helps.
func CannotListen(addr string, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot listen on %s: permission denied; give the binary CAP_NET_BIND_SERVICE or choose a port above 1024", addr)
	case strings.Contains(err.Error(), "address already in use"):
		return fmt.Errorf("cannot listen on %s: another program has this port; stop it or choose another port", addr)
	case strings.Contains(err.Error(), "cannot assign requested address"):
		return fmt.Errorf("cannot listen on %s: this machine does not have the address; use 0.0.0.0 or [::] for all it has", addr)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("cannot listen on %s: %w", addr, err)
}
