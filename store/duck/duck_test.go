package duck

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store"
	"belfry/store/duck/duckdb"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(context.Background(), config{Config: store.Config{Dir: dir, Catalog: cat}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rowsOf makes one row on each of the given days, at one position.
func rowsOf(pos belfry.Position, days ...int) *belfry.Batch {
	b := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: pos, FirstID: belfry.RowID(pos * 1000)}
	v, items := make([]float64, len(days)), make([]int64, len(days))
	for i, d := range days {
		b.Times = append(b.Times, crashDay0+belfry.Time(d)*belfry.Day)
		v[i], items[i] = float64(d), 7
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "i1", Numbers: v}}
	return b
}

func name(id int64, object string) *belfry.Batch {
	return &belfry.Batch{
		Collection: belfry.Dimension, Customer: 1, Times: []belfry.Time{1},
		Columns: []belfry.Column{{Name: belfry.ItemColumn, Ints: []int64{id}}, {Name: "object", Texts: []string{object}}},
	}
}

func mustAppend(t *testing.T, s *Store, b ...*belfry.Batch) {
	t.Helper()
	if err := store.AppendAll(t.Context(), s, b...); err != nil {
		t.Fatal(err)
	}
}

// TestLockedIn runs statements on the engine directly that it must refuse.
func TestLockedIn(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, t.TempDir())
	defer s.Close()
	c, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(t.Context(), "CREATE TEMP TABLE copied (a INTEGER, b INTEGER)"); err != nil {
		t.Fatal(err) // and nothing could be copied into it
	}
	for _, text := range []string{
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM read_csv(" + duckdb.QuoteText(secret) + ")",
		"SELECT * FROM " + duckdb.QuoteText(secret),
		"SELECT * FROM glob('/etc/*')",
		"COPY (SELECT 1) TO " + duckdb.QuoteText(secret+".out"),
		"ATTACH " + duckdb.QuoteText(secret+".duckdb") + " AS x",
		"INSTALL httpfs",
		"LOAD httpfs",
		"SET enable_external_access = true",
		"SET memory_limit = '10GB'",
		"SET allowed_directories = ['/']",
		"SET lock_configuration = false",
		"RESET enable_external_access",
		"SELECT content FROM read_blob(" + duckdb.QuoteText(secret) + ")",
		"SELECT * FROM read_csv_auto(" + duckdb.QuoteText(secret) + ")",
		"SELECT * FROM read_parquet(" + duckdb.QuoteText(secret) + ")",
		"SELECT * FROM read_json(" + duckdb.QuoteText(secret) + ")",
		"SELECT * FROM sniff_csv(" + duckdb.QuoteText(secret) + ")",
		"SELECT * FROM glob(" + duckdb.QuoteText(secret) + ")",
		"SELECT * FROM " + duckdb.QuoteText("/proc/self/environ"),
		"SELECT getenv('HOME')",
		"CREATE TABLE t AS FROM " + duckdb.QuoteText(secret),
		"CREATE TABLE t (a INTEGER, b INTEGER); COPY t FROM " + duckdb.QuoteText(secret),
		"COPY copied FROM " + duckdb.QuoteText(secret),
		"COPY copied TO " + duckdb.QuoteText(secret+".out"),
		"EXPORT DATABASE " + duckdb.QuoteText(secret+".dir"),
		"IMPORT DATABASE " + duckdb.QuoteText(filepath.Dir(secret)),
		"ATTACH " + duckdb.QuoteText(secret) + " (READ_ONLY)",
		"ATTACH 'https://127.0.0.1:1/x.duckdb' AS y",
		"SELECT * FROM read_text('https://127.0.0.1:1/x')",
		"LOAD " + duckdb.QuoteText(secret),
		"INSTALL " + duckdb.QuoteText(secret),
		"PRAGMA enable_profiling = 'json'",
		"PRAGMA profiling_output = " + duckdb.QuoteText(secret+".out"),
		"SET temp_directory = " + duckdb.QuoteText(filepath.Dir(secret)),
		"SET extension_directory = " + duckdb.QuoteText(filepath.Dir(secret)),
		"SET GLOBAL threads = 64",
		"SET home_directory = '/'",
		"CREATE SECRET x (TYPE http)",
	} {
		if err := c.Exec(t.Context(), text); err == nil {
			t.Errorf("the engine did %s", text)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(secret)); err != nil || len(entries) != 1 {
		t.Errorf("beside the secret there are now %v, %v", entries, err)
	}
	if err := c.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("and then it did nothing at all: %v", err)
	}
}

func TestDropWhileInUse(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	mustAppend(t, s, rowsOf(1, 0, 1, 2))
	c := s.cfg.Catalog.Collection("objectdata")
	used, err := s.files.acquire(t.Context(), c, 0, crashDay0)
	if err != nil || len(used) != 1 {
		t.Fatal(used, err)
	}
	if err := s.Drop(t.Context(), c, crashDay0+2*belfry.Day); err != nil {
		t.Fatal(err)
	}
	if got := count(t, s); got != 1 {
		t.Errorf("%d rows are left, want 1", got)
	}
	n, err := s.writer.Number(t.Context(), "SELECT count(*) FROM "+used[0].table.Ref)
	if err != nil || n != 1 {
		t.Errorf("who was reading reads %d rows, %v", n, err)
	}
	exists := func() bool { _, err := os.Stat(used[0].path); return err == nil }
	if !exists() {
		t.Error("the file went while it was used")
	}
	s.files.release(used)
	if exists() {
		t.Error("the file is still there")
	}
	if s.files.attached != 3 { // the day that is left, and the summaries by hour and by day of those that went
		t.Errorf("%d files are attached, want 3", s.files.attached)
	}
	mustAppend(t, s, rowsOf(1, 0, 1, 2), rowsOf(2, 0, 2))
	if got := s.Stats().Skipped; got != 3 {
		t.Errorf("%d rows counted as skipped, want 3", got)
	}
}

// TestStale: a stale file is attached again only when no one reads it any more.
func TestStale(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	mustAppend(t, s, rowsOf(1, 0))
	c := s.cfg.Catalog.Collection("objectdata")
	used, err := s.files.acquire(t.Context(), c, 0, crashDay0)
	if err != nil {
		t.Fatal(err)
	}
	alias := used[0].alias
	s.files.markStale(used[0])
	short, cancel := context.WithCancel(t.Context())
	refused := make(chan error)
	go func() { _, err := s.files.acquire(short, c, 0, crashDay0); refused <- err }()
	cancel()
	if err := <-refused; err == nil {
		t.Error("a stale file was handed out")
	}
	done := make(chan error)
	go func() { done <- store.AppendAll(t.Context(), s, rowsOf(2, 0)) }()
	s.files.release(used)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if used[0].alias == alias {
		t.Error("the file was not attached again")
	}
	if got := count(t, s); got != 2 {
		t.Errorf("%d rows, want 2", got)
	}
}

// TestRevive replaces the engine under a store: rows are still there, names are loaded again.
func TestRevive(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: t.TempDir(), Catalog: cat, Items: func(add func(*belfry.Batch) error) error { return add(name(7, "new")) }}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustAppend(t, s, name(7, "old"), rowsOf(1, 0))
	plan := parse(t, s, "SELECT object, i1 FROM objectdata LIMIT 10")
	if got := read(t, s, plan); got != "old 0" {
		t.Errorf("before: %q", got)
	}
	if err := s.restartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, rowsOf(1, 0), rowsOf(2, 1))
	if got := read(t, s, plan); got != "new 1 new 0" {
		t.Errorf("afterwards: %q", got)
	}
}

// TestAnswerAnew: a query that finds the engine down is answered by a new one.
func TestAnswerAnew(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	mustAppend(t, s, rowsOf(1, 0), rowsOf(2, 1))
	for range 2 {
		s.engineMu.Lock()
		s.stop()
		s.engineMu.Unlock()
		if got := count(t, s); got != 2 {
			t.Errorf("%d rows, want 2", got)
		}
		if got := read(t, s, parse(t, s, "SELECT i1 FROM objectdata LIMIT 10")); got != "1 0" {
			t.Errorf("%q", got)
		}
	}
}

// TestAnswerAnewInSlot: a query that runs again after a restart of the engine has a slot of its customer, and ends when its
// client leaves.
func TestAnswerAnewInSlot(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var s *Store
	blocked := make(chan func(), 1)
	s, err = openStore(t.Context(), config{Config: store.Config{Dir: t.TempDir(), Catalog: cat, Items: func(func(*belfry.Batch) error) error {
		if s != nil { // the engine restarts, and the first run has ended
			unblock, _ := s.queries.Clear(t.Context(), false)
			blocked <- unblock
		}
		return nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustAppend(t, s, rowsOf(1, 0), rowsOf(2, 1))
	plan := parse(t, s, "SELECT i1 FROM objectdata LIMIT 10")
	// again runs the query until its second run, which has a slot and waits until unblock is called.
	again := func(ctx context.Context) (unblock func(), ended chan error) {
		s.engineMu.Lock()
		s.stop()
		s.engineMu.Unlock()
		ended = make(chan error, 1)
		go func() {
			rows, err := s.Select(ctx, plan)
			if err == nil {
				err = rows.Close()
			}
			ended <- err
		}()
		unblock = <-blocked
		for s.slots.Count() == 0 {
			select {
			case err := <-ended:
				t.Fatalf("it ran without a slot: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
		return unblock, ended
	}
	unblock, ended := again(t.Context())
	unblock()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	unblock, ended = again(ctx)
	s.engineMu.Lock() // it cannot even begin
	unblock()
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the client left: %v", err)
	}
	s.engineMu.Unlock()
}

// TestErrors: clients see errors that they can act on, and no messages of the engine.
func TestErrors(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	p := parse(t, s, "SELECT i1 FROM objectdata LIMIT 10")
	f := func(ctx context.Context, err error, want belfry.Code) {
		t.Helper()
		if got := s.explain(ctx, p, err); belfry.CodeOf(got) != want {
			t.Errorf("%v became %v, want %s", err, got, want)
		}
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	f(late, duckdb.ParseError("INTERRUPT Error: Interrupted!"), belfry.BadQuery)
	f(t.Context(), duckdb.ParseError("Out of Memory Error: no more"), belfry.BadQuery)
	f(t.Context(), duckdb.ParseError("Binder Error: Max expression depth limit of 1000 exceeded."), belfry.BadQuery)
	f(t.Context(), duckdb.ParseError("IO Error: /some/file"), belfry.Internal)
	mustAppend(t, s, rowsOf(1, 0))
	wrong := rowsOf(2, 0)
	wrong.Columns[1] = belfry.Column{Name: "i1", Texts: []string{"x"}}
	if err := store.AppendAll(t.Context(), s, wrong); err == nil {
		t.Error("a column changed its type")
	}
	unknown := rowsOf(2, 0)
	unknown.Collection = "nonsense"
	if err := store.AppendAll(t.Context(), s, unknown); err == nil {
		t.Error("a collection that does not exist took rows")
	}
}

// TestInterrupt ends a statement that would take minutes.
func TestInterrupt(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	c, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := c.Query(ctx, "SELECT count(*) FROM range(100000) a, range(100000) b, range(1000) c WHERE (a.range * b.range + c.range) % 7 = 3")
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := c.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func parse(t *testing.T, s *Store, text string) *query.Plan {
	t.Helper()
	tree, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := query.Check(tree, s.cfg.Catalog, query.Options{Customer: 1, Now: crashDay0})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// read returns all values of an answer, separated by blanks.
func read(t *testing.T, s *Store, p *query.Plan) string {
	t.Helper()
	rows, err := s.Select(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return strings.Join(list, " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range row {
			list = append(list, v.String())
		}
	}
}

// TestAppendInParts: a call ends after some files, the newest first, and the following ones store the rest. Each row is
// stored once, even if others come in between, and rows of dropped days are counted once.
func TestAppendInParts(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: t.TempDir(), Catalog: cat}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Drop(t.Context(), cat.Collection("objectdata"), crashDay0); err != nil {
		t.Fatal(err)
	}
	var days []int
	for d := range 30 {
		days = append(days, d-2) // two have been dropped
	}
	enough := func() bool { return true }
	mustAppend(t, s, name(7, "o"))
	left := []*belfry.Batch{rowsOf(1, days...)}
	calls, want := 0, 28
	for pos := belfry.Position(2); len(left) > 0; pos++ {
		calls++
		if left, err = s.Append(t.Context(), enough, append(left, rowsOf(pos, 27, 3))...); err != nil {
			t.Fatal(err)
		}
		want += 2
		if n := len(take(t, ask(t, s, "SELECT id FROM objectdata LIMIT 1000"), nil)); calls == 1 && n > 2*fewFiles {
			t.Errorf("%d rows after the first call", n)
		}
		if calls > 10 {
			t.Fatal("it does not come to an end")
		}
	}
	if n := len(take(t, ask(t, s, "SELECT id FROM objectdata LIMIT 1000"), nil)); n != want || calls < 3 || s.Stats().Skipped != 2 {
		t.Errorf("%d rows after %d calls, want %d; %d skipped", n, calls, want, s.Stats().Skipped)
	}
}
