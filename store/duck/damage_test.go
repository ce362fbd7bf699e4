package duck

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// damageDay is the day whose file is damaged; it is old, as there are rows of two later days.
const damageDay = 0

func dayName(day int) string {
	return (crashDay0 + belfry.Time(day)*belfry.Day).Std().Format("2006-01-02")
}

func dayPath(dir string, day int) string {
	return filepath.Join(dir, "objectdata", dayName(day)+folder.FileSuffix)
}

// manyRows makes n rows of a day, whose values do not compress to nothing.
func manyRows(pos belfry.Position, day, n int) *belfry.Batch {
	b := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: pos, FirstID: belfry.RowID(pos * 100_000)}
	v, items := make([]float64, n), make([]int64, n)
	for i := range n {
		b.Times = append(b.Times, crashDay0+belfry.Time(day)*belfry.Day+belfry.Time(i))
		v[i], items[i] = float64(i*7919%104_729)/3.7, int64(i%13)
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "i1", Numbers: v}}
	return b
}

// openWith opens a store whose journal has the given batches.
func openWith(t testing.TB, dir string, journal ...*belfry.Batch) *Store {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat, Journal: func(each func(*belfry.Batch) error) error {
		for _, b := range journal {
			if err := each(b); err != nil {
				return err
			}
		}
		return nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

const (
	oldRows  = 40_000 // in the file of damageDay
	logRows  = 150    // of these, in its log
	allTime  = " WHERE timestamp >= '1990-01-01T00:00:00Z'"
	countAll = "SELECT COUNT(*) FROM objectdata" + allTime + " AND i1 <> 0.123" // which reads every block
)

// makeDays makes a store with three days, of which the first has many rows in its file and some in its log.
func makeDays(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := openWith(t, dir)
	for _, b := range []*belfry.Batch{manyRows(1, damageDay, oldRows-logRows), rowsOf(2, 1, 2)} {
		if err := store.AppendAll(t.Context(), s, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, dir)
	if err := store.AppendAll(t.Context(), s, manyRows(3, damageDay, logRows)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// askFirst runs a query, with or without partial, and returns its first value.
func askFirst(t *testing.T, s *Store, text string, partial bool) (n int64, missing []string, err error) {
	t.Helper()
	p := parse(t, s, text)
	if partial {
		p.Partial = new(query.Partial)
	}
	rows, err := s.Select(t.Context(), p)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	row, err := rows.Next()
	if err == io.EOF {
		return 0, p.Partial.Days(), nil
	}
	if err != nil {
		return 0, nil, err
	}
	return row[0].Int, p.Partial.Days(), nil
}

// wantMissing checks that a query over all days is refused with the name of the day, and answered with partial.
func wantMissing(t *testing.T, s *Store, text string, day int, rest int64) {
	t.Helper()
	_, _, err := askFirst(t, s, text, false)
	e, ok := errors.AsType[*belfry.Error](err)
	if !ok || e.Code != belfry.StorageUnavailable || !strings.Contains(e.Message, "objectdata") || !strings.Contains(e.Message, dayName(day)) || !strings.Contains(e.Message, "partial=true") {
		t.Errorf("%s: %v, want storage_unavailable that names objectdata and %s", text, err, dayName(day))
	}
	n, missing, err := askFirst(t, s, text, true)
	if err != nil || fmt.Sprint(missing) != "["+dayName(day)+"]" || n != rest {
		t.Errorf("%s with partial: %d rows without %v, %v; want %d without %s", text, n, missing, err, rest, dayName(day))
	}
}

func overwrite(t testing.TB, path string, at int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("\xa5", n)), at); err != nil {
		t.Fatal(err)
	}
}

// damages are the ways in which a file of rows can be damaged.
var damages = []struct {
	name string
	do   func(t testing.TB, path string)
}{
	{"magic", func(t testing.TB, path string) { overwrite(t, path, 8, 4) }},
	{"first header", func(t testing.TB, path string) { overwrite(t, path, 100, 10) }},
	{"second header", func(t testing.TB, path string) { overwrite(t, path, 4096, 4096) }},
	{"metadata", func(t testing.TB, path string) { overwrite(t, path, damage.FirstBlock+40_960, 4096) }},
	{"row group", corruptRows},
	{"empty", func(t testing.TB, path string) { truncate(t, path, 0) }},
	{"cut in the header", func(t testing.TB, path string) { truncate(t, path, 100) }},
	{"cut in the rows", func(t testing.TB, path string) { truncate(t, path, damage.FirstBlock+damage.BlockBytes+100) }},
	{"folder", func(t testing.TB, path string) { remove(t, path); mkdir(t, path) }},
	{"deleted", func(t testing.TB, path string) { remove(t, path) }},
	{"text", func(t testing.TB, path string) { write(t, path, []byte(strings.Repeat("hello\n", 10_000))) }},
	{"other day", func(t testing.TB, path string) { copyOver(t, dayPath(filepath.Dir(filepath.Dir(path)), 1), path) }},
	{"log overwritten", func(t testing.TB, path string) { overwrite(t, path+".wal", 200, 20) }},
	{"log cut", func(t testing.TB, path string) { truncate(t, path+".wal", 700) }},
	{"log empty", func(t testing.TB, path string) { truncate(t, path+".wal", 0) }},
	{"log deleted", func(t testing.TB, path string) { remove(t, path+".wal") }},
	{"log a folder", func(t testing.TB, path string) { remove(t, path+".wal"); mkdir(t, path+".wal") }},
}

// corruptRows overwrites a page of every block but the first, which has the metadata.
func corruptRows(t testing.TB, path string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	for at := int64(damage.FirstBlock + damage.BlockBytes); at < info.Size(); at += damage.BlockBytes {
		overwrite(t, path, at+40_960, 4096)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func truncate(t testing.TB, path string, n int64) { t.Helper(); must(t, os.Truncate(path, n)) }
func remove(t testing.TB, path string)            { t.Helper(); must(t, os.Remove(path)) }
func mkdir(t testing.TB, path string)             { t.Helper(); must(t, os.Mkdir(path, 0o700)) }
func write(t testing.TB, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(path, content, 0o600))
}

func copyOver(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	must(t, err)
	_ = os.Remove(to + ".wal")
	write(t, to, content)
}

func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// TestDamage damages the file of an old day in every way, then stores a late row and queries. Other days keep working,
// the late row is there, the day is named, and all of that holds after further starts.
func TestDamage(t *testing.T) {
	base := makeDays(t)
	for i, d := range damages {
		for j, first := range []string{"row", "query"} {
			if testing.Short() && i%4 != 2*j {
				continue // the others are part of make soak
			}
			t.Run(d.name+"/"+first, func(t *testing.T) {
				dir := copyDir(t, base)
				d.do(t, dayPath(dir, damageDay))
				late := rowsOf(9, damageDay, 1)
				kept := int64(0) // rows of the day that are left
				if strings.HasPrefix(d.name, "log") && d.name != "log overwritten" && d.name != "log a folder" {
					kept = oldRows - logRows
				}
				s := openWith(t, dir, late) // a file with a bad block may accept it, and be set aside afterwards
				if first == "query" {
					wantMissing(t, s, countAll, damageDay, kept+2)
				}
				must(t, store.AppendAll(t.Context(), s, late))
				askFirst(t, s, countAll, false)
				must(t, store.AppendAll(t.Context(), s)) // as the event of the fault does
				wantMissing(t, s, countAll, damageDay, kept+4)
				if n, _, err := askFirst(t, s, "SELECT COUNT(*) FROM objectdata WHERE timestamp >= '"+dayName(1)+"T00:00:00Z'", false); err != nil || n != 3 {
					t.Errorf("rows of the other days: %d, %v; want 3", n, err)
				}
				must(t, s.Close())
				s = openWith(t, dir, late)
				wantMissing(t, s, countAll, damageDay, kept+4)
				must(t, store.AppendAll(t.Context(), s, rowsOf(10, damageDay, 1, 2)))
				wantMissing(t, s, countAll, damageDay, kept+7)
				if list := s.Incomplete(); len(list) != 1 || list[0].Collection != "objectdata" || list[0].Day != dayName(damageDay) {
					t.Errorf("incomplete days: %v", list)
				}
				endLoss(t, s, dir)
				if n, _, err := askFirst(t, s, countAll, false); err != nil || n != kept+7 {
					t.Errorf("after the operator: %d rows, %v; want %d", n, err, kept+7)
				}
				must(t, s.Close())
				s = openWith(t, dir)
				if n, _, err := askFirst(t, s, countAll, false); err != nil || n != kept+7 {
					t.Errorf("after the operator and a start: %d rows, %v; want %d", n, err, kept+7)
				}
			})
		}
	}
}

// endLoss removes what was kept of incomplete days, as an operator does.
func endLoss(t testing.TB, s *Store, dir string) {
	t.Helper()
	for _, mark := range []string{folder.DamagedMark, folder.MissingMark} {
		list, err := filepath.Glob(filepath.Join(dir, "objectdata", "*"+mark+"*"))
		must(t, err)
		for _, path := range list {
			must(t, os.RemoveAll(path))
		}
	}
	must(t, s.Watch())
	if list := s.Incomplete(); len(list) != 0 {
		t.Errorf("still incomplete: %v", list)
	}
}

// TestDamagedFileIsKept checks that a damaged file is kept as a whole, with its log.
func TestDamagedFileIsKept(t *testing.T) {
	dir := makeDays(t)
	path := dayPath(dir, damageDay)
	corruptRows(t, path)
	was, err := os.ReadFile(path)
	must(t, err)
	log, err := os.ReadFile(path + ".wal")
	must(t, err)
	s := openWith(t, dir)
	askFirst(t, s, "SELECT SUM(i1) FROM objectdata"+allTime, false)
	list := s.Incomplete()
	if len(list) != 1 {
		t.Fatalf("incomplete days: %v", list)
	}
	kept, err := filepath.Glob(path + folder.DamagedMark + "*Z")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept files: %v, %v", kept, err)
	}
	now, err := os.ReadFile(kept[0])
	if err != nil || string(now) != string(was) {
		t.Errorf("the damaged file is not kept as it was: %v", err)
	}
	if now, err := os.ReadFile(kept[0] + ".wal"); err != nil || string(now) != string(log) {
		t.Errorf("the log of the damaged file is not kept as it was: %v", err)
	}
	if !strings.Contains(list[0].Message, filepath.Base(kept[0])) || !strings.Contains(list[0].Message, "checksum") {
		t.Errorf("message: %s", list[0].Message)
	}
}

// TestRestoredFromJournal damages a file while the journal still has some of its rows. They are stored again, each
// once, whether a write or a query finds the damage, and however the rows come afterwards.
func TestRestoredFromJournal(t *testing.T) {
	base := makeDays(t)
	for _, first := range []string{"row", "query", "start"} {
		t.Run(first, func(t *testing.T) {
			dir := copyDir(t, base)
			overwrite(t, dayPath(dir, damageDay), 8, 4)
			late := rowsOf(9, damageDay, 1)
			journal := []*belfry.Batch{rowsOf(2, 1, 2), manyRows(3, damageDay, logRows), late}
			s := openWith(t, dir, journal...)
			switch first {
			case "query":
				wantMissing(t, s, countAll, damageDay, 2)
				must(t, store.AppendAll(t.Context(), s, rowsOf(8, 2))) // a row of another day
			case "start":
				wantMissing(t, s, countAll, damageDay, 2)
				must(t, s.Close())
				s = openWith(t, dir, journal...)
				must(t, store.AppendAll(t.Context(), s, rowsOf(8, 2)))
			case "row":
				must(t, store.AppendAll(t.Context(), s, rowsOf(8, 2)))
			}
			must(t, store.AppendAll(t.Context(), s, late))
			must(t, store.AppendAll(t.Context(), s, late)) // again, as after a failure
			wantMissing(t, s, countAll, damageDay, 2+1+logRows+2)
		})
	}
}

// TestLostLogIsRestored deletes the log of a file while the journal still has its rows: then nothing is missing.
func TestLostLogIsRestored(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := makeDays(t)
	remove(t, dayPath(dir, damageDay)+".wal")
	s := openWith(t, dir, manyRows(1, damageDay, oldRows-logRows), rowsOf(2, 1, 2), manyRows(3, damageDay, logRows))
	askFirst(t, s, countAll, false)
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, 1)))
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+3 {
		t.Errorf("%d rows, %v; want %d", n, err, oldRows+3)
	}
	if list := s.Incomplete(); len(list) != 0 {
		t.Errorf("incomplete days: %v", list)
	}
}

// TestDeletedUnderUs deletes files of a running store, one that is attached and one that is not.
func TestDeletedUnderUs(t *testing.T) {
	base := makeDays(t)
	for _, attached := range []bool{false, true} {
		for _, by := range []string{"watch", "row", "query"} {
			t.Run(fmt.Sprint(by, " ", attached), func(t *testing.T) {
				dir := copyDir(t, base)
				s := openWith(t, dir)
				if attached {
					_, _, err := askFirst(t, s, countAll, false)
					must(t, err)
				}
				remove(t, dayPath(dir, damageDay))
				rest := int64(2)
				switch by {
				case "watch":
					must(t, s.Watch())
				case "row":
					must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay)))
					rest = 3
				case "query":
					if attached { // its rows can still be read
						must(t, s.Watch())
					}
				}
				wantMissing(t, s, countAll, damageDay, rest)
				must(t, s.Close())
				s = openWith(t, dir)
				wantMissing(t, s, countAll, damageDay, rest)
			})
		}
	}
}

// TestNoFalseAlarm opens stores after events that are no damage.
func TestNoFalseAlarm(t *testing.T) {
	dir := makeDays(t)
	check := func(what string, want int64) {
		t.Helper()
		s := openWith(t, dir)
		defer s.Close()
		n, _, err := askFirst(t, s, countAll, false)
		if err != nil || n != want || len(s.Incomplete()) != 0 {
			t.Errorf("%s: %d rows, %v, incomplete %v", what, n, err, s.Incomplete())
		}
	}
	const all = oldRows + 2
	check("nothing", all)
	remove(t, filepath.Join(dir, folder.ManifestFile))
	check("no manifest, as before there was one", all)
	manifest, err := os.ReadFile(filepath.Join(dir, folder.ManifestFile))
	must(t, err)
	write(t, filepath.Join(dir, folder.ManifestFile), append(manifest, "objectdata/2030-01-01.duckdb 12"...))
	check("a line that is cut off", all)
	lines := strings.SplitAfter(string(manifest), "\n")
	write(t, filepath.Join(dir, folder.ManifestFile), []byte(strings.Join(lines[1:], "")))
	check("a file that is made and not listed", all)

	s := openWith(t, dir)
	must(t, s.Drop(t.Context(), s.cfg.Catalog.Collection("objectdata"), crashDay0+belfry.Day))
	must(t, s.Close())
	write(t, filepath.Join(dir, folder.ManifestFile), manifest)
	check("a file that was dropped and is still listed", 2)
}

// TestNotDamage makes the engine fail for reasons other than the file. The file stays where it is.
func TestNotDamage(t *testing.T) {
	dir := makeDays(t)
	for _, text := range []string{
		"IO Error: Cannot open file \"x\": Too many open files",
		"IO Error: Cannot open file \"x\": Permission denied",
		"IO Error: Could not read from file \"x\": Input/output error",
		"IO Error: Could not write file \"x\": No space left on device",
		"Out of Memory Error: failed to allocate data of size 1 GiB",
		"IO Error: Failure while replaying WAL file \"x.wal\": Could not read from file: Input/output error",
		"IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2 in block at location 12288",
		"IO Error: Could not read enough bytes from file \"" + dayPath(dir, 0) + "\": attempted to read 4096 bytes from location 0",
	} {
		err := duckdb.ParseError(text)
		if why := damage.AtOpen(dayPath(dir, 0), err); why != "" {
			t.Errorf("%s: taken for damage: %s", text, why)
		}
		if why := damage.In(dayPath(dir, 0), err); why != "" {
			t.Errorf("%s: taken for damage: %s", text, why)
		}
	}
}

// TestFewDescriptors leaves a store without file descriptors. No file is called damaged because of it.
func TestFewDescriptors(t *testing.T) {
	dir := makeDays(t)
	s := openWith(t, dir)
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	few := old
	few.Cur = 3
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	_, _, err := askFirst(t, s, countAll, false)
	appendErr := store.AppendAll(t.Context(), s, rowsOf(9, damageDay, 1, 2))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
	if err == nil || appendErr == nil {
		t.Errorf("without descriptors: %v, %v", err, appendErr)
	}
	if list := s.Incomplete(); len(list) != 0 {
		t.Errorf("incomplete days: %v", list)
	}
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay, 1, 2)))
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+5 {
		t.Errorf("%d rows, %v; want %d", n, err, oldRows+5)
	}
}

// TestLostDayKeepsSummaries damages a file whose rows have been summarised, and stores a late row. The summaries cover
// more than the remaining rows, and stay.
func TestLostDayKeepsSummaries(t *testing.T) {
	dir := makeDays(t)
	s := openWith(t, dir)
	summariseAll(t, s)
	n, _, err := askFirst(t, s, "SELECT i1_count FROM objectdata WHERE period='day' AND timestamp >= '1990-01-01T00:00:00Z' ORDER BY i1_count DESC", false)
	must(t, err)
	must(t, s.Close())
	overwrite(t, dayPath(dir, damageDay), 8, 4)
	s = openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay)))
	summariseAll(t, s)
	for _, period := range []string{"hour", "day"} {
		text := "SELECT i1_count FROM objectdata WHERE period='" + period + "' AND timestamp >= '1990-01-01T00:00:00Z' ORDER BY i1_count DESC"
		got, missing, err := askFirst(t, s, text, true)
		if err != nil || got != n || fmt.Sprint(missing) != "["+dayName(damageDay)+"]" {
			t.Errorf("%s: %d without %v, %v; want %d", period, got, missing, err, n)
		}
		if _, _, err := askFirst(t, s, text, false); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("%s: %v", period, err)
		}
	}
}

// TestDamagedSummaries damages the files of summaries. As the rows exist, nothing is missing.
func TestDamagedSummaries(t *testing.T) {
	dir := makeDays(t)
	s := openWith(t, dir)
	summariseAll(t, s)
	text := "SELECT i1_count FROM objectdata WHERE period='hour' AND timestamp >= '1990-01-01T00:00:00Z' ORDER BY i1_count DESC"
	want, _, err := askFirst(t, s, text, false)
	must(t, err)
	must(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "objectdata.*", "*"+folder.FileSuffix))
	must(t, err)
	if len(files) != 2 {
		t.Fatalf("files of summaries: %v", files)
	}
	for _, path := range files {
		overwrite(t, path, 8, 4)
	}
	s = openWith(t, dir)
	for range 2 {
		if got, _, err := askFirst(t, s, text, false); err != nil || got != want {
			t.Errorf("%d, %v; want %d", got, err, want)
		}
		summariseAll(t, s)
	}
	if list := s.Incomplete(); len(list) != 2 {
		t.Errorf("incomplete: %v", list)
	}
}

// TestDamageEverywhere changes one byte in every 4 KiB of a file and of its log. Whatever it hits, the answer is right,
// or refused with the name of the day.
func TestDamageEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	base := makeDays(t)
	for _, suffix := range []string{"", ".wal"} {
		info, err := os.Stat(dayPath(base, damageDay) + suffix)
		must(t, err)
		for at := int64(17); at < info.Size(); at += 4096 {
			t.Run(fmt.Sprint(suffix, at), func(t *testing.T) {
				dir := copyDir(t, base)
				overwrite(t, dayPath(dir, damageDay)+suffix, at, 1)
				late := rowsOf(9, damageDay, 1)
				s := openWith(t, dir, late)
				must(t, store.AppendAll(t.Context(), s, late))
				n, _, err := askFirst(t, s, countAll, false)
				if err == nil && n == oldRows+4 {
					return
				}
				if belfry.CodeOf(err) != belfry.StorageUnavailable || len(s.Incomplete()) != 1 {
					t.Fatalf("%d rows, %v, incomplete %v", n, err, s.Incomplete())
				}
				must(t, store.AppendAll(t.Context(), s)) // which stores what the journal has
				if n, missing, err := askFirst(t, s, countAll, true); err != nil || n < 4 || len(missing) != 1 {
					t.Errorf("partial: %d rows without %v, %v", n, missing, err)
				}
			})
		}
	}
}
