package duck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
	"belfry/store"
	"belfry/store/duck/folder"
)

// hourRows makes n rows of an hour of damageDay, all with one value.
func hourRows(pos belfry.Position, hour, n int, value float64) *belfry.Batch {
	b := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: pos, FirstID: belfry.RowID(pos * 1000)}
	item, i1 := belfry.Column{Name: belfry.ItemColumn}, belfry.Column{Name: "i1"}
	for i := range n {
		b.Times = append(b.Times, crashDay0+belfry.Time(hour)*belfry.Hour+belfry.Time(i))
		item.Ints, i1.Numbers = append(item.Ints, 1), append(i1.Numbers, value)
	}
	b.Columns = []belfry.Column{item, i1}
	return b
}

// wantHours checks the sums of hours from 0 on, given as pairs of number and value, in answers by hour and by day and in groups.
func wantHours(t *testing.T, s *Store, when string, pairs ...[2]float64) {
	t.Helper()
	var hours []string
	var n, sum float64
	for _, p := range pairs {
		n, sum = n+p[0], sum+p[0]*p[1]
		hours = append(hours, fmt.Sprintf("%.2f x %.0f", p[1], p[0]))
	}
	for _, q := range []struct {
		text string
		want []string
	}{
		{"SELECT i1, i1_count FROM objectdata" + allTime + " AND period = 'hour' ORDER BY timestamp", hours},
		{"SELECT i1, i1_count FROM objectdata" + allTime + " AND period = 'day'", []string{fmt.Sprintf("%.2f x %.0f", sum/n, n)}},
		{"SELECT MEAN(i1), COUNT(*), TIMEBUCKET(timestamp, '1h') AS t FROM objectdata" + allTime + " GROUP BY t ORDER BY t", hours},
		{"SELECT MEAN(i1), COUNT(*), TIMEBUCKET(timestamp, '1d') AS t FROM objectdata" + allTime + " GROUP BY t", []string{fmt.Sprintf("%.2f x %.0f", sum/n, n)}},
	} {
		rows, err := s.Select(t.Context(), planFor(t, s, 1, q.text))
		if err != nil {
			t.Errorf("%s: %s: %v", when, q.text, err)
			continue
		}
		var got []string
		for _, r := range readAll(t, rows) {
			got = append(got, fmt.Sprintf("%.2f x %d", r[0].Num, r[1].Int))
		}
		if fmt.Sprint(got) != fmt.Sprint(q.want) {
			t.Errorf("%s: %s\ngot  %v\nwant %v", when, q.text, got, q.want)
		}
	}
}

// wantAlways checks the same now, after a kill, with all summaries made, and after another kill.
func wantAlways(t *testing.T, s *Store, dir *string, when string, pairs ...[2]float64) *Store {
	t.Helper()
	wantHours(t, s, when, pairs...)
	for _, then := range []string{", killed", ", summarised and killed"} {
		if testing.Short() && then != ", killed" {
			break
		}
		*dir = copyDir(t, *dir)
		must(t, s.Close())
		s = openWith(t, *dir)
		wantHours(t, s, when+then, pairs...)
		summariseAll(t, s)
		wantHours(t, s, when+then+" and summarised", pairs...)
	}
	if n := s.SummariesBehind(); n != 0 {
		t.Errorf("%s: %d hours are still to be made", when, n)
	}
	return s
}

func summedDay(t *testing.T) (s *Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	s = openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, hourRows(1, 0, 5, 10), hourRows(1, 1, 7, 20)))
	must(t, store.AppendAll(t.Context(), s, hourRows(2, 2, 3, 30)))
	summariseAll(t, s)
	must(t, s.Close())
	s = openWith(t, dir)
	st := (&summaryWorld{t: t, s: s}).states()
	if len(st) != 1 || st[0].Stale != 0 || !st[0].Current {
		t.Errorf("summaries are not up to date: %+v", st)
	}
	wantHours(t, s, "at first", [2]float64{5, 10}, [2]float64{7, 20}, [2]float64{3, 30})
	return s, dir
}

// TestSummariesOfLostRows: the file of a day is lost, and as many other rows arrive. Summaries are made from these, and
// stay where there are none.
func TestSummariesOfLostRows(t *testing.T) {
	s, dir := summedDay(t)
	must(t, s.Close())
	must(t, unlink(dayPath(dir, damageDay)))
	s = openWith(t, dir)
	endLoss(t, s, dir)
	s = wantAlways(t, s, &dir, "lost", [2]float64{5, 10}, [2]float64{7, 20}, [2]float64{3, 30})
	must(t, store.AppendAll(t.Context(), s, hourRows(10, 0, 5, 1000)))
	s = wantAlways(t, s, &dir, "5 rows", [2]float64{5, 1000}, [2]float64{7, 20}, [2]float64{3, 30})
	must(t, store.AppendAll(t.Context(), s, hourRows(11, 1, 7, 3000)))
	s = wantAlways(t, s, &dir, "7 rows", [2]float64{5, 1000}, [2]float64{7, 3000}, [2]float64{3, 30})
	must(t, store.AppendAll(t.Context(), s, hourRows(12, 2, 1, 5000)))
	wantAlways(t, s, &dir, "1 row", [2]float64{5, 1000}, [2]float64{7, 3000}, [2]float64{1, 5000})
}

// TestSummariesOfAllLostRows: as many rows arrive at once, so that no row count reveals that there was another file.
func TestSummariesOfAllLostRows(t *testing.T) {
	s, dir := summedDay(t)
	must(t, s.Close())
	must(t, unlink(dayPath(dir, damageDay)))
	s = openWith(t, dir)
	endLoss(t, s, dir)
	must(t, store.AppendAll(t.Context(), s, hourRows(10, 0, 5, 1000), hourRows(10, 1, 7, 3000), hourRows(10, 2, 3, 5000)))
	wantAlways(t, s, &dir, "as many", [2]float64{5, 1000}, [2]float64{7, 3000}, [2]float64{3, 5000})
}

// TestSummariesWithoutOrigin: a file of summaries without their origins is set aside, and they are made again.
func TestSummariesWithoutOrigin(t *testing.T) {
	s, dir := summedDay(t)
	c := s.trackers["objectdata"].Hour
	used, err := s.files.acquire(t.Context(), c, 0, folder.EndOfTime)
	must(t, err)
	must(t, s.writer.Exec(t.Context(), "ALTER TABLE "+used[0].attached().Made()+" DROP COLUMN origin"))
	path := used[0].path
	s.files.release(used)
	must(t, s.Close())
	if list := verify(t, dir); len(list) != 1 || !strings.Contains(path, list[0].File) || !strings.Contains(list[0].Problem, "what its summaries were made of") {
		t.Errorf("verify: %+v", list)
	}
	s = openWith(t, dir)
	wantHours(t, s, "without origin", [2]float64{5, 10}, [2]float64{7, 20}, [2]float64{3, 30})
	summariseAll(t, s)
	wantHours(t, s, "rebuilt", [2]float64{5, 10}, [2]float64{7, 20}, [2]float64{3, 30})
	if aside, err := filepath.Glob(path + ".*"); err != nil || len(aside) == 0 {
		t.Errorf("nothing was set aside: %v", err)
	}
}

// TestSummariesOfLostEnd: a file has lost its last rows, and as many other rows arrive.
func TestSummariesOfLostEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s, dir := summedDay(t)
	must(t, s.Close())
	path := dayPath(dir, damageDay)
	old := filepath.Join(t.TempDir(), "old")
	must(t, os.Mkdir(old, 0o700))
	for _, suffix := range []string{"", ".wal"} {
		copyOver(t, path+suffix, filepath.Join(old, "day"+suffix))
	}
	s = openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, hourRows(3, 2, 4, 40)))
	must(t, s.Watch())
	summariseAll(t, s)
	must(t, s.Close())
	must(t, unlink(path))
	for _, suffix := range []string{"", ".wal"} {
		copyOver(t, filepath.Join(old, "day"+suffix), path+suffix)
	}
	s = openWith(t, dir)
	if _, _, err := askFirst(t, s, countAll, false); belfry.CodeOf(err) != belfry.StorageUnavailable {
		t.Errorf("a day that has lost its end: %v", err)
	}
	endLoss(t, s, dir)
	must(t, store.AppendAll(t.Context(), s, hourRows(10, 2, 4, 4000)))
	wantAlways(t, s, &dir, "other end", [2]float64{5, 10}, [2]float64{7, 20}, [2]float64{7, (3*30 + 4*4000) / 7.})
}

// TestSummariesOfFilePutBack: a file is set aside, as many other rows arrive and are summarised, and the file is put
// back.
func TestSummariesOfFilePutBack(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s, dir := summedDay(t)
	must(t, s.Close())
	path := dayPath(dir, damageDay)
	aside := filepath.Join(t.TempDir(), "aside")
	for _, suffix := range []string{"", ".wal"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	s = openWith(t, dir)
	endLoss(t, s, dir)
	must(t, store.AppendAll(t.Context(), s, hourRows(10, 0, 5, 1000), hourRows(10, 1, 7, 3000)))
	s = wantAlways(t, s, &dir, "other rows", [2]float64{5, 1000}, [2]float64{7, 3000}, [2]float64{3, 30})
	must(t, s.Close())
	path = dayPath(dir, damageDay)
	must(t, unlink(path))
	for _, suffix := range []string{"", ".wal"} {
		if err := os.Rename(aside+suffix, path+suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	s = openWith(t, dir)
	askFirst(t, s, countAll, false) // which finds that it ends before the other one
	endLoss(t, s, dir)
	wantAlways(t, s, &dir, "put back", [2]float64{5, 10}, [2]float64{7, 20}, [2]float64{3, 30})
}
