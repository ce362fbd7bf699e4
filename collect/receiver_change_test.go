package collect

import (
	"fmt"
	"strings"
	"testing"
)

// A receiver that is changed while messages arrive gets all of them, on the same connection.
func TestSyslogChange(t *testing.T) {
	const burst = 500
	h := newHouse(t, Kinds)
	addr := freePort(t, "tcp")
	change := func(n int) {
		t.Helper()
		h.provision("log-syslog-receiver", "name,protocol,listen,filter", fmt.Sprintf("T,tcp,%s,severity < %d", addr, n))
	}
	change(8)
	h.up("T")
	c := dial(t, "tcp", "127.0.0.1", addr)
	s := &h.env.Sums
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
