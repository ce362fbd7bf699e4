package duck

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"belfry/catalog"
)

// manifest lists the files that must be there, and a position that each has reached at least. Without it a deleted file
// would be a day without rows, and a lost log a day with fewer. It is a file of lines, of which the last one about a day
// file counts:
//
//	objectdata/2026-11-15.duckdb 4294967811 5f1c09aa    position, checksum
//	objectdata/2026-11-15.duckdb gone 0b7d21c4          not expected any more
//
// A crash can neither raise a false alarm nor hide a loss: a file is made first, then listed, and gets its first row after
// that; a position is noted after the commit that reached it; a file that goes leaves its mark in the folder (a watermark,
// or the marker of an incomplete day) before it goes. Positions are not synced, so after a power loss they may be some
// seconds old.
type manifest struct {
	path string
	out  *os.File
	size int64
	pos  map[string]uint64 // by file, as collection/name
	bad  int               // lines that could not be read
}

const (
	manifestFile = "manifest"
	manifestMost = 1 << 20 // bytes, above which it is written anew
	manifestGone = "gone"
)

// manifestKey is how the manifest calls a file.
func manifestKey(c *catalog.Collection, p period) string { return c.Name + "/" + fileName(c, p) }

// readManifest reads the manifest in dir; an absent one is empty.
func readManifest(dir string) (*manifest, error) {
	m := &manifest{path: filepath.Join(dir, manifestFile), pos: map[string]uint64{}}
	text, err := os.ReadFile(m.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		if line[len(line)-1] == '\n' { // the last line may be cut off by a crash; nothing followed from it
			m.read(string(line[:len(line)-1]))
		}
	}
	return m, nil
}

func (m *manifest) read(line string) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || line[at+1:] != lineSum(line[:at]) {
		m.bad++
		return
	}
	key, value, _ := strings.Cut(line[:at], " ")
	if value == manifestGone {
		delete(m.pos, key)
		return
	}
	pos, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		m.bad++
		return
	}
	m.pos[key] = pos
}

func lineSum(text string) string { return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), pageSum)) }

func manifestLine(key, value string) string {
	text := key + " " + value
	return text + " " + lineSum(text) + "\n"
}

// rewrite replaces the file by one that has a line for each day file.
func (m *manifest) rewrite() error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(m.pos)) {
		b.WriteString(manifestLine(key, strconv.FormatUint(m.pos[key], 10)))
	}
	m.close()
	return writeSynced(m.path, []byte(b.String()))
}

// add lists a file that has just been made, durably.
func (m *manifest) add(key string) error {
	m.pos[key] = 0
	return m.append(manifestLine(key, "0"), true)
}

// remove says that a file is not expected any more, durably.
func (m *manifest) remove(key string) error {
	if _, ok := m.pos[key]; !ok {
		return nil
	}
	delete(m.pos, key)
	return m.append(manifestLine(key, manifestGone), true)
}

// note writes down the positions that files have reached.
func (m *manifest) note(reached map[string]uint64) error {
	var b strings.Builder
	for key, pos := range reached {
		m.pos[key] = pos
		b.WriteString(manifestLine(key, strconv.FormatUint(pos, 10)))
	}
	if b.Len() == 0 {
		return nil
	}
	return m.append(b.String(), false)
}

func (m *manifest) append(lines string, durable bool) (err error) {
	if m.out == nil {
		if m.out, err = os.OpenFile(m.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return err
		}
		if m.size, err = m.out.Seek(0, io.SeekEnd); err != nil {
			return err
		}
		if m.size == 0 {
			if err := syncDir(filepath.Dir(m.path)); err != nil {
				return err
			}
		}
	}
	if m.size > manifestMost {
		return m.rewrite() // which has these lines, too
	}
	n, err := m.out.WriteString(lines)
	m.size += int64(n)
	if err != nil { // part of a line may be there
		return errors.Join(err, m.rewrite())
	}
	if durable {
		return m.out.Sync()
	}
	return nil
}

func (m *manifest) close() {
	if m.out != nil {
		m.out.Close() // what had to be durable has been synced
		m.out = nil
	}
}

// reached collects the positions of files that the manifest does not have yet. The mutex of files is held.
func (fs *files) reached() map[string]uint64 {
	list := map[string]uint64{}
	for _, day := range fs.byName {
		for _, f := range day {
			key := f.key()
			if f.pos > fs.manifest.pos[key] {
				list[key] = f.pos
			}
		}
	}
	return list
}

// checkManifest compares the manifest with the files that were found: those it does not know are added, those that are
// not there and were not dropped are returned.
func (fs *files) checkManifest(collections []*catalog.Collection, late []*file, stores func(*catalog.Collection, period) bool) (missing []*file, err error) {
	m, err := readManifest(fs.dir)
	if err != nil {
		return nil, err
	}
	fs.manifest = m
	found := map[string]uint64{}
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
				found[key] = m.pos[key] // until its marker is there
				f := fs.newFile(c, p)
				if isLate {
					f = fs.newLate(c, p)
				}
				missing = append(missing, f)
			}
		}
	}
	m.pos = found
	return missing, m.rewrite()
}
