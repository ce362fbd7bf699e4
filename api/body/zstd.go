package body

import (
	"bufio"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"belfry"
	"belfry/intake"
)

// Memory of a zstd decoder: the window that the frame asks for, and blocks.
const (
	minWindow  = 256 << 10
	maxWindow  = 8 << 20
	zstdBlocks = 256 << 10
)

// openZstd decompresses zstd. The largest window that a frame asks for is counted as memory of the request.
func openZstd(in io.Reader, memory *intake.HeldBody) (*zstd.Decoder, error) {
	f := &zstdFrames{in: bufio.NewReader(in), memory: memory}
	if err := memory.Grow(minWindow + zstdBlocks); err != nil {
		return nil, err
	}
	f.window = minWindow
	if err := f.frame(); err != nil {
		return nil, err
	}
	return zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderMaxWindow(maxWindow))
}

// zstdFrames passes frames on to a decoder, and counts the window of each before the decoder sees its header. Frames may follow
// each other, as when files are joined:
//
//	frame:  header | block … block | checksum
//	block:  3 bytes with its length, its kind, and whether it is the last | content
//
// Skippable frames are left out: the decoder would report any error of the reader inside them as an unexpected end. Anything that
// is not a frame is passed on as it is, for the decoder to refuse.
type zstdFrames struct {
	in       *bufio.Reader
	memory   *intake.HeldBody // nil: not counted
	window   uint64           // the largest that is counted
	left     int64            // bytes up to the next header of a frame or block
	blocks   bool             // the next header is that of a block
	checksum bool             // behind the last block
}

func (f *zstdFrames) Read(p []byte) (int, error) {
	for f.left == 0 {
		next := f.frame
		if f.blocks {
			next = f.block
		}
		if err := next(); err != nil {
			return 0, err
		}
	}
	n, err := f.in.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	return n, err
}

// frame reads the header of a frame.
func (f *zstdFrames) frame() error {
	const longest = 4 + 14 // magic number and header; zstd.HeaderMaxSize is one byte short of it
	text, err := f.in.Peek(longest)
	if err != nil && err != io.EOF {
		return err
	}
	var h zstd.Header
	if h.Decode(text) != nil {
		f.left = math.MaxInt64
		return nil
	}
	if h.Skippable {
		_, err := f.in.Discard(h.HeaderSize + int(h.SkippableSize))
		if err == io.EOF {
			err = errors.New("unexpected EOF") // before a frame, the decoder takes io.ErrUnexpectedEOF as the end
		}
		return err
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	if window > maxWindow {
		return belfry.Errorf(belfry.BadCSV, "the body is zstd with a window of %d bytes; %d are taken, pack it with a lower level or without --long", window, maxWindow)
	}
	if window > f.window {
		if f.memory != nil {
			if err := f.memory.Grow(int64(window - f.window)); err != nil {
				return err
			}
		}
		f.window = window
	}
	f.left, f.blocks, f.checksum = int64(h.HeaderSize), true, h.HasCheckSum
	return nil
}

// block reads the header of a block.
func (f *zstdFrames) block() error {
	text, err := f.in.Peek(3)
	if err != nil && err != io.EOF {
		return err
	}
	if len(text) < 3 {
		f.left = math.MaxInt64
		return nil
	}
	const repeated = 1 // a kind of block: one byte, and how often
	header := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16
	content := int64(header >> 3)
	if header>>1&3 == repeated {
		content = 1
	}
	f.left = 3 + content
	if last := header&1 != 0; last {
		f.blocks = false
		if f.checksum {
			f.left += 4
		}
	}
	return nil
}
