package duck

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowwriter"
)

// openSmall opens a store whose engine has a fixed memory limit.
func openSmall(t *testing.T, dir string, memory int64) *Store {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat, MemoryLimit: memory, MemoryMost: memory}, noTokenFilters: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// longTexts makes rows each of which has one text, in the first column, the second, and so on.
func longTexts(c belfry.CustomerID, pos belfry.Position, rows, columns, size int) *belfry.Batch {
	b := &belfry.Batch{Collection: belfry.ObjectData, Customer: c, Pos: pos, FirstID: belfry.RowID(pos * 10_000)}
	items := make([]int64, rows)
	texts := make([][]string, columns)
	for i := range texts {
		texts[i] = make([]string, rows)
	}
	for r := range rows {
		b.Times = append(b.Times, crashDay0+belfry.Time(pos))
		items[r] = int64(c) * 100
		texts[r%columns][r] = strings.Repeat(fmt.Sprintf("%d:%d ", pos, r), 1+size/4)[:size]
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}}
	for i := range texts {
		b.Columns = append(b.Columns, belfry.Column{Name: belfry.IndicatorTextColumn(i + 1), Texts: texts[i]})
	}
	return b
}

// TestLongRowsFit: the memory of the engine suffices for any number of long rows. It stores 60 rows of 1 MB in 64 MiB,
// between rows of a customer that has no texts.
func TestLongRowsFit(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := t.TempDir()
	s := openSmall(t, dir, 64<<20)
	const commits, rows = 6, 10
	for pos := belfry.Position(1); pos <= commits; pos++ {
		if err := store.AppendAll(t.Context(), s, longTexts(1, 2*pos, rows, 10, 1_000_000), valuesOf(2, 2*pos+1, 0)); err != nil {
			t.Fatalf("commit %d: %v", pos, err)
		}
	}
	check := func(s *Store) {
		t.Helper()
		const count = "SELECT COUNT(*), COUNT(i1), COUNT(i10) FROM objectdata WHERE timestamp >= '2000-01-01'"
		for c, want := range map[belfry.CustomerID]string{1: fmt.Sprint(commits * rows), 2: fmt.Sprint(commits * 1440)} {
			if got := s.everyRow(t, c, count); fmt.Sprint(got[0][0]) != want {
				t.Errorf("customer %d has %v rows, want %s", c, got[0], want)
			}
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(openSmall(t, dir, 64<<20))
}

// TestPadding checks where rows are in the file: no vector has too much text, and no column is NULL right after a long
// one.
func TestPadding(t *testing.T) {
	s := openSmall(t, t.TempDir(), 0)
	rows, pos := 0, belfry.Position(0)
	for range 2 {
		for _, some := range []struct{ rows, size int }{{1500, 10}, {1200, rowwriter.OverflowBytes - 1}, {1100, rowwriter.OverflowBytes}, {70, 100_000}, {1, 10}, {2, 2_500_000}, {2, 5_000_000}, {1500, 10}, {7, 40_000}} {
			pos++
			mustAppend(t, s, longTexts(1, pos, some.rows, 3, some.size))
			rows += some.rows
		}
	}
	f, c, release := heldFile(t, s, belfry.ObjectData)
	defer release()
	one := func(text string) uint64 {
		t.Helper()
		n, err := c.Number(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const size = "coalesce(strlen(s1), 0) + coalesce(strlen(s2), 0) + coalesce(strlen(s3), 0)"
	over := fmt.Sprintf("SELECT count(*) FROM (SELECT sum(%s) AS n, max(%[1]s) AS longest FROM %s GROUP BY rowid // %d) WHERE n > %d AND n > longest", size, f.ref(), rowwriter.VectorRows, rowwriter.VectorBytes)
	if n := one(over); n > 0 {
		t.Errorf("%d vectors have more than %d bytes", n, rowwriter.VectorBytes)
	}
	for _, col := range []string{"s1", "s2", "s3"} {
		after := fmt.Sprintf("SELECT count(*) FROM (SELECT %s IS NULL AS absent, strlen(lag(%[1]s) OVER (ORDER BY rowid)) AS before FROM %s) WHERE absent AND before >= %d", col, f.ref(), rowwriter.OverflowBytes)
		if n := one(after); n > 0 {
			t.Errorf("%s is NULL right after a long text in %d rows", col, n)
		}
	}
	if n := one("SELECT count(customer) FROM " + f.ref()); n != uint64(rows) {
		t.Errorf("%d rows, want %d", n, rows)
	}
	if n := one("SELECT count(*) FROM " + f.ref()); n == uint64(rows) {
		t.Error("there is no padding")
	}
	if f.fill.Rows != int(one("SELECT count(*) FROM "+f.ref())%rowwriter.VectorRows) {
		t.Errorf("the last vector is said to have %d rows", f.fill.Rows)
	}
}

// TestPaddingIsNoRow: everything that reads all rows of a file leaves padding out: searches, erasure, summaries, and
// the count of rows that retention removes.
func TestPaddingIsNoRow(t *testing.T) {
	s := open(t, t.TempDir())
	t.Cleanup(func() { s.Close() })
	long := linesOf(1, 1, 0, 0, 30)
	for i := range long.Times {
		long.Columns[1].Texts[i] += strings.Repeat(" more", 30_000+i)
	}
	mustAppend(t, s, long, longTexts(1, 2, 30, 3, 150_000))
	for pos := belfry.Position(3); pos < 6; pos++ {
		mustAppend(t, s, wordsOf(2, pos, 0))
	}
	func() {
		f, c, release := heldLog(t, s, 0)
		defer release()
		fillAll(t, s, f, c)
		f.filters.forget() // so that they are compared with the rows
		if blocks := checkFilters(t, s, f, c); blocks == 0 {
			t.Error("no filters stand for rows with padding between")
		}
	}()
	if n := len(s.everyRow(t, 2, "SELECT id FROM objectlog WHERE timestamp >= '2000-01-01' AND log = 'wordof2x3 line 7 of many, so that nothing is packed away'")); n != 1 {
		t.Errorf("a search finds %d rows, want 1", n)
	}
	summariseAll(t, s)
	if got := s.everyRow(t, 1, "SELECT COUNT(*) FROM objectdata WHERE timestamp >= '2000-01-01' AND period = 'hour'"); fmt.Sprint(got) != "[[1]]" {
		t.Errorf("summaries %v", got)
	}
	if err := s.Erase(t.Context(), []belfry.CustomerID{2}); err != nil {
		t.Fatal(err)
	}
	f, c, release := heldLog(t, s, 0)
	real, err := c.Number(t.Context(), "SELECT count(customer) FROM "+f.ref())
	all, err2 := c.Number(t.Context(), "SELECT count(*) FROM "+f.ref())
	release()
	if err != nil || err2 != nil || real != 30 || all <= real {
		t.Errorf("%d of %d rows after erasure, %v %v", real, all, err, err2)
	}
	if err := s.Drop(t.Context(), s.cfg.Catalog.Collection(belfry.ObjectLog), crashDay0+belfry.Day); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Expired; n != 30 {
		t.Errorf("%d rows expired, want 30", n)
	}
}

// heldFile holds the only file of a collection until it is released.
func heldFile(t *testing.T, s *Store, collection string) (f *file, c *duckdb.Conn, release func()) {
	t.Helper()
	used, err := s.files.acquire(t.Context(), s.cfg.Catalog.Collection(collection), 0, folder.EndOfTime)
	if err != nil || len(used) != 1 {
		t.Fatal(used, err)
	}
	if c, err = s.engine.Connect(); err != nil {
		t.Fatal(err)
	}
	return used[0], c, func() { c.Close(); s.files.release(used) }
}
