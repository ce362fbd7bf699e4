package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"belfry"
	"belfry/config"
	"belfry/folder"
	"belfry/journal"
)

// Stopped is the data folder of an instance that is not running, as a Source. It has all files as they are, damaged ones included,
// and says what is wrong with them.
type Stopped struct {
	places   *places
	instance string
	verify   Verifier
}

// Verifier reads all files of a locked data folder and returns what is damaged or gone. A name is that of a file in a backup.
type Verifier func(context.Context) ([]Missing, error)

// StoppedSource returns the source of a data folder. It is locked while its files are verified and copied.
func StoppedSource(cfg *config.Config, verify Verifier) (*Stopped, error) {
	id, err := journal.ReadInstance(cfg.Data)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, fmt.Errorf("%s is not the data folder of a service that has run; name another one with --data", cfg.Data)
	}
	return &Stopped{placesOf(cfg), id, verify}, nil
}

// Instance implements Source.
func (s *Stopped) Instance() string { return s.instance }

// Estimate implements Source.
func (s *Stopped) Estimate(context.Context) ([]File, error) { return s.list() }

// Files implements Source. The folder is locked meanwhile.
func (s *Stopped) Files(ctx context.Context, each func(File) error) (_ belfry.Position, err error) {
	lock, err := journal.LockDir(s.places.data)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := folder.CheckRestored(s.places.data); err != nil {
		return 0, err
	}
	j, err := journal.Read(s.places.journal, nil)
	if err != nil {
		return 0, err
	}
	files, err := s.list()
	if err != nil {
		return 0, err
	}
	found, err := s.verify(ctx)
	if err != nil {
		return 0, err
	}
	for _, f := range note(files, found) {
		if err := errors.Join(ctx.Err(), each(f)); err != nil {
			return 0, err
		}
	}
	return j.Last(), nil
}

// list lists the files in the order of a running service: rows, metadata, small files, journal. Files that every instance has and
// that are not there are listed with an error.
func (s *Stopped) list() (list []File, err error) {
	for _, root := range []struct{ dir, prefix string }{{s.places.rows, rowsDir}, {"", metaDir}, {s.places.data, dataDir}, {s.places.journal, journalDir}} {
		found := s.metadata()
		if root.dir != "" {
			if found, err = s.files(root.dir, root.prefix); err != nil {
				return nil, err
			}
		}
		list = append(list, found...)
	}
	for _, name := range everyName() {
		if !slices.ContainsFunc(list, func(f File) bool { return f.Name == name }) {
			list = append(list, File{Name: name, Err: fmt.Errorf("%s is missing", s.places.path(name))})
		}
	}
	return list, nil
}

// metadata lists the file of the metadata and its log.
func (s *Stopped) metadata() (list []File) {
	for _, name := range []string{metaName, metaLogName} {
		path := s.places.path(name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			list = append(list, File{Name: name, Err: err})
		default:
			list = append(list, fileOf(name, path, info))
		}
	}
	return list
}

// files lists what belongs to a backup in a folder.
func (s *Stopped) files(dir, prefix string) (list []File, err error) {
	err = walk(dir, func(rel, at string, e fs.DirEntry) error {
		name := prefix + rel
		switch {
		case e.IsDir() && !s.descends(prefix, rel, at):
			return fs.SkipDir
		case e.IsDir() || s.places.keeps(at) || s.places.isMeta(at) || !belongs(name):
			return nil
		}
		if err := checkName(name); err != nil {
			return fmt.Errorf("%s cannot be backed up: %w; rename it", at, err)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		list = append(list, fileOf(name, at, info))
		return nil
	})
	return list, err
}

// note adds what was found to the files. A file that is gone is added with an error.
func note(files []File, found []Missing) []File {
	for _, m := range found {
		switch i := slices.IndexFunc(files, func(f File) bool { return f.Name == m.Name }); {
		case i < 0:
			files = append(files, File{Name: m.Name, Err: errors.New(m.Reason)})
		case files[i].Err == nil && files[i].Damaged == "":
			files[i].Damaged = m.Reason
		}
	}
	return files
}

// descends reports whether a folder may have files that belong to a backup under the prefix.
func (s *Stopped) descends(prefix, rel, at string) bool {
	switch {
	case s.places.keeps(at) || at == s.places.rows || at == s.places.journal:
		return false
	case prefix == dataDir:
		first, _, _ := strings.Cut(rel, "/")
		return first == "collect" || slices.Contains(folder.OperatorFolders(), first)
	case prefix == rowsDir:
		return !rowsLeftOut(rel)
	}
	return false // the journal has none
}

// fileOf returns a file as it is on disk. Links and devices cannot be read.
func fileOf(name, path string, info fs.FileInfo) File {
	if !info.Mode().IsRegular() {
		return File{Name: name, Err: fmt.Errorf("%s is a link, a folder or a device, not a file", path)}
	}
	inode, changed := stamp(info)
	return File{
		Name: name, Size: info.Size(), State: fmt.Sprintf("stopped %d %d %d %d", inode, info.Size(), info.ModTime().UnixNano(), changed),
		Open: func() (io.ReadCloser, error) { return openPlain(path) },
	}
}
