package folder

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry/catalog"
	"belfry/config"
)

// TestRestoring: a folder into which a backup was not restored completely cannot be locked for a start, and nothing is written.
func TestRestoring(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default(cat)
	cfg.Data = t.TempDir()
	marker := filepath.Join(cfg.Data, RestoringFile)
	if err := os.WriteFile(marker, []byte("restoring 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Config: cfg, Catalog: cat, Log: slog.New(slog.DiscardHandler)}
	_, err = Lock(o)
	if err == nil || !strings.Contains(err.Error(), marker) || !strings.Contains(err.Error(), "restore again") {
		t.Fatalf("locked with the marker: %v", err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, "format")); err == nil {
		t.Error("the refused start wrote the format")
	}
	if err := os.Remove(marker); err != nil {
		t.Fatal(err)
	}
	f, err := Lock(o) // the refused start has released its lock
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
