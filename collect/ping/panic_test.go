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
		stored := map[belfry.CustomerID]int{}
		bad := true
		is := func() bool { mu.Lock(); defer mu.Unlock(); return bad }
		names := []string{"good", "store", "lookup", "send", "queue"} // of customers with a ping each
		customers := map[string]belfry.CustomerID{}
		f := newFixture(t)
		for _, name := range names {
			c, err := f.CreateCustomer(name, "test")
			if err != nil {
				t.Fatal(err)
			}
			f.provision(t, c.ID, name)
			customers[name] = c.ID
		}
		f.beforeRows(func(c belfry.CustomerID) {
			if c == customers["store"] && is() {
				panic("of the store")
			}
			mu.Lock()
			defer mu.Unlock()
			stored[c]++
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
		done.Go(func() { p.Run(ctx, f.intake) })
		for i, target := range []string{"192.0.2.1", "192.0.2.2", "name.example", "192.0.2.66", "192.0.2.3"} {
			p.Set(Task{Customer: customers[names[i]], Resource: belfry.ID(i + 1), Name: names[i], Objects: []string{names[i] + " - Ping"}, Answers: map[string]string{
				"ip_address_fqdn": target, "interval": "10s", "count": "1", "timeout": "1s", "size": "56",
			}})
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		mu.Lock()
		if stored[customers["good"]] < 10 || stored[customers["store"]] != 0 {
			t.Errorf("stored: %v", stored)
		}
		for _, name := range []string{"lookup", "send"} {
			if got := f.state(customers[name], name).Info; got != ErrPanic.Error() {
				t.Errorf("%s shows %q", name, got)
			}
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
		for name, c := range customers {
			if stored[c] < 5 {
				t.Errorf("%s goes on with %d series", name, stored[c])
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
