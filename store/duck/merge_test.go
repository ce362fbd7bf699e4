package duck

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belfry"
	"belfry/store"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowwriter"
)

func everyone(belfry.CustomerID) bool { return true }

// copiedDay copies a store and returns the copied file of a day of objectdata, and its name.
func copiedDay(t *testing.T, s *Store, day int) (path, name string) {
	t.Helper()
	to, missing := copyStore(t, s, nil)
	if len(missing) > 0 {
		t.Fatalf("not copied: %v", missing)
	}
	return dayPath(to, day), "objectdata/" + dayName(day) + folder.FileSuffix
}

// loseDay deletes the file of a day, and lets the store notice it.
func loseDay(t *testing.T, s *Store, day int) {
	t.Helper()
	must(t, unlink(dayPath(s.cfg.Dir, day)))
	must(t, s.Watch())
}

func mustMerge(t *testing.T, s *Store, path, name string, want int) {
	t.Helper()
	if n, err := s.Merge(t.Context(), path, name, everyone); err != nil || n != want {
		t.Errorf("merge: %d rows, %v; want %d", n, err, want)
	}
}

// allRows returns every row of customer 1 in a collection, and its columns.
func allRows(t *testing.T, s *Store, columns string) []string {
	t.Helper()
	var list []string
	for _, row := range s.everyRow(t, 1, "SELECT id, timestamp, "+columns+" FROM objectdata"+allTime+" ORDER BY timestamp, id LIMIT 100000") {
		list = append(list, fmt.Sprint(row))
	}
	return list
}

// TestMergeLostDay merges the file of a day that was deleted. Afterwards every row is there once, in the same form, while
// rows arrive; merging again adds nothing; and the day counts as incomplete until the operator says otherwise.
func TestMergeLostDay(t *testing.T) {
	s := openWith(t, t.TempDir())
	wide := manyRows(2, 0, 3000)
	wide.Columns = append(wide.Columns, belfry.Column{Name: "i77", Numbers: wide.Columns[1].Numbers}, belfry.Column{Name: "s3", Texts: slices.Repeat([]string{"text", "", ""}, 1000)})
	mustAppend(t, s, manyRows(1, 0, 20_000), wide, manyRows(3, 1, 1000))
	must(t, s.Durable(3))
	path, name := copiedDay(t, s, 0)
	late := manyRows(4, 0, 500)
	late.Columns = append(late.Columns, belfry.Column{Name: "i5", Numbers: late.Columns[1].Numbers})
	mustAppend(t, s, late)
	const columns = "i1, i3, i5, i77"
	want := allRows(t, s, columns)
	loseDay(t, s, 0)
	mustAppend(t, s, late)
	wantMissing(t, s, countAll, 0, 1500)
	mustMerge(t, s, path, name, 23_000)
	mustMerge(t, s, path, name, 0)
	wantMissing(t, s, countAll, 0, 24_500)
	must(t, os.Remove(s.files.lost["objectdata"][0].marker))
	must(t, s.Watch())
	mustAppend(t, s, manyRows(5, 0, 10), late) // the file knows that it has the rows of late
	if got := count(t, s); got != 24_510 {
		t.Errorf("%d rows", got)
	}
	if got := allRows(t, s, columns); !slices.Equal(slices.DeleteFunc(got, func(row string) bool { return !slices.Contains(want, row) }), want) {
		t.Errorf("%d rows are as they were, want %d", len(got), len(want))
	}
	left, err := filepath.Glob(filepath.Join(s.cfg.Dir, "objectdata", "*.new*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	must(t, s.Close())
	if problems := verify(t, s.cfg.Dir); len(problems) > 0 {
		t.Errorf("verify: %v", problems)
	}
	if got := count(t, openWith(t, s.cfg.Dir)); got != 24_510 {
		t.Errorf("%d rows after a start", got)
	}
}

// TestMergeInto merges files of which the store has a part: an older copy, a day without a file, customers that are left
// out.
func TestMergeInto(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	second := manyRows(2, 0, 300)
	second.Customer = 2
	mustAppend(t, s, manyRows(1, 0, 10_000), second, manyRows(3, 1, 10))
	must(t, s.Durable(3))
	path, name := copiedDay(t, s, 0)

	part := openWith(t, t.TempDir())
	mustAppend(t, part, manyRows(1, 0, 4000), manyRows(9, 1, 10))
	seen := map[belfry.CustomerID]bool{}
	n, err := part.Merge(t.Context(), path, name, func(id belfry.CustomerID) bool { seen[id] = true; return id == 1 })
	if err != nil || n != 6000 || len(seen) != 2 {
		t.Errorf("merge: %d rows, %v, asked about %v", n, err, seen)
	}
	mustMerge(t, part, path, name, 300)

	must(t, s.Close())
	logged := openWith(t, t.TempDir())
	mustAppend(t, logged, manyRows(9, 5, 10))
	mustMerge(t, logged, dayPath(dir, 0), name, 10_300) // the rows are in the log beside the file

	none := openWith(t, t.TempDir())
	mustAppend(t, none, manyRows(9, 5, 10))
	if n, err := none.Merge(t.Context(), path, name, func(belfry.CustomerID) bool { return false }); err != nil || n != 0 {
		t.Errorf("merge of nobody: %d rows, %v", n, err)
	}
	mustMerge(t, none, path, name+folder.LateSuffix, 10_300)
}

// TestMergeRefused: what is not the file of an earlier copy of this store is refused, with a reason, and adds nothing.
func TestMergeRefused(t *testing.T) {
	ours := instanceStore(t, testInstance)
	s := openInstance(t, ours, testInstance)
	must(t, s.Durable(3))
	theirs := instanceStore(t, "fedcba9876543210fedcba9876543210")
	name := "objectdata/" + dayName(0) + folder.FileSuffix
	f := func(path, name, want string) {
		t.Helper()
		if n, err := s.Merge(t.Context(), path, name, everyone); err == nil || n != 0 || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s as %s: %d rows, %v; want an error with %q", path, name, n, err, want)
		}
	}
	f(dayPath(theirs, 0), name, "rows of the instance")
	f(dayPath(ours, 1), name, "it has rows of")
	f(filepath.Join(ours, "manifest"), name, "")
	f(filepath.Join(ours, "absent"), name, "no such file")
	f(dayPath(ours, 0), "objectdata/manifest", "not the name of a file of rows")
	f(dayPath(ours, 0), "../"+name, "not the name of a file of rows")
	f(dayPath(ours, 0), "objectdata.hour/2024-10.duckdb", "not the name of a file of rows")
	bad := filepath.Join(t.TempDir(), "bad.duckdb")
	many := openInstance(t, instanceStore(t, testInstance), testInstance)
	mustAppend(t, many, manyRows(3, 0, 50_000))
	path, _ := copiedDay(t, many, 0)
	copyOver(t, path, bad)
	corruptRows(t, bad)
	f(bad, name, "checksum")
	mustAppend(t, many, manyRows(900, 0, 1))
	path, _ = copiedDay(t, many, 0)
	f(path, name, "rows up to position 900")
	must(t, s.Drop(t.Context(), s.cfg.Catalog.Collection("objectdata"), crashDay0+belfry.Day))
	f(dayPath(theirs, 0), name, "retention has deleted")
	if n := count(t, s); n != 1 {
		t.Errorf("%d rows", n)
	}
	if len(s.Incomplete()) > 0 {
		t.Errorf("incomplete: %v", s.Incomplete())
	}
	if left, err := filepath.Glob(filepath.Join(ours, "objectdata", "*.new*")); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// TestMergeLongTexts merges every hundredth row, all with long texts. They are padded like rows that arrive.
func TestMergeLongTexts(t *testing.T) {
	s := openWith(t, t.TempDir())
	for pos := belfry.Position(1); pos <= 10; pos++ {
		short := manyRows(2*pos, 0, 300)
		short.Customer = 2
		mustAppend(t, s, longTexts(1, 2*pos, 4, 2, 700_000), short)
	}
	path, name := copiedDay(t, s, 0)
	to := openWith(t, t.TempDir())
	mustAppend(t, to, manyRows(30, 1, 1))
	if n, err := to.Merge(t.Context(), path, name, func(id belfry.CustomerID) bool { return id == 1 }); err != nil || n != 40 {
		t.Errorf("merge: %d rows, %v", n, err)
	}
	used, err := to.files.acquire(t.Context(), to.cfg.Catalog.Collection("objectdata"), crashDay0, crashDay0)
	must(t, err)
	defer to.files.release(used)
	n, err := to.writer.Number(t.Context(), fmt.Sprintf("SELECT max(n) FROM (SELECT sum(coalesce(strlen(s1), 0) + coalesce(strlen(s2), 0)) AS n FROM %s GROUP BY rowid // %d)", used[0].ref(), rowwriter.VectorRows))
	if err != nil || n > rowwriter.VectorBytes {
		t.Errorf("a vector has %d bytes of text, %v", n, err)
	}
}

// TestMergeSummaries: after a merge the summaries of the day are made again.
func TestMergeSummaries(t *testing.T) {
	s := openWith(t, t.TempDir())
	summarise := func() {
		t.Helper()
		for more := true; more; {
			var err error
			more, err = s.Summarise(t.Context(), crashDay0+10*belfry.Day)
			must(t, err)
		}
	}
	const hours = "SELECT COUNT(*), SUM(i1_count) FROM objectdata WHERE period='hour' AND timestamp >= '1990-01-01T00:00:00Z'"
	mustAppend(t, s, manyRows(1, 0, 2000), manyRows(2, 1, 10))
	must(t, s.Durable(2))
	summarise()
	want := fmt.Sprint(s.everyRow(t, 1, hours))
	path, name := copiedDay(t, s, 0)
	other := openWith(t, t.TempDir())
	mustAppend(t, other, manyRows(2, 1, 10))
	s = other
	summarise()
	mustMerge(t, s, path, name, 2000)
	summarise()
	if got := fmt.Sprint(s.everyRow(t, 1, hours)); got != want {
		t.Errorf("summaries %s, want %s", got, want)
	}
}

// TestMergeUnderAppends merges while rows arrive for the same day.
func TestMergeUnderAppends(t *testing.T) {
	s := openWith(t, t.TempDir())
	mustAppend(t, s, manyRows(1, 0, 90_000), manyRows(2, 1, 10))
	must(t, s.Durable(2))
	path, name := copiedDay(t, s, 0)
	loseDay(t, s, 0)
	stop, ended := make(chan struct{}), make(chan int)
	go func() {
		rows := 0
		for pos := belfry.Position(3); ; pos++ {
			select {
			case <-stop:
				ended <- rows
				return
			default:
			}
			if err := store.AppendAll(context.Background(), s, manyRows(pos, 0, 50)); err != nil {
				t.Error(err)
			}
			rows += 50
		}
	}()
	mustMerge(t, s, path, name, 90_000)
	close(stop)
	rows := <-ended
	wantMissing(t, s, countAll, 0, int64(90_010+rows))
	mustMerge(t, s, path, name, 0)
}

// crashMerge, when set beside crashDir, makes the test binary merge this file.
const crashMerge = "BELFRY_TEST_CRASH_MERGE"

// mergeForever merges a file, and prints how many rows the store has until it is killed.
func mergeForever(dir, path string) {
	s, err := openForCrash(dir)
	if err == nil {
		go func() {
			used, err := s.files.acquire(context.Background(), s.cfg.Catalog.Collection("objectdata"), crashDay0, crashDay0+belfry.Day)
			c, connectErr := s.engine.Connect()
			for err == nil && connectErr == nil {
				var n uint64
				n, err = c.Number(context.Background(), "SELECT count(customer) FROM "+used[0].ref())
				fmt.Println(n)
			}
		}()
		_, err = s.Merge(context.Background(), path, "objectdata/"+filepath.Base(path), everyone)
	}
	if err == nil {
		select {} // until it is killed
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKillMerge kills a process that merges, again and again. Merging once more completes the day.
func TestKillMerge(t *testing.T) {
	const rows = 60_000
	s := openWith(t, t.TempDir())
	mustAppend(t, s, manyRows(1, 0, rows))
	path, name := copiedDay(t, s, 0)
	dir := t.TempDir()
	live := openWith(t, dir)
	mustAppend(t, live, manyRows(2, 0, 10), manyRows(3, 1, 10))
	must(t, live.Close())
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		goal := rows/(rounds+1)*round + rand.IntN(rows/(rounds+1))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir, crashMerge+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		reached := 0
		for reached < goal && lines.Scan() {
			reached, _ = strconv.Atoi(lines.Text())
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // returns that it was killed
		if reached < goal {
			t.Fatalf("the process ended after %d rows", reached)
		}
	}
	live = openWith(t, dir)
	before := count(t, live)
	mustMerge(t, live, path, name, rows+20-before)
	if got := count(t, live); got != rows+20 {
		t.Errorf("%d rows, want %d", got, rows+20)
	}
	var ids []string
	for _, row := range allRows(t, live, "i1") {
		ids = append(ids, strings.Fields(row)[0])
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != rows+20 {
		t.Errorf("%d different rows", n)
	}
}
