package backup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"belfry/folder"
	"belfry/journal"
)

// problems verifies and returns what is found.
func problems(t *testing.T, path string) (files, texts []string) {
	t.Helper()
	v, err := Verify(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		if p.Problem == "" || p.Remedy == "" {
			t.Errorf("%+v", p)
		}
		files, texts = append(files, p.File), append(texts, p.Problem)
	}
	return files, texts
}

// TestVerifyFindsEverything: a changed byte in every 4 KiB of every file, a file that is cut, and one that is removed, are each
// found and named, whether the backup is encrypted or not.
func TestVerifyFindsEverything(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	cfg := newInstance(t, 20_000)
	for _, recipients := range [][]string{nil, {id.Recipient().String()}} {
		target := t.TempDir()
		mustCreate(t, cfg, Options{Target: target, Recipients: recipients, Now: clock()})
		dir := filepath.Join(target, "20261119T013100Z")
		wantWhole(t, dir)
		var all []string
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
			if !e.IsDir() {
				all = append(all, path)
				os.Chmod(path, 0o600)
			}
			return nil
		})
		found := func(path, how string) {
			t.Helper()
			if files, texts := problems(t, dir); !slices.Equal(files, []string{path}) {
				t.Errorf("%s of %s: found %v %v", how, path, files, texts)
			}
		}
		for _, path := range all {
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			put := func(b []byte) {
				t.Helper()
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for off := 0; off < len(whole); off += 4096 {
				b := bytes.Clone(whole)
				b[min(off+off/7%4096, len(b)-1)] ^= 0x10
				put(b)
				found(path, "a changed byte")
			}
			if len(whole) > 0 {
				put(whole[:len(whole)-1])
				found(path, "the end")
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			found(path, "the removal")
			put(whole)
		}
		wantWhole(t, dir)
	}
}

// TestVerifyTar: changed bytes of files and headers, and missing ends, are found in a tar. What fills up its blocks does not count.
func TestVerifyTar(t *testing.T) {
	cfg := newInstance(t, 5000)
	var stream bytes.Buffer
	mustCreate(t, cfg, Options{Tar: &stream})
	whole, dir := stream.Bytes(), t.TempDir()
	path := filepath.Join(dir, "b.tar")
	want := contents(t, cfg)
	for off := 0; off < len(whole); off += 4096 {
		b := bytes.Clone(whole)
		b[off+off/7%512] ^= 0x10
		write(t, dir, "b.tar", b)
		if _, texts := problems(t, path); len(texts) > 0 {
			continue
		}
		again, _, err := restoreTo(t, path, RestoreOptions{})
		if err != nil {
			t.Fatalf("a changed byte at %d is not found, and prevents a restore: %v", off, err)
		}
		wantEqual(t, want, again)
	}
	for n := 0; n < len(whole)-1024; n += 4096 {
		write(t, dir, "b.tar", whole[:n])
		if _, texts := problems(t, path); len(texts) == 0 {
			t.Errorf("%d of %d bytes pass", n, len(whole))
		}
	}
	write(t, dir, "b.tar", append(bytes.Clone(whole[:len(whole)-1024]), whole...))
	_, texts := problems(t, path)
	if len(texts) != 1 || !strings.Contains(texts[0], "does not end after") {
		t.Error(texts)
	}
}

// TestVerifyFolder: all backups of a folder are verified, those of other files are left alone, and unknown files are named.
func TestVerifyFolder(t *testing.T) {
	cfg, target, now := newInstance(t, 1000), t.TempDir(), clock()
	for range 3 {
		mustCreate(t, cfg, Options{Target: target, Now: now})
	}
	write(t, target, "notes", nil)
	write(t, target, "20261119T000000Z.partial/x", nil)
	var last Progress
	v, err := Verify(context.Background(), target, func(p Progress) { last = p })
	if err != nil || v.Backups != 3 || len(v.Problems) > 0 || last.Bytes != last.TotalBytes || last.Bytes == 0 {
		t.Fatalf("%+v, %v, %+v", v, err, last)
	}
	if n := len(contents(t, cfg)); v.Files >= 2*n {
		t.Errorf("%d files were read for three backups of %d", v.Files, n)
	}
	list, err := List(target)
	if err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join("rows", "events", "2026-11-15.duckdb")
	os.Chmod(filepath.Join(list[0].Path, shared), 0o600)
	if err := os.WriteFile(filepath.Join(list[0].Path, shared), noise(99, 1004), 0o600); err != nil { // of all three
		t.Fatal(err)
	}
	write(t, list[1].Path, "rows/unknown", nil)
	if err := os.Remove(filepath.Join(list[2].Path, ManifestFile)); err != nil {
		t.Fatal(err)
	}
	files, texts := problems(t, target)
	want := []string{
		filepath.Join(list[0].Path, shared), filepath.Join(list[1].Path, shared), filepath.Join(list[1].Path, "rows", "unknown"), filepath.Join(list[2].Path, ManifestFile),
	}
	if !slices.Equal(files, want) {
		t.Errorf("%v %v, want %v", files, texts, want)
	}
	_, err = Verify(context.Background(), t.TempDir(), nil)
	wantError(t, err, "no complete backup")
	_, err = Verify(context.Background(), filepath.Join(target, "none"), nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, target, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestVerifyParts: parts that do not belong together are found although every file is as the manifest says.
func TestVerifyParts(t *testing.T) {
	f := func(change func(data string), file string, words ...string) {
		t.Helper()
		cfg, target := newInstance(t, 100), t.TempDir()
		change(cfg.Data)
		mustCreate(t, cfg, Options{Target: target, Now: clock()})
		dir := filepath.Join(target, "20261119T013100Z")
		files, texts := problems(t, dir)
		i := slices.Index(files, filepath.Join(dir, file))
		if i < 0 {
			t.Fatalf("found %v %v, not %s", files, texts, file)
		}
		for _, w := range words {
			if !strings.Contains(texts[i], w) {
				t.Errorf("%s: %s, which should contain %q", file, texts[i], w)
			}
		}
	}
	other := strings.Repeat("0f", 16)
	instance := func(sub string) func(string) {
		return func(data string) {
			if err := journal.WriteInstance(filepath.Join(data, sub), other); err != nil {
				t.Fatal(err)
			}
		}
	}
	f(instance("rows"), "rows/instance", other)
	cfg := newInstance(t, 100)
	instance("journal")(cfg.Data)
	_, err := create(t, cfg, Options{Target: t.TempDir()})
	wantError(t, err, "another instance")
	f(func(data string) { os.Remove(filepath.Join(data, "rows", "instance")) }, "rows/instance", "missing")
	f(func(data string) { os.Remove(filepath.Join(data, "meta.db")) }, "meta/meta.db", "missing")
	f(func(data string) { write(t, data, "meta.db", noise(1, 5000)) }, "meta/meta.db")
	f(func(data string) { os.Remove(filepath.Join(data, "journal", "0000000000000001.journal")) }, "journal", "begins after", "missing")
	f(func(data string) {
		path := filepath.Join(data, "journal", "0000000000000001.journal")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[112+24] ^= 1
		write(t, data, "journal/0000000000000001.journal", b)
	}, "journal/0000000000000001.journal", "lost")
	f(func(data string) { write(t, data, "journal/end", []byte("x")) }, "journal/end", "64 bytes")
}

// TestVerifySmallFiles: small files that were damaged when they were copied are found, as a restore finds them.
func TestVerifySmallFiles(t *testing.T) {
	for _, name := range []string{folder.ClockFile, folder.FaultsFile, "journal_loss"} {
		cfg, target := newInstance(t, 1000), t.TempDir()
		write(t, cfg.Data, name, []byte(name+" 1 00000000\n[]\n"))
		mustCreate(t, cfg, Options{Target: target, Now: clock()})
		dir := filepath.Join(target, "20261119T013100Z")
		if files, texts := problems(t, dir); !slices.Equal(files, []string{filepath.Join(dir, "data", name)}) {
			t.Errorf("%s: found %v %v", name, files, texts)
		}
	}
}
