package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// retryEINTR repeats a call while a signal interrupts it.
func retryEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// writeError wraps a write failure in ErrNoSpace or ErrFailed.
func writeError(what string, err error) error {
	if noSpace(err) {
		return fmt.Errorf("%s: %w: %w", what, ErrNoSpace, err)
	}
	return fmt.Errorf("%s: %w: %w", what, ErrFailed, err)
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// TempSuffix is the suffix of a file that is being written.
const TempSuffix = ".new"

// WriteFile writes a file durably and atomically: all of it under its name, or nothing. A crash leaves the old one and at most one
// temporary file, however often it happens.
func WriteFile(path string, content []byte) error {
	temp := path + TempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return SyncDir(filepath.Dir(path))
}
