package duck

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/folder"
)

// TestDamagedWatermark starts with watermarks that differ from what Drop wrote. No row is deleted, new rows are stored,
// the fault is open until retention has written a new watermark, and verify reports it.
func TestDamagedWatermark(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	base := makeDays(t)
	s := openWith(t, base)
	c := s.cfg.Catalog.Collection("objectdata")
	must(t, s.Drop(t.Context(), c, crashDay0+belfry.Day))
	must(t, store.AppendAll(t.Context(), s, rowsOf(5, 3)))
	must(t, s.Close())
	path := filepath.Join(base, "objectdata", folder.WatermarkFile)
	good, err := os.ReadFile(path)
	must(t, err)
	number := strings.Fields(string(good))[0]
	up, down := []byte(string(good)), []byte(string(good))
	up[2] ^= 4 // years later
	down[1] ^= 1
	late := strconv.FormatInt(int64(crashDay0+3*belfry.Day), 10)
	for i, test := range []struct {
		name, text string
	}{
		{"flipped up", string(up)},
		{"flipped down", string(down)},
		{"empty", ""},
		{"not a number", "hello\n"},
		{"without a checksum, too late", late + "\n"},
		{"without a checksum", number + "\n"},
		{"without a checksum, in the future", "9999999999999999\n"},
		{"another collection's", number + " " + folder.LineSum("objectlog "+number) + "\n"},
	} {
		if testing.Short() && i%2 != 0 {
			continue // part of make soak
		}
		t.Run(test.name, func(t *testing.T) {
			dir := copyDir(t, base)
			path := filepath.Join(dir, "objectdata", folder.WatermarkFile)
			write(t, path, []byte(test.text))
			if problems := verify(t, dir); len(problems) != 1 || problems[0].File != filepath.Join("objectdata", folder.WatermarkFile) || problems[0].Remedy == "" {
				t.Errorf("verify: %v", problems)
			}
			s := openWith(t, dir)
			if n, _, err := askFirst(t, s, countAll, false); err != nil || n != 3 {
				t.Errorf("%d rows, %v; want 3", n, err)
			}
			must(t, store.AppendAll(t.Context(), s, rowsOf(9, 1, 2)))
			if n, _, err := askFirst(t, s, countAll, false); err != nil || n != 5 {
				t.Errorf("after more rows: %d rows, %v; want 5", n, err)
			}
			if len(s.Faults()) != 1 {
				t.Errorf("faults: %v", s.Faults())
			}
			must(t, s.Watch())
			if oldest := s.Oldest("objectdata"); oldest != crashDay0+belfry.Day {
				t.Errorf("the oldest day is %s", oldest)
			}
			must(t, s.Drop(t.Context(), c, crashDay0+2*belfry.Day))
			if len(s.Faults()) != 0 {
				t.Errorf("after a Drop: %v", s.Faults())
			}
			if n, _, err := askFirst(t, s, countAll, false); err != nil || n != 3 {
				t.Errorf("after a Drop: %d rows, %v; want 3", n, err)
			}
			must(t, s.Close())
			var marks folder.Watermarks
			if marks.Read(dir, []*catalog.Collection{c}); len(marks.Damaged()) > 0 || marks.At(c.Name) != crashDay0+2*belfry.Day {
				t.Errorf("the new watermark is %s, %v", marks.At(c.Name), marks.Damaged())
			}
		})
	}
}

// TestWatermarkRemoved: a fault of a watermark ends when the file is removed.
func TestWatermarkRemoved(t *testing.T) {
	dir := makeDays(t)
	path := filepath.Join(dir, "objectdata", folder.WatermarkFile)
	write(t, path, []byte("?"))
	s := openWith(t, dir)
	must(t, s.Watch())
	if list := s.Faults(); len(list) != 1 || list[0].ID != "watermark objectdata" || !strings.Contains(list[0].Message, path) {
		t.Errorf("faults: %v", list)
	}
	remove(t, path)
	must(t, s.Watch())
	if list := s.Faults(); len(list) != 0 {
		t.Errorf("faults: %v", list)
	}
}

// TestInterruptedDrop: the next start deletes what an interrupted Drop left, if the watermark is valid and not in the
// future.
func TestInterruptedDrop(t *testing.T) {
	dir := makeDays(t)
	s := openWith(t, dir)
	must(t, s.Close())
	c := s.cfg.Catalog.Collection("objectdata")
	future := c.PeriodOf(belfry.At(time.Now().AddDate(1, 0, 0))).From
	for _, test := range []struct {
		mark belfry.Time
		left int64
	}{{future, oldRows + 2}, {crashDay0 + belfry.Day, 2}} {
		var marks folder.Watermarks
		marks.Read(dir, nil)
		_, err := marks.Set(c, test.mark)
		must(t, err)
		s := openWith(t, dir)
		if n, _, err := askFirst(t, s, countAll, false); err != nil || n != test.left {
			t.Errorf("%s: %d rows, %v; want %d", test.mark, n, err, test.left)
		}
		must(t, s.Close())
	}
}

func verify(t *testing.T, dir string) []store.Problem {
	t.Helper()
	cat, err := catalog.Load()
	must(t, err)
	v, err := Verify(t.Context(), store.Config{Dir: dir, Catalog: cat})
	must(t, err)
	return v.Problems
}
