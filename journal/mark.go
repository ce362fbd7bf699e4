package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"belfry"

	"golang.org/x/sys/unix"
)

// The file "end" beside the segments holds the position of the last record that was acknowledged, the mark. Without it
// nobody could tell a newest segment that has lost its end from one that a crash left with a torn record.
//
//	magic 8 │ format version 4 │ position 8 │ instance 32 │ note 8 │ CRC32C of these 4
//
// It is overwritten in place after every sync and before the append is acknowledged, and is never synced itself. The page
// cache survives the end of the process. After a power loss the mark may be older than the records, but never newer, as they
// were on disk before it was written. So a journal that ends before its mark has lost acknowledged records; one that
// ends behind it has not. The mark carries the id of the instance, so that a file copied from elsewhere is not believed.
//
// The note is a number of the journal's owner, see SetNote.
const (
	markName    = "end"
	markMagic   = "BELFRYE\x00"
	markVersion = 2
	markSize    = 64
)

// mark is the file as Open found it, and the way to write it.
type mark struct {
	pos      belfry.Position // as Open found it; 0 when it is not known
	note     uint64          // as Open found it
	known    bool            // the file can be used
	problem  error           // why a file that is there was ignored
	instance string
	file     *os.File // nil when it could not be made; the next append tries again
	failing  bool     // the last attempt to write it failed
	bad      bool     // what Open found could not be used, and has not been replaced yet
	buf      []byte
}

// ErrBadMark says that the note of the end is a file whose content cannot be used. The next append replaces it.
var ErrBadMark = errors.New("its content cannot be used")

func markPath(dir string) string { return filepath.Join(dir, markName) }

// readMark reads the mark of a folder. A file that cannot be used only takes away the knowledge of the end, so it is no error.
func readMark(dir string) (m mark) {
	m.instance, _ = ReadInstance(dir) // whoever opens the folder has looked at that file
	f, err := openMark(markPath(dir), os.O_RDONLY)
	if err == nil {
		defer f.Close()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(f, markSize+1)); err == nil {
			m.pos, m.note, err = parseMark(text, m.instance)
		}
	}
	m.known = err == nil
	if !errors.Is(err, fs.ErrNotExist) {
		m.problem = err
	}
	m.bad = m.problem != nil
	return m
}

// openMark opens the file and refuses everything else that may be in its place: a link could lead out of the folder, and
// reading a pipe could block.
func openMark(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	info, statErr := os.Lstat(path)
	if statErr == nil && !info.Mode().IsRegular() {
		if err == nil {
			f.Close()
		}
		return nil, fmt.Errorf("it is %s, not a file", kindOf(info.Mode()))
	}
	return f, err
}

func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "a folder"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a pipe"
	}
	return "a socket or a device"
}

func parseMark(b []byte, instance string) (pos belfry.Position, note uint64, err error) {
	problem := ""
	switch {
	case len(b) != markSize:
		problem = fmt.Sprintf("it does not have %d bytes", markSize)
	case string(b[:8]) != markMagic || checksum(b[:markSize-4]) != binary.LittleEndian.Uint32(b[markSize-4:]):
		problem = "it does not match its checksum"
	case binary.LittleEndian.Uint32(b[8:]) != markVersion:
		problem = fmt.Sprintf("it has format %d, this program knows format %d", binary.LittleEndian.Uint32(b[8:]), markVersion)
	case string(b[20:52]) != string(appendInstance(nil, instance)):
		problem = "it is of another instance"
	}
	if problem != "" {
		return 0, 0, badMark(problem)
	}
	return belfry.Position(binary.LittleEndian.Uint64(b[12:])), binary.LittleEndian.Uint64(b[52:]), nil
}

// badMark is an ErrBadMark that says what is wrong.
type badMark string

func (b badMark) Error() string { return string(b) }

func (b badMark) Is(target error) bool { return target == ErrBadMark }

func appendMark(dst []byte, pos belfry.Position, instance string, note uint64) []byte {
	start := len(dst)
	dst = append(dst, markMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, markVersion)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(pos))
	dst = appendInstance(dst, instance)
	dst = binary.LittleEndian.AppendUint64(dst, note)
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
	if m.pos.Epoch() != number {
		return 0
	}
	return m.pos.Index()
}

// prepareMark opens the file before the first record of a segment is written; the folder is synced afterwards. A file that
// says nothing gets its final size here, so that a full disk cannot get in the way later. If it fails, every append
// tries again.
func (j *Journal) prepareMark() {
	m := &j.mark
	if m.file != nil {
		return
	}
	f, err := openMark(markPath(j.dir), os.O_RDWR|os.O_CREATE)
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
func (j *Journal) writeMark(pos belfry.Position) {
	m := &j.mark
	if m.file == nil {
		j.prepareMark()
	}
	if m.file == nil {
		return
	}
	m.buf = appendMark(m.buf[:0], pos, m.instance, j.owners.Load())
	if _, err := m.file.WriteAt(m.buf, 0); err != nil {
		j.markFailed(err)
		return
	}
	if m.failing || m.bad {
		m.failing, m.bad = false, false
		j.o.Marked(nil)
	}
}

func (j *Journal) markFailed(err error) {
	if !j.mark.failing {
		j.o.Marked(err)
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
func (j *Journal) Acknowledged() belfry.Position { return j.mark.pos }

// MarkProblem says why the note of the end was not used although it is there; nil when it was used, or is not there.
func (j *Journal) MarkProblem() error { return j.mark.problem }

// SetNote gives a number that is noted together with the end of every later append, before that is acknowledged.
func (j *Journal) SetNote(n uint64) { j.owners.Store(n) }

// ReadNote reads the number that was noted with the last append to a folder; 0 when it is not known.
func ReadNote(dir string) uint64 { return readMark(dir).note }
