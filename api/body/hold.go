package body

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"belfry"
)

// heldInMemory is how much of a held body is kept in memory; the rest goes to a file.
const heldInMemory = 64 << 10

// Held is a body that has been read to its end.
type Held struct {
	io.Reader
	Digest [sha256.Size]byte
	file   *os.File // nil when it fits in memory
}

// Hold reads a body to its end, into memory and a temporary file in dir. The digest also covers the prefix and its length, so
// that different requests have different digests.
func Hold(body io.Reader, dir, prefix string) (*Held, error) {
	sum := newDigest(prefix)
	h := &Held{}
	var start bytes.Buffer
	n, err := io.Copy(io.MultiWriter(&start, sum), io.LimitReader(body, heldInMemory))
	h.Reader = &start
	if err == nil && n == heldInMemory {
		err = h.spill(io.TeeReader(body, sum), dir)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	sum.Sum(h.Digest[:0])
	return h, nil
}

// Digest is the digest of a body in memory, see Hold.
func Digest(prefix string, body []byte) (d [sha256.Size]byte) {
	sum := newDigest(prefix)
	sum.Write(body)
	sum.Sum(d[:0])
	return d
}

func newDigest(prefix string) hash.Hash {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s", len(prefix), prefix)
	return sum
}

// spill puts the rest of the body into a file without a name, which cannot be left behind.
func (h *Held) spill(rest io.Reader, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return notHeld(err)
	}
	if h.file, err = os.CreateTemp(dir, "body-*"); err != nil {
		return notHeld(err)
	}
	if err := os.Remove(h.file.Name()); err != nil {
		return notHeld(err)
	}
	if _, err := io.Copy(h.file, rest); err != nil {
		return notHeld(err)
	}
	if _, err := h.file.Seek(0, io.SeekStart); err != nil {
		return notHeld(err)
	}
	h.Reader = io.MultiReader(h.Reader, h.file)
	return nil
}

// diskErrors are those of a full or failing disk, and of too many open files.
var diskErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE}

// notHeld is the error of a body that could not be written to a file. An error from reading the body is returned as it is.
func notHeld(err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return err
	case slices.ContainsFunc(diskErrors, func(e error) bool { return errors.Is(err, e) }):
		return belfry.Errorf(belfry.StorageUnavailable, "nothing was stored: the body is too long for memory, and no temporary file can hold it (%s); send it again, or in smaller bodies", failed.Err)
	}
	return fmt.Errorf("hold body: %w", err)
}

// Close closes the file.
func (h *Held) Close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}
