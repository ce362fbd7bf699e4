package app

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"belfry/config"
)

// TestPrivate: nothing that a service has written can be read by others.
func TestPrivate(t *testing.T) {
	r := startService(t, func(c *config.Config) { c.Storage.Reserve = 1 << 20 })
	r.logIn("", "admin", adminPassword)
	err := filepath.WalkDir(r.options.Config.Data, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return nil // the mover has removed it
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPipesAmongData: a pipe in the place of a file is refused before anything opens it and waits.
func TestPipesAmongData(t *testing.T) {
	for _, path := range []string{"lock", "format", "arrivals", "meta.db", "journal/instance", "rows/manifest", "rows/objectdata/2026-11-13.duckdb"} {
		cfg := config.Default(testCatalog(t))
		cfg.Data = t.TempDir()
		at := filepath.Join(cfg.Data, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), unix.Mkfifo(at, 0o600)); err != nil {
			t.Fatal(err)
		}
		o := Options{Config: cfg, Catalog: testCatalog(t), Log: slog.New(slog.DiscardHandler)}
		if _, err := lockCore(o); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: the start says %v", path, err)
		}
		if _, err := Verify(t.Context(), o); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: verify says %v", path, err)
		}
	}
}

// TestLinkToMetadata: start and verify refuse a link in the place of the database, and say what to do.
func TestLinkToMetadata(t *testing.T) {
	cfg := config.Default(testCatalog(t))
	cfg.Data = t.TempDir()
	at := filepath.Join(cfg.Data, "meta.db")
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere.db"), at); err != nil {
		t.Fatal(err)
	}
	o := Options{Config: cfg, Catalog: testCatalog(t), Log: slog.New(slog.DiscardHandler)}
	want := at + " is a link, and links are not followed; put the file itself there"
	if _, err := lockCore(o); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the start says %v", err)
	}
	if _, err := Verify(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("verify says %v", err)
	}
}

// TestOtherKindsAmongData: start and verify name what is not a file at once, and say what to do.
func TestOtherKindsAmongData(t *testing.T) {
	for _, name := range []string{"arrivals", "reserve", "rows/belfry.reserve", "meta.db", "meta.db-wal", "meta.db-shm"} {
		for kind, put := range map[string]func(at string) error{
			"is a folder, not a file; ":               func(at string) error { return os.Mkdir(at, 0o700) },
			"is a link, and links are not followed; ": func(at string) error { return os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), at) },
		} {
			cfg := config.Default(testCatalog(t))
			cfg.Data = t.TempDir()
			at := filepath.Join(cfg.Data, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), put(at)); err != nil {
				t.Fatal(err)
			}
			o := Options{Config: cfg, Catalog: testCatalog(t), Log: slog.New(slog.DiscardHandler)}
			c, err := lockCore(o)
			if err == nil {
				c.Close()
			}
			if err == nil || !strings.Contains(err.Error(), at+" "+kind) {
				t.Errorf("%s: the start says %v", name, err)
			}
			if _, err := Verify(t.Context(), o); err == nil || !strings.Contains(err.Error(), at+" "+kind) {
				t.Errorf("%s: verify says %v", name, err)
			}
		}
	}
}
