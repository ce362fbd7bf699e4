package body

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"belfry"
)

// FuzzZstdFrames: a decoder reads the same through zstdFrames as without it, and never uses a larger window than was counted.
func FuzzZstdFrames(f *testing.F) {
	pack := func(text string, options ...zstd.EOption) string {
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out, append(options, zstd.WithEncoderConcurrency(1))...)
		if err != nil {
			f.Fatal(err)
		}
		io.WriteString(z, text)
		z.Close()
		return out.String()
	}
	small, long := pack("type,object\n"), pack(strings.Repeat("x", 300_000), zstd.WithWindowSize(512<<10))
	noSum := pack(strings.Repeat("log,o\n", 10_000), zstd.WithEncoderCRC(false))
	longest := "(\xb5/\xfd\xc3\x60\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00x" // header, with a dictionary of number 0
	skipped := "\x50\x2a\x4d\x18\x05\x00\x00\x00hello"
	for _, s := range []string{
		"", "x", small, small + long, long + small, noSum + small + noSum, skipped + small + skipped + long, small + "x", long[:len(long)-3],
		small + pack("y", zstd.WithWindowSize(16<<20)) + long, small + noSum[:7], longest, longest + small,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		frames := &zstdFrames{in: bufio.NewReader(bytes.NewReader(body))}
		got, err := unzstd(t, frames, maxWindow)
		if e, ok := errors.AsType[*belfry.Error](err); ok {
			if e.Code != belfry.BadCSV {
				t.Error(e)
			}
			return
		}
		want, errWant := unzstd(t, bytes.NewReader(body), max(frames.window, zstd.MinWindowSize))
		if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(errWant) {
			t.Errorf("%d bytes and %v through zstdFrames, %d bytes and %v without; a window of %d was counted", len(got), err, len(want), errWant, frames.window)
		}
	})
}

func unzstd(t *testing.T, in io.Reader, window uint64) ([]byte, error) {
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return io.ReadAll(io.LimitReader(z, 1<<20))
}

// TestZstdSkippable: a frame that is skipped keeps neither the error of a reader from being told, nor a body that ends inside it
// from being called cut off.
func TestZstdSkippable(t *testing.T) {
	f := func(body string, then error, want string) {
		t.Helper()
		in := io.MultiReader(strings.NewReader(body), iotest.ErrReader(then))
		d, err := zstd.NewReader(&zstdFrames{in: bufio.NewReader(in)}, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if _, err := io.ReadAll(d); fmt.Sprint(err) != want {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
	}
	const noError = "<nil>"
	whole := "\x50\x2a\x4d\x18\x64\x00\x00\x00" + strings.Repeat("x", 100)
	lost := errors.New("the place was lost")
	f(whole, io.EOF, noError)
	f(whole+whole, io.EOF, noError)
	f(whole[:50], lost, lost.Error())
	f(whole, lost, lost.Error())
	f(whole[:50], io.EOF, "unexpected EOF")
	f(whole[:6], io.EOF, "unexpected EOF")
}
