package sqlite

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// The log is a header and frames, each a page after a header of its own. A checksum over all before it is in each of them:
//
//	header 32   frame header 24, page   frame header 24, page   …
//
// SQLite compares them when it opens a log, and never afterwards. The index beside the log has the number of frames and the checksum of
// the last one, see https://sqlite.org/walformat.html. It is a file that SQLite has in memory, and what is written over the log does not
// change it. What is written over the index itself does: SQLite would lose what an older one does not have. So it is noted, too.
const (
	logHeader   = 32
	frameHeader = 24
)

// logIndex is the beginning of the index. Whoever commits writes it, and no one else.
type logIndex [48]byte

func (f *files) readIndex() (x logIndex, err error) {
	_, err = f.index.ReadAt(x[:], 0)
	return x, err
}

// commits is how often something was committed.
func (x *logIndex) commits() uint32 { return binary.NativeEndian.Uint32(x[8:]) }

// frames is how many the log has.
func (x *logIndex) frames() int64 { return int64(binary.NativeEndian.Uint32(x[16:])) }

// page is the size of a page.
func (x *logIndex) page() int64 {
	if n := int64(binary.NativeEndian.Uint16(x[14:])); n != 1 {
		return n
	}
	return 1 << 16 // does not fit
}

// sum is the checksum of the last frame.
func (x *logIndex) sum() [2]uint32 {
	return [2]uint32{binary.NativeEndian.Uint32(x[24:]), binary.NativeEndian.Uint32(x[28:])}
}

// committed notes the index after a commit, which must have counted it.
func (f *files) committed() error {
	x, err := f.readIndex()
	if err == nil && x.commits() != f.noted.commits()+1 {
		f.changed = f.indexError()
		return f.changed
	}
	f.noted = x
	return err
}

func (f *files) indexError() error {
	return changedError(fmt.Sprintf("%s was changed by another program; stop the service and start it again, which makes this file from the log beside it", f.path+indexSuffix))
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
	size := x.frames() * x.page()
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
	n, page := x.frames(), x.page()
	if err != nil || n == 0 {
		return err
	}
	changed := f.changedError(f.path+logSuffix, "changed")
	r := bufio.NewReaderSize(io.NewSectionReader(f.log, 0, logHeader+n*(frameHeader+page)), 1<<18)
	frame := make([]byte, max(logHeader, frameHeader+page))
	if _, err := io.ReadFull(r, frame[:logHeader]); err != nil {
		return changed
	}
	var order binary.ByteOrder = binary.LittleEndian
	if frame[3]&1 != 0 {
		order = binary.BigEndian
	}
	sum := frameSum(order, [2]uint32{}, frame[:24])
	frame = frame[:frameHeader+page]
	for range n {
		if _, err := io.ReadFull(r, frame); err != nil {
			return changed
		}
		sum = frameSum(order, frameSum(order, sum, frame[:8]), frame[frameHeader:])
	}
	if sum != x.sum() {
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
