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

// The file "end" beside the segments has the position of the last acknowledged record, the mark. Without it, a newest
// segment that has lost its end could not be distinguished from one that a crash left with a torn record.
//
//	magic 8 │ format version 4 │ position 8 │ instance 32 │ note 8 │ CRC32C of these 4
//
// It is overwritten in place after every sync and before the append is acknowledged, and is never synced itself. The page
// cache survives the end of the process. After a power loss the mark may be older than the records, but never newer, as they
// were on disk before it was written. So a journal that ends before its mark has lost acknowledged records; one that
// ends after it has not. The mark has the id of the instance, so that a file copied from elsewhere is ignored.
//
// The note is a number set by the journal's owner, see SetNote.
const (
	markName    = "end"
	markMagic   = "BELFRYE\x00"
	markVersion = 2
	markSize    = 64
)

// mark is the content of the file as Open found it, and the open file.
type mark struct {
	pos      belfry.Position // as Open found it; 0 if unknown
	note     uint64          // as Open found it
	known    bool            // the file is valid
	problem  error           // why an existing file was ignored
	instance string
	file     *os.File // nil if it could not be created; the next append tries again
	failing  bool     // the last attempt to write it failed
	unusable bool     // the file that Open found was invalid and has not been replaced yet
	buf      []byte
}

// ErrBadMark means that the content of the file "end" is invalid. The next append replaces it.
var ErrBadMark = errors.New("its content cannot be used")

func markPath(dir string) string { return filepath.Join(dir, markName) }

// readMark reads the mark of a folder. An invalid file only means that the end is unknown, so it is not an error.
func readMark(dir string) (m mark) {
	m.instance, _ = ReadInstance(dir) // the caller has checked that file
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
	m.unusable = m.problem != nil
	return m
}

// openMark opens the file and rejects everything else of that name: a link could lead out of the folder, and reading a
// pipe could block.
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

// badMark is an ErrBadMark with a reason.
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

// appendInstance writes zeros for a folder without an id.
func appendInstance(dst []byte, id string) []byte {
	var b [32]byte
	copy(b[:], id)
	return append(dst, b[:]...)
}

// indexIn returns the last acknowledged index of a segment, according to the mark.
func (m *mark) indexIn(number uint64) uint32 {
	if m.pos.Epoch() != number {
		return 0
	}
	return m.pos.Index()
}

// prepareMark opens the file before the first record of a segment is written; the folder is synced afterwards. A new or
// invalid file gets its final size here, so that a full disk cannot prevent writing it later. If it fails, every append
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

// writeMark writes that the records up to pos are acknowledged. A failure does not affect the records.
func (j *Journal) writeMark(pos belfry.Position) {
	m := &j.mark
	if m.file == nil {
		j.prepareMark()
	}
	if m.file == nil {
		return
	}
	m.buf = appendMark(m.buf[:0], pos, m.instance, j.note.Load())
	if _, err := m.file.WriteAt(m.buf, 0); err != nil {
		j.markFailed(err)
		return
	}
	if m.failing || m.unusable {
		m.failing, m.unusable = false, false
		j.o.Marked(nil)
	}
}

// renewMark writes the mark again if another file has its name: the next start would believe that one. The caller holds writing.
func (j *Journal) renewMark() {
	m := &j.mark
	if m.file == nil {
		return
	}
	ours, err := m.file.Stat()
	named, _ := os.Lstat(markPath(j.dir))
	if err != nil || named != nil && os.SameFile(ours, named) {
		return
	}
	m.close()
	j.writeMark(max(m.pos, j.Last()))
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

// Acknowledged returns the last acknowledged position that Open found in the mark; 0 if unknown. Records up to it that
// are not in the journal are on the list of damage.
func (j *Journal) Acknowledged() belfry.Position { return j.mark.pos }

// MarkProblem returns why the mark was not used although it exists; nil if it was used or does not exist.
func (j *Journal) MarkProblem() error { return j.mark.problem }

// SetNote sets a number that is written with the mark of every later append, before that is acknowledged.
func (j *Journal) SetNote(n uint64) { j.note.Store(n) }

// ReadNote reads the number that was written with the last append to a folder; 0 if unknown.
func ReadNote(dir string) uint64 { return readMark(dir).note }
