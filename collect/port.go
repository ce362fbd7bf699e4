package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
)

// Receivers of one customer may share a port: those who send are told apart by where they come from. So a port is opened by the
// first of them and closed with the last. A port is never shared between customers.

// ports are those that are open, by protocol and address.
type ports struct {
	stopping <-chan struct{} // closed when all receivers are to end; nil: never

	mu   sync.Mutex
	open map[string]*port
}

// portSpec says which port a receiver wants.
type portSpec struct {
	protocol string // udp or tcp
	addr     string
	agreed   string // what all who share the port must have in common
	open     func(*port) (io.Closer, error)
}

// key names the port. All ways to write all addresses of the machine mean the same one, as they do for the system.
func (s *portSpec) key() string {
	addr := s.addr
	if host, port, err := net.SplitHostPort(addr); err == nil && anyAddress(host) {
		addr = ":" + port
	}
	return s.protocol + " " + addr
}

// same tells whether a receiver can stay where it is.
func (s *portSpec) same(o *portSpec) bool {
	return s.protocol == o.protocol && s.addr == o.addr && s.agreed == o.agreed
}

// port is an open port with its receivers.
type port struct {
	key      string
	customer belfry.CustomerID
	spec     portSpec
	stopping <-chan struct{}
	reply    func(to netip.AddrPort, as netip.Addr, packet []byte) error
	buffer   int // bytes of waiting packets that the system grants; 0 where senders wait
	closer   io.Closer
	closed   chan struct{} // when it is; nil until it is to be
	serving  sync.WaitGroup
	// drain begins to read what has arrived for a receiver that goes while others stay, and tells when that is done.
	drain func(*binding) (done <-chan struct{})

	mu       sync.RWMutex
	bindings []*binding // oldest resource first
}

// binding is one receiver at a port: what arrives for it goes to its inbox.
type binding struct {
	customer belfry.CustomerID
	resource belfry.ID
	stats  *ReceiverStats
	inbox    *inbox
	over     <-chan struct{} // closed when the receiver is to end
	leaving  atomic.Bool     // it leaves this port, perhaps for another one

	port  *port    // set by attach
	allow networks // the port's mutex guards it
}

// anyAddress tells that a host is not one address but all that the machine has.
func anyAddress(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.IsUnspecified()
}

// attach opens a port, or comes to one that is open.
func (p *ports) attach(b *binding, spec portSpec, allow networks) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]*port{}
	}
	key := spec.key()
	at := p.free(key)
	for _, o := range p.open {
		if o.customer != b.customer && overlap(o.spec.addr, spec.addr) {
			return notGranted(spec.addr)
		}
	}
	if at == nil {
		at = &port{key: key, customer: b.customer, spec: spec, stopping: p.stopping}
		if at.closer, err = spec.open(at); err != nil {
			return err
		}
		p.open[key] = at
	}
	if at.spec.agreed != spec.agreed {
		return fmt.Errorf("another receiver has %s already, with another certificate or protocol; choose another port", key)
	}
	return at.bind(b, allow)
}

// free is the port with this key, or nil; one that is being closed is waited for. The mutex is held, but not meanwhile.
func (p *ports) free(key string) *port {
	for {
		at := p.open[key]
		if at == nil || at.closed == nil {
			return at
		}
		p.mu.Unlock()
		<-at.closed
		p.mu.Lock()
	}
}

// bind gives a receiver its place, or changes from where it takes messages, unless another one could not be told from it.
func (p *port) bind(b *binding, allow networks) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.bindings {
		if len(o.allow) == 0 && len(allow) == 0 && o.resource != b.resource && !p.leaving(o) {
			return fmt.Errorf("another receiver takes everything that arrives on %s; say in allow from where this one takes messages, or choose another port", p.key)
		}
	}
	b.port, b.allow = p, allow
	if !slices.Contains(p.bindings, b) {
		p.bindings = append(p.bindings, b)
		slices.SortFunc(p.bindings, func(a, b *binding) int { return cmp.Compare(a.resource, b.resource) })
	}
	return nil
}

// detach takes a receiver from its port, and the last one closes it. Each keeps its place until what has arrived for it is
// read: nobody else may get that, or count it as come from where nothing is taken from. Other ports do not wait for that.
func (p *ports) detach(b *binding) {
	at := b.port
	b.leaving.Store(true)
	p.mu.Lock()
	first := !at.others(b) && at.closed == nil // of those who go together, as when the service stops
	if first {
		at.closed = make(chan struct{})
	}
	closed := at.closed
	p.mu.Unlock()
	switch {
	case first:
		at.closer.Close()
		p.mu.Lock()
		delete(p.open, at.key)
		close(closed)
		p.mu.Unlock()
		at.serving.Wait()
	case closed != nil:
		<-closed
		at.serving.Wait()
	default:
		at.await(at.drain(b))
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	at.bindings = slices.DeleteFunc(at.bindings, func(o *binding) bool { return o == b })
}

// await waits until what has arrived for a receiver is read; not for long, as others may hold that up.
func (p *port) await(drained <-chan struct{}) {
	enough := time.NewTimer(drainTimeout)
	defer enough.Stop()
	select {
	case <-drained:
	case <-enough.C:
	}
}

// others tells whether there are receivers that stay when this one goes.
func (p *port) others(b *binding) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.ContainsFunc(p.bindings, func(o *binding) bool { return o != b && !p.leaving(o) })
}

// exclusive tells that there is one receiver at the port.
func (p *port) exclusive() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.bindings) == 1
}

// smallestBuffer is what the system grants the port that has least; 0 when there is none for packets.
func (p *ports) smallestBuffer() (least int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.open {
		if at.buffer > 0 && (least == 0 || at.buffer < least) {
			least = at.buffer
		}
	}
	return least
}

// dispatch puts messages of one sender into the inbox of its receiver; false when there is none who takes them. With wait it may
// block until there is room, else it drops what there is no room for. The slice is only lent.
func (p *port) dispatch(ctx context.Context, all []raw, wait bool) bool {
	if len(all) == 0 {
		return true
	}
	b, ok := p.binding(all[0].from.Addr())
	if b == nil {
		return false // the last one has just left
	}
	b.stats.Receive(len(all))
	if !ok {
		b.stats.Drop(DropSource, len(all))
		return false
	}
	if lost := b.inbox.put(ctx, all, wait); lost > 0 {
		b.stats.Drop(DropOverloaded, lost)
	}
	return true
}

// binding finds the receiver for an address: the one whose network fits most closely, the oldest of several, but rather one that
// stays. When there is none, nobody is told which there are; the first one counts it.
func (p *port) binding(from netip.Addr) (b *binding, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	best := -1
	for _, o := range p.bindings {
		if bits := o.allow.match(from); bits > best || b != nil && bits == best && p.leaving(b) && !p.leaving(o) {
			best, b = bits, o
		}
	}
	if b == nil && len(p.bindings) > 0 {
		return p.bindings[0], false
	}
	return b, b != nil
}

// matches tells whether a receiver takes messages from an address.
func (p *port) matches(b *binding, from netip.Addr) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return b.allow.match(from) >= 0
}

// stays tells that a sender has a receiver that is not about to go.
func (p *port) stays(from netip.Addr) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.ContainsFunc(p.bindings, func(o *binding) bool { return !p.leaving(o) && o.allow.match(from) >= 0 })
}

// leaving tells that a receiver is to go and has not left yet: who comes in its place need not wait for that.
func (p *port) leaving(b *binding) bool {
	if b.leaving.Load() {
		return true
	}
	select {
	case <-b.over:
		return true
	case <-p.stopping: // each is told in its turn, and those who share a port leave it together
		return true
	default:
		return false
	}
}

// first is the receiver that counts what concerns the port as a whole.
func (p *port) first() *binding {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if len(p.bindings) == 0 {
		return nil
	}
	return p.bindings[0]
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
