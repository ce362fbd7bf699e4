package duck

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belfry"
	"belfry/query"
	"belfry/store"
	"belfry/store/duck/dialect"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
	"belfry/store/duck/names"
)

// lineOf returns the log line of a row: a few common words, and in some rows a rare one.
func lineOf(id int) string {
	line := fmt.Sprintf("word%d took %d Ms", id%7, id%5)
	if id%10_007 == 0 {
		line = fmt.Sprintf("Rare%d happened", id/10_007)
	}
	return line
}

// linesOf makes a batch of lines on a day.
func linesOf(pos belfry.Position, customer belfry.CustomerID, day, firstID, n int) *belfry.Batch {
	b := &belfry.Batch{Collection: belfry.ObjectLog, Customer: customer, Pos: pos, FirstID: belfry.RowID(firstID), Times: make([]belfry.Time, n)}
	items, lines := make([]int64, n), make([]string, n)
	for i := range n {
		b.Times[i] = crashDay0 + belfry.Time(day)*belfry.Day + belfry.Time(firstID+i)
		items[i], lines[i] = 7, lineOf(firstID+i)
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "log", Texts: lines}}
	return b
}

// heldLog holds the file of a day of log lines until it is released.
func heldLog(t *testing.T, s *Store, day int) (f *file, c *duckdb.Conn, release func()) {
	t.Helper()
	from := crashDay0 + belfry.Time(day)*belfry.Day
	used, err := s.files.acquire(t.Context(), s.cfg.Catalog.Collection(belfry.ObjectLog), from, from)
	if err != nil || len(used) != 1 {
		t.Fatal(used, err)
	}
	c, err = s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	return used[0], c, func() { c.Close(); s.files.release(used) }
}

// fillAll builds all filters of the file and checks them.
func fillAll(t *testing.T, s *Store, f *file, c *duckdb.Conn) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.runIndexJob(t.Context(), indexJob{file: f}, index.NewSet()); err != nil {
			t.Fatal(err)
		}
	}
	checkFilters(t, s, f, c)
	rows, err := c.Number(t.Context(), "SELECT count(*) FROM "+f.ref())
	if err != nil || len(f.filters.blocks) != int(rows/index.BlockRows) {
		t.Fatalf("%d blocks of %d rows, %v", len(f.filters.blocks), rows, err)
	}
}

// checkFilters looks up each word of each row that the filters cover.
func checkFilters(t *testing.T, s *Store, f *file, c *duckdb.Conn) (blocks int) {
	t.Helper()
	list, err := s.blocksOf(t.Context(), c, f)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return 0
	}
	r, err := index.Open(f.path+index.Suffix, list)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	known := map[string]bool{}
	err = c.Stream(t.Context(), fmt.Sprintf("SELECT rowid, customer, log FROM %s WHERE rowid < %d", f.ref(), len(list)*index.BlockRows), func(chunk *duckdb.Chunk) bool {
		for i := range chunk.Rows {
			n, customer := int(chunk.Columns[0].Wide(i)/index.BlockRows), belfry.CustomerID(chunk.Columns[1].Small(i))
			for w := range query.Words(chunk.Columns[2].Text(i)) {
				key := fmt.Sprint(n, customer, w)
				if !known[key] && !slices.Contains(r.Matching(index.TokensOfText(w, customer), 0, folder.EndOfTime), n) {
					t.Errorf("block %d does not know %q of customer %d", n, w, customer)
				}
				known[key] = true
			}
		}
		return true
	})
	if block, damaged := r.Damaged(); err != nil || len(known) == 0 || damaged {
		t.Fatalf("%d words, block %d is damaged: %t, %v", len(known), block, damaged, err)
	}
	return len(list)
}

// logPlan returns the plan of all rows with a condition.
func logPlan(t *testing.T, s *Store, where string) *query.Plan {
	return parse(t, s, "SELECT id FROM objectlog WHERE timestamp >= '1990-01-01T00:00:00Z' AND "+where+" ORDER BY id LIMIT 100000")
}

// idsOf returns the ids that a query for lines must return while the store has n rows.
func idsOf(n int, wanted ...string) string {
	var ids []string
	for id := range n {
		if (id < filterRows || id >= filterRows+9000) && slices.Contains(wanted, lineOf(id)) {
			ids = append(ids, belfry.RowID(id).String())
		}
	}
	return strings.Join(ids, " ")
}

// rangesFor returns the blocks that a plan reads of a file, as text; + means the rows after the blocks.
func rangesFor(t *testing.T, s *Store, c *duckdb.Conn, f *file, p *query.Plan) string {
	t.Helper()
	n := index.TokensOf(p)
	if n == nil {
		return "all"
	}
	ranges, err := s.rowRanges(t.Context(), c, p, f, n, maxRanges)
	if err != nil {
		t.Fatal(err)
	}
	if ranges == nil {
		return "all"
	}
	var b strings.Builder
	for _, r := range ranges {
		if r.To == index.LastRow {
			fmt.Fprintf(&b, "%d+", r.From/index.BlockRows)
			continue
		}
		for n := r.From / index.BlockRows; n < r.To/index.BlockRows; n++ {
			fmt.Fprintf(&b, "%d ", n)
		}
	}
	return b.String()
}

const filterRows = 45_000 // five blocks and some rows

// filterStore has lines of customer 1, followed by a block of customer 2.
func filterStore(t *testing.T, dir string) *Store {
	t.Helper()
	s := open(t, dir)
	s.indexer.close() // the test builds filters itself
	for i := range 5 {
		mustAppend(t, s, linesOf(belfry.Position(i+1), 1, 0, i*9000, 9000))
	}
	mustAppend(t, s, linesOf(6, 2, 0, filterRows, 9000))
	return s
}

// TestFilters: answers are the same without filters, with them, with more rows than they cover, and after the store is
// opened again; with filters few blocks are read.
func TestFilters(t *testing.T) {
	dir := t.TempDir()
	s := filterStore(t, dir)
	f, c, release := heldLog(t, s, 0)
	ask := func(s *Store, rows int) {
		t.Helper()
		for _, line := range []string{lineOf(3), lineOf(0), lineOf(10_007), lineOf(40_028), lineOf(50_035), "Rare1 took", "nothing"} {
			if got, want := read(t, s, logPlan(t, s, "log = '"+line+"'")), idsOf(rows, line); got != want {
				t.Errorf("rows with %q: got %.80q, want %.80q", line, got, want)
			}
		}
		where := "(log = '" + lineOf(10_007) + "' OR log = '" + lineOf(20_014) + "') AND NOT log = '" + lineOf(0) + "'"
		if got, want := read(t, s, logPlan(t, s, where)), idsOf(rows, lineOf(10_007), lineOf(20_014)); got != want {
			t.Errorf("rows with either: got %s, want %s", got, want)
		}
	}
	ranges := func(where, want string) {
		t.Helper()
		if got := rangesFor(t, s, c, f, logPlan(t, s, where)); got != want {
			t.Errorf("%s reads blocks %s, want %s", where, got, want)
		}
	}
	ask(s, filterRows)
	ranges("log = 'Rare1 happened'", "all")
	fillAll(t, s, f, c)
	ask(s, filterRows)
	ranges("log = 'Rare1 happened'", "1 6+")
	ranges("log = 'rare1 HAPPENED!'", "1 6+") // only words count
	ranges("log = 'Rare4 happened'", "4 6+")
	ranges("log = 'Rare5 happened'", "6+") // is the other customer's
	ranges("log = 'Rare1 nothing'", "6+")
	ranges("log = 'word1 took 1 ms'", "0 1 2 3 4 5 6+")
	ranges("(log = 'Rare1' OR log = 'Rare4')", "1 4 6+")
	ranges("(log = 'Rare1' OR class = 'x')", "all")
	ranges("NOT log = 'Rare1'", "all")
	ranges("log <> 'Rare1'", "all")
	ranges("log = '!'", "all")

	mustAppend(t, s, linesOf(7, 1, 0, filterRows+9000, 9000))
	line := lineOf(60_042)
	if got, want := read(t, s, logPlan(t, s, "log = '"+line+"'")), belfry.RowID(60_042).String(); got != want {
		t.Errorf("in new rows: %s, want %s", got, want)
	}
	ranges("log = '"+line+"'", "6+")
	fillAll(t, s, f, c)
	ranges("log = '"+line+"'", "7+")
	release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, dir)
	defer s.Close()
	f, c, release = heldLog(t, s, 0)
	defer release()
	if n := checkFilters(t, s, f, c); n != 7 {
		t.Errorf("%d blocks are known after opening again", n)
	}
	ask(s, filterRows+18_000)
}

// TestDamagedFilters flips every byte of the filters and truncates them at every length: they may rule out fewer
// blocks, but never one that has the word.
func TestDamagedFilters(t *testing.T) {
	s := filterStore(t, t.TempDir())
	defer s.Close()
	f, c, release := heldLog(t, s, 0)
	defer release()
	fillAll(t, s, f, c)
	path := f.path + index.Suffix
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plan := logPlan(t, s, "log = 'Rare1 happened'")
	narrowed := 0
	with := func(what string, at int, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f.filters.alias = ""
		for range 2 { // the second time the damage is known
			switch got := rangesFor(t, s, c, f, plan); {
			case got == "all" || got == "0+":
			case got[0] == '1' || strings.Contains(got, " 1 "):
				narrowed++
			default:
				t.Fatalf("%s at %d: only blocks %s are read", what, at, got)
			}
		}
	}
	step := 1
	if testing.Short() {
		step = 11
	}
	for at := 0; at < len(whole); at += step {
		damaged := slices.Clone(whole)
		damaged[at] ^= byte(1 + at%255)
		with("flipped", at, damaged)
		with("cut", at, whole[:at])
	}
	if cases := 4 * (len(whole) + step - 1) / step; narrowed < cases/4 {
		t.Errorf("only in %d of %d cases there was something left of the filters", narrowed, cases)
	}
	fillAll(t, s, f, c)
	if again, err := os.ReadFile(path); err != nil || !slices.Equal(whole, again) {
		t.Errorf("the filters were not made as they had been: %v", err)
	}
}

// TestForeignFilters puts the filters of another file beside a file: of one with more rows, and of one with other rows.
func TestForeignFilters(t *testing.T) {
	s := filterStore(t, t.TempDir())
	defer s.Close()
	f, c, release := heldLog(t, s, 0)
	defer release()
	fillAll(t, s, f, c)
	foreign, err := os.ReadFile(f.path + index.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	try := func(want int, batches ...*belfry.Batch) {
		t.Helper()
		s := open(t, t.TempDir())
		defer s.Close()
		s.indexer.close()
		mustAppend(t, s, batches...)
		f, c, release := heldLog(t, s, 0)
		defer release()
		if err := os.WriteFile(f.path+index.Suffix, foreign, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := checkFilters(t, s, f, c); got != want {
			t.Errorf("%d blocks are believed, want %d", got, want)
		}
		fillAll(t, s, f, c)
	}
	try(0, linesOf(1, 1, 0, 0, index.BlockRows-1))
	try(1, linesOf(1, 1, 0, 0, index.BlockRows))
	try(3, linesOf(1, 1, 0, 0, 4*index.BlockRows-1))
	try(0, linesOf(1, 1, 0, 1, 4*index.BlockRows))
	try(0, linesOf(1, 1, 0, 100_000, 7*index.BlockRows))
}

// TestFiltersOfOldDays builds filters of late rows, and removes them with the day.
func TestFiltersOfOldDays(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	for i := range 6 {
		mustAppend(t, s, linesOf(belfry.Position(i+1), 1, i%2, i*9000, 9000))
	}
	f, c, release := heldLog(t, s, 0)
	fillAll(t, s, f, c)
	other, c2, release2 := heldLog(t, s, 1)
	fillAll(t, s, other, c2)
	if got, want := read(t, s, logPlan(t, s, "log = 'Rare1 happened'")), belfry.RowID(10_007).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	release()
	release2()
	if err := s.Drop(t.Context(), f.collection, crashDay0+belfry.Day); err != nil {
		t.Fatal(err)
	}
	if more, err := s.runIndexJob(t.Context(), indexJob{file: f}, index.NewSet()); more || err != nil {
		t.Errorf("filters of a day that is gone: %v, %v", more, err)
	}
	if _, err := os.Stat(f.path + index.Suffix); !os.IsNotExist(err) {
		t.Errorf("they are still there: %v", err)
	}
	if _, err := os.Stat(other.path + index.Suffix); err != nil {
		t.Error(err)
	}
}

// TestManyTokens: a block with too many words is always read, and does not prevent filters of other blocks.
func TestManyTokens(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	b := linesOf(1, 1, 0, 0, 2*index.BlockRows)
	texts := b.Columns[1].Texts
	for i := range index.BlockRows {
		var line strings.Builder
		for j := range index.MaxTokens/index.BlockRows + 1 {
			fmt.Fprintf(&line, "%d_%d ", i, j)
		}
		texts[i] = line.String()
	}
	mustAppend(t, s, b)
	f, c, release := heldLog(t, s, 0)
	defer release()
	fillAll(t, s, f, c)
	if got := rangesFor(t, s, c, f, logPlan(t, s, "log = 'nothing'")); got != "0 2+" {
		t.Errorf("blocks %s are read", got)
	}
}

// crashLog is how many log lines a position has.
const crashLog = 5000

func appendLinesForever(dir string) {
	s, err := openForCrash(dir)
	for pos := 1; err == nil; pos++ {
		err = store.AppendAll(context.Background(), s, linesOf(belfry.Position(pos), belfry.CustomerID(1+pos%3), 0, pos*crashLog, crashLog))
		fmt.Println(pos)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKillFilters kills a process that stores lines and builds filters, again and again in the same folder, and looks
// up every word in the filters that it left.
func TestKillFilters(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := t.TempDir()
	blocks := 0
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir, crashLines+"=yes")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for goal := (round+1)*12 + rand.IntN(6); lines.Scan() && lines.Text() != strconv.Itoa(goal); {
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // which says that it was killed
		s, err := openForCrash(dir)
		if err != nil {
			t.Fatal(err)
		}
		s.indexer.close()
		f, c, release := heldLog(t, s, 0)
		blocks += checkFilters(t, s, f, c)
		if round == 3 { // and from here on it has some to start with
			fillAll(t, s, f, c)
		}
		release()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if blocks == 0 {
		t.Error("no process came to make a filter")
	}
}

// TestLatest queries the last lines with common and rare words, after some of the newest were stored before older ones.
func TestLatest(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	s.indexer.close()
	const rows = 34 * index.BlockRows
	early := linesOf(1, 1, 0, 2*rows, 3)
	mustAppend(t, s, early, linesOf(2, 1, 0, 0, rows))
	f, c, release := heldLog(t, s, 0)
	defer release()
	ask := func(line string, limit int) {
		t.Helper()
		var ids []string
		for _, span := range [][2]int{{2*rows + 2, 2 * rows}, {rows - 1, 0}} {
			for id := span[0]; id >= span[1] && len(ids) <= limit; id-- {
				if lineOf(id) == line {
					ids = append(ids, belfry.RowID(id).String())
				}
			}
		}
		p := parse(t, s, fmt.Sprintf("SELECT id FROM objectlog WHERE log = '%s' ORDER BY timestamp DESC LIMIT %d", line, limit))
		if got, want := read(t, s, p), strings.Join(ids, " "); got != want {
			t.Errorf("%s, %d: got %.80s, want %.80s", line, limit, got, want)
		}
	}
	limits := []int{1, 10, 1000, 5000}
	if testing.Short() {
		limits = []int{1, 5000}
	}
	for range 2 {
		for _, limit := range limits {
			ask(lineOf(3), limit)
			ask(lineOf(2*rows+1), limit)
			ask(lineOf(10_007), limit)
		}
		fillAll(t, s, f, c)
	}
	newest := s.files.periods(f.collection, 0, folder.EndOfTime)
	from := func(where string, want belfry.Time) {
		t.Helper()
		p := parse(t, s, "SELECT id FROM objectlog WHERE "+where+" LIMIT 1")
		ends, err := s.endsOf(t.Context(), c, p, newest)
		if got := index.LatestFrom(ends, 16); err != nil || got != want {
			t.Errorf("%s: the last blocks have all rows from %d, %v, not from %d", where, got, err, want)
		}
	}
	from("log LIKE '%x'", early.Times[2]+1)
	from("log = '"+lineOf(3)+"'", early.Times[2]+1)
	from("log = 'x'", 0) // no block has it

	mustAppend(t, s, linesOf(3, 1, 1, 4*rows, rows))
	f, c, release2 := heldLog(t, s, 1)
	defer release2()
	fillAll(t, s, f, c)
	p := parse(t, s, "SELECT id FROM objectlog WHERE log = '"+lineOf(3)+"' LIMIT 1")
	a := &reading{store: s, ctx: t.Context(), conn: c}
	enough := a.latestSteps(p, s.files.periods(f.collection, 0, folder.EndOfTime), func(st step) {
		tables, err := a.acquire(st)
		if err != nil {
			t.Fatal(err)
		}
		stmt, err := query.SQL(st.plan, dialect.New(names.Table), tables)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Query(t.Context(), stmt.Text, stmt.Args...)
		a.release(err)
		a.record(stmt, res, err)
	})
	if a.err != nil || !enough {
		t.Fatalf("the last blocks have no answer: %v", a.err)
	}
	r := a.rows
	last := 5*rows - 1
	for lineOf(last) != lineOf(3) {
		last--
	}
	if row, err := r.Next(); err != nil || row[0].String() != belfry.RowID(last).String() {
		t.Errorf("got %v, %v, want %d", row, err, last)
	}
}
