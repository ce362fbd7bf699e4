package live

import (
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"belfry"
)

// feed has the messages about one scope. They are numbered from 1; the number and the feed's epoch are the id of a message.
// Both grow, also over a restart, and neither reveals anything about other customers, as a position in the journal would. A
// listener cannot resume from an id of another epoch.
type feed struct {
	scope belfry.Scope
	epoch uint64 // when it began, in microseconds

	// Guarded by the mutex of the hub.
	inbox     []changes
	waiting   int    // messages in the inbox
	end       uint64 // number of the next message that is added to the inbox
	queued    bool   // it waits to be written
	busy      bool   // it is being written
	listeners int
	left      time.Time // when the last of them closed

	mu     sync.Mutex
	blocks []*block // oldest first, without gaps
	bytes  int
	next   uint64 // number of the next message that is written
	wake   chan struct{}
}

// block is a run of messages, ready to be sent. It never changes.
type block struct {
	first uint64
	data  []byte
	marks []mark
	named []named // of each message, in a limited feed
}

// mark is where a message ends in its block, and what kind of message it is.
type mark struct {
	end  uint32
	kind Kind
}

// Kind is a set of kinds of messages.
type Kind uint8

// The kinds of messages.
const (
	Statuses Kind = 1 << iota
	Events
)

// publish adds a block, and drops the oldest beyond the limit of bytes.
func (f *feed) publish(p *block, limit int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.first = f.next
	f.next += uint64(len(p.marks))
	f.blocks, f.bytes = append(f.blocks, p), f.bytes+p.size()
	for f.bytes > limit && len(f.blocks) > 1 {
		f.bytes -= f.blocks[0].size()
		f.blocks[0] = nil
		f.blocks = f.blocks[1:]
	}
	f.notify()
}

// size is roughly what a block takes in memory.
func (p *block) size() int { return len(p.data) + 8*len(p.marks) + 24*len(p.named) + 100 }

// notify wakes the listeners that wait. The mutex is held.
func (f *feed) notify() {
	if f.wake != nil {
		close(f.wake)
		f.wake = nil
	}
}

// skipTo prepares for a message of that number. If it is not the next, messages in between were dropped unwritten, and
// no listener can read on over the gap.
func (f *feed) skipTo(number uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != number {
		f.blocks, f.bytes, f.next = nil, 0, number
		f.notify()
	}
}

// oldest is the number of the first message that is kept, or of the next. The mutex is held.
func (f *feed) oldest() uint64 {
	if len(f.blocks) > 0 {
		return f.blocks[0].first
	}
	return f.next
}

// id is the id of a message.
func (f *feed) id(number uint64) string { return string(f.appendID(nil, number)) }

func (f *feed) appendID(b []byte, number uint64) []byte {
	return strconv.AppendUint(append(strconv.AppendUint(b, f.epoch, 10), '.'), number, 10)
}

// Listener reads a feed. It is used by one goroutine.
type Listener struct {
	hub   *Hub
	feed  *feed
	kinds Kind
	at    uint64 // number of the next message to read
	first uint64 // number of the first message after Listen
}

// Resume lets the listener read on after the message with an id; empty: after what was committed before Listen. It is false
// when the feed cannot continue from there.
func (l *Listener) Resume(last string) bool {
	if last == "" {
		return true
	}
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	epoch, number, ok := parseID(last)
	if !ok || epoch != f.epoch || number+1 < f.oldest() || number >= max(f.next, l.first) { // clients know numbers below first, also unwritten ones
		return false
	}
	l.at = number + 1
	return true
}

// parseID reads what appendID wrote.
func parseID(text string) (epoch, number uint64, ok bool) {
	a, b, ok := strings.Cut(text, ".")
	epoch, err := strconv.ParseUint(a, 10, 63)
	if err != nil {
		return 0, 0, false
	}
	number, err = strconv.ParseUint(b, 10, 63)
	return epoch, number, ok && err == nil
}

// partSize is roughly how many bytes are read at a time.
const partSize = 256 << 10

// Part is what a listener reads at a time.
type Part struct {
	Texts [][]byte
	More  bool            // there is more already
	Wait  <-chan struct{} // there is nothing; it is closed when there is
}

// Read returns messages that were not read before. It is false when some of them are gone: the listener is then at the end.
// Messages count as sent.
func (l *Listener) Read() (out Part, ok bool) {
	blocks, out, ok := l.gather()
	for _, p := range blocks { // they never change, so this needs no lock
		text, n := p.from(int(l.at-p.first), l.wanted(p))
		l.at = p.first + uint64(len(p.marks))
		if n > 0 {
			out.Texts = append(out.Texts, text)
			l.hub.sent.Add(int64(n))
		}
	}
	return out, ok
}

// gather finds the blocks of a part.
func (l *Listener) gather() (blocks []*block, out Part, ok bool) {
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.at < f.oldest() {
		l.at = f.next
		return nil, Part{}, false
	}
	if l.at >= f.next {
		if f.wake == nil {
			f.wake = make(chan struct{})
		}
		return nil, Part{Wait: f.wake}, true
	}
	i := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].first > l.at }) - 1
	for size := 0; i < len(f.blocks) && size < partSize; i++ {
		blocks = append(blocks, f.blocks[i])
		size += len(f.blocks[i].data)
	}
	return blocks, Part{More: i < len(f.blocks)}, true
}

// from returns the wanted messages from the i-th on; nil: all of them.
func (p *block) from(i int, wanted func(i int) bool) (data []byte, n int) {
	begin := 0
	if i > 0 {
		begin = int(p.marks[i-1].end)
	}
	if wanted == nil {
		return p.data[begin:], len(p.marks) - i
	}
	data = make([]byte, 0, len(p.data)-begin)
	for ; i < len(p.marks); i++ {
		end := int(p.marks[i].end)
		if wanted(i) {
			data = append(data, p.data[begin:end]...)
			n++
		}
		begin = end
	}
	return data, n
}

// wanted reports which messages of a block the listener gets; nil: all of them.
func (l *Listener) wanted(p *block) func(i int) bool {
	hidden := l.hidden(p)
	if hidden == nil && l.kinds == Statuses|Events {
		return nil
	}
	return func(i int) bool { return p.marks[i].kind&l.kinds != 0 && (hidden == nil || !hidden[i]) }
}

// Last is the id of the last message that was read.
func (l *Listener) Last() string { return l.feed.id(l.at - 1) }

// Resync returns the message for a client that has missed something. It has the id from which the client can resume.
func (l *Listener) Resync() []byte {
	l.hub.resyncs.Add(1)
	id := l.Last()
	return []byte("id: " + id + "\nevent: resync\ndata: {\"id\":\"" + id + "\"}\n\n")
}

// atEnd reports whether the listener has read everything that is written.
func (l *Listener) atEnd() bool {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	return l.at >= l.feed.next
}
