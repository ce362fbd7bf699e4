package damage

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"belfry/store/duck/duckdb"
)

var cannotRead = regexp.MustCompile(`(?:Cannot open|Could not read from) file "([^"]*)": ([^\n]*)`)

// storeWide are errors that are not those of a single file.
var storeWide = []string{"Too many open files", "Cannot allocate", "No space left", "Resource temporarily", "Disk quota", "Read-only file system"}

// StoreWide reports whether an error is not that of a single file.
func StoreWide(err error) bool {
	return duckdb.OutOfMemory(err) || slices.ContainsFunc(storeWide, func(words string) bool { return strings.Contains(err.Error(), words) }) ||
		slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, syscall.ENOMEM, syscall.EAGAIN}, func(e error) bool { return errors.Is(err, e) })
}

// Unreadable returns the system's error if the engine could not read this file; "" if the error was about something
// else.
func Unreadable(path string, err error) string {
	if m := cannotRead.FindStringSubmatch(err.Error()); m != nil && (m[1] == path || m[1] == path+".wal") && !StoreWide(err) {
		return m[2]
	}
	return ""
}

// ReasonAtOpen returns why a file could not be opened, in words for operators.
func ReasonAtOpen(path string, err error) string {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	if why := Unreadable(path, err); why != "" {
		return why
	}
	if strings.Contains(err.Error(), "Could not set lock") {
		return "another program has locked it"
	}
	return "the engine cannot open it; the server's log says why"
}

// Remedy says what an operator can do about a file that cannot be read.
func Remedy(why string) string {
	why = strings.ToLower(why)
	switch {
	case strings.Contains(why, "permission") || strings.Contains(why, "not permitted"):
		return "make the user of the service its owner again (chown, chmod 600)"
	case strings.Contains(why, "input/output"):
		return "check the disk and the kernel's log"
	case strings.Contains(why, "locked"):
		return "end that program"
	}
	return "look at the file, its disk and the server's log"
}

// ErrNoFile means that there is a folder, a pipe or a device in the place of a file.
var ErrNoFile = errors.New("it is not a file")

// Open opens a file, and nothing else: opening a pipe would wait for whoever writes into it.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNoFile
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// RemoveOdd removes pipes, devices and sockets that are in the place of files: they hold nothing, and a start refuses them.
func RemoveOdd(paths ...string) {
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeDevice|os.ModeSocket) != 0 {
			_ = os.Remove(path)
		}
	}
}

// ReadThrough reads a file and its log to the end, opened as the service would open them.
func ReadThrough(path string) error {
	for _, p := range []string{path, path + ".wal"} {
		f, err := Open(p, os.O_RDWR)
		if errors.Is(err, os.ErrNotExist) && p != path {
			continue
		}
		if err != nil {
			return err
		}
		_, err = io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f})
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Checkpoints returns how often a file has been checkpointed: the higher number of the two headers that the engine
// writes in turn.
func Checkpoints(path string) (n uint64, err error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return CheckpointsIn(f)
}

// CheckpointsIn is Checkpoints for an open file.
func CheckpointsIn(f io.ReaderAt) (n uint64, err error) {
	for _, at := range []int64{mainHeader, 2 * mainHeader} {
		var b [8]byte
		if _, err := f.ReadAt(b[:], at+8); err != nil { // after the checksum
			return 0, err
		}
		n = max(n, binary.LittleEndian.Uint64(b[:]))
	}
	return n, nil
}
