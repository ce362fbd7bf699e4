package app

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry"
	"belfry/config"
)

// TestDisk walks a disk from plenty to full and back.
func TestDisk(t *testing.T) {
	cfg := &config.Config{Data: t.TempDir(), Storage: config.Storage{MinFree: 1000, Reserve: 500}}
	d := newDisk(cfg, newFaults(slog.New(slog.DiscardHandler), time.Now), slog.New(slog.DiscardHandler))
	free, total := int64(10_000), int64(100_000)
	d.space = func(string) (int64, int64, error) { return free, total, nil }
	f := func(now int64, want string, wantReserve bool) {
		t.Helper()
		free = now
		d.check()
		err := d.Ready()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || belfry.CodeOf(err) != belfry.StorageUnavailable) {
			t.Errorf("%d free: %v, want %q", now, err, want)
		}
		if got := reserved(filepath.Join(cfg.Data, "reserve"), 500); got != wantReserve {
			t.Errorf("%d free: reserve is there: %t", now, got)
		}
	}
	f(1200, "reserve of 500 B above storage.min_free 1 kB does not fit", false)
	f(10_000, "", true)
	f(1000, "", true)
	f(999, "999 B free on "+cfg.Data+", below storage.min_free 1 kB; free space or lower the limit", true)
	f(1000, "", true)
	d.releaseReserve(folderRows) // on the same disk
	if err := os.Mkdir(filepath.Join(cfg.Data, "reserve"), 0o700); err != nil {
		t.Fatal(err)
	}
	f(10_000, "the reserve of 500 B cannot be created: ", false)
	if err := os.Remove(filepath.Join(cfg.Data, "reserve")); err != nil {
		t.Fatal(err)
	}
	f(1499, "does not fit", false) // taking it back must not push the disk below the mark
	f(1500, "", true)
	d.minFree.Store(0)
	total = 1000
	f(49, "below storage.min_free 50 B", true) // a twentieth of a small disk
	f(50, "", true)
	d.space = func(string) (int64, int64, error) { return 0, 0, errors.New("gone") }
	f(50, "does not answer", true)
}

// TestDiskBeforeFirstStart looks at a file system whose folder of rows has not been made yet: there is room, and the reserve is
// made with the folder.
func TestDiskBeforeFirstStart(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows")
	cfg := &config.Config{Data: t.TempDir(), Storage: config.Storage{MinFree: 1000, Reserve: 500, DuckDB: config.DuckDB{Dir: rows}}}
	d := newDisk(cfg, newFaults(slog.New(slog.DiscardHandler), time.Now), slog.New(slog.DiscardHandler))
	free := int64(10_000)
	d.space = func(string) (int64, int64, error) { return free, 100_000, nil }
	d.device = func(dir string) (uint64, error) {
		if strings.HasPrefix(dir, filepath.Dir(rows)) {
			return 2, nil
		}
		return 1, nil
	}
	d.check()
	must(t, d.Ready())
	free = 1200
	if d.check(); d.Ready() == nil {
		t.Error("writes are taken although the reserve will not fit")
	}
	free = 10_000
	must(t, os.Mkdir(rows, 0o700))
	d.check()
	must(t, d.Ready())
	if !reserved(filepath.Join(rows, "belfry.reserve"), 500) {
		t.Error("there is no reserve")
	}
}

func TestReserveTakesSpace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reserve")
	if err := makeReserve(file, 1<<20); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Blocks*512 < 1<<20 {
		t.Errorf("the reserve takes %d bytes", s.Blocks*512)
	}
}

// TestDisks has a file system of its own for rows and one for the journal: each is watched, and the message names the folder.
func TestDisks(t *testing.T) {
	cfg := &config.Config{
		Data: t.TempDir(), Storage: config.Storage{MinFree: 1000, Reserve: 500, DuckDB: config.DuckDB{Dir: t.TempDir()}}, Meta: config.Meta{SQLite: config.SQLite{Path: "meta.db"}},
	}
	faults := newFaults(slog.New(slog.DiscardHandler), time.Now)
	d := newDisk(cfg, faults, slog.New(slog.DiscardHandler))
	must(t, os.Mkdir(filepath.Join(cfg.Data, "journal"), 0o700))
	free := map[string]int64{cfg.Data: 10_000, cfg.Storage.DuckDB.Dir: 10_000, cfg.Inside("journal"): 10_000}
	asked := map[string]int{}
	d.space = func(dir string) (int64, int64, error) { asked[dir]++; return free[dir], 10_000, nil }
	d.device = func(dir string) (uint64, error) {
		return uint64(len(free)) + uint64(slices.Index(slices.Sorted(maps.Keys(free)), dir)), nil
	}
	f := func(dir string, now int64, want string, journalLow bool) {
		t.Helper()
		free[dir] = now
		d.check()
		text := ""
		if err := d.Ready(); err != nil {
			text = err.Error()
		}
		if (text == "") != (want == "") || !strings.Contains(text, want) || d.journalLow.Load() != journalLow {
			t.Errorf("%d free on %s: %q, journal low %t", now, dir, text, d.journalLow.Load())
		}
		if n := len(faults.list()); n != 0 && want == "" || n != 1 && want != "" {
			t.Errorf("%d free on %s: %d faults", now, dir, n)
		}
	}
	rows, data, journal := cfg.Storage.DuckDB.Dir, cfg.Data, cfg.Inside("journal")
	f(data, 10_000, "", false)
	f(rows, 499, "499 B free on "+rows+", below storage.min_free 500 B", false) // a twentieth is enough where the data folder is not
	f(rows, 500, "", false)
	f(journal, 499, "499 B free on "+journal, true)
	f(data, 999, "999 B free on "+data, true)
	f(data, 1000, "499 B free on "+journal, true)
	f(journal, 500, "", false)
	d.releaseReserve(folderRows)
	if reserved(filepath.Join(rows, "belfry.reserve"), 1) || !reserved(filepath.Join(data, "reserve"), 500) || reserved(filepath.Join(journal, "belfry.reserve"), 1) {
		t.Error("the wrong reserve was given up, or there are too many")
	}
	f(rows, 999, "999 B free on "+rows+", but the reserve of 500 B", false)
	f(rows, 1000, "", false)
	if asked[data] != asked[rows] || asked[data] != asked[journal] || len(asked) != 3 {
		t.Errorf("looked at %v", asked)
	}
	if free, total := d.spaceOf(folderMeta); free != 1000 || total != 10_000 { // that of the data folder
		t.Errorf("metadata: %d of %d", free, total)
	}
	if free, _ := d.spaceOf(folderRows); free != 1000 {
		t.Errorf("rows: %d", free)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
