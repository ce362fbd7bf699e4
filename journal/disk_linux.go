package journal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxVector is the maximum number of buffers in one system call.
const maxVector = 1024

// syncData omits metadata that a reader does not need, such as the modification time.
func syncData(f *os.File) error {
	return os.NewSyscallError("fdatasync", retryEINTR(func() error { return unix.Fdatasync(int(f.Fd())) }))
}

// Allocate reserves the blocks of a file, so that a full disk is detected when a segment begins and not inside it. If
// the file system does not support it, the error is errors.ErrUnsupported.
func Allocate(f *os.File, size int64) error {
	err := retryEINTR(func() error { return unix.Fallocate(int(f.Fd()), 0, 0, size) })
	return os.NewSyscallError("fallocate", err)
}

// writeAt writes the buffers without joining them first. A short write is continued, so that its cause becomes an error.
func writeAt(f *os.File, bufs [][]byte, off int64) (int, error) {
	total := 0
	for rest := bufs; len(rest) > 0; {
		n := 0
		err := retryEINTR(func() (err error) {
			n, err = unix.Pwritev(int(f.Fd()), rest[:min(len(rest), maxVector)], off+int64(total))
			return err
		})
		if err != nil {
			return total, fmt.Errorf("write %s: %w", f.Name(), err)
		}
		total += n
		before := len(rest)
		rest = advance(rest, n)
		if n == 0 && len(rest) == before {
			return total, fmt.Errorf("write %s: %w", f.Name(), io.ErrShortWrite)
		}
	}
	return total, nil
}

// idAndSize asks only for the inode number and the size. Reading the times as well would make the next write record a new time, which
// takes longer than the rest of a small Append.
func idAndSize(path string) (id fileID, size int64, err error) {
	var s unix.Statx_t
	err = retryEINTR(func() error { return unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_SIZE, &s) })
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // some containers do not allow the call
		return idAndSizeByStat(path)
	case err != nil:
		return fileID{}, 0, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	return fileID{unix.Mkdev(s.Dev_major, s.Dev_minor), s.Ino}, int64(s.Size), nil
}

// advance returns what is left of bufs after n bytes. Completed buffers, empty ones included, are dropped.
func advance(bufs [][]byte, n int) [][]byte {
	for len(bufs) > 0 && n >= len(bufs[0]) {
		n -= len(bufs[0])
		bufs = bufs[1:]
	}
	if n > 0 {
		rest := append([][]byte{bufs[0][n:]}, bufs[1:]...) // a copy: the caller's slice is not changed
		return rest
	}
	return bufs
}
