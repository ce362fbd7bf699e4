package intake

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/journal"
	"belfry/meta"
)

// shaky is a sequencer on a journal whose next sync can be made to fail.
type shaky struct {
	*engine.Sequencer
	*Intake
	tree *meta.Tree
	sunk int         // records that the movers were told of
	fail atomic.Bool // the next sync fails
	who  engine.Sender
	stop func()
}

// openShaky opens the journal in dir and replays it, as the program does.
func openShaky(t *testing.T, dir string) *shaky {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	b := &shaky{tree: meta.NewTree(cat)}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	j, err := journal.Open(dir, journal.Options{Log: log, Sync: func(f *os.File) error {
		if b.fail.CompareAndSwap(true, false) {
			return errors.New("device error")
		}
		return f.Sync()
	}})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]*belfry.Answer{}
	if err := j.Replay(0, func(pos belfry.Position, payload []byte) error {
		r, err := belfry.DecodeRecord(payload)
		if err != nil {
			return err
		}
		r.SetPos(pos)
		if r.Answer != nil {
			answers[r.Answer.Key] = r.Answer
		}
		return b.tree.Apply(r)
	}); err != nil {
		t.Fatal(err)
	}
	b.Sequencer = engine.New(engine.Config{
		Tree: b.tree, Journal: j, Log: log,
		Sinks: []func(*belfry.Record){func(r *belfry.Record) {
			b.sunk++
			if r.Answer != nil {
				answers[r.Answer.Key] = r.Answer
			}
		}},
		Room:  func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready: func() error { return nil },
		Count: func(belfry.CustomerID) int { return 0 },
		Answers: func(_ context.Context, _ belfry.CustomerID, key string) (*belfry.Answer, error) {
			return answers[key], nil
		},
		Limits: func() engine.Limits {
			return engine.Limits{Row: 1 << 20, Columns: 1000, Indicators: 100, Objects: 1000, Answers: 1000, Retention: func(string) time.Duration { return 0 }}
		},
		Now: time.Now,
	})
	b.Intake = New(Config{Engine: b.Sequencer})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	b.stop = func() {
		cancel()
		if err := errors.Join(<-ended, j.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := enginetest.Bootstrap(b.Sequencer); err != nil {
		t.Fatal(err)
	}
	c, ok := b.tree.Access().CustomerNamed(belfry.DefaultCustomer)
	if !ok {
		t.Fatal("no default customer")
	}
	b.who = engine.Sender{Scope: belfry.Whole(c.ID), Key: "k"}
	return b
}

// object finds an object of the resource web01; nil when there is none.
func (b *shaky) object(name string) *meta.Node {
	return b.tree.Tenant(b.who.Customer).Place("web01").Object(name)
}

// TestFailingSync: what a sync failed for is not acknowledged, not visible, and not there after a restart, whatever kind
// of request it was. The next request works by itself.
func TestFailingSync(t *testing.T) {
	dir := t.TempDir()
	b := openShaky(t, dir)
	send := func(object string, o Options) (int, error) {
		code, _, err := b.Send(context.Background(), b.who,
			strings.NewReader("type,resname,object,class,view,i1\ndata,web01,"+object+",CPU,web01,1\n"), o)
		return code, err
	}
	if code, _, err := b.Provision(context.Background(), b.who, "custom", strings.NewReader("name\nweb01\n"), Options{}); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	there := []string{"first"}
	if code, err := send("first", Options{}); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	f := func(what string, o Options) {
		t.Helper()
		sunk, before := b.sunk, len(b.tree.Everything(b.who.Customer))
		b.fail.Store(true)
		if code, err := send("lost "+what, o); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("%s: answered %d, %v", what, code, err)
		}
		if b.fail.Load() {
			t.Fatalf("%s: nothing was synced, so nothing was shown", what)
		}
		if b.object("lost "+what) != nil || b.sunk != sunk || len(b.tree.Everything(b.who.Customer)) != before {
			t.Errorf("%s: refused, and visible", what)
		}
		// The same again, now that the disk is well: it is new, also under its Idempotency-Key.
		if code, err := send("kept "+what, Options{}); err != nil || code != 200 {
			t.Errorf("%s: after the failure: %d, %v", what, code, err)
		}
		there = append(there, "kept "+what)
		if o.Repeat.Key != "" {
			if code, err := send("lost "+what, o); err != nil || code != 200 || b.object("lost "+what) == nil {
				t.Errorf("%s: repeated after the failure: %d, %v", what, code, err)
			}
			there = append(there, "lost "+what)
		}
	}
	f("plain", Options{})
	f("atomic", Options{Atomic: true})
	f("keyed", Options{Repeat: engine.Repeat{Key: "one", Digest: [32]byte{1}}})

	b.fail.Store(true)
	if _, err := enginetest.CreateCustomer(b.Sequencer, "lost", "test"); belfry.CodeOf(err) != belfry.StorageUnavailable {
		t.Errorf("a customer: %v", err)
	}
	if _, ok := b.tree.Access().CustomerNamed("lost"); ok {
		t.Error("a customer that was not stored is there")
	}
	b.stop()

	b = openShaky(t, dir)
	defer b.stop()
	for _, name := range there {
		if b.object(name) == nil {
			t.Errorf("%q was acknowledged and is lost", name)
		}
	}
	objects, _, _ := b.tree.Size()
	if objects != len(there) || len(b.tree.Access().Keys(b.who.Customer)) != 0 {
		t.Errorf("%d objects after a restart, want %d: something that was refused is there", objects, len(there))
	}
}
