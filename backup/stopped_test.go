package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/folder"
	"belfry/journal"
)

// TestStopped: a folder in use, being restored or never used is refused; keys stay away wherever they are.
func TestStopped(t *testing.T) {
	cfg, target := newInstance(t, 100), t.TempDir()
	cfg.Secrets.KeyFile = "collect/own.key"
	cfg.TLS.Key = filepath.Join(cfg.Data, "classes", "tls.pem")
	cfg.OIDC.ClientSecretFile = filepath.Join(cfg.RowsDir(), "client.secret")
	for _, path := range []string{cfg.Inside(cfg.Secrets.KeyFile), cfg.TLS.Key, cfg.OIDC.ClientSecretFile} {
		if err := os.WriteFile(path, []byte("the key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := mustCreate(t, cfg, Options{Target: target})
	for _, e := range m.Files {
		if strings.HasSuffix(e.Name, ".key") || strings.HasSuffix(e.Name, ".pem") || strings.HasSuffix(e.Name, ".secret") {
			t.Errorf("%s is in the backup", e.Name)
		}
	}
	again := configFor(t, t.TempDir()) // the key file of the new place is not replaced by a file of the backup
	again.Secrets.KeyFile = "collect/engine"
	_, err := Restore(context.Background(), target, again, RestoreOptions{})
	wantError(t, err, "engine", "no backup")

	_, err = StoppedSource(configFor(t, t.TempDir()), noLoss)
	wantError(t, err, "not the data folder", "--data")
	lock, err := journal.LockDir(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(t, cfg, Options{Target: target}); !errors.Is(err, journal.ErrLocked) {
		t.Error(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	write(t, cfg.Data, folder.RestoringFile, nil)
	_, err = create(t, cfg, Options{Target: target})
	wantError(t, err, "restore again")
	if list, err := List(target); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}

// TestStoppedDamaged: links, devices and missing parts are listed, and everything else is backed up. The log of the metadata, as a
// crash leaves it, is included.
func TestStoppedDamaged(t *testing.T) {
	cfg, target := newInstance(t, 100), t.TempDir()
	if err := errors.Join(os.Remove(filepath.Join(cfg.Data, "rows", "instance")), os.Symlink("/etc/passwd", filepath.Join(cfg.Data, "rows", "link")),
		os.Remove(filepath.Join(cfg.Data, "meta.db")), os.Mkdir(filepath.Join(cfg.Data, "meta.db"), 0o700)); err != nil {
		t.Fatal(err)
	}
	write(t, cfg.Data, "meta.db-wal", []byte("log"))
	m := mustCreate(t, cfg, Options{Target: target})
	missing := map[string]string{}
	for _, f := range m.Missing {
		missing[f.Name] = f.Reason
	}
	for name, word := range map[string]string{"rows/instance": "missing", "rows/link": "link", "meta/meta.db": "folder"} {
		if !strings.Contains(missing[name], word) {
			t.Errorf("%s: %q", name, missing[name])
		}
	}
	has := map[string]bool{}
	for _, e := range m.Files {
		has[e.Name] = true
	}
	if len(missing) != 3 || !has["meta/meta.db-wal"] || !has["rows/removed.duckdb"] {
		t.Errorf("missing %v, files %v", missing, has)
	}
}

// TestSecretsCounted: a restore says how many secrets need the key file, which is not in the backup.
func TestSecretsCounted(t *testing.T) {
	cfg, target := newInstance(t, 100), t.TempDir()
	f := openFolder(t, cfg)
	item := belfry.Item{ID: 1, Customer: 1, Name: "r1", Details: &belfry.Details{Answers: map[string]string{"a": "sealed:1:00:x", "b": "plain", "c": "sealed:1:00:y"}}}
	if err := f.DB.Apply(context.Background(), []*belfry.Record{{Pos: 1, Items: []belfry.Item{item}}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, cfg, Options{Target: target})
	_, res, err := restoreTo(t, target, RestoreOptions{})
	if err != nil || res.Secrets != 2 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestStoppedDamage: the backup of a stopped service lists what its verification finds.
func TestStoppedDamage(t *testing.T) {
	cfg, target := newInstance(t, 10), t.TempDir()
	const damaged, gone = "rows/objectdata/2026-11-15.duckdb", "rows/objectdata/2026-11-01.duckdb"
	write(t, cfg.Data, damaged, []byte("a day"))
	src, err := StoppedSource(cfg, func(context.Context) ([]Missing, error) {
		return []Missing{{damaged, "a block is damaged"}, {gone, "the file is missing"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Create(context.Background(), src, Options{Target: target, Config: cfg, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	missing, lost, bad := m.Texts()
	if !slices.Equal(bad, []string{damaged + ": a block is damaged"}) || !slices.Equal(missing, []string{gone + ": the file is missing"}) || len(lost) > 0 {
		t.Errorf("damaged %q, missing %q, lost %q", bad, missing, lost)
	}
}
