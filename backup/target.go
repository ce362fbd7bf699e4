package backup

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"belfry/config"
	"belfry/folder"
	"belfry/journal"
)

// lockTarget locks a folder of backups. Two backups at once would remove each other's incomplete folders.
func lockTarget(target string) (*journal.Lock, error) {
	if path := filepath.Join(target, "lock"); !journal.IsLockFile(path) {
		return nil, fmt.Errorf("%s is a file of another program, and backups need a file of this name; name a folder of its own for backups", path)
	}
	lock, err := journal.LockDir(target)
	if errors.Is(err, journal.ErrLocked) {
		return nil, fmt.Errorf("%w: another backup is being written to %s, or old ones are being removed; wait until that has ended, or name another folder", journal.ErrLocked, target)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, folder.Explain(target, err))
	}
	return lock, nil
}

// makeTarget checks the folder of backups and creates it.
func makeTarget(target string, cfg *config.Config) error {
	if err := checkTarget(target, cfg); err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o700); err != nil {
		return fmt.Errorf("create the folder of backups: %w", err)
	}
	return nil
}

// checkTarget refuses a folder in the data, which would be backed up and lost with them, and one that contains the data.
func checkTarget(target string, cfg *config.Config) error {
	at, err := resolve(target)
	if err != nil {
		return err
	}
	for _, dir := range []string{cfg.Data, cfg.Inside("journal"), cfg.RowsDir()} {
		data, err := resolve(dir)
		if err != nil {
			return err
		}
		switch {
		case within(at, data):
			return fmt.Errorf("the folder of backups %s is in %s, with which it would be lost; name a folder elsewhere, best on another disk", target, dir)
		case within(data, at):
			return fmt.Errorf("the folder of backups %s contains %s; name a folder of its own for backups, best on another disk", target, dir)
		}
	}
	return nil
}

// resolve returns the absolute path without links. The end of the path need not exist.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	exists := folder.Existing(path)
	real, err := filepath.EvalSymlinks(exists)
	if err != nil {
		return "", err
	}
	return filepath.Join(real, strings.TrimPrefix(path, exists)), nil
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	at, err := resolve(a)
	other, otherErr := resolve(b)
	return a == b || err == nil && otherErr == nil && at == other
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// output receives the files of a backup.
type output interface {
	// write stores a file of so many bytes.
	write(name string, size int64, r io.Reader) error
	// undo removes the file that could not be written completely; false: that is not possible.
	undo(name string) bool
	// finish ends the backup after its last file, the manifest.
	finish(m *Manifest) error
}

// folderOutput writes the folder of a backup.
type folderOutput struct {
	target, partial string
	begin           time.Time
	latest          time.Time       // no file has a later time
	dirs            map[string]bool // that were created
}

// newFolderOutput creates the folder of a backup that began at a time.
func newFolderOutput(target string, begin time.Time) (*folderOutput, error) {
	name, err := afterAll(target, begin)
	if err != nil {
		return nil, err
	}
	o := &folderOutput{target: target, partial: filepath.Join(target, name.UTC().Format(nameLayout)+partialSuffix), begin: begin, latest: begin, dirs: map[string]bool{}}
	if err := os.Mkdir(o.partial, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of the backup: %w", err)
	}
	return o, o.write(unfinishedFile, 0, strings.NewReader(unfinishedText))
}

// afterAll returns a time after those of all names in a folder: backups are in the order of their names, also if they begin in the
// same second or the clock was set back.
func afterAll(target string, begin time.Time) (time.Time, error) {
	entries, err := os.ReadDir(target)
	if err != nil {
		return begin, err
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), partialSuffix)
		if t, err := time.Parse(nameLayout, name); err == nil && isBackupName(name) && begin.Before(t.Add(time.Second)) {
			begin = t.Add(time.Second)
		}
	}
	return begin, nil
}

// makeDir creates the folder of a file.
func (o *folderOutput) makeDir(name string) error {
	dir := filepath.Dir(filepath.Join(o.partial, name))
	if o.dirs[dir] {
		return nil
	}
	for at := dir; at != o.target; at = filepath.Dir(at) {
		o.dirs[at] = true
	}
	return os.MkdirAll(dir, 0o700)
}

func (o *folderOutput) write(name string, _ int64, r io.Reader) error {
	if err := o.makeDir(name); err != nil {
		return err
	}
	w, err := createFile(filepath.Join(o.partial, name), 0o400, os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(w, r, make([]byte, chunkSize))
	if err = w.close(err); err != nil {
		return err
	}
	return os.Chtimes(filepath.Join(o.partial, name), time.Time{}, o.begin)
}

// check finds files that others have removed or written to meanwhile, by size and time.
func (o *folderOutput) check(m *Manifest) error {
	for _, e := range m.Files {
		name := m.Stored(e.Name)
		info, err := os.Lstat(filepath.Join(o.partial, name))
		if err != nil || !unchanged(info, e.Size, o.latest) {
			return fmt.Errorf("%s was removed or changed before the backup was complete; repeat it, into a folder to which nothing else writes", name)
		}
	}
	return nil
}

// unchanged reports whether a file has the size with which it was written, and no later time than the begin of its backup, which
// it was given then.
func unchanged(info os.FileInfo, size int64, begun time.Time) bool {
	return info.Mode().IsRegular() && info.Size() == size && !info.ModTime().After(begun.Add(coarse))
}

// coarse is how exactly every file system keeps the time of a file.
const coarse = 2 * time.Second

// link makes a file that is also in another backup, which began at a time. It reports whether that was possible. Files of a backup
// have the time at which the backup began that copied them, so one with a later time has been written by someone else.
func (o *folderOutput) link(name, from string, size int64, begun time.Time) bool {
	info, err := os.Lstat(from)
	if err != nil || !unchanged(info, size, begun) {
		return false
	}
	if begun.After(o.latest) { // the clock was set back
		o.latest = begun
	}
	return o.makeDir(name) == nil && os.Link(from, filepath.Join(o.partial, name)) == nil
}

func (o *folderOutput) undo(name string) bool {
	return os.Remove(filepath.Join(o.partial, name)) == nil
}

// finish makes everything durable, and then gives the folder its name.
func (o *folderOutput) finish(m *Manifest) error {
	if err := o.check(m); err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(o.dirs)) {
		if err := journal.SyncDir(dir); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(o.partial, unfinishedFile)); err != nil {
		return err
	}
	if err := journal.SyncDir(o.partial); err != nil {
		return err
	}
	if err := os.Rename(o.partial, strings.TrimSuffix(o.partial, partialSuffix)); err != nil {
		return err
	}
	return journal.SyncDir(o.target)
}
