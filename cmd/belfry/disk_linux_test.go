package main

import (
	"io"
	"os"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// cmdTmpfs mounts a small file system until the script ends.
func cmdTmpfs(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[0]))
	s := of(ts)
	ts.Defer(func() {
		if s.cmd != nil {
			s.cmd.Process.Kill()
			s.cmd.Wait()
		}
		unix.Unmount(dir, unix.MNT_DETACH)
	})
}

// cmdBallast grows a file until its file system has at most so many bytes free.
func cmdBallast(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	defer f.Close()
	for {
		var s unix.Statfs_t
		ts.Check(unix.Fstatfs(int(f.Fd()), &s))
		left := int64(s.Bavail)*s.Bsize - want
		if left <= 0 {
			return
		}
		if _, err := io.CopyN(f, zeros{}, min(left, 1<<20)); err != nil {
			return // others write too; it is as full as can be
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// cmdAwaitLog waits until the server's log says something new.
func cmdAwaitLog(ts *testscript.TestScript, neg bool, args []string) {
	await(ts, of(ts), regexp.MustCompile(args[0]))
}
