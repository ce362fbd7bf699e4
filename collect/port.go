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

// Receivers may share a port: those who send are told apart by where they come from. So a port is opened by the first of
// them and closed with the last.

// ports are those that are open, by protocol and address.
type ports struct {
	mu   sync.Mutex
	open map[string]*port
}

// port is an open port with its receivers.
type port struct {
	key     string
	setup   string // what all who share it must agree on
	reply   func(to netip.AddrPort, as netip.Addr, packet []byte) error
	buffer  int // bytes of waiting packets that the system grants; 0 where senders wait
	closer  io.Closer
	closed  chan struct{} // when it is; nil until it is to be
	serving sync.WaitGroup
	// settle begins to read what has arrived for a receiver that goes while others stay, and tells when that is done.
	settle func(*desk) (done <-chan struct{})

	mu    sync.RWMutex
	desks []*desk // oldest resource first
}

// desk is one receiver at a port.
type desk struct {
	resource belfry.ID
	allow    networks
	account  *Account
	// take gets packets, or whole messages of a stream. With wait it may block until there is room, else it has to drop what
	// it has no room for. The slice is only lent.
	take func(ctx context.Context, all []raw, wait bool)
	// reply sends a packet back, from the address that was asked if it is known; nil where there is nobody to take it.
	reply func(to netip.AddrPort, as netip.Addr, packet []byte) error
	over  <-chan struct{} // closed when the receiver is to end
	all   <-chan struct{} // closed when all are
	// next has taken its place: what was already on the way to this one is for that one.
	next atomic.Pointer[desk]
	// inherit gets what one before it had no time for, and tells how much of it is lost; it waits for room.
	inherit func(ctx context.Context, all []raw) (lost int)
	// storing has room for those who store at the same time. A receiver that is changed again and again is still one.
	storing chan struct{}
}

// portKey names a port. All ways to write all addresses of the machine mean the same one, as they do for the system.
func portKey(protocol, addr string) string {
	if host, port, err := net.SplitHostPort(addr); err == nil && anyAddress(host) {
		addr = ":" + port
	}
	return protocol + " " + addr
}

// anyAddress tells that a host is not one address but all that the machine has.
func anyAddress(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.IsUnspecified()
}

// join opens a port, or comes to one that is open. Setup is what those who share it must agree on.
func (p *ports) join(key, setup string, d *desk, open func(*port) (io.Closer, error)) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]*port{}
	}
	at := p.free(key)
	if at == nil {
		at = &port{key: key, setup: setup}
		if at.closer, err = open(at); err != nil {
			return nil, err
		}
		p.open[key] = at
	}
	if at.setup != setup {
		return nil, fmt.Errorf("another receiver has %s already, with another certificate or protocol; choose another port", key)
	}
	if err := at.sit(d); err != nil {
		return nil, err
	}
	return func() { p.leave(at, d) }, nil
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

// sit gives a receiver its place, unless another one could not be told from it. One that was changed takes that of its
// predecessor, so there is no moment without it.
func (p *port) sit(d *desk) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.desks {
		if len(o.allow) == 0 && len(d.allow) == 0 && o.resource != d.resource && !o.ended() {
			return fmt.Errorf("another receiver takes everything that arrives on %s; say in allow from where this one takes messages, or choose another port", p.key)
		}
	}
	d.reply = p.reply
	p.desks = append(slices.DeleteFunc(p.desks, func(o *desk) bool { return o.replaced(d) }), d)
	slices.SortFunc(p.desks, func(a, b *desk) int { return cmp.Compare(a.resource, b.resource) })
	return nil
}

// leave takes a receiver from its port, and the last one closes it. Each keeps its place until what has arrived for it is
// read: nobody else may get that, or count it as come from where nothing is taken from. Other ports do not wait for that.
func (p *ports) leave(at *port, d *desk) {
	p.mu.Lock()
	sits, others := at.sits(d)
	first := sits && !others && at.closed == nil // of those who go together, as when the service stops
	if first {
		at.closed = make(chan struct{})
	}
	closed := at.closed
	p.mu.Unlock()
	switch {
	case !sits: // another one has its place, and what has arrived
		return
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
		at.await(at.settle(d))
	}
	at.rise(d)
}

// await waits until what has arrived for a receiver is read; not for long, as others may hold that up.
func (p *port) await(settled <-chan struct{}) {
	enough := time.NewTimer(lastPackets)
	defer enough.Stop()
	select {
	case <-settled:
	case <-enough.C:
	}
}

// sits tells whether a receiver still has its place, and whether there are others that stay.
func (p *port) sits(d *desk) (sits, others bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, o := range p.desks {
		sits = sits || o == d
		others = others || o != d && !o.ended()
	}
	return sits, others
}

// single tells that there is one receiver at the port.
func (p *port) single() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.desks) == 1
}

// rise takes a receiver's place away.
func (p *port) rise(d *desk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.desks = slices.DeleteFunc(p.desks, func(o *desk) bool { return o == d })
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

// hand gives messages of one sender to its receiver; false when there is none who takes them.
func (p *port) hand(ctx context.Context, all []raw, wait bool) bool {
	if len(all) == 0 {
		return true
	}
	d, ok := p.desk(all[0].from.Addr())
	if d == nil {
		return false // the last one has just left
	}
	d.account.Receive(len(all))
	if !ok {
		d.account.Drop(DropSource, len(all))
		return false
	}
	d.take(ctx, all, wait)
	return true
}

// desk finds the receiver for an address: the one whose network fits most closely, the oldest of several, but rather one that
// stays. When there is none, nobody is told which there are; the first one counts it.
func (p *port) desk(from netip.Addr) (d *desk, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	best := -1
	for _, o := range p.desks {
		if bits := o.allow.match(from); bits > best || d != nil && bits == best && d.ended() && !o.ended() {
			best, d = bits, o
		}
	}
	if d == nil && len(p.desks) > 0 {
		return p.desks[0], false
	}
	return d, d != nil
}

// stays tells that a sender has a receiver that is not about to go.
func (p *port) stays(from netip.Addr) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.ContainsFunc(p.desks, func(o *desk) bool { return !o.ended() && o.allow.match(from) >= 0 })
}

// replaced tells whether the other one is the same receiver, as it was changed, and if so that what comes is for it.
func (d *desk) replaced(by *desk) bool {
	if d.resource != by.resource {
		return false
	}
	by.storing = d.storing
	d.next.Store(by)
	return true
}

// ended tells that the receiver is to end and has not left yet: who comes in its place need not wait for that.
func (d *desk) ended() bool {
	select {
	case <-d.over:
		return true
	case <-d.all: // each is told in its turn, and those who share a port leave it together
		return true
	default:
		return false
	}
}

// first is the receiver that counts what concerns the port as a whole.
func (p *port) first() *desk {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if len(p.desks) == 0 {
		return nil
	}
	return p.desks[0]
}

// cannotListen says why a port could not be opened, and what helps.
func cannotListen(addr string, err error) error {
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
