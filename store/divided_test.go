package store

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// divided is a store that needs many calls, of a tenth of a second each, for the rows of customer 2.
type divided struct {
	ram
	need int
}

func (d *divided) Append(ctx context.Context, enough func() bool, batches ...*belfry.Batch) (left []*belfry.Batch, err error) {
	time.Sleep(100 * time.Millisecond)
	var whole []*belfry.Batch
	for _, b := range batches {
		if b.Customer == 2 && d.need > 0 {
			d.need--
			left = append(left, b)
		} else {
			whole = append(whole, b)
		}
	}
	_, err = d.ram.Append(ctx, enough, whole...)
	return left, err
}

// TestDivided: rows of one customer that need many commits do not delay queries of another one. They count as backlog until
// all of them are stored, and so does their record.
func TestDivided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &divided{need: 100}
		m := NewMover(d, MoverOptions{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		of := func(pos belfry.Position, c belfry.CustomerID, rows int) *belfry.Record {
			r := record(pos, belfry.ObjectData, rows)
			r.Batches[0].Customer = c
			return r
		}
		ask := func(c belfry.CustomerID) time.Duration {
			start := time.Now()
			p := &query.Plan{Customer: c, Collection: &catalog.Collection{Name: belfry.ObjectData}}
			if _, err := m.Select(t.Context(), p); err != nil {
				t.Error(err)
			}
			return time.Since(start)
		}
		m.Add(of(1, 2, 400))
		time.Sleep(time.Second) // it has been begun
		for pos := belfry.Position(2); pos < 6; pos++ {
			m.Add(of(pos, 1, 1))
			if took := ask(1); took > 500*time.Millisecond {
				t.Errorf("a query of another customer waits for %s", took)
			}
		}
		if rows, _ := m.Backlog(); m.Position() != 0 || rows != 400 || m.loads[2] != 400 || m.loads[1] != 0 {
			t.Errorf("at %d, %d rows wait, loads %v", m.Position(), rows, m.loads)
		}
		if took := ask(2); took < 5*time.Second || d.need != 0 {
			t.Errorf("a query of the customer waits for %s, %d calls are left", took, d.need)
		}
		if rows, records := m.Backlog(); m.Position() != 5 || rows != 0 || records != 0 || len(m.loads) != 0 || len(m.partial) != 0 {
			t.Errorf("at %d, %d rows in %d records wait, loads %v", m.Position(), rows, records, m.loads)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestDaysAreWeighed(t *testing.T) {
	b := &belfry.Batch{Customer: 1, Collection: belfry.ObjectData, Times: []belfry.Time{5, 6, 86_400_000_000, 7, 2 * 86_400_000_000}}
	if s := sharesOf([]*belfry.Batch{b}); len(s) != 1 || s[0].load() != 5+2*dayLoad {
		t.Errorf("%+v", s)
	}
}
