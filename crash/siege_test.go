package crash

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// siege is a run of kills on one data folder, while clients do what a test is about.
type siege struct {
	t      *testing.T
	s      *server
	number uint64     // the seed
	rng    *rand.Rand // of the kills
	killed int
	early  int           // kills before it was ready
	target chan struct{} // a client is about to send something worth a kill

	mu     sync.Mutex
	faults []string
}

// newSiege prepares a run on a folder that stays if the test fails.
func newSiege(t *testing.T, n int, data string) *siege {
	t.Helper()
	number := *seed
	if number == 0 {
		number = rand.Uint64N(1 << 32)
	}
	t.Logf("%d kills, -seed %d", n, number)
	g := &siege{t: t, target: make(chan struct{}), number: number, rng: rand.New(rand.NewPCG(number, 0))}
	g.s = newServer(t, data, "storage: {reserve: 1MiB, min_free: 1MiB}\n")
	return g
}

// allKills is how often TestKill kills the program.
func allKills() int {
	switch {
	case *kills > 0:
		return *kills
	case testing.Short():
		return 3
	}
	return 50
}

// someKills is how often each of the tests of one subject does.
func someKills() int { return max(3, allKills()/5) }

// stream is where something random starts; each number is another one.
func (g *siege) stream(i int) *rand.Rand { return rand.New(rand.NewPCG(g.number, uint64(i+1))) }

// client has a key of its own of the customer; the customer is made with its first key. The program runs.
func (g *siege) client(customer, key string) *client {
	g.t.Helper()
	if customer != "default" && key == "crash" {
		if _, err := g.s.cli("customer", "create", "--name", customer); err != nil {
			g.t.Fatal(err)
		}
	}
	return &client{s: g.s, key: g.s.key(customer, key)}
}

func (g *siege) fault(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

// strike kills the program at some moment of the window that begins now.
func (g *siege) strike(window time.Duration) {
	<-time.After(time.Duration(g.rng.Int64N(int64(window))))
	g.s.kill()
	g.killed++
}

// judge fails the test if anything was found wrong.
func (g *siege) judge() {
	g.t.Helper()
	g.s.innocent()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.faults) > 0 {
		g.t.Fatalf("after %d kills, -seed %d:\n%s\nlog:\n%s", g.killed, g.number, sum(g.faults), tail(g.s.text()))
	}
	if g.t.Failed() {
		g.t.FailNow()
	}
}

// besiege kills the program n times while the clients are at work. After each start compare holds what the program shows
// against what they were told; no client is at work then. In the end the program is stopped as one should and compared
// once more.
func (g *siege) besiege(n int, compare func(), clients ...func(stop *atomic.Bool)) {
	g.t.Helper()
	g.s.kill()
	binary(g.t, !testing.Short()) // built before the first kill
	for g.killed < n {
		g.s.bin = binary(g.t, g.killed == n/2 && !testing.Short()) // one life with the race detector
		g.s.launch()
		if g.early < n/3 && g.rng.IntN(5) == 0 {
			g.early++
			g.strike(300 * time.Millisecond)
			continue
		}
		g.s.ready()
		compare()
		g.judge()
		g.assault(clients)
		g.judge()
	}
	g.s.bin = binary(g.t, false)
	for range 2 {
		g.s.start()
		compare()
		g.judge()
		g.s.stop()
	}
}

// assault lets the clients work until the program is killed: at any moment, or while it is at something they have
// pointed at. What they may do in one life is limited, to more than they get done.
func (g *siege) assault(clients []func(*atomic.Bool)) {
	var stop atomic.Bool
	var running sync.WaitGroup
	for _, c := range clients {
		running.Go(func() { c(&stop) })
	}
	idle := make(chan struct{})
	go func() {
		running.Wait()
		close(idle)
	}()
	window := 300 * time.Millisecond
	if g.rng.IntN(3) > 0 {
		<-time.After(time.Duration(g.rng.Int64N(int64(window))))
		select {
		case <-g.target:
		case <-idle:
		}
		window = 3 * time.Millisecond
	}
	g.strike(window)
	stop.Store(true)
	<-idle
}

// point tells that what a client is about to send is worth a kill.
func (g *siege) point() {
	select {
	case g.target <- struct{}{}:
	default:
	}
}
