package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	lock, err := LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = LockDir(dir)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d;", os.Getpid())) {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	lock, err = LockDir(dir)
	if err != nil {
		t.Fatalf("free again: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := LockDir(filepath.Join(dir, "missing")); err == nil || errors.Is(err, ErrLocked) {
		t.Fatal(err)
	}
}

func TestFormat(t *testing.T) {
	dir := t.TempDir()
	f := func(content string, want int, message string) {
		t.Helper()
		if content != "" {
			if err := os.WriteFile(filepath.Join(dir, "format"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Format(dir)
		if got != want || (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
			t.Fatalf("got %d, %v; want %d, %q", got, err, want, message)
		}
	}
	f("", DataFormat, "") // made
	f("", DataFormat, "") // read
	f("1\n", 1, "")
	f("2\n", 0, "data format 2, this program knows up to 1")
	f("x", 0, "should hold a number")
	f("0", 0, "should hold a number")
}

// A file has the same id by path and by descriptor.
func TestFileID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(77); err != nil {
		t.Fatal(err)
	}
	opened, _, err := idAndSizeOfFile(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(string) (fileID, int64, error){"idAndSize": idAndSize, "idAndSizeByStat": idAndSizeByStat} {
		if id, size, err := ask(path); err != nil || id != opened || size != 77 {
			t.Errorf("%s: %v, %d bytes, %v, want %v and 77", name, id, size, err, opened)
		}
		if _, _, err := ask(path + " "); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of a missing file: %v", name, err)
		}
	}
}
