package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry/config"
	"belfry/folder"
	"belfry/journal"
	"belfry/meta/sqlite"
)

// places are the paths of an instance. Rows and metadata need not be in the data folder.
type places struct {
	data, rows, journal string
	meta                string   // the file of the metadata
	own                 []string // files and folders in them that no backup has, and that may be there before a restore
}

func placesOf(cfg *config.Config) *places {
	p := &places{data: cfg.Data, rows: cfg.RowsDir(), journal: cfg.Inside("journal"), meta: cfg.Inside(cfg.Meta.SQLite.Path)}
	marker := filepath.Join(p.data, folder.RestoringFile)
	p.own = []string{
		filepath.Join(p.data, "lock"), marker, marker + journal.TempSuffix,
		filepath.Join(p.data, "tls"), filepath.Join(p.data, "lost+found"), filepath.Join(p.rows, "lost+found"),
	}
	for _, path := range []string{cfg.Secrets.KeyFile, cfg.TLS.Cert, cfg.TLS.Key, cfg.OIDC.ClientSecretFile, cfg.File()} {
		if path != "" {
			p.own = append(p.own, absolute(path), filepath.Clean(cfg.Inside(path)))
		}
	}
	return p
}

// absolute returns the path as it is if there is no absolute one.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// contain reports whether a folder is below one of the places.
func (p *places) contain(dir string) bool {
	return slices.ContainsFunc([]string{p.data, p.rows, p.journal}, func(root string) bool {
		return within(dir, root) && dir != filepath.Clean(root)
	})
}

// keeps reports whether a file stays where it is and belongs to no backup.
func (p *places) keeps(path string) bool {
	return slices.Contains(p.own, path) || slices.Contains(p.own, absolute(path))
}

// path returns where a file of a backup belongs.
func (p *places) path(name string) string {
	top, rest, _ := strings.Cut(name, "/")
	rest = filepath.FromSlash(rest)
	switch top + "/" {
	case rowsDir:
		return filepath.Join(p.rows, rest)
	case journalDir:
		return filepath.Join(p.journal, rest)
	case metaDir:
		return p.meta + strings.TrimPrefix(name, metaName)
	}
	return filepath.Join(p.data, rest)
}

// inTheWay lists files in the places, except those with a name in a backup that may says may be there. Links count as files.
func (p *places) inTheWay(may func(name string) bool) (list []string, err error) {
	for _, root := range []struct{ dir, prefix string }{{p.data, dataDir}, {p.rows, rowsDir}, {p.journal, journalDir}} {
		found, err := p.listed(root.dir, root.prefix, may)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	for _, suffix := range metaSuffixes() {
		path := p.meta + suffix
		if _, err := os.Lstat(path); err == nil && !may(metaName+suffix) && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list, nil
}

// metaSuffixes are those of the files of the metadata: log, index, and a copy that a start may use.
func metaSuffixes() []string { return []string{"", logSuffix, "-shm", sqlite.SavedSuffix} }

func (p *places) isMeta(path string) bool {
	return slices.ContainsFunc(metaSuffixes(), func(suffix string) bool { return path == p.meta+suffix })
}

// listed lists the files in one folder, without what is in the others.
func (p *places) listed(dir, prefix string, may func(name string) bool) (list []string, err error) {
	err = walk(dir, func(rel, at string, e fs.DirEntry) error {
		switch {
		case p.keeps(at) || at == p.rows || at == p.journal:
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir() || p.isMeta(at) || e.Type().IsRegular() && may(prefix+rel):
		default:
			list = append(list, at)
		}
		return nil
	})
	return list, err
}

// walk calls each for everything below a folder, if there is one: with its path in the folder, with slashes, and its whole path. The
// folder itself may be a link to another disk.
func walk(dir string, each func(rel, at string, e fs.DirEntry) error) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == real {
			return err
		}
		rel, err := filepath.Rel(real, path)
		if err != nil {
			return err
		}
		return each(filepath.ToSlash(rel), filepath.Join(dir, rel), e)
	})
}
