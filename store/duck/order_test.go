package duck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/clustering"
)

// fewAtATime are small sizes, so that a few thousand rows have several runs and pieces.
var fewAtATime = clustering.Sizes{Piece: 700, Run: 3000, Fresh: 1000, Late: 500}

func openOrdered(t *testing.T, dir string) *Store {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat, Instance: "one"}, order: fewAtATime, orderAge: -1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instanceDir returns a folder of the instance of openOrdered.
func instanceDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "instance"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// spread makes rows of many items on one day, as agents send them: one round after the other.
func spread(pos belfry.Position, day, rows, items int) *belfry.Batch {
	b := &belfry.Batch{Collection: "objectdata", Customer: belfry.CustomerID(1 + pos%2), Pos: pos, FirstID: belfry.RowID(pos * 100_000)}
	v, of := make([]float64, rows), make([]int64, rows)
	rng := rand.New(rand.NewPCG(uint64(pos), 7))
	for i := range rows {
		b.Times = append(b.Times, crashDay0+belfry.Time(day)*belfry.Day+(belfry.Time(pos)*1000+belfry.Time(i/items))*1_000_000)
		of[i], v[i] = int64(1000+i*7%items), float64(rng.IntN(1000))
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: of}, {Name: "i1", Numbers: v}}
	return b
}

// orderAll puts rows in order until nothing is left to do.
func orderAll(t *testing.T, s *Store) {
	t.Helper()
	for range 1000 {
		if !s.order(t.Context()) {
			return
		}
	}
	t.Fatal("it does not end")
}

// inOrder returns the sizes of the runs of a day, and checks that each is in order.
func inOrder(t *testing.T, s *Store, day int) (runs []uint64) {
	t.Helper()
	from := crashDay0 + belfry.Time(day)*belfry.Day
	used, err := s.files.acquire(t.Context(), s.cfg.Catalog.Collection("objectdata"), from, from)
	if err != nil || len(used) != 1 {
		t.Fatal(len(used), err)
	}
	defer s.files.release(used)
	c, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Query(t.Context(), "SELECT rows FROM "+used[0].alias+".main.runs")
	if err != nil {
		return nil
	}
	runs, _ = r.Words(0)
	at := uint64(0)
	for _, n := range runs {
		wrong, err := c.Number(t.Context(), fmt.Sprintf("SELECT count(*) FROM (SELECT item // 128 AS part, id, lag(part) OVER w AS before, lag(id) OVER w AS older FROM %s WHERE rowid >= %d AND rowid < %d WINDOW w AS (ORDER BY rowid)) WHERE before > part OR before = part AND older > id", used[0].ref(), at, at+n))
		if err != nil || wrong > 0 {
			t.Errorf("%d rows of a run of %d are not in order (%v)", wrong, n, err)
		}
		at += n
	}
	return runs
}

var orderQueries = []string{
	"SELECT id, timestamp, i1 FROM objectdata WHERE timestamp >= '2000-01-01' LIMIT 100000",
	"SELECT id, i1 FROM objectdata WHERE timestamp >= '2000-01-01' ORDER BY timestamp DESC LIMIT 10",
	"SELECT COUNT(*), MEAN(i1), MAX(timestamp) FROM objectdata WHERE timestamp >= '2000-01-01'",
	"SELECT timestamp, i1, i1_min, i1_max, i1_count FROM objectdata WHERE timestamp >= '2000-01-01' AND period = 'hour' LIMIT 100000",
}

func answers(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	for c := belfry.CustomerID(1); c <= 2; c++ {
		for _, q := range orderQueries {
			fmt.Fprintln(&b, s.everyRow(t, c, q))
		}
	}
	return b.String()
}

// TestOrder puts rows in order, then rows that came later, then rows with a new column.
func TestOrder(t *testing.T) {
	dir := instanceDir(t)
	s := openOrdered(t, dir)
	defer func() { s.Close() }()
	mustAppend(t, s, spread(1, 0, 4000, 1000), spread(2, 0, 4000, 900), spread(3, 1, 300, 100))
	same := func(when string, want string, runs ...int) {
		t.Helper()
		orderAll(t, s)
		if got := answers(t, s); got != want {
			t.Errorf("%s: answers differ", when)
		}
		if got := inOrder(t, s, 0); fmt.Sprint(got) != fmt.Sprint(runs) {
			t.Errorf("%s: runs of %v rows, want %v", when, got, runs)
		}
	}
	before := answers(t, s)
	same("first", before, 2666, 2667, 2667)
	if got := inOrder(t, s, 1); got != nil {
		t.Errorf("300 rows were copied, in runs of %v", got)
	}
	summariseAll(t, s)
	before = answers(t, s)
	same("summaries", before, 2666, 2667, 2667)

	mustAppend(t, s, spread(5, 0, 400, 300))
	same("few late rows", answers(t, s), 2666, 2667, 2667)
	late := spread(7, 0, 1200, 300)
	late.Columns = append(late.Columns, belfry.Column{Name: "i2", Numbers: late.Columns[1].Numbers})
	mustAppend(t, s, late)
	same("late rows with a new column", answers(t, s), 2666, 2667, 2667, 1600)
	if err := s.Erase(t.Context(), []belfry.CustomerID{2}); err != nil {
		t.Fatal(err)
	}
	same("erased", answers(t, s), 2000, 2000)
	before = answers(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openOrdered(t, dir)
	same("opened again", before, 2000, 2000)
}

// TestOrderMeanwhile writes and reads while rows are put in order: each answer has each row once.
func TestOrderMeanwhile(t *testing.T) {
	s := openOrdered(t, instanceDir(t))
	defer s.Close()
	s.files.now = func() time.Time { return (crashDay0 + belfry.Hour).Std() } // the day is not over
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	copies := 0
	wg.Go(func() {
		for ctx.Err() == nil {
			had := s.ordering != nil
			if s.order(ctx); had && s.ordering == nil {
				copies++
			}
		}
	})
	sent := 0
	for pos := belfry.Position(2); pos < 60; pos += 2 {
		mustAppend(t, s, spread(pos, 0, 500, 400))
		sent += 500
		for range 3 {
			if got := fmt.Sprint(s.everyRow(t, 1, "SELECT COUNT(*), COUNT(DISTINCT id) FROM objectdata WHERE timestamp >= '2000-01-01'")); got != fmt.Sprint([][]belfry.Value{{number(sent), number(sent)}}) {
				t.Fatalf("%d rows were stored, and the answer is %s", sent, got)
			}
		}
	}
	end()
	wg.Wait()
	if copies == 0 {
		t.Error("no copy took the place of a file, so nothing was tested")
	}
	orderAll(t, s)
	if runs := inOrder(t, s, 0); len(runs) == 0 {
		t.Error("nothing is in order")
	}
}

// TestOrderFails lets copies fail: the file stays as it is, and the next attempt succeeds.
func TestOrderFails(t *testing.T) {
	dir := instanceDir(t)
	s := openOrdered(t, dir)
	defer func() { s.Close() }()
	mustAppend(t, s, spread(1, 0, 4000, 1000), spread(2, 0, 4000, 900))
	before := answers(t, s)
	path := filepath.Join(dir, "objectdata", "2024-10-04.duckdb")
	begin := func() {
		t.Helper()
		for s.ordering == nil {
			if !s.order(t.Context()) {
				t.Fatal("no copy was begun")
			}
		}
		if _, err := os.Stat(path + ".order.new"); err != nil {
			t.Fatal(err)
		}
	}
	intact := func(when string) {
		t.Helper()
		if got := answers(t, s); got != before {
			t.Errorf("%s: answers differ", when)
		}
		if runs := inOrder(t, s, 0); len(runs) > 0 {
			t.Errorf("%s: a copy took the place of the file", when)
		}
		if _, err := os.Stat(path + ".order.new"); err == nil {
			t.Errorf("%s: the copy is still there", when)
		}
	}

	begin()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.order(ctx)
	intact("cancelled")

	begin()
	if err := s.restartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.order(ctx)
	intact("the engine was replaced")

	begin()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openOrdered(t, dir)
	intact("closed")

	begin()
	for s.ordering != nil && !s.ordering.Saved() {
		s.order(t.Context())
	}
	damaged, err := os.ReadFile(path + ".order.new")
	if err != nil {
		t.Fatal(err)
	}
	damaged[300_000] ^= 1
	if err := os.WriteFile(path+".order.new", damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	s.order(t.Context())
	intact("a changed byte")
	s.files.now = func() time.Time { return time.Now().Add(30 * time.Minute) }

	if err := os.MkdirAll(filepath.Join(path+".order.new", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s.order(t.Context()) {
		t.Error("a copy was begun where a folder is")
	}
	if err := os.RemoveAll(path + ".order.new"); err != nil {
		t.Fatal(err)
	}
	intact("in the way")
	if s.order(t.Context()) {
		t.Error("it was tried again at once")
	}
	s.files.now = func() time.Time { return time.Now().Add(time.Hour) }
	orderAll(t, s)
	if runs := inOrder(t, s, 0); len(runs) == 0 {
		t.Error("it was not tried again")
	}
	if got := answers(t, s); got != before {
		t.Error("in order: answers differ")
	}
}

// TestOrderInUse has queries use a file: the copy waits for them, and gives up if they do not end.
func TestOrderInUse(t *testing.T) {
	s := openOrdered(t, instanceDir(t))
	defer s.Close()
	mustAppend(t, s, spread(1, 0, 4000, 1000))
	c := s.cfg.Catalog.Collection("objectdata")
	used, err := s.files.acquire(t.Context(), c, crashDay0, crashDay0)
	if err != nil {
		t.Fatal(err)
	}
	orderAll(t, s)
	if runs := inOrder(t, s, 0); len(runs) > 0 {
		t.Error("a file was replaced while a query read it")
	}
	s.files.release(used)
	mustAppend(t, s, spread(3, 0, 100, 100))
	s.files.now = func() time.Time { return time.Now().Add(time.Hour) }
	orderAll(t, s)
	if runs := inOrder(t, s, 0); len(runs) == 0 {
		t.Error("it was not tried again")
	}
	if got := fmt.Sprint(s.everyRow(t, 2, "SELECT COUNT(*) FROM objectdata WHERE timestamp >= '2000-01-01'")); got != fmt.Sprint([][]belfry.Value{{number(4100)}}) {
		t.Errorf("the file has %s rows", got)
	}
}

// TestOrderPadding leaves a file alone whose long texts are kept apart by padding.
func TestOrderPadding(t *testing.T) {
	s := openOrdered(t, instanceDir(t))
	defer s.Close()
	b := spread(1, 0, 2000, 100)
	texts := make([]string, 2000)
	texts[100] = strings.Repeat("long ", 2000)
	b.Columns = append(b.Columns, belfry.Column{Name: "note", Texts: texts})
	mustAppend(t, s, b)
	orderAll(t, s)
	if runs := inOrder(t, s, 0); len(runs) > 0 {
		t.Errorf("the rows were put in order, in runs of %v", runs)
	}
}

func number(n int) belfry.Value { return belfry.Value{Type: belfry.IntValue, Int: int64(n)} }
