package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"belfry"

	"golang.org/x/sys/unix"
)

// A segment begins with two copies of its header, because without the fence failed records would be replayed:
//
//	magic 8 │ format version 4 │ segment number 8 │ fence 8 │ CRC32C of the id of the instance 4 │ CRC32C of these 4 │ branch 16 │ CRC32C of all 4
//
// The branch is the start of the service that wrote the segment, see belfry.Branches. What is before it is the same in all versions from
// 2 on, so that an old program recognises a newer file. A record is
//
//	marker 4 │ length 4 │ position 8 │ CRC32C of the payload 4 │ CRC32C of the id of the instance and these 20 bytes 4 │ payload
//
// So a record of another instance is not taken for one of this, wherever it is.
//
// Everything is little-endian.
const (
	formatVersion    = 4
	commonHeaderSize = 36
	branchSize       = 16
	headerCopySize   = commonHeaderSize + branchSize + 4
	headerSize       = 2 * headerCopySize
	recordHeaderSize = 24
	suffix           = ".journal"
	tempSuffix       = ".journal.tmp"
	maxSegment       = math.MaxUint32 // the upper half of a position
)

const magic = "BELFRYJ\x00"

// marker begins every record. Its bytes never occur in UTF-8, so no text in a payload looks like the start of a record
// during a resync.
const marker = "\xff\xfe\xf5\xc0"

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // the library caches the table

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli()) }

func segmentName(number uint64) string { return fmt.Sprintf("%016x%s", number, suffix) }

// parseName returns the number of a segment from its file name; ok is false for other files.
func parseName(name string) (number uint64, ok bool) {
	digits, found := strings.CutSuffix(name, suffix)
	if !found || len(digits) != 16 {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 16, 64)
	return number, err == nil && number > 0 && number <= maxSegment && segmentName(number) == name
}

func appendHeader(dst []byte, number uint64, fence belfry.Position, instance, branch string) []byte {
	for range headerSize / headerCopySize {
		start := len(dst)
		dst = append(dst, magic...)
		dst = binary.LittleEndian.AppendUint32(dst, formatVersion)
		dst = binary.LittleEndian.AppendUint64(dst, number)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(fence))
		dst = binary.LittleEndian.AppendUint32(dst, checksum([]byte(instance)))
		dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[start:]))
		dst = append(dst, make([]byte, branchSize)...)
		copy(dst[len(dst)-branchSize:], branch)
		dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[start:]))
	}
	return dst
}

// header is the header of a segment.
type header struct {
	fence    belfry.Position
	instance uint32 // checksum of its id; of the own one if no copy is valid
	branch   string
	ok       bool // at least one copy is valid
	intact   bool // both are valid
}

// parseHeader reads the header of the segment with that number. An unknown format is an error, and so is another instance, whose
// records must not be replayed here, unless the own one is unknown; damage is not.
func parseHeader(data []byte, number uint64, instance string) (h header, err error) {
	h.instance = checksum([]byte(instance))
	copies := 0
	for ; len(data) >= headerCopySize; data = data[headerCopySize:] {
		c := data[:headerCopySize]
		first := checksum(c[:28]) == binary.LittleEndian.Uint32(c[28:]) // format 1 had no instance
		if string(c[:8]) != magic || !first && checksum(c[:32]) != binary.LittleEndian.Uint32(c[32:]) {
			continue
		}
		if v := binary.LittleEndian.Uint32(c[8:]); v != formatVersion {
			return header{}, fmt.Errorf("format %d, this program knows format %d; use the version of the program that wrote it, or a newer one", v, formatVersion)
		}
		of := binary.LittleEndian.Uint32(c[28:])
		if instance != "" && of != h.instance {
			return header{}, fmt.Errorf("records of another instance; %w", ErrForeign)
		}
		fence := belfry.Position(binary.LittleEndian.Uint64(c[20:]))
		rest := headerCopySize - 4
		if binary.LittleEndian.Uint64(c[12:]) != number || fence.Epoch() >= number || checksum(c[:rest]) != binary.LittleEndian.Uint32(c[rest:]) {
			continue // a renamed file, or damaged
		}
		h.fence, h.instance, h.ok = fence, of, true
		h.branch = string(bytes.TrimRight(c[commonHeaderSize:rest], "\x00"))
		copies++
	}
	h.intact = copies == headerSize/headerCopySize
	return h, nil
}

// appendRecordHeader appends the header of a record; instance is the checksum of the instance's id.
func appendRecordHeader(dst []byte, instance uint32, pos belfry.Position, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, marker...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(pos))
	dst = binary.LittleEndian.AppendUint32(dst, checksum(payload))
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(instance, castagnoli(), dst[start:]))
}

type recordHeader struct {
	length int64
	pos    belfry.Position
	crc    uint32 // of the payload
}

func parseRecordHeader(b []byte, instance uint32) (h recordHeader, ok bool) {
	if !bytes.HasPrefix(b, []byte(marker)) || crc32.Update(instance, castagnoli(), b[:20]) != binary.LittleEndian.Uint32(b[20:]) {
		return h, false
	}
	h.length = int64(binary.LittleEndian.Uint32(b[4:]))
	h.pos = belfry.Position(binary.LittleEndian.Uint64(b[8:]))
	h.crc = binary.LittleEndian.Uint32(b[16:])
	return h, h.length <= MaxRecord && uint32(h.pos) > 0 && uint32(h.pos) < math.MaxUint32
}

// begin creates the next segment and makes it the active one. After a failure no file is left.
func (j *Journal) begin(size int64) error {
	if j.next > maxSegment {
		return errors.New("all segment numbers are used")
	}
	if err := j.checkDir(); err != nil {
		return err
	}
	s := &segment{number: j.next, branch: j.o.Branches.Current(), instance: checksum([]byte(j.mark.instance)), last: belfry.PositionOf(j.next, 0), end: headerSize, size: size}
	s.path = filepath.Join(j.dir, segmentName(s.number))
	j.prepareMark()
	f, err := j.create(s)
	if err != nil {
		return err
	}
	id, size, err := idAndSizeOfFile(f)
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(s.path))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.file, j.fileID, j.fileSize, j.active = f, id, size, s
	j.segments = append(j.segments, s)
	return nil
}

// create creates the file of a segment. It is renamed to its final name when its header is durable, so a segment without
// a header is damage and never the result of a crash.
func (j *Journal) create(s *segment) (*os.File, error) {
	temp := strings.TrimSuffix(s.path, suffix) + tempSuffix
	mode, spare := os.O_RDWR|os.O_CREATE|os.O_TRUNC, j.useSpare(temp, s.size)
	if spare {
		mode = os.O_RDWR
	}
	f, err := os.OpenFile(temp, mode|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(j.prepare(f, s, spare), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	j.next++ // from here on a file of that name may exist, even after a failure
	if err := os.Rename(temp, s.path); err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	f, err = os.OpenFile(s.path, os.O_RDWR|unix.O_NOFOLLOW, 0) // opened again so that errors show its name
	if err == nil {
		err = j.o.SyncDir(j.dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(s.path))
	}
	return f, nil
}

// prepare allocates the file, unless it is a spare, and writes its header.
func (j *Journal) prepare(f *os.File, s *segment, spare bool) (err error) {
	if !spare {
		err = j.o.Allocate(f, s.size)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		s.size, s.grows = headerSize, true
	case err != nil:
		return err
	}
	if _, err := j.o.Write(f, [][]byte{appendHeader(nil, s.number, j.last, j.mark.instance, s.branch)}, 0); err != nil {
		return err
	}
	return j.o.Sync(f)
}
