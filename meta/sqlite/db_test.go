package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// openDB opens a database in a folder of the test's own, under a name that must not be taken for a part of a URL.
func openDB(t testing.TB) *DB {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "what exists?#%41.db"))
}

func reopen(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// picture is all that a database, or the memory that is fed from the same records, holds.
type picture struct {
	Docs     map[string]belfry.Doc
	Items    map[belfry.ID]belfry.Item
	States   map[belfry.ID]belfry.ItemState
	Counters map[belfry.CustomerID]belfry.RowID
	NextID   belfry.ID
}

// alive is the picture without the states of removed items, which are not kept.
func (p *picture) alive() *picture {
	c := *p
	c.States = map[belfry.ID]belfry.ItemState{}
	for id, s := range p.States {
		if p.Items[id].Removed == 0 {
			c.States[id] = s
		}
	}
	return &c
}

func newPicture() *picture {
	return &picture{
		map[string]belfry.Doc{},
		map[belfry.ID]belfry.Item{},
		map[belfry.ID]belfry.ItemState{},
		map[belfry.CustomerID]belfry.RowID{},
		1,
	}
}

func docKey(d belfry.Doc) string { return fmt.Sprint(d.Kind, "/", d.Customer, "/", d.Name) }

// load reads db and checks the order in which things come.
func load(t testing.TB, db *DB) *picture {
	t.Helper()
	p := newPicture()
	err := db.Load(context.Background(), Visitor{
		Kinds: []string{belfry.DocRemoval, belfry.DocCustomer, belfry.DocUser, belfry.DocKey, belfry.DocClass, belfry.DocPolicy, "k"},
		Doc: func(d belfry.Doc) {
			if len(p.Items) > 0 || d.Kind == belfry.DocCustomer && len(p.Docs) > 0 && !p.onlyCustomers() {
				t.Errorf("doc %s comes too late", docKey(d))
			}
			p.Docs[docKey(d)] = d
		},
		Item: func(it belfry.Item) {
			if _, ok := p.Items[it.Parent]; !ok && it.Parent != 0 {
				t.Errorf("item %d comes before %d, in which it stands", it.ID, it.Parent)
			}
			p.Items[it.ID] = it
		},
		State: func(id belfry.ID, s *belfry.ItemState) {
			if _, ok := p.Items[id]; !ok {
				t.Errorf("state of %d, which does not exist", id)
			}
			p.States[id] = *s
		},
		Counter: func(c belfry.CustomerID, next belfry.RowID) { p.Counters[c] = next },
		NextID:  func(id belfry.ID) { p.NextID = id },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *picture) onlyCustomers() bool {
	for _, d := range p.Docs {
		if d.Kind != belfry.DocCustomer {
			return false
		}
	}
	return true
}

func diff(want, have any) string { return cmp.Diff(want, have, cmpopts.EquateNaNs()) }

func apply(t testing.TB, db *DB, states []StoredState, recs ...*belfry.Record) {
	t.Helper()
	if err := db.Apply(context.Background(), recs, states); err != nil {
		t.Fatal(err)
	}
}

func wantPosition(t testing.TB, db *DB, want belfry.Position) {
	t.Helper()
	if pos, err := db.Position(context.Background()); err != nil || pos != want {
		t.Fatalf("position %d, %v; want %d", pos, err, want)
	}
}

func wantAnswer(t testing.TB, of interface {
	Answer(context.Context, belfry.CustomerID, string) (*belfry.Answer, error)
}, c belfry.CustomerID, key string, want *belfry.Answer,
) {
	t.Helper()
	a, err := of.Answer(context.Background(), c, key)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(want, a); d != "" {
		t.Fatalf("answer %q of customer %d (-want +have):\n%s", key, c, d)
	}
}

func TestMigrate(t *testing.T) {
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	path := filepath.Join(t.TempDir(), "meta.db")
	db := reopen(t, path)
	wantPosition(t, db, 0)
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	apply(t, db, nil, &belfry.Record{Pos: 9})
	db.Close()
	db = reopen(t, path) // nothing to do the second time
	wantPosition(t, db, 9)

	// A step that breaks off leaves nothing behind.
	broken := append(steps, migration{"9999_broken.sql", "CREATE TABLE half (x BIGINT); INSERT INTO nowhere VALUES (1)"})
	if err := migrate(ctx, db.write, broken, log); err == nil || !strings.Contains(err.Error(), "9999_broken.sql") {
		t.Fatalf("broken step: %v", err)
	}
	if _, err := db.write.Exec("SELECT * FROM half"); err == nil {
		t.Fatal("half a step is there")
	}
	more := append(steps, migration{"0010_more.sql", "CREATE TABLE more (x BIGINT)"})
	if err := migrate(ctx, db.write, more, log); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err = Open(ctx, path, log); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Fatalf("a newer schema was opened: %v", err)
	}
	if err := Verify(ctx, path); err == nil || !strings.Contains(err.Error(), "its schema has number 10 and this program knows 9") {
		t.Fatalf("a newer schema was verified: %v", err)
	}
}

// TestSchemaBeforeFirst: a schema that no release had is refused, by a start and by those who only look.
func TestSchemaBeforeFirst(t *testing.T) {
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	for have := 1; have < firstSchema; have++ {
		path := filepath.Join(t.TempDir(), "meta.db")
		db := reopen(t, path)
		if _, err := db.write.Exec("DELETE FROM migration; INSERT INTO migration (version, name) VALUES ($1, 'x')", have); err != nil {
			t.Fatal(err)
		}
		db.Close()
		want := fmt.Sprintf("its schema has number %d and this program knows none below 6", have)
		if _, err := Open(ctx, path, log); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("open: %v, want %q", err, want)
		}
		if err := Verify(ctx, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("verify: %v, want %q", err, want)
		}
	}
}

// TestSchemaWithAllSteps: a file in which every number up to the first is noted, as main has made them, is opened as it is.
func TestSchemaWithAllSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meta.db")
	db := reopen(t, path)
	apply(t, db, nil, &belfry.Record{Pos: 9})
	for n := 1; n < firstSchema; n++ {
		if _, err := db.write.Exec("INSERT INTO migration (version, name) VALUES ($1, 'x')", n); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	db = reopen(t, path)
	wantPosition(t, db, 9)
	db.Close()
	if err := Verify(t.Context(), path); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesWhatIsNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meta.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := Open(context.Background(), path, slog.New(slog.DiscardHandler)); err == nil {
		db.Close()
		t.Fatal("opened")
	}
}

func TestPrivateFiles(t *testing.T) {
	db := openDB(t)
	apply(t, db, nil, &belfry.Record{Pos: 1})
	var seq int
	var name, path string
	if err := db.read.QueryRow("PRAGMA database_list").Scan(&seq, &name, &path); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

// sample has at least one of everything, absent and empty values among them.
func sample() ([]*belfry.Record, []StoredState) {
	recs := []*belfry.Record{
		{Pos: 1<<32 | 1, Customer: 1, Docs: []belfry.Doc{
			{Kind: belfry.DocClass, Customer: 1, Name: "Server", Body: []byte(`{"a":1}`)},
			{Kind: belfry.DocCustomer, Name: "default", Body: []byte(`{"id":1}`)},
			{Kind: belfry.DocPolicy, Customer: 1, Name: "empty", Body: []byte{}},
			{Kind: belfry.DocKey, Customer: 1, Name: "gone", Body: []byte(`{}`)},
		}, Items: []belfry.Item{
			{ID: 1, Customer: 1, Kind: belfry.KindView, Name: belfry.Main, Created: 5},
			{
				ID: 2, Customer: 1, Kind: belfry.KindResource, Name: "wéb 'x' \"1\"", Parent: 1, Resource: 2, Class: "c",
				Package: "custom", Created: 6, Details: &belfry.Details{
					IP: "10.0.0.1", Host: "h",
					Constants: [5]string{"", "two"}, Answers: map[string]string{"q": "a"},
				},
			},
			{
				ID: 3, Customer: 1, Kind: belfry.KindObject, Name: "cpu", Parent: 2, Resource: 2, Class: "cpu",
				Created: 7, Details: &belfry.Details{},
			},
		}},
		{
			Pos: 1<<32 | 2, Customer: 1, Docs: []belfry.Doc{{Kind: belfry.DocKey, Customer: 1, Name: "gone"}},
			Items: []belfry.Item{
				{ID: 4, Customer: 1, Kind: belfry.KindView, Name: "new place", Parent: 1, Created: 8},
				{
					ID: 2, Customer: 1, Kind: belfry.KindResource, Name: "wéb 'x' \"1\"", Parent: 4, Resource: 2, Class: "c",
					Package: "custom", Created: 6,
				},
				{ID: 7, Customer: 1, Kind: belfry.KindObject, Name: "old", Parent: 2, Resource: 2, Created: 8, Removed: 9},
			},
			Answer: &belfry.Answer{Customer: 1, Key: "k 1", Request: [32]byte{1, 31: 9}, Status: 207, Body: []byte("{}\n"), Time: 50},
		},
		{Pos: 3<<32 | 1, Customer: 2, Batches: []*belfry.Batch{
			{Collection: "syslog", Customer: 2, FirstID: 100, Times: make([]belfry.Time, 50)},
			{Collection: "events", Customer: 2, FirstID: 150, Times: make([]belfry.Time, 1)},
		}, Answer: &belfry.Answer{Customer: 2, Key: "k 1", Status: 200, Body: []byte{}, Time: 60}},
	}
	states := []StoredState{
		{Item: 3, State: belfry.ItemState{
			Pos: 3<<32 | 7, State: belfry.State{Status: belfry.Critical, Since: -5, Info: "i1 > 90 é"}, LastData: 70,
			Numbers: []float64{1.5, belfry.AbsentNumber(), -0.001}, Texts: []string{"", "up"},
		}},
		{Item: 1, State: belfry.ItemState{Pos: 1, State: belfry.State{Status: belfry.Unknown}}},
		{Item: 3, State: belfry.ItemState{Pos: 3<<32 | 8, State: belfry.State{Status: belfry.OK, Since: 3}, Numbers: []float64{7, belfry.AbsentNumber()}}},
	}
	return recs, states
}

func samplePicture(recs []*belfry.Record, states []StoredState) *picture {
	p := newPicture()
	for _, r := range recs {
		p.apply(r)
	}
	for _, s := range states {
		p.States[s.Item] = s.State
	}
	return p
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meta.db")
	db := reopen(t, path)
	recs, states := sample()
	want := samplePicture(recs, states)
	check := func(db *DB) {
		t.Helper()
		if d := diff(want, load(t, db)); d != "" {
			t.Fatalf("(-want +have):\n%s", d)
		}
		wantPosition(t, db, 3<<32|1)
		wantAnswer(t, db, 1, "k 1", recs[1].Answer)
		wantAnswer(t, db, 2, "k 1", recs[2].Answer)
		wantAnswer(t, db, 1, "k 2", nil)
		wantAnswer(t, db, 3, "k 1", nil)
	}
	apply(t, db, states, recs...)
	check(db)
	db.Close()
	db = reopen(t, path)
	check(db)

	// The same records again are passed over, whatever they say by now.
	apply(t, db, nil, &belfry.Record{Pos: 3<<32 | 1, Items: []belfry.Item{{ID: 3, Name: "other"}}})
	check(db)

	// The same content again, as after a crash that lost the position, changes nothing.
	setPosition(t, db, 0)
	for _, r := range recs {
		apply(t, db, nil, r)
	}
	check(db)
}

func setPosition(t *testing.T, db *DB, pos belfry.Position) {
	t.Helper()
	if err := db.changePosition(t.Context(), func(p *position) { p.pos = pos }); err != nil {
		t.Fatal(err)
	}
	db.stored.Store(uint64(pos))
}

// execute runs a statement in a transaction of the database: what others write is noticed.
func execute(t *testing.T, db *DB, query string, args ...any) {
	t.Helper()
	err := db.transact(t.Context(), func(tx *sql.Tx, _ *position) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	db := openDB(t)
	recs, states := sample()
	before := load(t, db)
	execute(t, db, `CREATE TRIGGER full BEFORE INSERT ON state BEGIN SELECT RAISE(ABORT, 'no more'); END`)
	if err := db.Apply(context.Background(), recs, states); err == nil {
		t.Fatal("applied")
	}
	if d := diff(before, load(t, db)); d != "" {
		t.Fatalf("half of it is there (-want +have):\n%s", d)
	}
	wantPosition(t, db, 0)
	execute(t, db, `DROP TRIGGER full`)
	apply(t, db, states, recs...)
	wantPosition(t, db, 3<<32|1)
}

// TestItemsNeverGoBack: were a replay interrupted, an item that was removed must not exist beside its successor.
func TestItemsNeverGoBack(t *testing.T) {
	db := openDB(t)
	item := func(id belfry.ID, removed belfry.Time) []belfry.Item {
		return []belfry.Item{{ID: id, Customer: 1, Kind: belfry.KindView, Name: "web", Removed: removed}}
	}
	recs := []*belfry.Record{{Pos: 1, Items: item(5, 0)}, {Pos: 2, Items: item(5, 7)}, {Pos: 3, Items: item(6, 0)}}
	apply(t, db, nil, recs...)
	setPosition(t, db, 0)
	apply(t, db, nil, recs[0])
	if p := load(t, db); p.Items[5].Removed != 7 || p.Items[6].Removed != 0 {
		t.Fatalf("items: %v", p.Items)
	}
	apply(t, db, nil, &belfry.Record{Pos: 4, Items: item(5, 8)})
	if p := load(t, db); p.Items[5].Removed != 8 {
		t.Fatalf("a newer record did not count: %v", p.Items)
	}
}

func TestCountersNeverFall(t *testing.T) {
	db := openDB(t)
	batch := func(first belfry.RowID, n int) []*belfry.Batch {
		return []*belfry.Batch{{Collection: "syslog", Customer: 4, FirstID: first, Times: make([]belfry.Time, n)}}
	}
	apply(t, db, nil, &belfry.Record{Pos: 1, Batches: batch(1, 10)}, &belfry.Record{Pos: 2, Batches: batch(11, 5)})
	setPosition(t, db, 0)
	apply(t, db, nil, &belfry.Record{Pos: 1, Batches: batch(1, 10)})
	if have := load(t, db).Counters[4]; have != 16 {
		t.Fatalf("next row %d, want 16", have)
	}
}

// TestManyRows goes through statements of every size.
func TestManyRows(t *testing.T) {
	db := openDB(t)
	r := &belfry.Record{Pos: 1}
	var states []StoredState
	for i := range 64*2 + 8*3 + 5 {
		id := belfry.ID(i + 1)
		r.Items = append(r.Items, belfry.Item{ID: id, Customer: 1, Kind: belfry.KindView, Name: fmt.Sprint("v", i)})
		r.Docs = append(r.Docs, belfry.Doc{Kind: "k", Customer: 1, Name: fmt.Sprint(i), Body: []byte{byte(i)}})
		states = append(states, StoredState{Item: id, State: belfry.ItemState{Pos: 1, Numbers: []float64{float64(i)}}})
	}
	apply(t, db, states, r)
	if d := diff(samplePicture([]*belfry.Record{r}, states), load(t, db)); d != "" {
		t.Fatalf("(-want +have):\n%s", d)
	}
}

func TestForgetAnswers(t *testing.T) {
	db := openDB(t)
	var recs []*belfry.Record
	for i := range 3 {
		recs = append(recs, &belfry.Record{
			Pos:    belfry.Position(i + 1),
			Answer: &belfry.Answer{Customer: 1, Key: fmt.Sprint(i), Body: []byte("x"), Time: belfry.Time(i * 10)},
		})
	}
	apply(t, db, nil, recs...)
	if err := db.ForgetAnswers(context.Background(), 10); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, db, 1, "0", nil)
	wantAnswer(t, db, 1, "1", recs[1].Answer)
	wantAnswer(t, db, 1, "2", recs[2].Answer)

	// More than one transaction removes at once.
	execute(t, db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		INSERT INTO answer (customer, key, request, status, body, time) SELECT 2, 'k' || i, '', 200, '', 5 FROM n`, forgetAtOnce+5)
	if err := db.ForgetAnswers(context.Background(), 20); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := db.read.QueryRow("SELECT COUNT(*) FROM answer").Scan(&left); err != nil || left != 1 {
		t.Fatalf("%d answers left, %v", left, err)
	}
}

func TestPurge(t *testing.T) {
	db := openDB(t)
	apply(t, db, nil, &belfry.Record{Pos: 1, Items: []belfry.Item{
		{ID: 1, Name: belfry.Main},
		{ID: 2, Name: "kept", Removed: 20},
		{ID: 3, Name: "gone", Removed: 19},
		{ID: 4, Name: "element", Kind: belfry.KindElement, Removed: 30},
	}})
	purge := func(want int) {
		t.Helper()
		if n, err := db.Purge(t.Context(), 20, func([]belfry.ID) error { return nil }); err != nil || n != want {
			t.Fatalf("purged %d, %v, want %d", n, err, want)
		}
	}
	purge(0) // the row store may meet the record again
	if err := db.MarkRows(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	purge(2)
	p := load(t, db)
	left, err := db.findRemoved(t.Context(), "1")
	if err != nil || len(p.Items) != 1 || len(left) != 1 || left[0].Name != "kept" {
		t.Fatalf("left: %v, %v, %v", p, left, err)
	}
	if p.NextID != 5 {
		t.Fatalf("the next id is %d: a used one could come again", p.NextID)
	}
}

func TestParentsFirst(t *testing.T) {
	f := func(want string, pairs ...belfry.ID) { // id, parent, …
		t.Helper()
		var q parentsFirst
		var have []string
		out := func(it belfry.Item) { have = append(have, fmt.Sprint(it.ID)) }
		for i := 0; i < len(pairs); i += 2 {
			q.add(belfry.Item{ID: pairs[i], Parent: pairs[i+1]}, out)
		}
		q.rest(out)
		if s := strings.Join(have, " "); s != want {
			t.Errorf("%v: %s, want %s", pairs, s, want)
		}
	}
	f("1 2 3", 1, 0, 2, 1, 3, 2)
	f("1 3 2", 1, 0, 2, 3, 3, 1)
	f("1 4 5 2 3", 1, 0, 2, 5, 3, 2, 4, 1, 5, 4)
	f("1 4 3 2 6 5", 1, 0, 2, 3, 3, 4, 4, 1, 5, 6, 6, 1)
	f("1 2", 1, 0, 2, 9) // its parent is nowhere
}

func TestReadersDoNotWait(t *testing.T) {
	db := openDB(t)
	recs, states := sample()
	apply(t, db, states, recs...)
	tx, err := db.write.Begin() // takes SQLite's write lock
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	load(t, db)
	wantAnswer(t, db, 1, "k 1", recs[1].Answer)
	if _, err := db.read.Exec("DELETE FROM item"); err == nil {
		t.Fatal("a reader may write")
	}
	if n := db.read.Stats().InUse; n != 0 {
		t.Fatalf("%d readers were not given back", n)
	}
}

// RemovedAfter is one look into an index, however many items were removed.
func TestRemovedAfterUsesIndex(t *testing.T) {
	db := openDB(t)
	rows, err := db.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+removedAfter, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	plan := ""
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan += detail + "\n"
	}
	if !strings.Contains(plan, "SEARCH removed USING INDEX removed_pos (pos>? AND pos<?)") {
		t.Errorf("the plan reads more than it needs:\n%s", plan)
	}
}

func TestBranches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meta.db")
	for _, list := range [][]belfry.Branch{
		{{ID: "a"}},
		{{ID: "a"}, {ID: "b", Since: 7}},
		{{ID: "a"}, {ID: "b", Since: 5}, {ID: "c", Since: 9}}, // where b began has been corrected
		{{ID: "b", Since: 5}, {ID: "c", Since: 9}, {ID: "d", Since: 12}},
		{{ID: "z", Since: 20}},
	} {
		db := reopen(t, path)
		if err := db.SetBranches(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		got, err := db.Branches(t.Context())
		if err != nil || !slices.Equal(got, list) {
			t.Errorf("%v, %v; want %v", got, err, list)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		facts, err := ReadFacts(t.Context(), path)
		if err != nil || facts.Branch != list[len(list)-1].ID || !slices.Equal(facts.Branches, list) {
			t.Errorf("%+v, %v; want %v", facts, err, list)
		}
	}
}
