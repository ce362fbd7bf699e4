package duck

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
)

// manifest lists the files that must exist, and a position that each has reached at least. Without it a deleted file
// would look like a day without rows, and a lost log like a day with fewer. It is a file of lines, of which the last
// one about a day file counts:
//
//	manifest 4 77a0c1de                                 minimum number of lines that follow, checksum
//	objectdata/2026-11-15.duckdb 4294967811 5f1c09aa    position, checksum
//	objectdata/2026-11-15.duckdb gone 0b7d21c4          no longer expected
//	objectdata/kept 3 1e9c44b0                          this list exists, in version 3 or later
//	moved 4294967815 9c51e07b                           all records up to this position have been stored
//
// A crash can neither raise a false alarm nor hide a loss: a file is created, then listed, and gets its first row after
// that; a position is written after the commit that reached it, and moved before any other part of the program records
// it; a file that is removed leaves a trace in the folder (a watermark, or the marker of an incomplete day) before
// that. Positions are not synced, so after a power loss they may be some seconds old.
//
// Everything in it is also in memory. So a manifest that is deleted or changed while the store is open is written
// again. If it cannot be written, each Watch tries again; if it cannot be read, it is not touched.
type manifest struct {
	path         string
	out          *os.File
	size         int64
	info         os.FileInfo       // the file as we wrote it; nil before that
	pos          map[string]uint64 // by file, as collection/name
	moved        belfry.Position   // 0: unknown
	needsRewrite bool              // it must be written again
	replaced     bool              // it was deleted or replaced, and this has not been reported yet
	fault        error             // it cannot be read

	exists   bool // the file was found
	lines    int
	minLines int // lines that it must have
	badLines int // lines that could not be read
}

const (
	manifestFile     = "manifest"
	maxManifestBytes = 1 << 20 // size above which it is compacted
	manifestGone     = "gone"
	manifestHead     = "manifest"
	// manifestMoved cannot be the name of a file: those have a slash.
	manifestMoved = "moved"
)

// manifestKey returns the name of a file in the manifest.
func manifestKey(c *catalog.Collection, p belfry.Span) string { return c.Name + "/" + fileName(c, p) }

// readManifest reads the manifest in dir; an absent one is empty.
func readManifest(dir string) *manifest {
	m := &manifest{path: filepath.Join(dir, manifestFile), pos: map[string]uint64{}}
	text, err := os.ReadFile(m.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.fault = fmt.Errorf("read the list of files of rows: %w", err)
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

func (m *manifest) read(line string) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || line[at+1:] != lineSum(line[:at]) {
		m.badLines++
		return
	}
	m.lines++
	key, value, _ := strings.Cut(line[:at], " ")
	if value == manifestGone {
		delete(m.pos, key)
		return
	}
	pos, err := strconv.ParseUint(value, 10, 64)
	switch {
	case err != nil:
		m.badLines++
	case key == manifestHead:
		m.minLines = int(pos) + 1 // including this one
	case key == manifestMoved:
		m.moved = belfry.Position(pos)
	default:
		m.pos[key] = pos
	}
}

// damage returns what is wrong with the manifest that was read, given that there are day files; "" if nothing is.
func (m *manifest) damage() string {
	switch {
	case m.fault != nil:
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

func lineSum(text string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), castagnoli))
}

func manifestLine(key, value string) string {
	text := key + " " + value
	return text + " " + lineSum(text) + "\n"
}

// rewrite replaces the file by one with a line for each day file.
func (m *manifest) rewrite() error {
	if m.fault != nil {
		return m.fault
	}
	m.close()
	m.needsRewrite = true
	if err := writeSynced(m.path, []byte(m.text())); err != nil {
		return err
	}
	return m.open()
}

// text returns the content of the file.
func (m *manifest) text() string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m.pos)) {
		lines = append(lines, manifestLine(key, strconv.FormatUint(m.pos[key], 10)))
	}
	if m.moved > 0 {
		lines = append(lines, manifestLine(manifestMoved, strconv.FormatUint(uint64(m.moved), 10)))
	}
	return manifestLine(manifestHead, strconv.Itoa(len(lines))) + strings.Join(lines, "")
}

// open opens the file that has just been written. It stays open, so that a file put in its place always has another
// inode: the number of a deleted file that no one has open is reused.
func (m *manifest) open() (err error) {
	if m.out, err = os.OpenFile(m.path, os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0); err != nil {
		return err
	}
	if m.info, err = m.out.Stat(); err != nil {
		return err
	}
	m.needsRewrite, m.size = false, m.info.Size()
	return nil
}

// intact reports whether the file is still the one that we wrote.
func (m *manifest) intact() bool {
	info, err := os.Stat(m.path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return os.SameFile(info, m.info) && info.Size() >= m.size
}

// add lists a new file, durably.
func (m *manifest) add(key string) error {
	m.pos[key] = 0
	return m.append(manifestLine(key, "0"), true)
}

// remove records durably that a file is no longer expected.
func (m *manifest) remove(key string) error {
	if _, ok := m.pos[key]; !ok {
		return nil
	}
	delete(m.pos, key)
	return m.append(manifestLine(key, manifestGone), true)
}

// note writes the positions that files have reached, and the position up to which all records have been stored; 0:
// unchanged.
func (m *manifest) note(reached map[string]uint64, moved belfry.Position) error {
	var b strings.Builder
	for key, pos := range reached {
		m.pos[key] = pos
		b.WriteString(manifestLine(key, strconv.FormatUint(pos, 10)))
	}
	if moved > m.moved {
		m.moved = moved
		b.WriteString(manifestLine(manifestMoved, strconv.FormatUint(uint64(moved), 10)))
	}
	if b.Len() == 0 {
		return nil
	}
	return m.append(b.String(), false)
}

// sync makes what note wrote durable.
func (m *manifest) sync() error {
	if m.needsRewrite {
		return m.rewrite()
	}
	if m.fault != nil {
		return m.fault
	}
	return m.out.Sync()
}

func (m *manifest) append(lines string, durable bool) error {
	if m.fault != nil {
		return m.fault
	}
	if m.needsRewrite || m.size > maxManifestBytes {
		return m.rewrite() // includes these lines
	}
	if !m.intact() {
		err := m.rewrite()
		m.replaced = m.replaced || err == nil // otherwise the whole folder may be gone
		return err
	}
	n, err := m.out.WriteString(lines)
	m.size += int64(n)
	if err != nil { // part of a line may have been written
		return errors.Join(err, m.rewrite())
	}
	if durable {
		return m.out.Sync()
	}
	return nil
}

func (m *manifest) close() {
	if m.out != nil {
		m.out.Close() // durable lines have been synced
		m.out = nil
	}
}

// reached returns the positions of files that the manifest does not have yet. The mutex of files is held.
func (fs *files) reached() map[string]uint64 {
	list := map[string]uint64{}
	for _, day := range fs.byName {
		for _, f := range day {
			key := f.key()
			if uint64(f.pos) > fs.manifest.pos[key] {
				list[key] = uint64(f.pos)
			}
		}
	}
	return list
}

// checkManifest compares the manifest with the files that were found: unknown files are added; files that are missing
// and were not dropped are returned.
func (fs *files) checkManifest(collections []*catalog.Collection, late []*file, stores func(*catalog.Collection, belfry.Span) bool) (missing []*file) {
	m := readManifest(fs.dir)
	if fs.manifest != nil { // the last attempt could not read it
		for key, pos := range fs.manifest.pos {
			m.pos[key] = max(m.pos[key], pos)
		}
		m.moved = max(m.moved, fs.manifest.moved)
	}
	fs.manifest = m
	if why := m.damage(); why != "" && fs.hasFiles() {
		fs.noteManifestLoss(why)
	}
	for name, version := range fs.kept {
		key := name + "/" + keptFile
		m.pos[key] = max(m.pos[key], version)
	}
	found := map[string]uint64{}
	for key, version := range m.pos {
		if isKeptKey(key) {
			found[key] = version
		}
	}
	for _, f := range late {
		found[f.key()] = m.pos[f.key()]
	}
	for _, c := range collections {
		for _, f := range fs.byName[c.Name] {
			key := f.key()
			found[key] = m.pos[key]
		}
		for key := range m.pos {
			name, ok := strings.CutPrefix(key, c.Name+"/")
			name, isLate := strings.CutSuffix(name, lateSuffix)
			p, valid := parseFileName(c, name)
			if !ok || !valid || !stores(c, p) || fs.lossAt(c, p) != nil {
				continue
			}
			if _, there := found[key]; !there {
				found[key] = m.pos[key] // until its marker exists
				f := fs.newFile(c, p)
				if isLate {
					f = fs.newLate(c, p)
				}
				missing = append(missing, f)
			}
		}
	}
	m.pos = found
	if err := m.rewrite(); err != nil { // the old one is still good; Watch tries again
		fs.log.Error("the list of files of rows could not be written", "file", m.path, "err", err)
	}
	return missing
}

// hasFiles reports whether there are day files.
func (fs *files) hasFiles() bool {
	for _, list := range fs.byName {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// noteManifestLoss writes a note that the manifest was lost. It keeps a fault open until an operator removes it: day
// files that were deleted before the list was written again are not noticed.
func (fs *files) noteManifestLoss(why string) {
	fs.log.Error("the list of files of rows was lost or damaged", "file", filepath.Join(fs.dir, manifestFile), "why", why)
	note := fs.freeMarker(filepath.Join(fs.dir, manifestFile)+missingMark, fs.now().UTC())
	if err := writeSynced(note, []byte("The list of files of rows "+why+". Removing this note says that the day files have been compared with a backup.\n")); err != nil {
		fs.log.Error("the note about the list of files of rows could not be written", "err", err)
	}
}

// manifestNotes returns the paths of these notes.
func manifestNotes(dir string) []string {
	notes, _ := filepath.Glob(filepath.Join(dir, manifestFile+missingMark+"*Z"))
	return notes
}

// repairManifest writes a manifest again that was deleted or changed, and reads one that could not be read before. The
// mutex is held.
func (fs *files) repairManifest() error {
	m := fs.manifest
	switch {
	case m.fault != nil:
		if again := readManifest(fs.dir); again.fault != nil {
			return again.fault
		}
		return fs.loseMissing(fs.checkManifest(fs.collections, nil, fs.stores))
	case m.needsRewrite || !m.intact():
		m.replaced = m.replaced || !m.needsRewrite
		if err := m.rewrite(); err != nil {
			return err
		}
	}
	if m.replaced {
		m.replaced = false
		fs.log.Error("the list of files of rows was deleted or replaced, and is written again", "file", m.path)
		fs.onRepair("the list of files of the row store, " + m.path + ", was deleted or replaced while the service ran; it has been written again from memory, and nothing is missing")
	}
	return nil
}
