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
	"belfry/journal"
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

// TestPrivateRepaired: files of an earlier version are repaired, what operators have put there is left alone, and a link in
// the place of a file is not followed.
func TestPrivateRepaired(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Default(testCatalog(t))
	cfg.Data = dir
	for path, mode := range map[string]fs.FileMode{
		"rows/objectdata/2026-11-13.db": 0o644, "journal/0001": 0o640, "meta.db": 0o604, "packages/own.yaml": 0o644, "lock": 0o400,
	} {
		at := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(elsewhere, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	os.Chmod(elsewhere, 0o644)
	if err := os.Symlink(elsewhere, filepath.Join(dir, "journal", "link")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", "rows", "rows/objectdata", "journal", "packages"} {
		os.Chmod(filepath.Join(dir, folder), 0o755)
	}
	log := &logText{news: make(chan struct{}, 1)}
	makePrivate(cfg, slog.New(slog.NewTextHandler(log, nil)))
	f := func(path string, want fs.FileMode) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
		}
	}
	f(dir, 0o700)
	f(filepath.Join(dir, "rows/objectdata/2026-11-13.db"), 0o600)
	f(filepath.Join(dir, "rows/objectdata"), 0o700)
	f(filepath.Join(dir, "journal/0001"), 0o600)
	f(filepath.Join(dir, "meta.db"), 0o600)
	f(filepath.Join(dir, "lock"), 0o400)
	f(filepath.Join(dir, "packages/own.yaml"), 0o644)
	f(elsewhere, 0o644)
	if !strings.Contains(log.String(), "symbolic link") {
		t.Errorf("nothing about the link: %s", log)
	}
	os.Remove(filepath.Join(dir, "lock"))
	if err := os.Symlink(elsewhere, filepath.Join(dir, "lock")); err != nil {
		t.Fatal(err)
	}
	if lock, err := journal.LockDir(dir); err == nil {
		lock.Unlock()
		t.Error("a link in the place of the lock was followed")
	}
}

// TestReadableKeys: a key file that others can read is told of, and used all the same.
func TestReadableKeys(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Default(testCatalog(t))
	cfg.Data, cfg.TLS.Key, cfg.OIDC.ClientSecretFile = dir, filepath.Join(dir, "tls.key"), filepath.Join(dir, "oidc")
	f := func(mode fs.FileMode, want int) {
		t.Helper()
		for _, path := range []string{cfg.TLS.Key, cfg.OIDC.ClientSecretFile, cfg.Inside(cfg.Secrets.KeyFile)} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			os.Chmod(path, mode)
		}
		log := &logText{news: make(chan struct{}, 1)}
		warnReadable(cfg, slog.New(slog.NewTextHandler(log, nil)))
		if got := strings.Count(log.String(), "can be read by others"); got != want {
			t.Errorf("%v: %d warnings\n%s", mode, got, log)
		}
	}
	f(0o600, 0)
	f(0o400, 0)
	f(0o640, 3)
	f(0o604, 3)
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
	want := at + " is a link, and links are not followed; put the file in its place"
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
				c.close()
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

// TestExplainLock: a folder of somebody else is refused with what to do.
func TestExplainLock(t *testing.T) {
	err := explainLock(&fs.PathError{Op: "open", Path: "ro/lock", Err: fs.ErrPermission})
	if want := "run this as a user who may write there, or choose another folder with --data"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
