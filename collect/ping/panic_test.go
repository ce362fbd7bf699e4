package ping

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// A panic in the work for one ping, wherever it happens, costs that ping a series. Its objects show it, it is logged, and the others continue.
func TestPingPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var logged bytes.Buffer
		stored := map[string]int{}
		reasons := map[string]string{}
		bad := true
		is := func() bool { mu.Lock(); defer mu.Unlock(); return bad }
		sink := rowSink(func(row *belfry.Row) {
			if row.Resource == "store" && is() {
				panic("of the store")
			}
			mu.Lock()
			defer mu.Unlock()
			stored[row.Resource]++
			reasons[row.Resource] = row.Reason
		})
		p := New(slog.New(slog.NewTextHandler(&logged, nil)))
		p.send = func(r echoRequest) error {
			if r.to == netip.MustParseAddr("192.0.2.66") && is() {
				panic("of the sender")
			}
			return errUnreachable
		}
		p.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
			if is() {
				panic("of the resolver")
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.9")}, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { p.Run(ctx, sink) })
		for i, target := range []string{"192.0.2.1", "192.0.2.2", "name.example", "192.0.2.66", "192.0.2.3"} {
			name := []string{"good", "store", "lookup", "send", "queue"}[i]
			p.Set(Task{Customer: 1, Resource: belfry.ID(i + 1), Name: name, Objects: []string{"O"}, Answers: map[string]string{
				"ip_address_fqdn": target, "interval": "10s", "count": "1", "timeout": "1s", "size": "56",
			}})
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		mu.Lock()
		if stored["good"] < 10 || stored["store"] != 0 || reasons["lookup"] != errPanic.Error() || reasons["send"] != errPanic.Error() {
			t.Errorf("stored: %v %v", stored, reasons)
		}
		for _, want := range []string{"fault=\"of the store\" resource=2", "fault=\"of the resolver\" resource=3", "fault=\"of the sender\" resource=4"} {
			if !strings.Contains(logged.String(), want) {
				t.Errorf("no %s in the log", want)
			}
		}
		if n := strings.Count(logged.String(), "stack="); n < 1 || n > 3 {
			t.Errorf("%d stacks in the log", n)
		}
		bad = false
		clear(stored)
		mu.Unlock()
		p.mu.Lock()
		p.queue = append(p.queue, nil) // the queue is broken
		p.schedule(p.all[1], resting, time.Now())
		p.mu.Unlock()
		time.Sleep(3 * time.Minute)
		stop()
		done.Wait()
		for _, name := range []string{"good", "store", "lookup", "send", "queue"} {
			if stored[name] < 5 {
				t.Errorf("%s goes on with %d series", name, stored[name])
			}
		}
	})
}

// A packet that the reader cannot read ends neither the reader nor the service.
func TestPingPacketPanics(t *testing.T) {
	var logged bytes.Buffer
	p := New(slog.New(slog.NewTextHandler(&logged, nil)))
	p.receive(&echoSocket{}, make([]byte, 64), time.Now()) // has no types
	if !strings.Contains(logged.String(), "panic in a ping") {
		t.Errorf("log: %s", logged.String())
	}
}
