package collect

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"belfry"
)

// A receiver that is changed while messages arrive gets all of them, on the same connection.
func TestSyslogChange(t *testing.T) {
	const burst = 500
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	change := func(n int) {
		t.Helper()
		h.provision("log-syslog-receiver", "name,protocol,listen,filter", fmt.Sprintf("T,tcp,%s,severity < %d", addr, n))
	}
	change(8)
	h.up("T")
	c := dial(t, "tcp", "127.0.0.1", addr)
	s := &h.env.Totals
	for i := range 30 {
		sent := make(chan error)
		go func() {
			_, err := strings.NewReader(strings.Repeat("<13>a line\n", burst)).WriteTo(c)
			sent <- err
		}()
		change(9 + i)
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		n := int64(burst * (i + 1))
		h.await("all is booked", func() bool { return s.Kept.Load()+s.Dropped[DropOverloaded].Load() == n })
		if kept, received := s.Kept.Load(), s.Received.Load(); kept != n || received != n {
			t.Fatalf("%d sent, %d received, %d kept", n, received, kept)
		}
	}
}

// inbox returns the inbox of the only receiver.
func (h *fixture) inbox() *inbox {
	h.env.ports.mu.Lock()
	defer h.env.ports.mu.Unlock()
	for _, at := range h.env.ports.open {
		return at.first().inbox
	}
	return nil
}

// asksForMessages reports whether room is wanted for messages: much more than they need, see Intake.Receive.
func asksForMessages(rows int) bool { return rows > 10_000 }

// A receiver that cannot store its messages is changed: messages that have not been processed are filtered by the new
// filter once there is space again. It can be changed repeatedly meanwhile, everything is counted, and no more messages
// are on their way than before.
func TestSyslogChangeFull(t *testing.T) {
	free := make(chan struct{})
	var busy atomic.Int32 // batches that wait for room
	h := newFixtureWith(t, Kinds, func(_ context.Context, _ belfry.CustomerID, rows int) error {
		if asksForMessages(rows) {
			busy.Add(1)
			<-free // even if ctx ends
		}
		return nil
	})
	release := sync.OnceFunc(func() { close(free) })
	defer release()
	addr := freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen", "U,"+addr)
	h.up("U")
	c := dial(t, "udp", "127.0.0.1", addr)
	send := func() {
		if _, err := c.Write([]byte("<13>a line")); err != nil {
			t.Fatal(err)
		}
	}
	s := &h.env.Totals
	last := func() ticket {
		box := h.inbox()
		box.mu.Lock()
		defer box.mu.Unlock()
		return box.lastTicket
	}
	for range receiverWorkers { // one of them waits for room, and the others wait for their turn
		was := last()
		send()
		h.await("it is taken", func() bool { return last() != was })
	}
	const waiting = 100
	for range waiting {
		send()
	}
	h.await("all has arrived", func() bool { return s.Received.Load() == waiting+receiverWorkers })
	for i := range 3 {
		h.provision("log-syslog-receiver", "name,filter", fmt.Sprintf("U,severity < %d", 10+i))
	}
	h.provision("log-syslog-receiver", "name,filter", "U,severity > 9")
	if n := busy.Load(); n > 1 {
		t.Errorf("%d batches are on their way", n)
	}
	h.provision("log-syslog-receiver", "name,allow", "U,127.0.0.0/8") // which it takes behind the filter
	h.await("it is changed once more", h.allows(1))
	release()
	h.await("all is booked", func() bool { return s.Filtered.Load()+s.Kept.Load() == waiting+receiverWorkers })
	if n := s.Filtered.Load(); n < waiting {
		t.Errorf("%d are filtered", n)
	}
}
