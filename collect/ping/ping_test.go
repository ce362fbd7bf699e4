package ping

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/meta"
)

func TestPingChecks(t *testing.T) {
	f := func(interval, count, timeout, want string) {
		t.Helper()
		column, err := Check(map[string]string{"interval": interval, "count": count, "timeout": timeout})
		if got := fmt.Sprint(column, " ", err); !strings.HasPrefix(got, want) {
			t.Errorf("got %s", got)
		}
	}
	f("60s", "3", "1s", " <nil>")
	f("30", "3", "1", " <nil>")
	f("5", "5", "1s", "interval interval is 5, but 5 requests of 1s each may take 5.25s")
}

func TestPingValues(t *testing.T) {
	f := func(want string, lost int, times ...time.Duration) {
		t.Helper()
		s := series{asked: int32(lost + len(times))}
		for _, d := range times {
			s.add(d)
		}
		if got := fmt.Sprint(s.values()); got != want {
			t.Errorf("got %s", got)
		}
	}
	f("[{1 2} {2 1} {3 4} {4 0} {5 1.667}]", 0, time.Millisecond, time.Millisecond, 4*time.Millisecond, 2*time.Millisecond)
	f("[{1 0.052} {2 0.052} {3 0.052} {4 66.67} {5 0}]", 2, 52*time.Microsecond)
}

// Series of many resources are spread over the interval, and each keeps its phase.
func TestPingPhase(t *testing.T) {
	var seconds [60]int
	now := time.Now()
	for i := range 6000 {
		p := &spec{interval: time.Minute, resource: belfry.ID(i), name: fmt.Sprint("P", i)}
		wait := p.wait(now)
		if wait < p.interval/2 || wait > 3*p.interval/2 {
			t.Fatalf("waits %s", wait)
		}
		at := now.Add(wait)
		if again := p.wait(at); again.Round(time.Millisecond) != p.interval {
			t.Fatalf("waits %s after that", again)
		}
		seconds[at.Second()]++
	}
	for s, n := range seconds {
		if n < 50 || n > 160 {
			t.Errorf("%d of 6000 begin in second %d", n, s)
		}
	}
}

func FuzzEcho(f *testing.F) {
	for _, six := range []bool{false, true} {
		s, err := openEcho(six)
		if err != nil {
			f.Skip(err)
		}
		b := s.packet(nil, 1, 1, 56)
		f.Add(b, six)
		f.Add([]byte{3, 1, 0, 0, 0, 0, 0, 0, 0x45, 0, 0, 84}, six)
		s.conn.Close()
	}
	four, _ := openEcho(false)
	six, _ := openEcho(true)
	f.Fuzz(func(t *testing.T, b []byte, v6 bool) {
		s := four
		if v6 {
			s = six
		}
		s.parse(b) // whatever arrives at a raw socket
	})
}

func TestPingerAnswers(t *testing.T) {
	for _, a := range []string{"127.0.0.1", "127.255.1.2", "::1"} {
		if s := pingOnce(t, nil, a, 56, testTimeout); s.Status != belfry.OK {
			t.Errorf("%s: %s", a, s.Info)
		}
	}
}

// fixture is an intake with a journal in memory.
type fixture struct {
	*enginetest.Bench
	intake *intake.Intake
}

func newFixture(t *testing.T) *fixture {
	b := enginetest.NewBench(t, &enginetest.Memory{})
	return &fixture{b, intake.New(intake.Config{Engine: b.Sequencer})}
}

// provision makes a resource of a customer, with its object.
func (f *fixture) provision(t *testing.T, c belfry.CustomerID, name string) {
	who := engine.Sender{Scope: belfry.Whole(c), Name: "test"}
	code, answer, err := f.intake.Provision(t.Context(), who, "network-ping", strings.NewReader("name,ip_address_fqdn\n"+name+",192.0.2.1\n"), intake.Options{})
	if err != nil || code != 200 {
		t.Fatalf("%d %s %v", code, answer, err)
	}
}

// state returns the state of the object of a resource.
func (f *fixture) state(c belfry.CustomerID, name string) (s belfry.ItemState) {
	f.Tree.Read(c, func(e *meta.Tenant) {
		n, _ := e.Object(name + " - Ping")
		s = n.State
	})
	return s
}

// beforeRows has a function called before the rows of a customer are decided.
func (f *fixture) beforeRows(call func(belfry.CustomerID)) {
	f.Config.Room = func(_ context.Context, c belfry.CustomerID, _ int) error {
		call(c)
		return nil
	}
}

// testTimeout is how long an answer may take on a busy machine.
const testTimeout = 5 * time.Minute

// The sockets are closed when the last ping is removed.
func TestSocketsClosed(t *testing.T) {
	f := newFixture(t)
	p, stored := New(slog.New(slog.DiscardHandler)), make(chan struct{}, 10)
	f.beforeRows(func(belfry.CustomerID) { stored <- struct{}{} })
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { p.Run(ctx, f.intake) })
	for i, target := range []string{"127.1.2.3", "::1"} {
		p.Set(Task{Customer: 1, Resource: belfry.ID(i + 1), Name: "P", Objects: []string{"O"}, Answers: map[string]string{
			"ip_address_fqdn": target, "interval": "10m", "count": "1", "timeout": "5m", "size": "56",
		}})
	}
	<-stored
	<-stored
	sockets := func() (open, waiting int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, s := range p.sockets {
			if s != nil {
				open++
			}
		}
		return open, len(p.waiting)
	}
	if open, _ := sockets(); open != 2 {
		t.Errorf("%d sockets are open", open)
	}
	p.Remove(1)
	p.Remove(2)
	if open, waiting := sockets(); open != 0 || waiting != 0 {
		t.Errorf("%d sockets are open, %d requests wait", open, waiting)
	}
	stop()
	done.Wait()
}

// pingOnce sends one request from this goroutine, and returns the state of the object afterwards.
func pingOnce(t *testing.T, look func(*Pinger), address string, size int, timeout time.Duration) belfry.ItemState {
	f, p := newFixture(t), New(slog.New(slog.DiscardHandler))
	f.provision(t, f.Who.Customer, "P")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f.Config.Sinks = append(f.Config.Sinks, func(*belfry.Record) {
		if look != nil {
			p.mu.Lock()
			look(p)
			p.mu.Unlock()
		}
		stop()
	})
	p.Set(Task{Customer: f.Who.Customer, Resource: 1, Name: "P", Objects: []string{"P - Ping"}, Answers: map[string]string{
		"ip_address_fqdn": address, "interval": "10m", "count": "1", "timeout": fmt.Sprintf("%ds", int(timeout.Seconds())), "size": fmt.Sprint(size),
	}})
	p.Run(ctx, f.intake)
	return f.state(f.Who.Customer, "P")
}

// Tens of thousands of pings take little memory while they rest, wait for an answer or wait for the store, and no goroutine each.
// One customer's do not delay another's.
func TestPingsAreSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 3000
		stored := map[belfry.CustomerID]int{}
		var mu sync.Mutex
		block := make(chan struct{})
		f := newFixture(t)
		c, err := f.CreateCustomer("other", "test")
		if err != nil {
			t.Fatal(err)
		}
		busy, other := f.Who.Customer, c.ID
		f.beforeRows(func(c belfry.CustomerID) {
			if c != other {
				<-block // there is no room for what this customer sends
			}
			mu.Lock()
			defer mu.Unlock()
			stored[c]++
		})
		p := New(slog.New(slog.DiscardHandler))
		var sent atomic.Int64
		p.send = func(echoRequest) error { sent.Add(1); return nil } // and no answer
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { p.Run(ctx, f.intake) })
		objects := []string{"O"}
		set := func(i int, c belfry.CustomerID, name string) {
			p.Set(Task{Customer: c, Resource: belfry.ID(i), Name: name, Objects: objects, Answers: map[string]string{
				"ip_address_fqdn": "192.0.2.1", "interval": "20s", "count": "2", "timeout": "1s", "size": "56",
			}})
		}
		memory := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc + m.StackInuse)
		}
		before, goroutines := memory(), runtime.NumGoroutine()
		for i := range many {
			set(i, busy, "many")
		}
		set(many, other, "other")
		small := func(when string, most int64) {
			t.Helper()
			if each := (memory() - before) / many; each > most {
				t.Errorf("%s a ping takes %d bytes", when, each)
			}
			if n := runtime.NumGoroutine() - goroutines; n > jobsPerCustomer+10 {
				t.Errorf("%s there are %d goroutines", when, n)
			}
		}
		small("at rest", 450)
		time.Sleep(1500 * time.Millisecond)
		if n := sent.Load(); n < many {
			t.Errorf("%d requests were sent", n)
		}
		small("with requests under way", 1000) // stacks of the few goroutines included
		time.Sleep(15 * time.Second)
		small("with series that wait for the store", 1000)
		synctest.Wait()
		mu.Lock()
		if stored[other] != 1 || stored[busy] != 0 {
			t.Errorf("stored: %v", stored)
		}
		mu.Unlock()
		close(block)
		synctest.Wait()
		mu.Lock()
		if stored[busy] != many {
			t.Errorf("stored: %v", stored)
		}
		mu.Unlock()
		for i := range many + 1 {
			p.Remove(belfry.ID(i))
		}
		stop()
		done.Wait()
		runtime.KeepAlive(p)
	})
}

// A ping that is changed while its name is looked up starts again with the new task, and a removed one stores nothing.
func TestPingChangedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.provision(t, f.Who.Customer, "P")
		stored := 0
		f.beforeRows(func(belfry.CustomerID) { stored++ })
		p := New(slog.New(slog.DiscardHandler))
		p.send = func(echoRequest) error { return errUnreachable }
		p.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
			time.Sleep(3 * time.Second)
			return []netip.Addr{netip.MustParseAddr("192.0.2.9")}, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { p.Run(ctx, f.intake) })
		set := func(id belfry.ID, target string) {
			p.Set(Task{Customer: f.Who.Customer, Resource: id, Name: "P", Objects: []string{"P - Ping"}, Answers: map[string]string{
				"ip_address_fqdn": target, "interval": "10m", "count": "1", "timeout": "1s", "size": "56",
			}})
		}
		set(1, "old.example")
		set(2, "gone.example")
		time.Sleep(2 * time.Second)
		set(1, "192.0.2.1")
		p.Remove(2)
		time.Sleep(10 * time.Second)
		stop()
		done.Wait()
		if got := f.state(f.Who.Customer, "P").Info; stored != 1 || got != "192.0.2.1: "+errUnreachable.Error() {
			t.Errorf("%d series are stored, and the last says %q", stored, got)
		}
	})
}
