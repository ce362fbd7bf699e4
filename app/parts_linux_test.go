package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"belfry/config"
	"belfry/folder"
	"belfry/journal"
)

// TestWatchInstance takes the files named instance away, changes them and makes them unreadable. The fault says which of these it is.
func TestWatchInstance(t *testing.T) {
	cfg := config.Default(testCatalog(t))
	cfg.Data = t.TempDir()
	const other = "0123456789abcdef0123456789abcdef"
	const id = "00112233445566778899aabbccddeeff"
	folders := []string{cfg.Data, filepath.Join(cfg.Data, "journal"), filepath.Join(cfg.Data, "rows")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range folders {
		must(journal.WriteInstance(dir, id))
	}
	f := newFaults(slog.New(slog.DiscardHandler), time.Now)
	s := &service{faults: f, core: &core{Options: Options{Log: slog.New(slog.DiscardHandler)}, Folder: &folder.Folder{Instance: id}}}
	var err error
	s.instanceFiles, err = folder.OpenInstanceFiles(cfg, id)
	must(err)
	t.Cleanup(func() { _ = s.instanceFiles.Close() })
	look := func() string {
		t.Helper()
		s.watchInstance()
		switch list := f.list(); len(list) {
		case 0:
			return ""
		case 1:
			if list[0].ID != faultInstance || list[0].Blocks {
				t.Errorf("%+v", list[0])
			}
			return list[0].Message
		default:
			t.Fatalf("%+v", list)
			return ""
		}
	}
	wants := func(what, message string, words ...string) {
		t.Helper()
		for _, w := range words {
			if not, found := strings.CutPrefix(w, "!"); found == strings.Contains(message, not) {
				t.Errorf("%s: %q, want %q", what, message, w)
			}
		}
		if len(words) == 0 && message != "" {
			t.Errorf("%s: %q", what, message)
		}
	}
	wants("all is well", look())
	for _, dir := range folders {
		path := filepath.Join(dir, "instance")
		must(os.Remove(path))
		wants("removed", look()) // it is written again at once
		must(os.WriteFile(path, []byte(other), 0o600))
		wants("changed", look(), path+" was changed", "write "+id, "!cannot be read")

		starved(t, func() {
			wants("changed, no descriptor", look(), path+" was changed", "!too many open files")
		})
		must(journal.WriteInstance(dir, id))
		wants("written back", look())
		starved(t, func() { wants("no descriptor", look()) })

		must(os.Remove(path))
		must(os.Symlink("/proc/self/mem", path)) // can be opened, and its first byte not be read
		wants("unreadable", look(), path+" cannot be read: input/output error", "!was changed", "!"+id)
		must(os.Remove(path))
		must(os.Mkdir(path, 0o700))
		wants("a folder", look(), path+" cannot be read: is a directory", "!was changed")
		must(os.Remove(path))
		must(journal.WriteInstance(dir, id))
		wants("readable again", look())
	}
}

// starved runs f while the process can open no more files.
func starved(t *testing.T, f func()) {
	t.Helper()
	var had unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &had); err != nil {
		t.Fatal(err)
	}
	none := had
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &had); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}
