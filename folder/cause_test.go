package folder

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestExplainFailure(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if got := Explain("/x", err); got != want {
			t.Errorf("%v: %s", err, got)
		}
	}
	f(fmt.Errorf("write: %w", syscall.ENOSPC), "no space left on the file system of /x; free space there")
	f(errors.New("IO Error: Cannot open file \"/x/y.duckdb\": Too many open files"), "too many files are open to write to /x; raise the limit of open files (ulimit -n, LimitNOFILE of a systemd unit)")
	f(errors.New("IO Error: Could not write file \"/x/y.duckdb.wal\": Input/output error"), "the disk of /x reports input/output errors; check the disk and the kernel's log")
	f(errors.New("disk I/O error (522)"), "the disk of /x reports input/output errors; check the disk and the kernel's log")
	f(fmt.Errorf("rename: %w", syscall.EEXIST), "in /x there is a folder where a file should be, or the reverse; the server's log names it; move it away")
	f(errors.New("something else"), "/x cannot be written to; the server's log says why")
}

func TestDiskFull(t *testing.T) {
	f := func(err error, want bool) {
		t.Helper()
		if got := DiskFull(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
	f(fmt.Errorf("write: %w", syscall.ENOSPC), true)
	f(errors.New("IO Error: Could not write file: No space left on device"), true)
	f(errors.New("database or disk is full (13)"), true)
	f(errors.New("database is locked"), false)
}
