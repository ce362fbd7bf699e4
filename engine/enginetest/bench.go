// Package enginetest has helpers for tests of the engine and the packages above it: a running sequencer on a journal on disk or
// in memory.
package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/journal"
	"belfry/meta"
)

// LoadCatalog loads the catalog once.
var LoadCatalog = sync.OnceValues(catalog.Load)

// Memory is a journal in memory.
type Memory struct {
	Records [][]byte
	Rounds  []int // number of records of each append
	Refuse  error
	Room    int  // 1 + number of appends that still succeed; 0: unlimited
	Full    bool // an append has failed for want of room
}

// Append implements engine.Journal.
func (j *Memory) Append(payloads ...[]byte) (first belfry.Position, err error) {
	if j.Refuse != nil {
		return 0, j.Refuse
	}
	if j.Room == 1 {
		j.Full = true
		return 0, errors.New("no room")
	}
	j.Room = max(j.Room-1, 0)
	first = belfry.Position(len(j.Records) + 1)
	j.Rounds = append(j.Rounds, len(payloads))
	for _, p := range payloads {
		j.Records = append(j.Records, bytes.Clone(p))
	}
	return first, nil
}

// Replay returns the records of the journal.
func (j *Memory) Replay() (list []*belfry.Record, err error) {
	for i, data := range j.Records {
		r, err := belfry.DecodeRecord(data)
		if err != nil {
			return nil, err
		}
		r.SetPos(belfry.Position(i + 1))
		list = append(list, r)
	}
	return list, nil
}

// OpenJournal opens a journal in a temporary folder.
func OpenJournal(t testing.TB) engine.Journal {
	t.Helper()
	j, err := journal.Open(t.TempDir(), journal.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// Bench is a running sequencer without stores. It has the default customer.
type Bench struct {
	*engine.Sequencer
	Config  engine.Config // read on each use, so a test may change its functions
	Tree    *meta.Tree
	Who     engine.Sender
	Records []*belfry.Record
	Answers map[string]*belfry.Answer
	Moment  time.Time     // time of the clock
	Refuse  error         // Config.Ready
	Texts   *atomic.Int64 // Limits.Texts
	Memory  *atomic.Int64 // Limits.Items

	ticking sync.Mutex    // guards Moment
	behind  time.Duration // how far the clock is behind the trusted time
}

// NewBench starts a sequencer on an empty journal, with changes applied to its configuration.
func NewBench(t testing.TB, j engine.Journal, changes ...func(*engine.Config)) *Bench {
	t.Helper()
	cat, err := LoadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	b := &Bench{
		Texts: new(atomic.Int64), Memory: new(atomic.Int64), Tree: meta.NewTree(cat), Answers: map[string]*belfry.Answer{},
		Moment: time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC),
	}
	b.Config = engine.Config{
		Tree: b.Tree, Journal: j, Log: slog.New(slog.DiscardHandler),
		Sinks: []func(*belfry.Record){func(r *belfry.Record) {
			b.Records = append(b.Records, r)
			if r.Answer != nil {
				b.Answers[r.Answer.Key] = r.Answer
			}
		}},
		Room:  func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready: func() error { return b.Refuse },
		Answers: func(_ context.Context, _ belfry.CustomerID, key string) (*belfry.Answer, error) {
			return b.Answers[key], nil
		},
		Count: func(belfry.CustomerID) int { return len(b.Answers) },
		Limits: func() engine.Limits {
			return engine.Limits{
				Row: 1 << 20, Columns: 1000, Indicators: 100, Objects: 1_000_000, Answers: 1_000_000, Texts: b.Texts.Load(), Items: b.Memory.Load(),
				Retention: func(string) time.Duration { return 400 * 24 * time.Hour },
			}
		},
		Now: b.Time, Trusted: b.trusted, Zone: time.UTC,
	}
	for _, change := range changes {
		change(&b.Config)
	}
	b.run(t)
	if err := Bootstrap(b.Sequencer); err != nil {
		t.Fatal(err)
	}
	c, ok := b.Tree.Access().CustomerNamed(belfry.DefaultCustomer)
	if !ok {
		t.Fatal("no default customer after Bootstrap")
	}
	b.Who = engine.Sender{Scope: belfry.Whole(c.ID), Key: "k"}
	return b
}

// Restart returns a bench whose tree is rebuilt from the records. The old one must not be used any more.
func (b *Bench) Restart(t testing.TB, later time.Duration) *Bench {
	t.Helper()
	n := &Bench{Config: b.Config, Texts: b.Texts, Memory: b.Memory, Tree: meta.NewTree(b.Tree.Catalog()), Answers: b.Answers, Moment: b.Moment.Add(later), Who: b.Who}
	for _, r := range b.Records {
		back, err := belfry.DecodeRecord(r.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		back.SetPos(r.Pos)
		if err := n.Tree.Apply(back); err != nil {
			t.Fatal(err)
		}
		n.Records = append(n.Records, back)
	}
	n.Config.Tree, n.Config.Now = n.Tree, n.Time
	n.Config.Sinks = []func(*belfry.Record){func(r *belfry.Record) { n.Records = append(n.Records, r) }}
	n.run(t)
	return n
}

// run starts the sequencer and stops it at the end of the test.
func (b *Bench) run(t testing.TB) {
	c := b.Config
	c.Sinks = []func(*belfry.Record){func(r *belfry.Record) {
		for _, sink := range b.Config.Sinks {
			sink(r)
		}
	}}
	c.Room = func(ctx context.Context, id belfry.CustomerID, rows int) error { return b.Config.Room(ctx, id, rows) }
	c.Ready = func() error { return b.Config.Ready() }
	c.Answers = func(ctx context.Context, id belfry.CustomerID, key string) (*belfry.Answer, error) {
		return b.Config.Answers(ctx, id, key)
	}
	c.Count = func(id belfry.CustomerID) int { return b.Config.Count(id) }
	c.Limits = func() engine.Limits { return b.Config.Limits() }
	c.Now = func() time.Time { return b.Config.Now() }
	c.Trusted = func() time.Time { return b.Config.Trusted() }
	c.Arrives = func(at belfry.Time) error {
		if b.Config.Arrives == nil {
			return nil
		}
		return b.Config.Arrives(at)
	}
	c.ZoneOf = func(id belfry.CustomerID) *time.Location {
		if b.Config.ZoneOf == nil {
			return b.Config.Zone
		}
		return b.Config.ZoneOf(id)
	}
	b.Sequencer = engine.New(c)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Advance sets the clock.
func (b *Bench) Advance(by time.Duration) {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	b.Moment = b.Moment.Add(by)
}

// Time returns the time of the clock.
func (b *Bench) Time() time.Time {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	return b.Moment
}

// Off sets the clock behind the trusted time.
func (b *Bench) Off(behind time.Duration) {
	b.Advance(b.behind - behind)
	b.ticking.Lock()
	defer b.ticking.Unlock()
	b.behind = behind
}

func (b *Bench) trusted() time.Time {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	return b.Moment.Add(b.behind)
}

// Operate runs an action and returns its outcome with the status that the API gives it.
func (b *Bench) Operate(t testing.TB, a engine.Action, r engine.Repeat) (int, engine.Acted) {
	t.Helper()
	if r.Key == "" {
		out, err := b.Act(context.Background(), b.Who, a)
		if err != nil {
			t.Fatalf("act: %v", err)
		}
		return StatusOf(out), *out
	}
	reply, err := b.ActOnce(context.Background(), b.Who, a, r, Render)
	if err != nil {
		t.Fatalf("act: %v", err)
	}
	var out engine.Acted
	if err := json.Unmarshal(reply.Body, &out); err != nil {
		t.Fatal(err)
	}
	return reply.Status, out
}

// Render renders the outcome of an action.
func Render(out *engine.Acted) engine.Reply {
	body, err := json.Marshal(out)
	if err != nil {
		panic(err) // an outcome holds nothing that JSON cannot express
	}
	return engine.Reply{Status: StatusOf(out), Body: body}
}

// StatusOf returns the status that the API gives the outcome of an action.
func StatusOf(out *engine.Acted) int {
	switch {
	case out.Error == nil && len(out.Errors) == 0:
		return 200
	case out.Error == nil:
		return 207
	case out.Error.Code == belfry.UnknownItem:
		return 404
	case out.Error.Code == belfry.NotInError, out.Error.Code == belfry.AmbiguousName:
		return 409
	}
	return 400
}

// Grow creates that many objects, a thousand in each resource, ten resources in each view.
func (b *Bench) Grow(tb testing.TB, objects int) {
	tb.Helper()
	const perResource, perView = 1000, 10
	err := b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(t *engine.Tx) error {
		var view, resource *meta.Node
		class := t.Find().ViewClass(engine.GenericView)
		for i := range objects {
			if i%(perResource*perView) == 0 {
				view = t.Create(belfry.KindView, fmt.Sprintf("view%04d", i/perResource/perView), t.Tenant.Main, nil, class, "", nil)
			}
			if i%perResource == 0 {
				resource = t.Create(belfry.KindResource, fmt.Sprintf("res%04d", i/perResource), view, nil, class, "custom", nil)
			}
			t.CreatePart(resource, fmt.Sprintf("obj%07d", i), t.Find().ViewClass("network-ping"))
		}
		return nil
	}})
	if err != nil {
		tb.Fatal(err)
	}
	b.Records = nil
}

// Statuses lists the items of the tree with their status and last values, by name.
func (b *Bench) Statuses() map[string]string {
	all := map[string]string{}
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		e.All(func(n *meta.Node) bool {
			s := n.State.Status.String()
			for _, v := range n.State.Numbers {
				s += " " + belfry.FormatNumber(v)
			}
			all[n.Name] = s + strings.Join(n.State.Texts, " ")
			return true
		})
	})
	return all
}

// EventsOf lists the texts of the events of a customer, in order.
func (b *Bench) EventsOf(c belfry.CustomerID) (list []string) {
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if batch.Collection != belfry.Events || batch.Customer != c {
				continue
			}
			for i := range batch.Len() {
				line := batch.Column("type").Texts[i]
				if info := batch.Column("info"); info != nil {
					line += " " + info.Texts[i]
				}
				list = append(list, line)
			}
		}
	}
	return list
}

// Configurations lists the configuration events from the given record on, as user and text.
func (b *Bench) Configurations(from int) (list []string) {
	for _, r := range b.Records[from:] {
		for _, batch := range r.Batches {
			if batch.Collection != belfry.Events {
				continue
			}
			for i, kind := range batch.Column("type").Texts {
				if kind != "configuration" {
					continue
				}
				user := ""
				if users := batch.Column("user"); users != nil {
					user = users.Texts[i]
				}
				list = append(list, user+": "+batch.Column("info").Texts[i])
			}
		}
	}
	return list
}
