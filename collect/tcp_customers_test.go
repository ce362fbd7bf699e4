package collect

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/intake"
)

// The senders of one customer need no key. However many there are, those of another customer can connect.
func TestSendersLeaveRoomForOtherCustomers(t *testing.T) {
	h := newFixture(t, Kinds)
	h.env.Streams = 20
	mine, theirs := freePort(t, "tcp"), freePort(t, "tcp")
	other := h.another("B", theirs)
	h.provision("log-syslog-receiver", "name,protocol,listen", "A,tcp,"+mine)
	h.up("A")
	open := func(addr string) net.Conn {
		c := dial(t, "tcp", "127.0.0.1", addr)
		fmt.Fprintf(c, "<13>to %s\n", addr)
		return c
	}
	for range 40 { // B has no receiver yet, so nothing is kept for it
		open(mine)
	}
	h.await("the places are taken", func() bool { return h.env.Totals.Received.Load() >= 20 })
	_, answer, err := h.intake.Provision(t.Context(), other, "log-syslog-receiver", strings.NewReader("name,protocol,listen\nB,tcp,"+theirs+"\n"), intake.Options{})
	if err != nil {
		t.Fatalf("%s %v", answer, err)
	}
	h.await("B listens", func() bool { return h.stateOf(other, "B - Receiver").Status == belfry.OK })
	c := open(theirs)
	h.await("the message of B is stored", func() bool {
		c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); err != nil && !isTimeout(err) && !slices.Contains(h.stored("syslog", "message"), "to "+theirs) {
			t.Fatalf("B was shut out: %v", err)
		}
		return slices.Contains(h.stored("syslog", "message"), "to "+theirs)
	})
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
