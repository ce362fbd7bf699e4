package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry"
)

// TestDisk walks a disk from plenty to full and back.
func TestDisk(t *testing.T) {
	cfg := &Config{Data: t.TempDir(), Storage: Storage{MinFree: 1000, Reserve: 500}}
	d := newDisk(cfg, newFaults(slog.New(slog.DiscardHandler), time.Now), slog.New(slog.DiscardHandler))
	free, total := int64(10_000), int64(100_000)
	d.space = func(string) (int64, int64, error) { return free, total, nil }
	f := func(now int64, want string, reserved bool) {
		t.Helper()
		free = now
		d.look()
		err := d.Ready()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || belfry.CodeOf(err) != belfry.StorageUnavailable) {
			t.Errorf("%d free: %v, want %q", now, err, want)
		}
		if got := d.reserved(500); got != reserved {
			t.Errorf("%d free: reserve is there: %t", now, got)
		}
	}
	f(1200, "reserve of 500 B above storage.min_free 1 kB does not fit", false)
	f(10_000, "", true)
	f(1000, "", true)
	f(999, "999 B free on "+cfg.Data+", below storage.min_free 1 kB; free space or lower the limit", true)
	f(1000, "", true)
	d.giveUp()
	f(1499, "does not fit", false) // taking it back must not push the disk below the mark
	f(1500, "", true)
	d.minFree.Store(0)
	total = 1000
	f(49, "below storage.min_free 50 B", true) // a twentieth of a small disk
	f(50, "", true)
	d.space = func(string) (int64, int64, error) { return 0, 0, errors.New("gone") }
	f(50, "does not answer", true)
}

func TestReserveTakesSpace(t *testing.T) {
	d := newDisk(&Config{Data: t.TempDir(), Storage: Storage{Reserve: 1 << 20}}, newFaults(slog.New(slog.DiscardHandler), time.Now), slog.New(slog.DiscardHandler))
	if err := d.make(1 << 20); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.file)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Blocks*512 < 1<<20 {
		t.Errorf("the reserve takes %d bytes", s.Blocks*512)
	}
}

func TestDiskFull(t *testing.T) {
	f := func(err error, want bool) {
		t.Helper()
		if got := diskFull(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
	f(fmt.Errorf("write: %w", syscall.ENOSPC), true)
	f(errors.New("IO Error: Could not write file: No space left on device"), true)
	f(errors.New("database or disk is full (13)"), true)
	f(errors.New("database is locked"), false)
}
