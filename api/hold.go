package api

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"belfry"
)

// heldInMemory is how much of a held body is kept in memory; what is longer goes to a file.
const heldInMemory = 64 << 10

// held is a body that has been read to its end, and its digest.
type heldBody struct {
	io.Reader
	file   *os.File // nil when it fits in memory
	digest [sha256.Size]byte
}

// hold reads a body to its end. The digest covers prefix too, with its length, so that no two requests mean the same.
func hold(body io.Reader, dir, prefix string) (*heldBody, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s", len(prefix), prefix)
	h := &heldBody{}
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
	sum.Sum(h.digest[:0])
	return h, nil
}

// spill puts the rest of the body into a file that has no name, so that nothing is left behind whatever happens.
func (h *heldBody) spill(rest io.Reader, dir string) (err error) {
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

// diskErrors are what a full or failing disk says, and a process with too many open files.
var diskErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE}

// notHeld is the error for a body that could not be written to a file. One of the client, which was read meanwhile, stays what it is.
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

// Close lets go of the file.
func (h *heldBody) Close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}
