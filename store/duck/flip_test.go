package duck

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
)

// removedName is the name of an item that was removed.
func removedName(pos belfry.Position, id int64, object string) *belfry.Batch {
	b := name(id, object)
	b.Pos = pos
	b.Columns = append(b.Columns, belfry.Column{Name: belfry.RemovedColumn, Ints: []int64{int64(crashDay0)}}, belfry.Column{Name: "kind", Ints: []int64{int64(belfry.KindObject)}})
	return b
}

// everything returns whatever a store answers, and an error if it does not work.
func everything(t *testing.T, dir string) (text string, err error) {
	t.Helper()
	cat, err := catalog.Load()
	must(t, err)
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat}})
	if err != nil {
		return "", err
	}
	defer s.Close()
	var b strings.Builder
	for _, q := range []string{
		"SELECT COUNT(*), SUM(i1), MIN(id), MAX(id), COUNT(DISTINCT id) FROM objectdata",
		"SELECT COUNT(*), SUM(i1_count) FROM objectdata WHERE period='hour' AND timestamp >= '1990-01-01T00:00:00Z'",
		"SELECT COUNT(*), SUM(i1_count) FROM objectdata WHERE period='day' AND timestamp >= '1990-01-01T00:00:00Z'",
		"SELECT COUNT(*), MIN(log), MAX(log), COUNT(DISTINCT log) FROM objectlog",
		"SELECT object, COUNT(*) FROM objectdata GROUP BY object",
	} {
		if !strings.Contains(q, "period") {
			q = strings.Replace(q+allTime, " GROUP BY object"+allTime, allTime+" GROUP BY object", 1)
		}
		rows, err := s.Select(t.Context(), parse(t, s, q))
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, q, readAll(t, rows))
		rows.Close()
	}
	var names []string
	err = s.RemovedItems(t.Context(), func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string) {
		names = append(names, fmt.Sprint(id, " ", c, " ", k, " ", name))
	})
	if err != nil {
		return "", err
	}
	slices.Sort(names)
	fmt.Fprintln(&b, names, s.Accepts("objectdata"), s.Oldest("objectdata"), s.Faults(), s.Incomplete())
	return b.String(), store.AppendAll(t.Context(), s, rowsOf(20, 0, 1, 2, 3))
}

// TestFlippedByte flips a byte in every file of a stopped store: each byte of notes, one in each 4 KiB of databases and
// of their logs. Either Verify finds it, or the store works and answers what it answered. A quick run flips one in each file.
func TestFlippedByte(t *testing.T) {
	dir := t.TempDir()
	s := fullStore(t, dir)
	mustAppend(t, s, linesOf(6, 1, 1, 60_000, 5000), removedName(7, 7, "cpu"), removedName(7, 8, "disk"))
	must(t, s.Durable(7))
	must(t, s.Close())
	want, err := everything(t, copyDir(t, dir))
	must(t, err)
	if problems := verify(t, dir); len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for path, content := range contents(t, dir) {
		file, err := filepath.Rel(dir, path)
		must(t, err)
		step := 1
		switch filepath.Ext(file) {
		case index.Suffix, itemSuffix:
			continue // built again, see TestDamagedFilters
		case folder.FileSuffix, ".wal":
			step = 4096
		}
		if strings.HasSuffix(file, ".wal") && strings.Contains(file, "objectdata.") {
			continue // a log of summaries may end early unnoticed; they are made again from the rows
		}
		if testing.Short() {
			step = len(content)
		}
		for at := 0; at < len(content); at += step {
			at := min(at+rng.IntN(step), len(content)-1)
			flipped := slices.Clone(content)
			flipped[at] ^= 1 << rng.IntN(8)
			write(t, path, flipped)
			if len(verify(t, dir)) == 0 {
				if got, err := everything(t, copyDir(t, dir)); err != nil || got != want {
					t.Errorf("%s, byte %d of %d: not found, and the store says %v\n%s\nbefore:\n%s", file, at, len(content), err, got, want)
				}
			}
		}
		write(t, path, content)
	}
}
