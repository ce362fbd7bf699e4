package sqlite

import (
	"bufio"
	"encoding/binary"
	"io"
)

// The log is a header and frames, each a page after a header of its own. A checksum over all before it is in each of them:
//
//	header 32   frame header 24, page   frame header 24, page   …
//
// SQLite compares them when it opens a log, and never afterwards. The index beside the log has the number of frames and the checksum of
// the last one, see https://sqlite.org/walformat.html. The process keeps it in memory, so what is written over the log does not change it.
const (
	logHeader   = 32
	frameHeader = 24
)

// logIndex is what the index says about the log.
type logIndex struct {
	frames, page int64 // how many, and the size of each page
	sum          [2]uint32
}

func (f *files) readIndex() (x logIndex, err error) {
	var b [48]byte
	if _, err := f.index.ReadAt(b[:], 0); err != nil {
		return x, err
	}
	x.page, x.frames = int64(binary.NativeEndian.Uint16(b[14:])), int64(binary.NativeEndian.Uint32(b[16:]))
	if x.page == 1 { // does not fit
		x.page = 1 << 16
	}
	x.sum = [2]uint32{binary.NativeEndian.Uint32(b[24:]), binary.NativeEndian.Uint32(b[28:])}
	return x, nil
}

// grown reports whether so much was added to the log since the last time that it should be moved into the file. While a reader prevents
// that, it is tried more and more rarely, as each time the whole log is read.
func (f *files) grown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.readIndex()
	if err != nil {
		return true
	}
	size := x.frames * x.page
	if size < f.tried { // it has begun again
		f.tried = 0
	}
	if size < f.tried+f.tried/2+moveAt {
		return false
	}
	f.tried = size
	return true
}

// frames checks that the log is what SQLite has written. Nothing may be written meanwhile.
func (f *files) frames() error {
	x, err := f.readIndex()
	if err != nil || x.frames == 0 {
		return err
	}
	changed := f.changedError(f.path+logSuffix, "changed")
	r := bufio.NewReaderSize(io.NewSectionReader(f.log, 0, logHeader+x.frames*(frameHeader+x.page)), 1<<18)
	frame := make([]byte, max(logHeader, frameHeader+x.page))
	if _, err := io.ReadFull(r, frame[:logHeader]); err != nil {
		return changed
	}
	var order binary.ByteOrder = binary.LittleEndian
	if frame[3]&1 != 0 {
		order = binary.BigEndian
	}
	sum := frameSum(order, [2]uint32{}, frame[:24])
	frame = frame[:frameHeader+x.page]
	for range x.frames {
		if _, err := io.ReadFull(r, frame); err != nil {
			return changed
		}
		sum = frameSum(order, frameSum(order, sum, frame[:8]), frame[frameHeader:])
	}
	if sum != x.sum {
		return changed
	}
	return nil
}

// frameSum continues a checksum.
func frameSum(order binary.ByteOrder, sum [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		sum[0] += order.Uint32(b) + sum[1]
		sum[1] += order.Uint32(b[4:]) + sum[0]
	}
	return sum
}
