package collect

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// A collector that fails shows it once the one before it has told its last figures, so that these do not look as if all were
// well; if that one takes long, it shows it before, and again.
func TestFailureAfterFigures(t *testing.T) {
	f := func(takes time.Duration, want ...time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			sink := &fullSink{}
			s := supervisor(nil, &Env{Sink: sink, Log: slog.New(slog.DiscardHandler)}, nil)
			before := make(chan struct{})
			time.AfterFunc(takes, func() { close(before) })
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				s.show(ctx, Task{Objects: []string{"U - Receiver"}}, errors.New("no port"), nil, before)
			}()
			begun := time.Now()
			for i, at := range want {
				time.Sleep(at - time.Since(begun) - time.Nanosecond)
				synctest.Wait()
				if n := sink.told(); n != i {
					t.Errorf("shown %d times before %s", n, at)
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				if n := sink.told(); n != i+1 {
					t.Errorf("shown %d times after %s", n, at)
				}
			}
			time.Sleep(time.Hour)
			if n := sink.told(); n != len(want) {
				t.Errorf("shown %d times", n)
			}
			stop()
			<-ended
		})
	}
	f(time.Millisecond, time.Millisecond)
	f(5*time.Second, figuresWithin, 5*time.Second)
}

// A receiver that is changed to a port that it cannot have shows so soon, though the old one has not stored all it
// got; and still shows so when that one has told its last figures.
func TestChangedReceiverFails(t *testing.T) {
	h := newHouse(t, Kinds)
	sink := &stuckSink{Sink: h.env.Sink, free: make(chan struct{})}
	release := sync.OnceFunc(func() { close(sink.free) })
	defer release()
	h.env.Sink = sink
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen", "U,"+addr)
	h.up("U")
	if _, err := dial(t, "udp", "127.0.0.1", addr).Write([]byte("<13>a line")); err != nil {
		t.Fatal(err)
	}
	h.await("it is being stored", func() bool { return sink.busy.Load() == 1 })
	fails := func() bool {
		s := h.state("U - Receiver")
		return s.Status == belfry.Unavailable && strings.Contains(s.Info, "another program has this port")
	}
	h.provision("log-syslog-receiver", "name,listen", "U,"+taken.LocalAddr().String())
	h.await("it shows", fails)
	release()
	h.await("the last figures are told", func() bool { return len(h.stored("objectdata", "i1")) == 2 })
	h.await("it shows again", fails)

	// What it only had to wait for, its own port with another address, is no failure.
	_, port, _ := net.SplitHostPort(addr)
	h.provision("log-syslog-receiver", "name,listen", "U,"+addr)
	h.up("U")
	h.provision("log-syslog-receiver", "name,listen", "U,0.0.0.0:"+port)
	h.await("it has moved", func() bool {
		h.env.ports.mu.Lock()
		defer h.env.ports.mu.Unlock()
		return h.env.ports.open["udp :"+port] != nil
	})
	if s := h.state("U - Receiver"); s.Status == belfry.Unavailable {
		t.Errorf("it shows %s", s.Info)
	}
}
