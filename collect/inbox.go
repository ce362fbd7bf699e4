package collect

import (
	"context"
	"net/netip"
	"sync"

	"belfry"
)

// inbox queues messages that have arrived, up to a limit. They are stored in chunks: a worker takes a whole chunk and returns
// the one that it has processed, so nothing is copied or allocated at full load.
type inbox struct {
	limit      int // messages
	mu         sync.Mutex
	chunks     [][]raw // oldest first; all but the last are full
	spare      [][]raw // empty chunks
	count      int
	bytes      int
	closed     bool
	lastTicket ticket        // of the last chunk that was taken
	ready      chan struct{} // signals that there are messages, or that the inbox is closed
	room       chan struct{} // closed and replaced when there is room, or the inbox is closed
}

// ticket puts the chunks of several workers in order: a worker stores its chunk once before is closed, and then closes stored.
type ticket struct{ before, stored chan struct{} }

// raw is a message as it arrived.
type raw struct {
	from     netip.AddrPort
	ip       string // address of the sender
	at       belfry.Time
	text     string
	fullSize int        // bytes of a message that was truncated, else 0
	socket   *udpSocket // that received it, to reply; nil for streams
	to       netip.Addr // destination; set only if a reply must come from there
}

const (
	inboxPackets = 1 << 18 // limit for senders that cannot wait
	inboxStream  = 1 << 15 // limit for senders that can
	inboxBytes   = 128 << 20
	inboxChunk   = receiverBatch
)

func newInbox(limit int) *inbox {
	b := &inbox{limit: limit, ready: make(chan struct{}, 1), room: make(chan struct{}), lastTicket: ticket{stored: make(chan struct{})}}
	close(b.lastTicket.stored) // there is no chunk before the first
	return b
}

// put adds messages and returns how many do not fit. With wait it blocks until all fit, ctx ends or the inbox is closed.
func (b *inbox) put(ctx context.Context, all []raw, wait bool) (lost int) {
	for {
		n, room, closed := b.add(all)
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

// add appends as many messages as fit. Room is closed when there is room for more.
func (b *inbox) add(all []raw) (n int, room chan struct{}, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; n < len(all) && !b.closed && b.count < b.limit && b.bytes < inboxBytes; n++ {
		if len(b.chunks) == 0 || len(b.chunks[len(b.chunks)-1]) == inboxChunk {
			b.chunks = append(b.chunks, b.newChunk())
		}
		last := len(b.chunks) - 1
		b.chunks[last] = append(b.chunks[last], all[n])
		b.count++
		b.bytes += len(all[n].text)
	}
	return n, b.room, b.closed
}

// newChunk returns an empty chunk.
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

// next blocks until there are messages, and returns the oldest chunk and its ticket; nothing once the inbox is closed and
// empty. It gets the chunk that the worker has processed, for reuse.
func (b *inbox) next(done []raw) ([]raw, ticket) {
	clear(done)
	for {
		chunk, t, again := b.oldest(done)
		if again {
			b.signal() // for another worker
		}
		if chunk != nil || again {
			return chunk, t
		}
		done = nil
		<-b.ready
	}
}

// oldest returns the oldest chunk, if there is one, and whether another worker should call it, too: there are more, or the inbox is
// closed and empty.
func (b *inbox) oldest(done []raw) (chunk []raw, t ticket, again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cap(done) > 0 && len(b.spare) < receiverWorkers {
		b.spare = append(b.spare, done[:0])
	}
	if len(b.chunks) == 0 {
		return nil, ticket{}, b.closed
	}
	chunk = b.chunks[0]
	b.chunks[0] = nil
	if b.chunks = b.chunks[1:]; len(b.chunks) == 0 {
		b.chunks = nil
	}
	b.count -= len(chunk)
	for i := range chunk {
		b.bytes -= len(chunk[i].text)
	}
	close(b.room)
	b.room = make(chan struct{})
	t = ticket{b.lastTicket.stored, make(chan struct{})}
	b.lastTicket = t
	return chunk, t, len(b.chunks) > 0
}

// setLimit changes the limit.
func (b *inbox) setLimit(limit int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = limit
}

// close rejects further messages and wakes senders that wait for space. Queued messages can still be read.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	close(b.room)
	b.room = make(chan struct{})
	b.mu.Unlock()
	b.signal()
}
