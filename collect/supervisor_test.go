package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake"
	"belfry/journal"
	"belfry/meta"
	"belfry/status"
)

// fixture is a sequencer with its tree and a supervisor beside it.
type fixture struct {
	t        *testing.T
	tree     *meta.Tree
	seq      *engine.Sequencer
	intake   *intake.Intake
	accounts *accounts.Accounts
	env      *Env
	sup      *Supervisor
	who      engine.Sender

	inspecting func() // is called before answers are inspected; may be nil

	mu   sync.Mutex
	rows map[string][]map[string]string // that were stored, by collection
	stop func()                         // ends all collectors, as when the service stops
}

// note records rows as they were stored.
func (h *fixture) note(r *belfry.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range r.Batches {
		for i := range b.Times {
			row := map[string]string{}
			for _, c := range b.Columns {
				switch {
				case c.Texts != nil && c.Texts[i] != "":
					row[c.Name] = c.Texts[i]
				case c.Ints != nil && c.Ints[i] != belfry.AbsentInt:
					row[c.Name] = fmt.Sprint(c.Ints[i])
				}
			}
			h.rows[b.Collection] = append(h.rows[b.Collection], row)
		}
	}
}

// stored returns the rows of a collection, the named fields of each in a line, sorted.
func (h *fixture) stored(collection string, fields ...string) (lines []string) {
	lines = h.inOrder(collection, fields...)
	slices.Sort(lines)
	return lines
}

// inOrder returns them in the order of their ids.
func (h *fixture) inOrder(collection string, fields ...string) (lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, row := range h.rows[collection] {
		var words []string
		for _, f := range fields {
			words = append(words, row[f])
		}
		lines = append(lines, strings.Join(words, "|"))
	}
	return lines
}

func newFixture(t *testing.T, kinds map[string]Kind) *fixture {
	t.Helper()
	return newFixtureWith(t, kinds, func(context.Context, belfry.CustomerID, int) error { return nil })
}

// newFixtureWith makes a fixture whose room for rows is limited by a function, see engine.Config.Room.
func newFixtureWith(t *testing.T, kinds map[string]Kind, room func(context.Context, belfry.CustomerID, int) error) *fixture {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.TempDir(), journal.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{t: t, tree: meta.NewTree(cat), env: &Env{Log: slog.New(slog.DiscardHandler), Now: time.Now, Dir: t.TempDir(), Worker: testWorker}, rows: map[string][]map[string]string{}}
	h.sup = newSupervisor(h.tree, h.env, kinds)
	h.seq = engine.New(engine.Config{
		Tree: h.tree, Journal: j, Sinks: []func(*belfry.Record){h.sup.OnRecord, h.note},
		Room: room, Ready: func() error { return nil },
		Answers: func(context.Context, belfry.CustomerID, string) (*belfry.Answer, error) { return nil, nil },
		Count:   func(belfry.CustomerID) int { return 0 },
		Limits: func() engine.Limits {
			return engine.Limits{Row: 1 << 20, Columns: 1000, Indicators: 100, Objects: 1_000_000, Receivers: 100, Answers: 1000, Retention: func(string) time.Duration { return 0 }}
		},
		Now: time.Now, Zone: time.UTC, Log: slog.New(slog.DiscardHandler),
	})
	h.intake = intake.New(intake.Config{Engine: h.seq, Check: Check, Inspect: h.inspect, Receivers: h.sup.Receivers})
	h.env.Intake = h.intake
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { h.seq.Run(ctx) })
	h.accounts = accounts.New(accounts.Config{Engine: h.seq})
	if err := h.accounts.Bootstrap("no password"); err != nil {
		t.Fatal(err)
	}
	c, _ := h.tree.Access().CustomerNamed("default")
	h.who = engine.Sender{Scope: belfry.Whole(c.ID), Name: "test"}
	watching, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.sup.Run(watching)
	}()
	h.stop = func() {
		end()
		<-done
	}
	t.Cleanup(func() {
		h.stop()
		stop()
		parts.Wait()
		j.Close()
	})
	return h
}

func (h *fixture) inspect(ctx context.Context, scope belfry.Scope) func(name, kind string, before, answers map[string]string) (string, error) {
	judge := h.sup.Inspect(ctx, scope)
	return func(name, kind string, before, answers map[string]string) (string, error) {
		if h.inspecting != nil {
			h.inspecting()
		}
		return judge(name, kind, before, answers)
	}
}

// provision sends a body, and fails the test unless all of it is accepted.
func (h *fixture) provision(pkg string, lines ...string) {
	h.t.Helper()
	code, answer, err := h.intake.Provision(h.t.Context(), h.who, pkg, strings.NewReader(strings.Join(lines, "\n")+"\n"), intake.Options{})
	if err != nil || code != 200 {
		h.t.Fatalf("provision %s: %d %s %v", pkg, code, answer, err)
	}
}

func (h *fixture) remove(pkg string, names ...string) {
	h.t.Helper()
	code, answer, err := h.intake.Remove(h.t.Context(), h.who, pkg, strings.NewReader("name\n"+strings.Join(names, "\n")+"\n"), intake.Options{})
	if err != nil || code != 200 {
		h.t.Fatalf("remove %s: %d %s %v", pkg, code, answer, err)
	}
}

// state returns the state of an item.
func (h *fixture) state(name string) (s belfry.ItemState) {
	for n := range h.tree.Each(h.tree.Everything(h.who.Customer)) {
		if n.Name == name {
			s = n.State
		}
	}
	return s
}

// testTimeout is how long something may take that should happen. It only ends a test that would wait forever: with the
// race detector and other load, a machine needs a minute for what otherwise takes a second.
const testTimeout = 5 * time.Minute

// await waits until a condition holds.
func (h *fixture) await(what string, so func() bool) {
	h.t.Helper()
	for end := time.Now().Add(testTimeout); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: not after %s", what, testTimeout)
		}
	}
}

// log has the events of test collectors.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) has(lines ...string) func() bool {
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		have := slices.Clone(l.lines)
		slices.Sort(have)
		slices.Sort(lines)
		return slices.Equal(have, lines)
	}
}

type runner func(ctx context.Context) error

func (r runner) Run(ctx context.Context, _ <-chan Task) error { return r(ctx) }

// noting makes collectors that log when they begin and end.
func noting(l *log) map[string]Kind {
	return map[string]Kind{"network-ping": {New: func(_ *Env, t Task) (Collector, error) {
		return runner(func(ctx context.Context) error {
			l.note("%s asks %s", t.Name, t.Answers["ip_address_fqdn"])
			<-ctx.Done()
			l.note("%s is done", t.Name)
			return nil
		}), nil
	}}}
}

func TestSupervisorFollows(t *testing.T) {
	l := &log{}
	h := newFixture(t, noting(l))
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.1", "B,127.0.0.2")
	h.await("both run", l.has("A asks 127.0.0.1", "B asks 127.0.0.2"))
	h.provision("custom", "name", "C")
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.1", "B,127.0.0.3")
	h.await("B is replaced, A goes on", l.has("A asks 127.0.0.1", "B asks 127.0.0.2", "B is done", "B asks 127.0.0.3"))
	act := func(unmanaged bool) {
		t.Helper()
		a := engine.Action{Kind: belfry.KindResource, List: engine.Names("A")}
		a.Manage = &status.Order{}
		if unmanaged {
			a.Manage.Mode = belfry.CollectorStopped
		}
		if out, err := h.seq.Act(t.Context(), h.who, a); err != nil || len(out.Errors) > 0 {
			t.Fatalf("%+v %v", out, err)
		}
	}
	l.lines = nil
	act(true)
	h.await("A is stopped", l.has("A is done"))
	act(false)
	h.await("A runs again", l.has("A is done", "A asks 127.0.0.1"))
	l.lines = nil
	h.remove("network-ping", "B")
	h.await("B is gone", l.has("B is done"))
	if n := h.sup.Running(); n != 1 {
		t.Errorf("%d run", n)
	}
}

// A collector that fails or panics shows the reason, does not affect another, and is run again.
func TestSupervisorFailure(t *testing.T) {
	l := &log{}
	kinds := noting(l)
	good := kinds["network-ping"].New
	tries := 0
	kinds["network-ping"] = Kind{New: func(e *Env, task Task) (Collector, error) {
		if task.Name != "Bad" {
			return good(e, task)
		}
		return runner(func(ctx context.Context) error {
			if tries++; tries == 1 {
				return errors.New("cannot listen on :514: permission denied")
			}
			panic("oh")
		}), nil
	}}
	h := newFixture(t, kinds)
	h.provision("network-ping", "name,ip_address_fqdn", "Bad,127.0.0.1", "Good,127.0.0.2")
	h.await("it shows why", func() bool { return h.state("Bad - Ping").Info == "cannot listen on :514: permission denied" })
	if s := h.state("Bad"); s.Status != belfry.Unavailable {
		t.Errorf("the resource is %v", s.Status)
	}
	h.tree.Read(h.who.Customer, func(e *meta.Tenant) {
		if got := e.Resource("Bad").Info(); got == "" || got != e.Resource("Bad").OnlyItem().Info() {
			t.Errorf("the resource says %q", got)
		}
	})
	h.await("it shows the next reason", func() bool { return strings.Contains(h.state("Bad - Ping").Info, "internal error in the collector") })
	if !l.has("Good asks 127.0.0.2")() {
		t.Errorf("the other one: %q", l.lines)
	}
}

func TestReceive(t *testing.T) {
	h := newFixture(t, nil)
	h.provision("log-syslog-receiver", "name", "S")
	var id belfry.ID
	for _, r := range h.tree.Resources() {
		id = r
	}
	batch := func() *belfry.Batch {
		return &belfry.Batch{Collection: "syslog", Times: []belfry.Time{1, 2}, Columns: []belfry.Column{{Name: "message", Texts: []string{"a", "b"}}}}
	}
	f := func(kept int, code belfry.Code) {
		t.Helper()
		n, err := h.intake.Receive(t.Context(), h.who.Customer, id, batch(), false)
		if n != kept || err != nil != (code != "") || err != nil && belfry.CodeOf(err) != code {
			t.Errorf("kept %d, %v", n, err)
		}
	}
	f(2, "")
	a := engine.Action{Kind: belfry.KindResource, List: engine.Names("S")}
	a.Manage = &status.Order{Mode: belfry.CollectorStopped}
	if _, err := h.seq.Act(t.Context(), h.who, a); err != nil {
		t.Fatal(err)
	}
	f(0, "")
	h.remove("log-syslog-receiver", "S")
	f(0, belfry.UnknownResource)
}

// count returns how many objects have a status.
func (h *fixture) count(s belfry.Status) (n int) {
	for node := range h.tree.Each(h.tree.Everything(h.who.Customer)) {
		if node.Kind == belfry.KindObject && node.State.Status == s {
			n++
		}
	}
	return n
}

// asked returns how many objects were last pinged at an address.
func (h *fixture) asked(prefix string) (n int) {
	for node := range h.tree.Each(h.tree.Everything(h.who.Customer)) {
		if node.Kind == belfry.KindObject && node.Details != nil && strings.HasPrefix(node.Details.IP, prefix) {
			n++
		}
	}
	return n
}

// stopCollectors unmanages resources so that nothing is collected.
func (h *fixture) stopCollectors(names ...string) {
	h.t.Helper()
	a := engine.Action{Kind: belfry.KindResource, List: engine.Names(names...), Manage: &status.Order{Mode: belfry.CollectorStopped}}
	if out, err := h.seq.Act(h.t.Context(), h.who, a); err != nil || len(out.Errors) > 0 {
		h.t.Fatalf("%+v %v", out, err)
	}
}
