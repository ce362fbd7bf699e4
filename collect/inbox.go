package collect

import (
	"context"
	"net/netip"
	"sync"

	"belfry"
)

// inbox holds messages that have arrived and are not yet read, up to a limit. They lie in piles: a worker takes a whole one
// and leaves the one it has done with, so nothing is copied and nothing made anew however fast they come.
type inbox struct {
	limit   int // messages
	mu     sync.Mutex
	chunks  [][]raw // oldest first; all but the last are full
	spare  [][]raw // empty ones
	count  int
	bytes  int
	closed bool
	lastTicket   ticket          // of the messages that were taken last
	ready   chan struct{} // something is there, or the inbox is closed
	room   chan struct{} // closed, and made anew, when something was taken out or nothing more is let in
}

// ticket is for who has taken messages: those ahead of them are stored when before is closed, and he closes stored.
type ticket struct{ before, stored chan struct{} }

// raw is a message as it came.
type raw struct {
	from netip.AddrPort
	ip   string // of whom it is from
	at   belfry.Time
	text string
	fullSize int        // how many bytes the message had if it was cut, else 0
	to   netip.Addr // that it was sent to; not known unless an answer has to come from there
}

const (
	inboxPackets = 1 << 18 // of a sender that cannot wait
	inboxStream  = 1 << 15 // of one that can
	inboxBytes    = 128 << 20
	inboxChunk     = receiverBatch
)

func newInbox(most int) *inbox {
	b := &inbox{limit: most, ready: make(chan struct{}, 1), room: make(chan struct{}), lastTicket: ticket{stored: make(chan struct{})}}
	close(b.lastTicket.stored) // nothing is ahead of the first messages
	return b
}

// put adds messages. When there is no room it waits, if it may, and gives back how many are lost.
func (b *inbox) put(ctx context.Context, all []raw, wait bool) (lost int) {
	for {
		b.mu.Lock()
		n := b.add(all)
		room := b.room
		closed := b.closed
		b.mu.Unlock()
		if n > 0 {
			b.signal()
		}
		if all = all[n:]; len(all) == 0 || closed || !wait {
			return len(all)
		}
		select {
		case <-room:
		case <-ctx.Done():
			return len(all)
		}
	}
}

// add puts as many messages on the last pile as there is room for.
func (b *inbox) add(all []raw) (n int) {
	for ; n < len(all) && !b.closed && b.count < b.limit && b.bytes < inboxBytes; n++ {
		if len(b.chunks) == 0 || len(b.chunks[len(b.chunks)-1]) == inboxChunk {
			b.chunks = append(b.chunks, b.newChunk())
		}
		last := len(b.chunks) - 1
		b.chunks[last] = append(b.chunks[last], all[n])
		b.count++
		b.bytes += len(all[n].text)
	}
	return n
}

// newChunk gives a pile to put messages on.
func (b *inbox) newChunk() []raw {
	if len(b.spare) == 0 {
		return nil
	}
	last := b.spare[len(b.spare)-1]
	b.spare = b.spare[:len(b.spare)-1]
	return last
}

func (b *inbox) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// next gives the oldest messages, in the order in which they came, and the turn in which to store them; none when the inbox is
// closed and empty. What it gave before is handed back.
func (b *inbox) next(done []raw) ([]raw, ticket) {
	clear(done)
	for {
		b.mu.Lock()
		if cap(done) > 0 && len(b.spare) < receiverWorkers {
			b.spare = append(b.spare, done[:0])
		}
		done = nil
		if len(b.chunks) > 0 {
			pile := b.chunks[0]
			b.chunks[0] = nil
			if b.chunks = b.chunks[1:]; len(b.chunks) == 0 {
				b.chunks = nil
			}
			b.count -= len(pile)
			for i := range pile {
				b.bytes -= len(pile[i].text)
			}
			close(b.room)
			b.room = make(chan struct{})
			more := len(b.chunks) > 0
			t := ticket{b.lastTicket.stored, make(chan struct{})}
			b.lastTicket = t
			b.mu.Unlock()
			if more {
				b.signal() // for another worker
			}
			return pile, t
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			b.signal() // for the other workers
			return nil, ticket{}
		}
		<-b.ready
	}
}

// setLimit sets how many messages there may be.
func (b *inbox) setLimit(most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = most
}

// close lets nothing more in; what is there can still be taken. Who waits for room need not wait any more.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	close(b.room)
	b.room = make(chan struct{})
	b.mu.Unlock()
	b.signal()
}
