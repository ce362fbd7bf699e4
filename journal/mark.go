package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The file "end" beside the segments holds the position of the last record that was acknowledged, the mark. Without it
// nobody could tell a newest segment that has lost its end from one that a crash left with a torn record.
//
//	magic 8 │ format version 4 │ position 8 │ instance 32 │ CRC32C of these 4
//
// It is overwritten in place after every sync and before the append is acknowledged, and is never synced itself. The page
// cache survives the end of the process. After a power loss the mark may be older than the records, but never newer, as they
// were on disk before it was written. So a journal that ends before its mark has lost acknowledged records; one that
// ends behind it has not. The mark carries the id of the instance, so that a file copied from elsewhere is not believed.
const (
	markName    = "end"
	markMagic   = "BELFRYE\x00"
	markVersion = 1
	markSize    = 56
)

// mark is the file as Open found it, and the way to write it.
type mark struct {
	pos      uint64 // as Open found it; 0 when it is not known
	known    bool   // the file can be used
	problem  string // why a file that is there was ignored
	instance string
	file     *os.File // nil when it could not be made; the next segment tries again
	failing  bool     // it was logged that the file cannot be written
	buf      []byte
}

func markPath(dir string) string { return filepath.Join(dir, markName) }

// readMark reads the mark of a folder. A file that cannot be used only takes away the knowledge of the end, so it is no error.
func readMark(dir string) (m mark) {
	m.instance, _ = ReadInstance(dir) // whoever opens the folder has looked at that file
	text, err := readSmall(markPath(dir), markSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		m.problem = err.Error()
	default:
		m.pos, m.problem = parseMark(text, m.instance)
		m.known = m.problem == ""
	}
	return m
}

// readSmall reads at most that many bytes of a file that is no link.
func readSmall(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

func parseMark(b []byte, instance string) (pos uint64, problem string) {
	switch {
	case len(b) != markSize:
		return 0, fmt.Sprintf("it does not have %d bytes", markSize)
	case string(b[:8]) != markMagic || checksum(b[:markSize-4]) != binary.LittleEndian.Uint32(b[markSize-4:]):
		return 0, "it does not match its checksum"
	case binary.LittleEndian.Uint32(b[8:]) != markVersion:
		return 0, "it is of another version of this program"
	case string(b[20:52]) != string(appendInstance(nil, instance)):
		return 0, "it is of another instance"
	}
	return binary.LittleEndian.Uint64(b[12:]), ""
}

func appendMark(dst []byte, pos uint64, instance string) []byte {
	start := len(dst)
	dst = append(dst, markMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, markVersion)
	dst = binary.LittleEndian.AppendUint64(dst, pos)
	dst = appendInstance(dst, instance)
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[start:]))
}

// appendInstance takes zeros for a folder that has no id.
func appendInstance(dst []byte, id string) []byte {
	var b [32]byte
	copy(b[:], id)
	return append(dst, b[:]...)
}

// in is the last index of a segment that was acknowledged, as far as the mark tells.
func (m *mark) in(number uint64) uint32 {
	if m.pos>>32 != number {
		return 0
	}
	return uint32(m.pos)
}

// prepareMark opens the file before the first record of a segment is written; the folder is synced afterwards. A file that
// says nothing gets its final size here, so that a full disk cannot get in the way later.
func (j *Journal) prepareMark() {
	m := &j.mark
	if m.file != nil {
		return
	}
	f, err := os.OpenFile(markPath(j.dir), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		j.markFailed(err)
		return
	}
	if m.file = f; m.known {
		return
	}
	if err := f.Truncate(0); err != nil {
		j.markFailed(err)
		return
	}
	j.writeMark(0)
}

// writeMark notes that the records up to pos are acknowledged. A mark that cannot be written takes nothing from them.
func (j *Journal) writeMark(pos uint64) {
	m := &j.mark
	if m.file == nil {
		return
	}
	m.buf = appendMark(m.buf[:0], pos, m.instance)
	if _, err := m.file.WriteAt(m.buf, 0); err != nil {
		j.markFailed(err)
		return
	}
	m.failing = false
}

func (j *Journal) markFailed(err error) {
	if !j.mark.failing {
		j.o.Log.Warn("the end of the journal cannot be noted; a loss of its last records would not be noticed", "file", markPath(j.dir), "err", err)
	}
	j.mark.failing = true
}

func (m *mark) close() error {
	if m.file == nil {
		return nil
	}
	defer func() { m.file = nil }()
	return m.file.Close()
}

// Acknowledged is the last position that was acknowledged, as Open found it noted; 0 when that is not known. Records up to
// there that are not in the journal are on the list of damage.
func (j *Journal) Acknowledged() uint64 { return j.mark.pos }

// MarkProblem says why the note of the end was not used although it is there; empty when it was used, or is not there.
func (j *Journal) MarkProblem() string { return j.mark.problem }
