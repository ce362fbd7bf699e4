package folder

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry/config"
	"belfry/journal"
)

func testConfig() *config.Config {
	c := &config.Config{}
	c.Storage.DuckDB.Dir, c.Meta.SQLite.Path, c.Secrets.KeyFile = "rows", "meta.db", "secret.key"
	return c
}

// TestPrivateRepaired: files of an earlier version are repaired, what operators have put there is left alone, and a link in
// the place of a file is not followed.
func TestPrivateRepaired(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig()
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
	var log bytes.Buffer
	makePrivate(cfg, slog.New(slog.NewTextHandler(&log, nil)))
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
		t.Errorf("nothing about the link: %s", &log)
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

// TestReadableKeys: the log names a key file that others can read, which is used all the same.
func TestReadableKeys(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig()
	cfg.Data, cfg.TLS.Key, cfg.OIDC.ClientSecretFile = dir, filepath.Join(dir, "tls.key"), filepath.Join(dir, "oidc")
	f := func(mode fs.FileMode, want int) {
		t.Helper()
		for _, path := range []string{cfg.TLS.Key, cfg.OIDC.ClientSecretFile, cfg.Inside(cfg.Secrets.KeyFile)} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			os.Chmod(path, mode)
		}
		var log bytes.Buffer
		WarnReadable(cfg, slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Count(log.String(), "can be read by others"); got != want {
			t.Errorf("%v: %d warnings\n%s", mode, got, &log)
		}
	}
	f(0o600, 0)
	f(0o400, 0)
	f(0o640, 3)
	f(0o604, 3)
}

// TestExplainLock: a folder of somebody else is refused with what to do.
func TestExplainLock(t *testing.T) {
	err := explainLock(&fs.PathError{Op: "open", Path: "ro/lock", Err: fs.ErrPermission})
	if want := "run this as a user who may write there, or choose another folder with --data"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
