package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
)

// bench is accounts over a sequencer whose journal is in memory.
type bench struct {
	*Accounts
	seq     *engine.Sequencer
	intake  *intake.Intake
	tree    *meta.Tree
	who     Caller
	records []*belfry.Record
	answers map[string]*belfry.Answer
	clock   sync.Mutex // guards now where other goroutines read or write it
	now     time.Time
	refuse  error // of Ready
	journal error // of Append
}

// Append counts as the journal.
func (b *bench) Append(payloads ...[]byte) (belfry.Position, error) {
	if b.journal != nil {
		return 0, b.journal
	}
	return belfry.Position(len(b.records) + 1), nil
}

func newBench(t *testing.T) *bench {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{tree: meta.NewTree(cat), answers: map[string]*belfry.Answer{}, now: time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)}
	time := func() time.Time {
		b.clock.Lock()
		defer b.clock.Unlock()
		return b.now
	}
	b.seq = engine.New(engine.Config{
		Tree: b.tree, Journal: b, Log: slog.New(slog.DiscardHandler), Now: time, Zone: b.now.Location(),
		Sinks: []func(*belfry.Record){func(r *belfry.Record) {
			b.records = append(b.records, r)
			if r.Answer != nil {
				b.answers[r.Answer.Key] = r.Answer
			}
		}},
		Room:  func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready: func() error { return b.refuse },
		Answers: func(_ context.Context, _ belfry.CustomerID, key string) (*belfry.Answer, error) {
			return b.answers[key], nil
		},
		Count: func(belfry.CustomerID) int { return len(b.answers) },
		Limits: func() engine.Limits {
			return engine.Limits{Row: 1 << 20, Columns: 100, Indicators: 10, Objects: 1000, Answers: 1000}
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.seq.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	b.intake = intake.New(intake.Config{Engine: b.seq})
	b.Accounts = New(Config{Engine: b.seq, Log: slog.New(slog.DiscardHandler)})
	if err := b.Bootstrap("hash"); err != nil {
		t.Fatal(err)
	}
	c, ok := b.tree.Access().CustomerNamed(belfry.DefaultCustomer)
	if !ok {
		t.Fatal("no default customer after Bootstrap")
	}
	b.who = b.in(c.ID)
	return b
}

// in is an administrator of the instance in a customer.
func (b *bench) in(c belfry.CustomerID) Caller {
	return Caller{Sender: engine.Sender{Scope: belfry.Whole(c), Key: "k", Name: "test"}, Level: belfry.LevelInstance}
}

func (b *bench) advance(by time.Duration) {
	b.clock.Lock()
	defer b.clock.Unlock()
	b.now = b.now.Add(by)
}

// provision makes items of a package.
func (b *bench) provision(t *testing.T, who engine.Sender, packageType, body string) {
	t.Helper()
	_, answer, err := b.intake.Provision(context.Background(), who, packageType, strings.NewReader(body), intake.Options{})
	var r belfry.Report
	if err = errors.Join(err, json.Unmarshal(answer, &r)); err != nil || r.Rejected > 0 {
		t.Fatalf("%v %s", err, answer)
	}
}

// password, views and remove change a user.
func (b *bench) setPassword(c belfry.CustomerID, name, hash string) error {
	return b.UpdateUser(c, name, UserChange{Password: hash}, true, &belfry.Actor{Name: "test"})
}

func (b *bench) setViews(c belfry.CustomerID, name string, views ...string) error {
	return b.UpdateUser(c, name, UserChange{Views: &views}, true, &belfry.Actor{Name: "test"})
}

func (b *bench) removeUser(name string) error {
	return b.RemoveUser(b.who, name)
}

func (b *bench) revokeKey(name string) error {
	return b.RevokeKey(b.who, name)
}

// events gives source, user and info of the events of a type so far; of a customer, or with customer 0 of all.
func (b *bench) events(c belfry.CustomerID, kind string) (list []string) {
	for _, r := range b.records {
		for _, batch := range r.Batches {
			if batch.Collection != belfry.Events || c != 0 && batch.Customer != c {
				continue
			}
			for i, k := range batch.Column("type").Texts {
				if k == kind {
					list = append(list, batch.Column("source").Texts[i]+" "+batch.Column("user").Texts[i]+": "+batch.Column("info").Texts[i])
				}
			}
		}
	}
	return list
}
