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
	most   int // messages
	mu     sync.Mutex
	piles  [][]raw // oldest first; all but the last are full
	spare  [][]raw // empty ones
	count  int
	bytes  int
	closed bool
	last   turn          // of the messages that were taken last
	news   chan struct{} // something is there, or the inbox is closed
	room   chan struct{} // closed, and made anew, when something was taken out or nothing more is let in
}

// turn is for who has taken messages: those ahead of them are stored when before is closed, and he closes stored.
type turn struct{ before, stored chan struct{} }

// raw is a message as it came.
type raw struct {
	from netip.AddrPort
	ip   string // of whom it is from
	at   belfry.Time
	text string
	long int        // how many bytes the message had if it was cut, else 0
	to   netip.Addr // that it was sent to; not known unless an answer has to come from there
}

const (
	inboxMessages = 1 << 18 // of a sender that cannot wait
	inboxPatient  = 1 << 15 // of one that can
	inboxBytes    = 128 << 20
	inboxPile     = receiverBatch
)

func newInbox(most int) *inbox {
	b := &inbox{most: most, news: make(chan struct{}, 1), room: make(chan struct{}), last: turn{stored: make(chan struct{})}}
	close(b.last.stored) // nothing is ahead of the first messages
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
			b.call()
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
	for ; n < len(all) && !b.closed && b.count < b.most && b.bytes < inboxBytes; n++ {
		if len(b.piles) == 0 || len(b.piles[len(b.piles)-1]) == inboxPile {
			b.piles = append(b.piles, b.empty())
		}
		last := len(b.piles) - 1
		b.piles[last] = append(b.piles[last], all[n])
		b.count++
		b.bytes += len(all[n].text)
	}
	return n
}

// empty gives a pile to put messages on.
func (b *inbox) empty() []raw {
	if len(b.spare) == 0 {
		return nil
	}
	last := b.spare[len(b.spare)-1]
	b.spare = b.spare[:len(b.spare)-1]
	return last
}

func (b *inbox) call() {
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// next gives the oldest messages, in the order in which they came, and the turn in which to store them; none when the inbox is
// closed and empty. What it gave before is handed back.
func (b *inbox) next(done []raw) ([]raw, turn) {
	clear(done)
	for {
		b.mu.Lock()
		if cap(done) > 0 && len(b.spare) < receiverWorkers {
			b.spare = append(b.spare, done[:0])
		}
		done = nil
		if len(b.piles) > 0 {
			pile := b.piles[0]
			b.piles[0] = nil
			if b.piles = b.piles[1:]; len(b.piles) == 0 {
				b.piles = nil
			}
			b.count -= len(pile)
			for i := range pile {
				b.bytes -= len(pile[i].text)
			}
			close(b.room)
			b.room = make(chan struct{})
			more := len(b.piles) > 0
			t := turn{b.last.stored, make(chan struct{})}
			b.last = t
			b.mu.Unlock()
			if more {
				b.call() // for another worker
			}
			return pile, t
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			b.call() // for the other workers
			return nil, turn{}
		}
		<-b.news
	}
}

// limit sets how many messages there may be.
func (b *inbox) limit(most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = most
}

// close lets nothing more in; what is there can still be taken. Who waits for room need not wait any more.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	close(b.room)
	b.room = make(chan struct{})
	b.mu.Unlock()
	b.call()
}
