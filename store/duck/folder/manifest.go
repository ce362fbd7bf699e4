package folder

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
)

// Manifest lists the files that must exist, and a position that each has reached at least. Without it a deleted file
// would look like a day without rows, and a lost log like a day with fewer. It is a file of lines, of which the last
// one about a day file counts:
//
//	manifest 4 77a0c1de                                 minimum number of lines that follow, checksum
//	objectdata/2026-11-15.duckdb 4294967811 5f1c09aa    position, checksum
//	objectdata/2026-11-15.duckdb gone 0b7d21c4          no longer expected
//	objectdata/kept 3 1e9c44b0                          this list exists, in version 3 or later
//	moved 4294967815 9c51e07b                           all records up to this position have been stored
//	branch a3b1c09d5e6f7788 5e0b2f61                    the start of the service that wrote it; see belfry.Branches
//
// A crash can neither raise a false alarm nor hide a loss: a file is created, then listed, and gets its first row after
// that; a position is written after the commit that reached it, and moved before any other part of the program records
// it; a file that is removed leaves a trace in the folder (a watermark, or the marker of an incomplete day) before
// that. Positions are not synced, so after a power loss they may be some seconds old.
//
// Everything in it is also in memory. So a manifest that is deleted or changed while the store is open is written
// again. If it cannot be written, each Watch tries again; if it cannot be read, it is not touched.
type Manifest struct {
	Path         string
	out          *os.File
	size         int64
	info         os.FileInfo       // the file after the last write; nil before that
	Pos          map[string]uint64 // by file, as collection/name
	Moved        belfry.Position   // 0: unknown
	Branch       string            // empty: unknown
	needsRewrite bool              // it must be written again
	replaced     bool              // it was deleted or replaced, and this has not been reported yet
	Fault        error             // it cannot be read

	exists   bool // the file was found
	lines    int
	minLines int // lines that it must have
	badLines int // lines that could not be read
}

const (
	ManifestFile     = "manifest"
	maxManifestBytes = 1 << 20 // size above which it is compacted
	manifestGone     = "gone"
	manifestHead     = "manifest"
	// These cannot be the names of files, which have a slash.
	manifestMoved  = "moved"
	manifestBranch = "branch"
)

// ManifestKey returns the name of a file in the manifest.
func ManifestKey(c *catalog.Collection, p belfry.Span) string { return c.Name + "/" + FileName(c, p) }

// ReadManifest reads the manifest in dir; an absent one is empty.
func ReadManifest(dir string) *Manifest {
	m := &Manifest{Path: filepath.Join(dir, ManifestFile), Pos: map[string]uint64{}}
	text, err := os.ReadFile(m.Path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.Fault = fmt.Errorf("read the list of files of rows: %w", err)
		return m
	}
	m.exists = err == nil
	for line := range bytes.Lines(text) {
		if line[len(line)-1] == '\n' { // a crash may cut off the last line; nothing depends on it then
			m.read(string(line[:len(line)-1]))
		}
	}
	return m
}

func (m *Manifest) read(line string) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || line[at+1:] != LineSum(line[:at]) {
		m.badLines++
		return
	}
	m.lines++
	key, value, _ := strings.Cut(line[:at], " ")
	if value == manifestGone {
		delete(m.Pos, key)
		return
	}
	if key == manifestBranch {
		m.Branch = value
		return
	}
	pos, err := strconv.ParseUint(value, 10, 64)
	switch {
	case err != nil:
		m.badLines++
	case key == manifestHead:
		m.minLines = int(pos) + 1 // including this one
	case key == manifestMoved:
		m.Moved = belfry.Position(pos)
	default:
		m.Pos[key] = pos
	}
}

// Reached returns the highest position of a file.
func (m *Manifest) Reached() (pos belfry.Position) {
	for key, reached := range m.Pos {
		if !IsKeptKey(key) {
			pos = max(pos, belfry.Position(reached))
		}
	}
	return pos
}

// Damage returns what is wrong with the manifest that was read, given that there are day files; "" if nothing is.
func (m *Manifest) Damage() string {
	switch {
	case m.Fault != nil:
		return ""
	case !m.exists:
		return "was missing"
	case m.badLines > 0:
		return fmt.Sprintf("had %d damaged lines", m.badLines)
	case m.lines == 0 || m.lines < m.minLines:
		return fmt.Sprintf("had %d lines instead of %d or more", m.lines, max(m.minLines, 1))
	}
	return ""
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func LineSum(text string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), castagnoli))
}

func manifestLine(key, value string) string {
	text := key + " " + value
	return text + " " + LineSum(text) + "\n"
}

// Rewrite replaces the file by one with a line for each day file.
func (m *Manifest) Rewrite() error {
	if m.Fault != nil {
		return m.Fault
	}
	m.Close()
	m.needsRewrite = true
	if err := journal.WriteFile(m.Path, []byte(m.Text())); err != nil {
		return err
	}
	return m.open()
}

// Text returns the content of a file with a line for each day file.
func (m *Manifest) Text() string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m.Pos)) {
		lines = append(lines, manifestLine(key, strconv.FormatUint(m.Pos[key], 10)))
	}
	if m.Moved > 0 {
		lines = append(lines, manifestLine(manifestMoved, strconv.FormatUint(uint64(m.Moved), 10)))
	}
	if m.Branch != "" {
		lines = append(lines, manifestLine(manifestBranch, m.Branch))
	}
	return manifestLine(manifestHead, strconv.Itoa(len(lines))) + strings.Join(lines, "")
}

// open opens the file that has just been written. It stays open, so that a file put in its place always has another
// inode: the number of a deleted file that no one has open is reused.
func (m *Manifest) open() (err error) {
	if m.out, err = os.OpenFile(m.Path, os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0); err != nil {
		return err
	}
	if m.info, err = m.out.Stat(); err != nil {
		return err
	}
	m.needsRewrite, m.size = false, m.info.Size()
	return nil
}

// intact reports whether the file is still the one that we wrote, and has only what we wrote.
func (m *Manifest) intact() bool {
	info, err := os.Stat(m.Path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return os.SameFile(info, m.info) && info.Size() == m.size && info.ModTime().Equal(m.info.ModTime())
}

// Add lists a new file, durably.
func (m *Manifest) Add(key string) error {
	m.Pos[key] = 0
	return m.append(manifestLine(key, "0"), true)
}

// Remove records durably that a file is no longer expected.
func (m *Manifest) Remove(key string) error {
	if _, ok := m.Pos[key]; !ok {
		return nil
	}
	delete(m.Pos, key)
	return m.append(manifestLine(key, manifestGone), true)
}

// Note writes the positions that files have reached, and the position up to which all records have been stored; 0:
// unchanged.
func (m *Manifest) Note(reached map[string]uint64, moved belfry.Position) error {
	var b strings.Builder
	for key, pos := range reached {
		m.Pos[key] = pos
		b.WriteString(manifestLine(key, strconv.FormatUint(pos, 10)))
	}
	if moved > m.Moved {
		m.Moved = moved
		b.WriteString(manifestLine(manifestMoved, strconv.FormatUint(uint64(moved), 10)))
	}
	if b.Len() == 0 {
		return nil
	}
	return m.append(b.String(), false)
}

// Sync makes what Note wrote durable.
func (m *Manifest) Sync() error {
	if m.needsRewrite {
		return m.Rewrite()
	}
	if m.Fault != nil {
		return m.Fault
	}
	return m.out.Sync()
}

// NoteKept records that the list of kept periods of a collection must exist in this version or a later one. A manifest
// that cannot be read is updated once it can be.
func (m *Manifest) NoteKept(c *catalog.Collection, version uint64) error {
	key := KeptKey(c)
	if m.Pos[key] >= version {
		return nil
	}
	m.Pos[key] = version
	if m.Fault != nil {
		return nil
	}
	return m.append(manifestLine(key, strconv.FormatUint(version, 10)), true)
}

// Restore writes the file again if it was deleted or changed, and reports whether it was since the last call.
func (m *Manifest) Restore() (replaced bool, err error) {
	if m.needsRewrite || !m.intact() {
		m.replaced = m.replaced || !m.needsRewrite
		if err := m.Rewrite(); err != nil {
			return false, err
		}
	}
	replaced, m.replaced = m.replaced, false
	return replaced, nil
}

func (m *Manifest) append(lines string, durable bool) error {
	if m.Fault != nil {
		return m.Fault
	}
	if m.needsRewrite || m.size > maxManifestBytes {
		return m.Rewrite() // includes these lines
	}
	if !m.intact() {
		err := m.Rewrite()
		m.replaced = m.replaced || err == nil // otherwise the whole folder may be gone
		return err
	}
	n, err := m.out.WriteString(lines)
	m.size += int64(n)
	if err != nil { // part of a line may have been written
		return errors.Join(err, m.Rewrite())
	}
	if m.info, err = m.out.Stat(); err == nil && durable {
		err = m.out.Sync()
	}
	return err
}

// Close closes the file.
func (m *Manifest) Close() {
	if m.out != nil {
		m.out.Close() // durable lines have been synced
		m.out = nil
	}
}
