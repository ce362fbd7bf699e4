package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"
)

const (
	chunkSize = 64 << 10 // read at once
	// stepSize is how much is read or written before its pages are dropped from the page cache, which the service needs, and what
	// was written goes to disk: a sync of the journal waits for what is being written, and this takes a disk about a millisecond.
	stepSize = 256 << 10
)

// sourceReader reads a file in chunks: at most size bytes, at a limited rate, until the context ends. The pages that it read do
// not stay in the page cache.
type sourceReader struct {
	ctx     context.Context
	r       io.Reader
	size    int64
	limiter *rate.Limiter // nil: unlimited
	moved   func(n int)   // called after each chunk; may be nil

	done, dropped int64
	failed        error // what is wrong with the file; nil if something else ended the reading
}

func (s *sourceReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.done == s.size {
		s.drop()
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), chunkSize, s.size-s.done)]
	if s.limiter != nil {
		if err := s.limiter.WaitN(s.ctx, len(p)); err != nil {
			return 0, err
		}
	}
	n, err := s.r.Read(p)
	s.done += int64(n)
	if n > 0 && s.moved != nil {
		s.moved(n)
	}
	if s.done-s.dropped >= stepSize {
		s.drop()
	}
	if errors.Is(err, io.EOF) {
		err = nil
		if s.done < s.size {
			err = fmt.Errorf("it ended after %d of %d bytes", s.done, s.size)
		}
	}
	s.failed = err
	return n, err
}

func (s *sourceReader) drop() {
	if f, ok := s.r.(*os.File); ok {
		dropCache(f, s.dropped, s.done-s.dropped)
	}
	s.dropped = s.done
}

// diskWriter writes a file in steps.
type diskWriter struct {
	f             *os.File
	done, flushed int64
}

// createFile creates a file.
func createFile(path string, mode os.FileMode, flag int) (*diskWriter, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK|flag, mode)
	if err != nil {
		return nil, err
	}
	return &diskWriter{f: f}, nil
}

func (w *diskWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.done += int64(n)
	if err == nil && w.done-w.flushed >= stepSize {
		err = flush(w.f, w.flushed, w.done-w.flushed)
		w.flushed = w.done
	}
	return n, err
}

// close syncs the file, unless err says that it is useless.
func (w *diskWriter) close(err error) error {
	if err == nil {
		err = w.f.Sync()
		dropCache(w.f, 0, w.done)
	}
	return errors.Join(err, w.f.Close())
}

// openPlain opens a file for reading. It neither follows a link nor blocks on a pipe.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s is a link, and links are not followed", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
