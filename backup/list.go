package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"belfry/journal"
)

const (
	nameLayout    = "20060102T150405Z"
	partialSuffix = ".partial"
	// unfinishedFile is in a folder from its creation until it is complete.
	unfinishedFile = "unfinished"
	unfinishedText = "This backup is not complete. The next backup into the same folder removes it.\n"
)

// Backup is a folder in a folder of backups.
type Backup struct {
	Path     string
	Manifest *Manifest
	Err      error // why it cannot be used; Manifest is nil
}

// isBackupName reports whether Create gives such a name to a backup.
func isBackupName(name string) bool {
	t, err := time.Parse(nameLayout, name)
	return err == nil && t.Format(nameLayout) == name
}

// isOne reports whether a folder is a single backup, by its name or by what is in it: one whose manifest is gone is recognised, too.
func isOne(dir string) bool {
	return isBackupName(filepath.Base(dir)) || slices.ContainsFunc([]string{ManifestFile, instanceName, instanceName + sealedSuffix}, func(name string) bool {
		return exists(filepath.Join(dir, filepath.FromSlash(name)))
	})
}

// errNoFolder means that something else has the name of a backup.
var errNoFolder = errors.New("is passed over, because it is a link or a file; put the folder of the backup itself in its place, or give it another name")

// List returns the complete backups in a folder, oldest first, of all instances. One whose manifest is damaged, or that is not a
// folder, is listed with an error.
func List(target string) (list []Backup, err error) {
	entries, err := os.ReadDir(target) // sorted by name, so by time
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s is not a folder of backups; extract a tar file into an empty folder and name that", target)
	}
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	for _, e := range entries {
		if !isBackupName(e.Name()) {
			continue
		}
		b := Backup{Path: filepath.Join(target, e.Name())}
		if e.IsDir() {
			b.Manifest, b.Err = loadManifest(b.Path)
		} else {
			b.Err = fmt.Errorf("%s %w", b.Path, errNoFolder)
		}
		list = append(list, b)
	}
	return list, nil
}

// loadManifest reads the manifest of a backup.
func loadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	f, err := openPlain(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s has no %s, so it is not a complete backup%s", dir, ManifestFile, otherRemedy)
	case err != nil:
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	defer f.Close()
	return readManifest(f, path)
}

// NewestName returns the path of the newest backup in a folder by its name, and whether it is complete; empty if there is none.
func NewestName(target string) (path string, complete bool) {
	entries, _ := os.ReadDir(target) // sorted by name, so by time
	for _, e := range slices.Backward(entries) {
		if name, partial := strings.CutSuffix(e.Name(), partialSuffix); isBackupName(name) {
			return filepath.Join(target, e.Name()), !partial
		}
	}
	return "", false
}

// Latest returns the newest usable backup of an instance in a folder; nil if there is none. It also says why others were passed over.
func Latest(target, instance string) (newest *Backup, passed []string, err error) {
	list, err := List(target)
	passed = passedOver(list)
	if list = ofInstance(list, instance); len(list) > 0 {
		newest = &list[len(list)-1]
	}
	return newest, passed, err
}

// passedOver returns the reasons why backups cannot be used, which name them.
func passedOver(list []Backup) (reasons []string) {
	for _, b := range list {
		if b.Err != nil {
			reasons = append(reasons, b.Err.Error())
		}
	}
	return reasons
}

func ofInstance(list []Backup, instance string) []Backup {
	return slices.DeleteFunc(list, func(b Backup) bool { return b.Err != nil || b.Manifest.Instance != instance })
}

// Prune removes the oldest backups of an instance until keep are left. It never removes the newest one, nor the newest one from
// which no file is missing and before which no rows were lost, nor anything that it does not know. Backups that List lists
// with an error do not count.
func Prune(target, instance string, keep int) (removed []string, err error) {
	lock, err := lockTarget(target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	list, err := List(target)
	if err != nil {
		return nil, err
	}
	list = ofInstance(list, instance)
	whole := len(list) - 1
	for whole >= 0 && !list[whole].isWhole() {
		whole--
	}
	var errs []error
	for i, b := range list[:max(0, len(list)-max(1, keep))] {
		if i == whole {
			continue
		}
		if err := removeBackup(b); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, b.Path)
	}
	return removed, errors.Join(errs...)
}

// isWhole reports whether a backup has everything, and its files are there still with their sizes.
func (b *Backup) isWhole() bool {
	if !b.Manifest.Sound() {
		return false
	}
	gone, err := absent(b.Path, b.Manifest)
	return err == nil && len(gone) == 0
}

// removeBackup removes a complete backup. It is renamed first, so that an interrupted removal leaves one that is not complete.
func removeBackup(b Backup) error {
	others, err := unknownFiles(b.Path, b.Manifest)
	if err != nil {
		return fmt.Errorf("remove the backup %s: %w", b.Path, err)
	}
	if len(others) > 0 {
		return fmt.Errorf("the backup %s is not removed, because these files in it are not of the backup: %s; move them away", b.Path, few(others))
	}
	if err := os.Rename(b.Path, b.Path+partialSuffix); err != nil {
		return fmt.Errorf("remove the backup: %w", err)
	}
	return removePartial(b.Path + partialSuffix)
}

// unknownFiles lists what is in the folder of a backup beyond its files.
func unknownFiles(dir string, m *Manifest) (list []string, err error) {
	known := map[string]bool{ManifestFile: true}
	for _, e := range m.Files {
		known[m.Stored(e.Name)] = true
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if !known[filepath.ToSlash(name)] {
			list = append(list, name)
		}
		return err
	})
	return list, err
}

// removePartials removes what interrupted backups have left. The lock of the folder is held.
func removePartials(target string) error {
	entries, err := os.ReadDir(target)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, partial := strings.CutSuffix(e.Name(), partialSuffix)
		path := filepath.Join(target, e.Name())
		if !partial || !isBackupName(name) || !e.IsDir() || !isOurs(path) {
			continue
		}
		if err := removePartial(path); err != nil {
			return err
		}
	}
	return nil
}

// isOurs reports whether a folder says that it is an incomplete backup. One that was interrupted at once is empty, and one at its
// very end has its manifest instead.
func isOurs(dir string) bool {
	if info, err := os.Lstat(filepath.Join(dir, unfinishedFile)); err == nil {
		return info.Mode().IsRegular()
	}
	if _, err := loadManifest(dir); err == nil {
		return true
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// removePartial removes an incomplete backup. What says that it is one goes last.
func removePartial(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	last := []string{ManifestFile, unfinishedFile}
	for _, e := range entries {
		if slices.Contains(last, e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("remove the incomplete backup %s: %w", dir, err)
		}
	}
	for _, name := range last {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the incomplete backup %s: %w", dir, err)
		}
	}
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("remove the incomplete backup: %w", err)
	}
	return journal.SyncDir(filepath.Dir(dir))
}
