package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsLeft: the message after a broken connection says whether there is an unfinished backup, none, or a complete one.
func TestWhatIsLeft(t *testing.T) {
	target := t.TempDir()
	earlier := filepath.Join(target, "20261118T000000Z")
	f := func(name, want string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(target, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := whatIsLeft(target, earlier); !strings.Contains(got, want) {
			t.Errorf("with %s: %q, want %q", name, got, want)
		}
	}
	f("20261118T000000Z", "nothing of the backup was left in "+target+": run the backup again")
	f("20261119T000000Z.partial", "the unfinished backup was left at "+filepath.Join(target, "20261119T000000Z.partial"))
	f("20261120T000000Z", "the backup "+filepath.Join(target, "20261120T000000Z")+" is complete")
	if got := whatIsLeft(filepath.Join(target, "none"), ""); !strings.Contains(got, "nothing of the backup was left") {
		t.Error(got)
	}
}
