package sqlite

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// apply is what memory does with a record.
func (p *picture) apply(r *belfry.Record) {
	for _, d := range r.Docs {
		if p.Docs[docKey(d)] = d; d.Body == nil {
			delete(p.Docs, docKey(d))
		}
	}
	for _, it := range r.Items {
		p.Items[it.ID] = it
		p.NextID = max(p.NextID, it.ID+1)
	}
	for _, c := range r.States {
		if s := p.States[c.Item]; s.Pos <= r.Pos {
			s.Pos, s.State = r.Pos, c.State
			p.States[c.Item] = s
		}
	}
	for _, b := range r.Batches {
		p.Counters[b.Customer] = max(p.Counters[b.Customer], b.FirstID+belfry.RowID(b.Len()))
		if b.Collection != belfry.ObjectData {
			continue
		}
		for row, id := range b.Column(belfry.ItemColumn).Ints {
			if s := p.States[belfry.ID(id)]; s.Pos <= r.Pos {
				s.Pos, s.LastData, s.Numbers = r.Pos, b.Times[row], []float64{b.Column("i1").Numbers[row]}
				p.States[belfry.ID(id)] = s
			}
		}
	}
}

// memory is a picture that a mover reads while it changes.
type memory struct {
	mu sync.Mutex
	*picture
}

func (m *memory) apply(r *belfry.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.picture.apply(r)
}

func (m *memory) states(ids []belfry.ID) (states []StoredState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if s, ok := m.States[id]; ok {
			states = append(states, StoredState{Item: id, State: s, Removed: m.Items[id].Removed != 0})
		}
	}
	return states
}

func newMemory() *memory { return &memory{picture: newPicture()} }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func dataRecord(pos belfry.Position, ids ...int64) *belfry.Record {
	return &belfry.Record{Pos: pos, Customer: 1, Batches: []*belfry.Batch{{
		Collection: belfry.ObjectData, Customer: 1, FirstID: belfry.RowID(pos * 1000), Times: make([]belfry.Time, len(ids)),
		Columns: []belfry.Column{{Name: "item", Ints: ids}, {Name: "i1", Numbers: slices.Repeat([]float64{float64(pos)}, len(ids))}},
	}}}
}

func itemRecord(pos belfry.Position, id belfry.ID) *belfry.Record {
	return &belfry.Record{Pos: pos, Customer: 1, Items: []belfry.Item{{ID: id, Customer: 1, Kind: belfry.KindView, Name: "v"}}}
}

// TestMoverRun shows what is written when: configuration soon, states and the position after the interval.
func TestMoverRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meta.db")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		db, err := Open(ctx, path, quiet())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		mem := newMemory()
		m := NewMover(db, MoverOptions{States: mem.states, Interval: 10 * time.Second, MaxPending: 5, Log: quiet()})
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		add := func(recs ...*belfry.Record) {
			for _, r := range recs {
				mem.apply(r)
				m.Add(r)
			}
		}
		want := func(after time.Duration, pos belfry.Position, items, states, pending int) {
			t.Helper()
			time.Sleep(after) // of the bubble's own clock
			synctest.Wait()
			p := load(t, db)
			if m.Position() != pos || len(p.Items) != items || len(p.States) != states || m.Pending() != pending {
				t.Fatalf("position %d, %d items, %d states, %d pending; want %d, %d, %d, %d",
					m.Position(), len(p.Items), len(p.States), m.Pending(), pos, items, states, pending)
			}
			wantPosition(t, db, pos)
		}
		first := itemRecord(1, 1)
		first.Batches = []*belfry.Batch{{Collection: "events", Customer: 2, FirstID: 1, Times: make([]belfry.Time, 3)}}
		add(first, itemRecord(2, 2), dataRecord(3, 1))
		want(200*time.Millisecond, 0, 2, 0, 3)
		want(10*time.Second, 3, 2, 1, 0)
		add(dataRecord(4, 1, 2)) // nothing but states: they wait for the interval
		want(9*time.Second, 3, 2, 1, 1)
		want(2*time.Second, 4, 2, 2, 0)
		add(dataRecord(5, 1), dataRecord(6, 1), dataRecord(7, 1), dataRecord(8, 1))
		want(time.Second, 4, 2, 2, 4)
		add(dataRecord(9, 1)) // too many to wait any longer
		want(0, 9, 2, 2, 0)
		add(&belfry.Record{Pos: 10}) // touches nothing, and still the journal wants to know
		want(11*time.Second, 10, 2, 2, 0)

		add(dataRecord(11, 2))
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		want(time.Minute, 10, 2, 2, 1)
		if err := m.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		want(0, 11, 2, 2, 0)
		if d := diff(mem.picture.alive(), load(t, db).alive()); d != "" {
			t.Fatalf("(-want +have):\n%s", d)
		}
		m.Add(itemRecord(11, 3)) // has been taken in
		want(time.Minute, 11, 2, 2, 0)
	})
}

func TestMoverAnswer(t *testing.T) {
	ctx := context.Background()
	db := openDB(t)
	m := NewMover(db, MoverOptions{States: newMemory().states, Log: quiet()})
	answer := func(pos belfry.Position, body string) *belfry.Answer {
		a := &belfry.Answer{Customer: 1, Key: "k", Status: 200, Body: []byte(body), Time: belfry.Time(pos)}
		m.Add(&belfry.Record{Pos: pos, Answer: a})
		return a
	}
	first := answer(1, "first")
	wantAnswer(t, m, 1, "k", first)
	wantAnswer(t, db, 1, "k", nil)
	if err := m.writeOnce(ctx, false, nil); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, db, 1, "k", first)
	wantAnswer(t, m, 1, "k", first)
	if len(m.answers) != 0 {
		t.Fatal("an answer that was written is kept in memory")
	}

	// One that comes while the older is being written stays until it is written itself.
	answer(2, "second")
	r := m.beginRound(false)
	third := answer(3, "third")
	if err := m.write(ctx, &r, nil); err != nil {
		t.Fatal(err)
	}
	m.written(&r)
	wantAnswer(t, m, 1, "k", third)
	if err := m.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, db, 1, "k", third)
	wantAnswer(t, m, 2, "k", nil)
}

// TestMoverPutBack lets newer records come while an attempt that will not succeed is under way.
func TestMoverPutBack(t *testing.T) {
	ctx := context.Background()
	db := openDB(t)
	mem := newMemory()
	m := NewMover(db, MoverOptions{States: mem.states, Log: quiet()})
	add := func(pos belfry.Position, text string) *belfry.Answer {
		r := dataRecord(pos, 1)
		r.Items = []belfry.Item{{ID: 1, Customer: 1, Name: text}}
		r.Docs = []belfry.Doc{{Kind: belfry.DocKey, Customer: 1, Name: "k", Body: []byte(text)}}
		r.Answer = &belfry.Answer{Customer: 1, Key: "k", Body: []byte(text)}
		mem.apply(r)
		m.Add(r)
		return r.Answer
	}
	add(1, "older")
	for _, whole := range []bool{true, false} {
		r := m.beginRound(whole)
		newer := add(m.pending.pos+1, "newer")
		m.putBack(&r)
		if want := int(m.pending.pos); m.Pending() != want {
			t.Fatalf("%d pending, want %d", m.Pending(), want)
		}
		wantAnswer(t, m, 1, "k", newer)
	}
	r := m.beginRound(true)
	last := add(9, "last")
	m.putBack(&r)
	if err := m.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	wantPosition(t, db, 9)
	wantAnswer(t, db, 1, "k", last)
	if d := diff(mem.picture.alive(), load(t, db).alive()); d != "" {
		t.Fatalf("(-want +have):\n%s", d)
	}
}

// TestMoverFullDisk lets the file reach a limit of pages, as a full disk would, and then gives it room again.
func TestMoverFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meta.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(context.Background(), path, quiet())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		limit := func(pages int) {
			t.Helper()
			if _, err := db.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
				t.Fatal(err)
			}
		}
		limit(30)
		mem := newMemory()
		var m *Mover
		var told []error
		m = NewMover(db, MoverOptions{States: mem.states, Log: quiet(), atOnce: 100, Failed: func(err error) {
			told = append(told, err)
			if len(told) == 2 { // it goes on meanwhile
				r := itemRecord(2002, 7)
				r.Items[0].Name = "newer"
				mem.apply(r)
				m.Add(r)
			}
			if len(told) == 3 {
				limit(1 << 20)
			}
		}})
		for i := range 1000 {
			id := belfry.ID(i + 1)
			r := itemRecord(belfry.Position(2*i+1), id)
			r.Answer = &belfry.Answer{Customer: 1, Key: fmt.Sprint(i), Status: 200, Body: make([]byte, 100)}
			for _, r := range []*belfry.Record{r, dataRecord(belfry.Position(2*i+2), int64(id))} {
				mem.apply(r)
				m.Add(r)
			}
		}
		brief, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		if err := m.Drain(brief); err == nil {
			t.Fatal("there was no room for that")
		}
		cancel()
		wantPosition(t, db, 0)
		if m.Pending() != 2000 {
			t.Fatalf("%d records pending, want 2000", m.Pending())
		}
		if err := m.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(told) != 4 || told[0] == nil || told[2] == nil || told[3] != nil {
			t.Fatalf("told %v", told)
		}
		wantPosition(t, db, 2002)
		if d := diff(mem.picture.alive(), load(t, db).alive()); d != "" {
			t.Fatalf("(-want +have):\n%s", d)
		}
		wantAnswer(t, db, 1, "999", &belfry.Answer{Customer: 1, Key: "999", Status: 200, Body: make([]byte, 100)})
	})
}

// journalOf makes n records of every sort, each with what the earlier ones allow.
func journalOf(rnd *rand.Rand, n int) (recs []*belfry.Record) {
	p := newPicture()
	pos := belfry.Position(1 << 32)
	rows := belfry.RowID(1)
	some := func() belfry.ID { return belfry.ID(1 + rnd.IntN(int(p.NextID-1))) }
	create := func(r *belfry.Record, id belfry.ID) {
		it := belfry.Item{ID: id, Customer: 1, Kind: belfry.KindView, Name: fmt.Sprint("v", id), Created: r.Time}
		if it.ID > 1 {
			it.Parent = 1 + belfry.ID(rnd.IntN(int(it.ID)-1))
		}
		r.Items = append(r.Items, it)
	}
	for i := range n {
		if pos++; rnd.IntN(20) == 0 {
			pos = (pos>>32+1)<<32 + 1
		}
		r := &belfry.Record{Pos: pos, Time: belfry.Time(i), Customer: 1}
		switch what := rnd.IntN(10); {
		case what < 2 || i == 0: // sometimes more than one transaction takes
			for k := range belfry.ID(1 + rnd.IntN(2)*rnd.IntN(20)) {
				create(r, p.NextID+k)
				r.States = append(r.States, belfry.StateChange{Item: p.NextID + k, State: belfry.State{Status: belfry.OK, Since: r.Time}})
			}
		case what == 2:
			it := p.Items[some()]
			if it.ID > 1 { // to anywhere above it, which makes no circle
				it.Parent = 1 + belfry.ID(rnd.IntN(int(it.ID)-1))
			}
			it.Details = &belfry.Details{Host: fmt.Sprint("h", i)}
			if rnd.IntN(4) == 0 {
				it.Removed = r.Time
			}
			r.Items = []belfry.Item{it}
		case what == 3:
			d := belfry.Doc{Kind: belfry.DocKey, Customer: 1, Name: fmt.Sprint(rnd.IntN(5)), Body: []byte(fmt.Sprint(i))}
			if rnd.IntN(3) == 0 {
				d.Body = nil
			}
			r.Docs = []belfry.Doc{d}
		case what == 4:
			r.Answer = &belfry.Answer{Customer: 1, Key: fmt.Sprint(rnd.IntN(10)), Status: i, Body: []byte{byte(i)}, Time: r.Time}
			r.States = []belfry.StateChange{{Item: some(), State: belfry.State{Status: belfry.Status(rnd.IntN(belfry.Statuses)), Since: r.Time, Info: fmt.Sprint(i)}}}
		default:
			ids := make([]int64, 1+rnd.IntN(9))
			for k := range ids {
				ids[k] = int64(some())
			}
			*r = *dataRecord(pos, ids...)
			r.Batches[0].FirstID = rows
			rows += belfry.RowID(len(ids))
			r.States = []belfry.StateChange{{Item: some(), State: belfry.State{Status: belfry.OK, Since: belfry.Time(i)}}}
		}
		p.apply(r)
		recs = append(recs, r)
	}
	return recs
}

// TestMoverCrash copies the files of a database while a mover writes to it, between transactions and in the middle of
// one. Whatever a copy holds, the records above its position must make it what all records make.
func TestMoverCrash(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) { crash(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func crash(t *testing.T, rnd *rand.Rand) {
	path, copies := filepath.Join(t.TempDir(), "meta.db"), t.TempDir()
	db := reopen(t, path)
	// Without checkpoints, which a log of this size does not need, it only grows, so that any front part of it is what a crash might have left.
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	var crashes []string
	copyFiles := func() {
		to := filepath.Join(copies, fmt.Sprintf("%d.db", len(crashes)))
		copyFile(t, path, to, math.MaxInt64)
		size := int64(math.MaxInt64)
		if info, err := os.Stat(path + "-wal"); err == nil && rnd.IntN(2) == 0 {
			size = rnd.Int64N(info.Size() + 1)
		}
		copyFile(t, path+"-wal", to+"-wal", size)
		crashes = append(crashes, to)
	}
	mem := newMemory()
	recs := journalOf(rnd, 200)
	m := NewMover(db, MoverOptions{Log: quiet(), atOnce: 7, States: func(ids []belfry.ID) []StoredState {
		if rnd.IntN(25) == 0 { // between two transactions of a round
			copyFiles()
		}
		return mem.states(ids)
	}})
	for _, r := range recs {
		mem.apply(r)
		m.Add(r)
		if what := rnd.IntN(12); what < 3 {
			if err := m.writeOnce(context.Background(), what == 0, nil); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(10) == 0 {
				copyFiles()
			}
		}
	}
	if len(crashes) < 5 {
		t.Fatalf("only %d crashes", len(crashes))
	}
	t.Logf("%d crashes", len(crashes))
	between := 0
	for _, path := range crashes {
		if restart(t, path, recs, mem.picture) {
			between++
		}
	}
	if between == 0 {
		t.Error("no crash left anything to replay")
	}
}

func copyFile(t *testing.T, from, to string, size int64) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(dst, src, size); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
}

// restart starts from a copy as the program would, and tells whether it had to replay something.
func restart(t *testing.T, path string, recs []*belfry.Record, want *picture) bool {
	t.Helper()
	db := reopen(t, path)
	defer db.Close()
	pos, err := db.Position(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	mem := &memory{picture: load(t, db)}
	m := NewMover(db, MoverOptions{States: mem.states, Log: quiet(), atOnce: 50})
	answers := map[string]*belfry.Answer{}
	replayed := false
	for _, r := range recs {
		if r.Answer != nil {
			answers[r.Answer.Key] = r.Answer
		}
		if r.Pos > pos {
			mem.apply(r)
			m.Add(r)
			replayed = true
		}
	}
	if d := diff(want.alive(), mem.picture.alive()); d != "" {
		t.Fatalf("%s, position %x: memory after replay (-want +have):\n%s", path, pos, d)
	}
	if err := m.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	wantPosition(t, db, recs[len(recs)-1].Pos)
	if d := diff(want.alive(), load(t, db).alive()); d != "" {
		t.Fatalf("%s, position %x: database after replay (-want +have):\n%s", path, pos, d)
	}
	for key, a := range answers {
		wantAnswer(t, db, 1, key, a)
	}
	return replayed
}

// TestMoverConcurrent is for the race detector: records come in while rounds run and answers are asked for.
func TestMoverConcurrent(t *testing.T) {
	db := openDB(t)
	mem := newMemory()
	ctx, cancel := context.WithCancel(context.Background())
	m := NewMover(db, MoverOptions{States: mem.states, Interval: time.Millisecond, MaxPending: 20, Log: quiet(), atOnce: 10})
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	recs := journalOf(rand.New(rand.NewPCG(9, 9)), 1500)
	for _, r := range recs {
		mem.apply(r)
		m.Add(r)
		if a := r.Answer; a != nil {
			wantAnswer(t, m, 1, a.Key, a)
		}
	}
	if err := m.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wantPosition(t, db, recs[len(recs)-1].Pos)
	if d := diff(mem.picture.alive(), load(t, db).alive()); d != "" {
		t.Fatalf("(-want +have):\n%s", d)
	}
}

func TestIDSet(t *testing.T) {
	f := func(ids ...belfry.ID) {
		t.Helper()
		var s idSet
		for range 2 { // a second time with the pages of the first
			for _, id := range ids {
				s.add(id)
			}
			want := slices.Compact(slices.Sorted(slices.Values(ids)))
			if have := s.drain(); !slices.Equal(have, want) {
				t.Errorf("%v: took %v", ids, have)
			}
			if have := s.drain(); len(have) != 0 {
				t.Errorf("%v: %v are left", ids, have)
			}
		}
	}
	f()
	f(1)
	f(5, 63, 64, 1, 5)
	f(pageIDs-1, pageIDs, 3*pageIDs+7, 2)
	f(farID-1, farID, 1<<63, 3)
}

// TestMoverFull: what waits to be written is bounded, in bytes and in records, and room is made by writing.
func TestMoverFull(t *testing.T) {
	db, err := Open(context.Background(), filepath.Join(t.TempDir(), "meta.db"), quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mem := newMemory()
	m := NewMover(db, MoverOptions{States: mem.states, Log: quiet(), MaxBytes: 100_000, MaxPending: 20})
	pos := belfry.Position(0)
	fill := func(body int) (n int) {
		t.Helper()
		for ; !m.Full(1) && n < 1000; n++ {
			pos++
			r := itemRecord(pos, 7)
			r.Answer = &belfry.Answer{Customer: 1, Key: fmt.Sprint(pos), Status: 200, Body: make([]byte, body)}
			mem.apply(r)
			m.Add(r)
		}
		return n
	}
	for range 2 {
		if n := fill(9_000); n < 5 || n > 11 {
			t.Errorf("full after %d records with 9 kB each", n)
		}
		if m.Full(2) {
			t.Error("full for a customer of which nothing waits")
		}
		if err := m.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.Full(1) || len(m.weights) != 0 {
			t.Errorf("written, and still full: %v", m.weights)
		}
	}
	if n := fill(0); n != 201 && n*600 < 100_000 { // either bound
		t.Errorf("full after %d small records", n)
	}
}

// TestMoverMakesRoom: what a transaction has written makes room at once, not when the round ends. A round that is broken off goes on
// with the rest.
func TestMoverMakesRoom(t *testing.T) {
	db, err := Open(context.Background(), filepath.Join(t.TempDir(), "meta.db"), quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mem := newMemory()
	ctx, cancel := context.WithCancel(t.Context())
	m := NewMover(db, MoverOptions{
		States: mem.states, Log: quiet(), MaxBytes: 100_000, atOnce: 100,
		Removed: func([]belfry.ID) { cancel() }, // by the second of four transactions
	})
	for pos := belfry.Position(1); pos <= 400; pos++ {
		r := itemRecord(pos, belfry.ID(pos))
		if pos == 150 {
			r.Items[0].Removed = 1
		}
		mem.apply(r)
		m.Add(r)
	}
	if !m.Full(1) {
		t.Fatal("400 items are not too many")
	}
	if err := m.Drain(ctx); err == nil {
		t.Fatal("written although the context had ended")
	}
	if m.Full(1) || m.weight != 200*entryWeight || m.weights[1] != m.weight || len(m.pending.items) != 200 {
		t.Errorf("after half of a round %d items wait, %d bytes, %v", len(m.pending.items), m.weight, m.weights)
	}
	if err := m.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.weight != 0 || len(m.weights) != 0 || m.Position() != 400 {
		t.Errorf("all is written up to %d, and %d bytes wait: %v", m.Position(), m.weight, m.weights)
	}
	if got := len(load(t, db).Items); got != 400 {
		t.Errorf("%d items in the database, want 400", got)
	}
}
