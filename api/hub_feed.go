package api

import (
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"belfry"
)

// feed is what is told about one customer, or the part of it that is in one scope. Its messages are numbered from 1; the number and the feed's epoch are the id
// of a message. Both grow, also over a restart, and neither says anything about other customers, as a position in the
// journal would. An id of another epoch is one that cannot be continued.
type feed struct {
	scope belfry.Scope
	epoch uint64 // when it began, in microseconds

	// What the mutex of the hub guards.
	inbox     []changes
	waiting   int    // messages in the inbox
	end       uint64 // number that the next message will get that comes into the inbox
	queued    bool   // it waits for its turn
	busy      bool   // it has its turn
	listeners int
	left      time.Time // when the last of them went

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
	kind messageKind
}

type messageKind uint8

const (
	statusMessage messageKind = 1 << iota
	eventMessage
	allMessages = statusMessage | eventMessage
)

// publish adds a block, and lets go of the oldest that are too many.
func (f *feed) publish(p *block, most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.first = f.next
	f.next += uint64(len(p.marks))
	f.blocks, f.bytes = append(f.blocks, p), f.bytes+p.size()
	for f.bytes > most && len(f.blocks) > 1 {
		f.bytes -= f.blocks[0].size()
		f.blocks[0] = nil
		f.blocks = f.blocks[1:]
	}
	f.call()
}

// size is about what a block takes in memory.
func (p *block) size() int { return len(p.data) + 8*len(p.marks) + 24*len(p.named) + 100 }

// call wakes who waits. The mutex is held.
func (f *feed) call() {
	if f.wake != nil {
		close(f.wake)
		f.wake = nil
	}
}

// goOn prepares for a message of that number. When it is not the next, those between were thrown away unwritten, and
// nobody can read on over the gap.
func (f *feed) goOn(number uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != number {
		f.blocks, f.bytes, f.next = nil, 0, number
		f.call()
	}
}

// oldest is the number of the first message that is still there, or of the next. The mutex is held.
func (f *feed) oldest() uint64 {
	if len(f.blocks) > 0 {
		return f.blocks[0].first
	}
	return f.next
}

// id is what a message of that number is known by.
func (f *feed) id(number uint64) string { return string(f.appendID(nil, number)) }

func (f *feed) appendID(b []byte, number uint64) []byte {
	return strconv.AppendUint(append(strconv.AppendUint(b, f.epoch, 10), '.'), number, 10)
}

// listener reads a feed. It is used by one goroutine.
type listener struct {
	hub   *Hub
	feed  *feed
	kinds messageKind
	at    uint64 // number of the next message it wants
	came  uint64 // number of the first message that was not there when it came
	cut   func() // ends what hangs
}

// begin puts the listener, who stands behind all that was committed before it came, behind the message with the id
// instead. It is false when the feed cannot go on from there.
func (l *listener) begin(last string) bool {
	if last == "" {
		return true
	}
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	epoch, number, ok := parseID(last)
	if !ok || epoch != f.epoch || number+1 < f.oldest() || number >= f.next {
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

// partMost is about how many bytes are sent at a time.
const partMost = 256 << 10

// part is what a listener reads at a time.
type part struct {
	texts    [][]byte
	messages int
	more     bool            // there is more than this already
	wait     <-chan struct{} // there is nothing; it tells when there is
}

// read gives what has come since. It is false when some of it is gone: the listener then stands at the end.
func (l *listener) read() (out part, ok bool) {
	blocks, out, ok := l.gather()
	for _, p := range blocks { // they never change, so this needs no lock
		text, n := p.from(int(l.at-p.first), l.wanted(p))
		l.at = p.first + uint64(len(p.marks))
		if n > 0 {
			out.texts, out.messages = append(out.texts, text), out.messages+n
		}
	}
	return out, ok
}

// gather finds the blocks of which a part is made.
func (l *listener) gather() (blocks []*block, out part, ok bool) {
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.at < f.oldest() {
		l.at = f.next
		return nil, part{}, false
	}
	if l.at >= f.next {
		if f.wake == nil {
			f.wake = make(chan struct{})
		}
		return nil, part{wait: f.wake}, true
	}
	i := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].first > l.at }) - 1
	for size := 0; i < len(f.blocks) && size < partMost; i++ {
		blocks = append(blocks, f.blocks[i])
		size += len(f.blocks[i].data)
	}
	return blocks, part{more: i < len(f.blocks)}, true
}

// from gives the wanted messages from the i-th on; nil: all of them.
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

// wanted tells which messages of a block the listener gets; nil: all of them.
func (l *listener) wanted(p *block) func(i int) bool {
	hidden := l.hidden(p)
	if hidden == nil && l.kinds == allMessages {
		return nil
	}
	return func(i int) bool { return p.marks[i].kind&l.kinds != 0 && (hidden == nil || !hidden[i]) }
}

// end is the id of the message before the one the listener wants.
func (l *listener) end() string { return l.feed.id(l.at - 1) }

// atEnd tells whether the listener has everything that is written.
func (l *listener) atEnd() bool {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	return l.at >= l.feed.next
}
