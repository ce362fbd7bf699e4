package collect

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// inbox holds messages that have arrived and are not yet read, up to a limit.
type inbox struct {
	mu      sync.Mutex
	waiting []raw
	bytes   int
	closed  bool
	news    chan struct{} // something is there, or the inbox is closed
	room    chan struct{} // closed, and made anew, when something was taken out
}

// raw is a message as it came.
type raw struct {
	from netip.AddrPort
	at   time.Time
	text string
}

const (
	inboxMessages = 1 << 18
	inboxBytes    = 128 << 20
)

func newInbox() *inbox { return &inbox{news: make(chan struct{}, 1), room: make(chan struct{})} }

// put adds a message. When there is no room it waits, if it may; false means that the message is lost.
func (b *inbox) put(ctx context.Context, m raw, wait bool) bool {
	for {
		b.mu.Lock()
		if b.closed {
			b.mu.Unlock()
			return false
		}
		if len(b.waiting) < inboxMessages && b.bytes < inboxBytes {
			b.waiting = append(b.waiting, m)
			b.bytes += len(m.text)
			b.mu.Unlock()
			b.call()
			return true
		}
		room := b.room
		b.mu.Unlock()
		if !wait {
			return false
		}
		select {
		case <-room:
		case <-ctx.Done():
			return false
		}
	}
}

func (b *inbox) call() {
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// take gives up to most messages, in the order in which they came; none when the inbox is closed and empty.
func (b *inbox) take(most int, into []raw) []raw {
	for {
		b.mu.Lock()
		if n := min(len(b.waiting), most); n > 0 {
			into = append(into[:0], b.waiting[:n]...)
			clear(b.waiting[:n])
			if b.waiting = b.waiting[n:]; len(b.waiting) == 0 {
				b.waiting = nil
			}
			for i := range into {
				b.bytes -= len(into[i].text)
			}
			close(b.room)
			b.room = make(chan struct{})
			more := len(b.waiting) > 0
			b.mu.Unlock()
			if more {
				b.call() // for another worker
			}
			return into
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			b.call() // for the other workers
			return nil
		}
		<-b.news
	}
}

// close lets nothing more in; what is there can still be taken.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.call()
}
