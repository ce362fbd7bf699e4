package collect

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// testMessages makes messages with consecutive numbers.
func testMessages(first, n int) (all []raw) {
	for i := range n {
		all = append(all, raw{text: strconv.Itoa(first + i)})
	}
	return all
}

// take returns the oldest messages.
func (b *inbox) take(done []raw) []raw {
	all, _ := b.next(done)
	return all
}

// TestInbox: messages come out in order, chunk by chunk; put returns how many do not fit.
func TestInbox(t *testing.T) {
	const most = 2*inboxChunk + 100
	b := newInbox(most)
	if lost := b.put(t.Context(), testMessages(0, 10), false); lost != 0 {
		t.Fatal(lost)
	}
	if lost := b.put(t.Context(), testMessages(10, most), false); lost != 10 {
		t.Fatalf("%d lost, want 10", lost)
	}
	var sizes []int
	var pile []raw
	next := 0
	for range 3 {
		pile = b.take(pile)
		sizes = append(sizes, len(pile))
		for _, m := range pile {
			if m.text != strconv.Itoa(next) {
				t.Fatalf("got message %s, want %d", m.text, next)
			}
			next++
		}
	}
	if !slices.Equal(sizes, []int{inboxChunk, inboxChunk, 100}) || b.bytes != 0 || b.count != 0 {
		t.Errorf("piles of %v, %d bytes and %d messages left", sizes, b.bytes, b.count)
	}
	if lost := b.put(t.Context(), testMessages(next, 1), false); lost != 0 {
		t.Error("there is no room in an empty inbox")
	}
	b.close()
	if lost := b.put(t.Context(), testMessages(0, 2), true); lost != 2 {
		t.Errorf("a closed inbox took messages: %d lost", lost)
	}
	if pile = b.take(pile); len(pile) != 1 || pile[0].text != strconv.Itoa(next) {
		t.Errorf("got %v", pile)
	}
	if pile = b.take(pile); pile != nil {
		t.Errorf("got %v out of a closed and empty inbox", pile)
	}
}

// TestInboxWait: a sender that can wait gets everything in, a part at a time, unless it is cancelled.
func TestInboxWait(t *testing.T) {
	b := newInbox(10)
	lost := make(chan int)
	go func() { lost <- b.put(t.Context(), testMessages(0, 25), true) }()
	taken := 0
	for pile := []raw(nil); taken < 25; taken += len(pile) {
		pile = b.take(pile)
	}
	if n := <-lost; n != 0 || taken != 25 {
		t.Errorf("%d lost, %d taken", n, taken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { lost <- b.put(ctx, testMessages(0, 25), true) }()
	taken = len(b.take(nil))
	cancel()
	n := <-lost
	for b.close(); ; {
		pile := b.take(nil)
		if pile == nil {
			break
		}
		taken += len(pile)
	}
	if taken+n != 25 || n == 0 {
		t.Errorf("%d taken, %d lost", taken, n)
	}
}

// TestInboxClosed: a sender that waits for space returns at once, although nothing is read.
func TestInboxClosed(t *testing.T) {
	b := newInbox(10)
	lost := make(chan int)
	go func() { lost <- b.put(t.Context(), testMessages(0, 25), true) }()
	for full := false; !full; runtime.Gosched() {
		b.mu.Lock()
		full = b.count == 10
		b.mu.Unlock()
	}
	b.close()
	if n := <-lost; n != 15 {
		t.Errorf("%d lost", n)
	}
}
