package folder

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"belfry/config"
	"belfry/journal"
)

// cause is a reason why something cannot be written.
type cause struct {
	errnos []syscall.Errno
	words  []string // in the engine's message, lower case: engines do not return the number
	text   string   // for operators; DIR is replaced with the folder
	remedy string
}

const DamagedRemedy = "stop the service, restore the file from a backup and remove those beside it that end in -wal and -shm; the next start replays later changes from the journal. " +
	"belfry verify lists everything that is wrong, and docs/guide/damage.md says what to do"

func causes() []cause {
	return []cause{
		{
			[]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT},
			[]string{"no space left", "disk is full", "disk quota", "disk full"},
			"no space left on the file system of DIR", "free space there",
		},
		{
			[]syscall.Errno{syscall.EMFILE, syscall.ENFILE},
			[]string{"too many open files"},
			"too many files are open to write to DIR", "raise the limit of open files (ulimit -n, LimitNOFILE of a systemd unit)",
		},
		{
			[]syscall.Errno{syscall.EIO},
			[]string{"input/output error", "disk i/o error"},
			"the disk of DIR reports input/output errors", "check the disk and the kernel's log",
		},
		{
			[]syscall.Errno{syscall.EROFS},
			[]string{"read-only file system", "readonly database"},
			"the file system of DIR is read-only", "mount it for writing",
		},
		{
			[]syscall.Errno{syscall.EFBIG},
			[]string{"file too large"},
			"the files in DIR may not grow any further", "raise the limit of file sizes (ulimit -f)",
		},
		{
			[]syscall.Errno{syscall.EACCES, syscall.EPERM},
			[]string{"permission denied", "operation not permitted"},
			"the service may not write to DIR", "give its user the right to write",
		},
		{
			[]syscall.Errno{syscall.EISDIR, syscall.EEXIST, syscall.ENOTDIR},
			[]string{"is a directory", "not a directory"},
			"in DIR there is a folder where a file should be, or the reverse", "the server's log names it; move it away",
		},
		{
			nil,
			[]string{"disk image is malformed", "file is not a database"},
			"DIR is damaged", DamagedRemedy,
		},
		{
			nil,
			[]string{"out of memory", "failed to allocate", "could not allocate"},
			"the engine that writes to DIR is out of memory", "raise " + config.EngineMemory + ", or ask for less at a time",
		},
	}
}

func (c *cause) of(err error, text string) bool {
	for _, n := range c.errnos {
		if errors.Is(err, n) {
			return true
		}
	}
	for _, w := range c.words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// Explain returns for operators why a folder cannot be written, and what to do. The engine's own message goes to the log.
func Explain(dir string, err error) string {
	text := strings.ToLower(err.Error())
	for _, c := range causes() {
		if c.of(err, text) {
			return strings.Replace(c.text, "DIR", dir, 1) + "; " + c.remedy
		}
	}
	return dir + " cannot be written to; the server's log says why"
}

// DiskFull reports whether err means that a disk is full.
func DiskFull(err error) bool {
	return causes()[0].of(err, strings.ToLower(err.Error()))
}

// EndProblem describes for operators a problem with the file journal/end.
func EndProblem(path string, err error) (problem, remedy string) {
	var system *fs.PathError
	switch {
	case errors.Is(err, journal.ErrBadMark):
		remedy = "The service replaces it with its next record."
	case errors.As(err, &system):
		remedy = "Look at its permissions and at the disk: " + Explain(path, err) + "."
	default:
		remedy = "Move it away: the service writes a new one with its next record."
	}
	return "the file with the journal's end cannot be used: " + err.Error(), remedy + " Until then a loss of the last records of the journal may go unnoticed."
}
