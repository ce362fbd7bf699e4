package journal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxVector is how many pieces the system takes in one call.
const maxVector = 1024

// syncData leaves out what a reader does not need, such as the time of change.
func syncData(f *os.File) error {
	return os.NewSyscallError("fdatasync", again(func() error { return unix.Fdatasync(int(f.Fd())) }))
}

// allocate reserves the blocks of a file, so that a full disk shows when a segment begins and not inside it. Where the
// file system cannot, the error is errors.ErrUnsupported.
func allocate(f *os.File, size int64) error {
	err := again(func() error { return unix.Fallocate(int(f.Fd()), 0, 0, size) })
	return os.NewSyscallError("fallocate", err)
}

// writeAt writes the pieces without gathering them first. A short write is continued, so that the reason it was short
// comes up.
func writeAt(f *os.File, bufs [][]byte, off int64) (int, error) {
	total := 0
	for rest := bufs; len(rest) > 0; {
		n := 0
		err := again(func() (err error) {
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

// advance gives what is left of bufs after n bytes. Pieces that are done, empty ones too, are dropped.
func advance(bufs [][]byte, n int) [][]byte {
	for len(bufs) > 0 && n >= len(bufs[0]) {
		n -= len(bufs[0])
		bufs = bufs[1:]
	}
	if n > 0 {
		rest := append([][]byte{bufs[0][n:]}, bufs[1:]...) // a copy: the caller's pieces stay as they are
		return rest
	}
	return bufs
}
