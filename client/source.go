package client

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Source is a file or a stream of rows.
type Source struct {
	Name string
	Size int64 // of the file on disk; 0: unknown
	// Resumable is set if a later run can recognize the same rows: the source is a file with a known digest.
	Resumable bool

	text     io.Reader // decompressed
	raw      *counter
	packed   bool
	identity string // digest of the content, or unique to this run
	file     *os.File
}

// Open opens a file of rows. It reads a regular file once for its digest, and treats anything else, such as a pipe, as a stream.
// With fresh, earlier runs of the same file are ignored.
func Open(name string, fresh bool) (*Source, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s, err := openFile(f, name, fresh)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.file = f
	return s, nil
}

func openFile(f *os.File, name string, fresh bool) (*Source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("this is a folder; name a file")
	}
	s, err := Stream(name, f)
	if err != nil || !info.Mode().IsRegular() {
		return s, err
	}
	if !fresh {
		sum := sha256.New()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		if _, err := io.Copy(sum, f); err != nil {
			return nil, err
		}
		s.identity, s.Resumable = hex.EncodeToString(sum.Sum(nil)), true
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	s.Size = info.Size()
	return s, s.unpack(f)
}

// Stream returns a source that reads r once.
func Stream(name string, r io.Reader) (*Source, error) {
	s := &Source{Name: name, identity: rand.Text()}
	return s, s.unpack(r)
}

// unpack detects compression from the first bytes, with which no CSV file begins.
func (s *Source) unpack(r io.Reader) error {
	s.raw = &counter{r: r}
	in := bufio.NewReaderSize(s.raw, 64<<10)
	start, _ := in.Peek(4)
	s.text, s.packed = in, true
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("unpack gzip: %w", err)
		}
		s.text = z
	case bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return fmt.Errorf("unpack zstd: %w", err)
		}
		s.text = z.IOReadCloser()
	default:
		s.packed = false
	}
	return nil
}

// Close closes the file.
func (s *Source) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
