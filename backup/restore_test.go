package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"belfry/folder"
	"belfry/journal"
	"belfry/store"
)

// memoryBackup backs up files in memory and returns the folder of the backup.
func memoryBackup(t testing.TB, files ...File) (target, dir string, m *Manifest) {
	t.Helper()
	target = t.TempDir()
	m, err := Create(context.Background(), &memorySource{files: files}, Options{Target: target, Config: configFor(t, t.TempDir()), Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	return target, filepath.Join(target, "20261119T013100Z"), m
}

// TestRestoreNotEmpty: what is in the data folder is named, and stays as it is. Keys and certificates may be there.
func TestRestoreNotEmpty(t *testing.T) {
	target, _, _ := memoryBackup(t, memoryFile("rows/a", []byte("new")), memoryFile("data/format", []byte("1\n")))
	f := func(ok bool, name string) {
		t.Helper()
		cfg := configFor(t, t.TempDir())
		write(t, cfg.Data, name, []byte("old"))
		_, err := Restore(context.Background(), target, cfg, RestoreOptions{})
		if ok != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if !ok {
			wantError(t, err, filepath.Join(cfg.Data, name), "another folder")
			if entries, _ := os.ReadDir(cfg.Data); len(entries) != 1 {
				t.Errorf("a refused restore left %v", entries)
			}
		}
		if b, err := os.ReadFile(filepath.Join(cfg.Data, name)); err != nil || string(b) != "old" && name != "lock" {
			t.Errorf("%s now holds %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"rows/a", "rows/other", "journal/0000000000000001.journal", "meta.db", "meta.db-wal", "format", "instance", "notes", "classes/a.yaml"} {
		f(false, name)
	}
	for _, name := range []string{"secret.key", "tls/key.pem", "lock", "lost+found/x"} {
		f(true, name)
	}
	cfg := configFor(t, t.TempDir())
	cfg.Meta.SQLite.Path, cfg.Storage.DuckDB.Dir = filepath.Join(t.TempDir(), "m.db"), filepath.Join(t.TempDir(), "rows")
	write(t, filepath.Dir(cfg.Meta.SQLite.Path), "m.db-wal", nil)
	_, err := Restore(context.Background(), target, cfg, RestoreOptions{})
	wantError(t, err, cfg.Meta.SQLite.Path+"-wal")
	write(t, cfg.Storage.DuckDB.Dir, "old", nil)
	_, err = Restore(context.Background(), target, cfg, RestoreOptions{})
	wantError(t, err, filepath.Join(cfg.Storage.DuckDB.Dir, "old"))
	lock, err := journal.LockDir(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := errors.Join(os.Remove(filepath.Join(cfg.Storage.DuckDB.Dir, "old")), os.Remove(cfg.Meta.SQLite.Path+"-wal")); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(context.Background(), target, cfg, RestoreOptions{}); !errors.Is(err, journal.ErrLocked) {
		t.Error(err)
	}
}

// TestRestoreElsewhere: rows and metadata go where the configuration says, also through links to other disks.
func TestRestoreElsewhere(t *testing.T) {
	src, target := newInstance(t, 1000), t.TempDir()
	mustCreate(t, src, Options{Target: target})
	cfg := configFor(t, t.TempDir())
	cfg.Meta.SQLite.Path, cfg.Storage.DuckDB.Dir = filepath.Join(t.TempDir(), "meta", "m.db"), filepath.Join(t.TempDir(), "deep", "rows")
	disk := t.TempDir()
	if err := os.Symlink(disk, filepath.Join(cfg.Data, "journal")); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(context.Background(), target, cfg, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, contents(t, src), cfg)
	for _, path := range []string{cfg.Meta.SQLite.Path, filepath.Join(cfg.Storage.DuckDB.Dir, "manifest"), filepath.Join(disk, "end")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	again := mustCreate(t, cfg, Options{Target: target}) // and from there
	if len(again.Missing) > 0 {
		t.Error(again.Missing)
	}
	wantWhole(t, target)
	_, err := create(t, cfg, Options{Target: filepath.Join(disk, "backups")})
	wantError(t, err, "is in")
}

// TestRestoreDamaged: a folder with missing or shorter files is refused before anything is written; wrong content when it is found.
func TestRestoreDamaged(t *testing.T) {
	files := []File{memoryFile("rows/a", noise(1, 10_000)), memoryFile("rows/b", noise(2, 10_000)), memoryFile("data/format", []byte("1\n"))}
	refused := func(damage func(dir string) error, words ...string) {
		t.Helper()
		_, dir, _ := memoryBackup(t, files...)
		if err := os.Chmod(filepath.Join(dir, "rows", "b"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := restoreTo(t, dir, RestoreOptions{})
		wantError(t, err, append(words, "another backup")...)
		if _, err := os.Stat(cfg.Data); err == nil {
			t.Error("a refused restore has created the folder")
		}
	}
	b := func(dir string) string { return filepath.Join(dir, "rows", "b") }
	refused(func(dir string) error { return os.Remove(b(dir)) }, "rows/b")
	refused(func(dir string) error { return os.Truncate(b(dir), 9999) }, "rows/b", "9999 bytes instead of 10000")
	refused(func(dir string) error { return os.RemoveAll(filepath.Dir(b(dir))) }, "rows/a", "rows/b")
	refused(func(dir string) error { return errors.Join(os.Remove(b(dir)), os.Mkdir(b(dir), 0o700)) }, "rows/b")
	refused(func(dir string) error { return errors.Join(os.Remove(b(dir)), unix.Mkfifo(b(dir), 0o600)) }, "rows/b", "device")
	refused(func(dir string) error { return errors.Join(os.Remove(b(dir)), os.Symlink("a", b(dir))) }, "rows/b", "link")
	refused(func(dir string) error {
		return errors.Join(os.Rename(filepath.Join(dir, "rows"), filepath.Join(dir, "else")), os.Symlink("else", filepath.Join(dir, "rows")))
	}, "rows", "link")
	refused(func(dir string) error { return os.Remove(filepath.Join(dir, ManifestFile)) }, ManifestFile, "not a complete backup")

	target, dir, _ := memoryBackup(t, files...)
	os.Chmod(b(dir), 0o600)
	if err := os.WriteFile(b(dir), noise(3, 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := restoreTo(t, target, RestoreOptions{})
	wantError(t, err, cfg.Data, "not complete", "rows/b", "SHA-256", "another backup")
	wantError(t, folder.CheckRestored(cfg.Data), "restore again")
	_, err = Restore(context.Background(), target, cfg, RestoreOptions{Stream: strings.NewReader("")})
	wantError(t, err, "stream")
	other, _, _ := memoryBackup(t, files[:2]...)
	_, err = Restore(context.Background(), other, cfg, RestoreOptions{})
	wantError(t, err, "another restore", target, "Run that one again")
	write(t, cfg.Data, "rows/other", nil)
	_, err = Restore(context.Background(), target, cfg, RestoreOptions{})
	wantError(t, err, "rows/other")
	if err := os.Remove(filepath.Join(cfg.Data, "rows/other")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b(dir), noise(2, 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Restore(context.Background(), target, cfg, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := folder.CheckRestored(cfg.Data); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(cfg.Data, "rows", "b")); err != nil || !bytes.Equal(text, noise(2, 10_000)) {
		t.Error(err)
	}
}

// tarOf makes a tar of headers with their names as content, and a manifest of a backup with the files that are regular.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	m := &Manifest{Format: manifestFormat, Instance: testInstance, Files: []Entry{}}
	add := func(h tar.Header, content []byte) {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(content))
			m.Files = append(m.Files, Entry{Name: h.Name, Source: h.Size, Size: h.Size, SHA256: sumOf(content)})
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			w.Write(content)
		}
	}
	for _, h := range headers {
		add(h, []byte(h.Name))
	}
	for _, f := range everyFile() {
		if !slices.ContainsFunc(headers, func(h tar.Header) bool { return h.Name == f.Name }) {
			add(tar.Header{Typeflag: tar.TypeReg, Name: f.Name}, contentOf(t, f))
		}
	}
	text, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: ManifestFile, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func contentOf(t testing.TB, f File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// sparseTar makes a tar with a sparse file of 1 PiB. The package that writes tars refuses the names of its attributes, so they are
// put in afterwards.
func sparseTar(t testing.TB) []byte {
	t.Helper()
	data := "1\n1125899906842623\n1\n"
	data += strings.Repeat("\x00", 512-len(data)) + "x"
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h := tar.Header{Typeflag: tar.TypeReg, Name: "rows/a", Size: int64(len(data)), PAXRecords: map[string]string{
		"XYZ.sparse.major": "1", "XYZ.sparse.minor": "0", "XYZ.sparse.realsize": "1125899906842624", "XYZ.sparse.name": "rows/a",
	}}
	if err := w.WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(data))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("XYZ.sparse"), []byte("GNU.sparse"))
}

// TestForeignTar: names that lead elsewhere, links and devices are refused, from a file before anything is written.
func TestForeignTar(t *testing.T) {
	reg := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	f := func(word string, headers ...tar.Header) {
		t.Helper()
		text := tarOf(t, append([]tar.Header{reg("rows/first")}, headers...)...)
		dir := t.TempDir()
		write(t, dir, "b.tar", text)
		cfg := configFor(t, filepath.Join(dir, "in", "data"))
		_, err := Restore(context.Background(), filepath.Join(dir, "b.tar"), cfg, RestoreOptions{})
		wantError(t, err, word)
		if _, err := os.Stat(cfg.Data); err == nil {
			t.Error("a refused restore has created the folder")
		}
		_, err = Restore(context.Background(), "", cfg, RestoreOptions{Stream: bytes.NewReader(text)})
		wantError(t, err, word)
		wantError(t, folder.CheckRestored(cfg.Data), "restore again")
		if v, err := Verify(context.Background(), filepath.Join(dir, "b.tar"), nil); err != nil || len(v.Problems) == 0 {
			t.Errorf("verify: %+v, %v", v, err)
		}
		found := map[string]bool{}
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
			if !e.IsDir() && e.Name() != "b.tar" {
				rel, _ := filepath.Rel(cfg.Data, path)
				found[filepath.ToSlash(rel)] = true
			}
			return nil
		})
		for name := range found {
			if name != "rows/first" && name != "rows/good" && name != "lock" && name != folder.RestoringFile {
				t.Errorf("%s was written", name)
			}
		}
	}
	for _, name := range []string{"../x", "rows/../../x", "/etc/x", "data/../../x", "data/secret.key", "data/lock", "data/restoring", "other/x", "data/journal/end", "rows/..", `rows/a\..` + "\n"} {
		f("name", reg(name))
	}
	f("link", tar.Header{Typeflag: tar.TypeSymlink, Name: "rows/a", Linkname: "/etc"})
	f("link", tar.Header{Typeflag: tar.TypeLink, Name: "rows/a", Linkname: "/etc/passwd"})
	f("device", tar.Header{Typeflag: tar.TypeChar, Name: "rows/a"})
	f("device", tar.Header{Typeflag: tar.TypeFifo, Name: "rows/a"})
	f("folder", tar.Header{Typeflag: tar.TypeDir, Name: "rows/"})
	f("twice", reg("rows/good"), reg("rows/good"))
	f("file and of a folder", reg("rows/good"), reg("rows/good/a"))
	f("attribute", tar.Header{Typeflag: tar.TypeReg, Name: "rows/a", PAXRecords: map[string]string{"VENDOR.x": "1"}})
	for _, stream := range []bool{false, true} { // a sparse file of a few bytes, which would fill the disk
		dir := t.TempDir()
		write(t, dir, "b.tar", sparseTar(t))
		from, o := filepath.Join(dir, "b.tar"), RestoreOptions{}
		if stream {
			from, o.Stream = "", bytes.NewReader(sparseTar(t))
		}
		_, _, err := restoreTo(t, from, o)
		wantError(t, err, "rows/a", "GNU.sparse")
	}
	whole := tarOf(t, reg("rows/first"))
	for _, n := range []int{0, 100, 512, 600, 1024, 1600, len(whole) - 1024} { // without its end it is not complete
		if _, _, err := restoreTo(t, "", RestoreOptions{Stream: bytes.NewReader(whole[:n])}); (err == nil) != (n == len(whole)-1024) {
			t.Errorf("the first %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// TestStreamAgain: a stream that broke off is restored again from the beginning; files of another one are noticed.
func TestStreamAgain(t *testing.T) {
	reg := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	whole, other := tarOf(t, reg("rows/first"), reg("rows/b")), tarOf(t, reg("rows/first"), reg("rows/c"))
	cfg := configFor(t, t.TempDir())
	again := func(text []byte) error {
		_, err := Restore(context.Background(), "", cfg, RestoreOptions{Stream: io.MultiReader(bytes.NewReader(text))})
		return err
	}
	wantError(t, again(other[:2100]), cfg.Data, "not complete")
	wantError(t, again(whole), "rows/c")
	wantError(t, folder.CheckRestored(cfg.Data), "restore again")
	if err := os.Remove(filepath.Join(cfg.Data, "rows", "c")); err != nil {
		t.Fatal(err)
	}
	if err := again(whole); err != nil {
		t.Fatal(err)
	}
	if err := folder.CheckRestored(cfg.Data); err != nil {
		t.Error(err)
	}
	wantError(t, again(whole), "empty data folder")
}

// FuzzTar: whatever the stream is, a restore ends, and writes only files of a backup into the folder.
func FuzzTar(f *testing.F) {
	reg := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	f.Add(tarOf(f, reg("rows/first"), reg("data/format")))
	f.Add(tarOf(f, reg("rows/first"), reg("../x")))
	f.Add(tarOf(f, tar.Header{Typeflag: tar.TypeSymlink, Name: "rows/a", Linkname: "/etc"}))
	f.Add(tarOf(f, reg("rows/first.age")))
	long := tar.Header{Typeflag: tar.TypeReg, Name: "rows/" + strings.Repeat("a/", 100) + "b", ModTime: time.Unix(0, 0)}
	f.Add(tarOf(f, long))
	base := configFor(f, "")
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<20 {
			return
		}
		cfg, dir := *base, t.TempDir()
		cfg.Data = filepath.Join(dir, "data")
		_, failed := Restore(context.Background(), "", &cfg, RestoreOptions{Stream: bytes.NewReader(text)})
		p := placesOf(&cfg)
		list, err := p.inTheWay(func(name string) bool { return checkName(name) == nil })
		if err != nil || len(list) > 0 {
			t.Errorf("written: %v, %v", list, err)
		}
		entries, _ := os.ReadDir(dir)
		if len(entries) > 1 || len(entries) == 1 && entries[0].Name() != "data" {
			t.Errorf("written: %v", entries)
		}
		if err := folder.CheckRestored(cfg.Data); failed == nil && err != nil {
			t.Error(err)
		}
	})
}

// TestRestoreIntoBackup: a restore into a backup would damage that.
func TestRestoreIntoBackup(t *testing.T) {
	cfg, target := newInstance(t, 10), t.TempDir()
	m := mustCreate(t, cfg, Options{Target: target})
	for _, dir := range []string{"new", "rows/new/deeper"} {
		_, err := Restore(context.Background(), target, configFor(t, filepath.Join(m.Path(), dir)), RestoreOptions{})
		wantError(t, err, dir, "is in the backup "+m.Path(), "elsewhere")
	}
	wantWhole(t, target)
}

// TestRestoreLacksAll: a manifest without what every instance has is refused, although all its files are whole.
func TestRestoreLacksAll(t *testing.T) {
	for _, name := range everyName() {
		target := t.TempDir()
		src := &memorySource{lacks: name}
		if _, err := Create(context.Background(), src, Options{Target: target, Config: configFor(t, t.TempDir()), Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := restoreTo(t, target, RestoreOptions{AcceptMissing: true})
		wantError(t, err, name, "every instance has")
		if v, err := Verify(context.Background(), target, nil); err != nil || !slices.ContainsFunc(v.Problems, func(p store.Problem) bool { return strings.HasSuffix(p.File, name) }) {
			t.Errorf("verify without %s: %+v, %v", name, v, err)
		}
		if entries, err := os.ReadDir(cfg.Data); err == nil && len(entries) > 0 {
			t.Errorf("%v was written", entries)
		}
	}
}

// TestRestoreOfAnother: the files of a backup are of the instance that its manifest names.
func TestRestoreOfAnother(t *testing.T) {
	other := memoryFile(instanceName, []byte(strings.Repeat("0f", 16)+"\n"))
	target := t.TempDir()
	if _, err := Create(context.Background(), &memorySource{files: []File{other}}, Options{Target: target, Config: configFor(t, t.TempDir()), Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := restoreTo(t, target, RestoreOptions{})
	wantError(t, err, testInstance, strings.Repeat("0f", 16))
	wantError(t, folder.CheckRestored(cfg.Data), "restore again")
}
