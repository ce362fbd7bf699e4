package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/folder"
	"belfry/meta/sqlite"
	"belfry/store"
)

// loadCatalog reads the catalog once for all tests: that takes longer than most of them.
var loadCatalog = sync.OnceValues(catalog.Load)

// configFor is the default configuration with a data folder.
func configFor(t testing.TB, dir string) *config.Config {
	t.Helper()
	cfg, err := loadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func loadConfig(dir string) (*config.Config, error) {
	cat, err := loadCatalog()
	if err != nil {
		return nil, err
	}
	cfg := config.Default(cat)
	cfg.Data = dir
	return cfg, nil
}

// openFolder opens a data folder as a start does.
func openFolder(t testing.TB, cfg *config.Config) *folder.Folder {
	t.Helper()
	cat, err := loadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	f, err := folder.Lock(folder.Options{Config: cfg, Catalog: cat, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = f.Identify(context.Background(), store.Noted{})
	}
	if err == nil {
		err = f.Open(context.Background())
	}
	if err == nil {
		err = f.Replay(context.Background(), func(*belfry.Record, bool) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// write writes a file below a folder.
func write(t testing.TB, dir, name string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// noise is content that cannot be compressed.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// newInstance makes the data folder of a stopped instance, with day files of some bytes.
func newInstance(t testing.TB, size int) *config.Config {
	t.Helper()
	cfg := configFor(t, filepath.Join(t.TempDir(), "data"))
	for range 2 { // two segments
		f := openFolder(t, cfg)
		for range 5 {
			r := belfry.Record{Time: belfry.At(time.Now())}
			if _, err := f.Journal.Append(r.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{
		"rows/manifest", "rows/objectdata/2026-11-15.duckdb", "rows/objectdata/2026-11-15.duckdb.wal", "rows/objectdata/2026-11-16.duckdb",
		"rows/events/2026-11-15.duckdb", "rows/removed.duckdb",
	} {
		write(t, cfg.Data, name, noise(uint64(i), size+i))
	}
	write(t, cfg.Data, "rows/objectdata/empty", nil)
	write(t, cfg.Data, "classes/pump.yaml", []byte("name: pump\n"))
	write(t, cfg.Data, "mibs/a/ä.mib", []byte("MIB\n"))
	write(t, cfg.Data, "collect/engine", []byte("engine\n"))
	write(t, cfg.Data, "faults", []byte("[]\n"))
	for _, name := range leftOut() {
		write(t, cfg.Data, name, []byte("secret or temporary"))
	}
	return cfg
}

// leftOut are files that are in no backup.
func leftOut() []string {
	return []string{"secret.key", "tls/key.pem", "tmp/body", "reserve", "running", "rows/belfry.reserve", "rows/tmp/spill", "notes.txt", "journal.unfit/0000000000000001.journal"}
}

// clock returns a clock that advances a minute with each call.
func clock() func() time.Time {
	now := time.Date(2026, 11, 19, 1, 30, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Minute)
		return now
	}
}

// create backs up a stopped instance.
func create(t testing.TB, cfg *config.Config, o Options) (*Manifest, error) {
	t.Helper()
	src, err := StoppedSource(cfg, noLoss)
	if err != nil {
		t.Fatal(err)
	}
	o.Config, o.Program = cfg, "belfry test"
	if o.Now == nil {
		o.Now = time.Now
	}
	return Create(context.Background(), src, o)
}

func mustCreate(t testing.TB, cfg *config.Config, o Options) *Manifest {
	t.Helper()
	m, err := create(t, cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// restoreTo restores into a new data folder.
func restoreTo(t testing.TB, from string, o RestoreOptions) (*config.Config, *Restored, error) {
	t.Helper()
	cfg := configFor(t, filepath.Join(t.TempDir(), "data"))
	res, err := Restore(context.Background(), from, cfg, o)
	return cfg, res, err
}

// contents reads the files of an instance that belong to a backup.
func contents(t testing.TB, cfg *config.Config) map[string]string {
	t.Helper()
	src, err := StoppedSource(cfg, noLoss)
	if err != nil {
		t.Fatal(err)
	}
	files, err := src.list()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		if f.Err != nil {
			continue
		}
		b, err := os.ReadFile(src.places.path(f.Name))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(b)
	}
	return all
}

// wantEqual checks that a restored folder has the same files as the source byte by byte, and nothing else, for its owner only.
func wantEqual(t testing.TB, want map[string]string, cfg *config.Config) {
	t.Helper()
	have := contents(t, cfg)
	for name, text := range want {
		if name == dataDir+folder.BranchesFile { // a restore adds to it
			if list, err := folder.ReadBranches(cfg.Inside(folder.BranchesFile)); err != nil || len(list) == 0 {
				t.Errorf("the restored folder has the branches %v (%v)", list, err)
			}
			continue
		}
		if have[name] != text {
			t.Errorf("%s: restored with %d bytes, or others than the %d of the source", name, len(have[name]), len(text))
		}
	}
	p := placesOf(cfg)
	list, err := p.inTheWay(func(name string) bool { _, ok := want[name]; return ok })
	if err != nil || len(list) > 0 {
		t.Errorf("unknown files after a restore: %v, %v", list, err)
	}
	if err := folder.CheckRestored(cfg.Data); err != nil {
		t.Error(err)
	}
	filepath.WalkDir(cfg.Data, func(path string, e fs.DirEntry, err error) error {
		if info, err := os.Lstat(path); err != nil || e.Type() != fs.ModeSymlink && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		return err
	})
}

// wantError checks that an error has all the words.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("got the error %v, which should contain %q", err, w)
		}
	}
}

func wantWhole(t testing.TB, path string) {
	t.Helper()
	v, err := Verify(context.Background(), path, nil)
	if err != nil || len(v.Problems) > 0 || v.Backups == 0 {
		t.Fatalf("verify %s: %+v, %v", path, v, err)
	}
}

// memorySource is a source of files in memory. It adds those that every instance has.
type memorySource struct {
	files []File
	total int64 // estimate; 0: as the files
	lacks string
}

const testInstance = "0123456789abcdef0123456789abcdef"

func (s *memorySource) Instance() string { return testInstance }

func (s *memorySource) Files(_ context.Context, each func(File) error) (belfry.Position, error) {
	files := slices.Clone(s.files)
	for _, f := range everyFile() {
		if f.Name != s.lacks && !slices.ContainsFunc(files, func(have File) bool { return have.Name == f.Name }) {
			files = append(files, f)
		}
	}
	for _, f := range files {
		if err := each(f); err != nil {
			return 0, err
		}
	}
	return belfry.PositionOf(3, 7), nil
}

func (s *memorySource) Estimate(context.Context) ([]File, error) {
	if s.total > 0 {
		return []File{{Name: "rows/x", Size: s.total}}, nil
	}
	return s.files, nil
}

// everyFile returns the files that every instance has.
func everyFile() (files []File) {
	for _, name := range everyName() {
		content := []byte(testInstance + "\n")
		if name == metaName {
			content = emptyMetadata()
		}
		files = append(files, memoryFile(name, content))
	}
	return files
}

// emptyMetadata is the content of a new database.
var emptyMetadata = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "backup-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "meta.db")
	db, err := sqlite.Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err == nil {
		err = db.Close()
	}
	text, readErr := os.ReadFile(path)
	if err := errors.Join(err, readErr); err != nil {
		panic(err)
	}
	return text
})

func memoryFile(name string, content []byte) File {
	return File{Name: name, Size: int64(len(content)), State: sumOf(content), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

var errDisk = errors.New("input/output error")

func noLoss(context.Context) ([]Missing, error) { return nil, nil }
