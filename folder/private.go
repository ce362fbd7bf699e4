package folder

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"belfry/config"
)

// Only the owner may read the service's files: files are 0600, folders 0700. New ones, including those of the engines, get this
// from the umask; existing ones are repaired at the start. Files that operators put into the data folder (classes, packages, MIB
// files, certificates) keep their mode.

const (
	privateFile   fs.FileMode = 0o600
	privateFolder fs.FileMode = 0o700
)

// makePrivate sets the umask and repairs existing files. Failures are only logged, as earlier starts ran with these modes too.
func makePrivate(cfg *config.Config, log *slog.Logger) {
	unix.Umask(0o077)
	paths := []string{
		filepath.Join(cfg.Data, "lock"), filepath.Join(cfg.Data, "format"), filepath.Join(cfg.Data, "reserve"),
		cfg.Inside("journal"), cfg.Inside("tmp"), cfg.Inside("tls"), cfg.RowsDir(),
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		paths = append(paths, cfg.Inside(cfg.Meta.SQLite.Path)+suffix)
	}
	repaired := 0
	for _, path := range append(paths, cfg.Data) {
		filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // missing, or reported by the code that needs it
			case path == cfg.Data && at != path: // only the folder itself
				return fs.SkipAll
			case at == path && e.Type() == fs.ModeSymlink:
				return nil // a folder on another disk
			case e.Type() == fs.ModeSymlink:
				log.Warn("a data file is a symbolic link; move the file here, or name its folder in the configuration", "file", at)
				return nil
			}
			done, err := tighten(at, e)
			if err != nil {
				log.Warn("a data file cannot be made private", "err", err)
			}
			if done {
				repaired++
			}
			return nil
		})
	}
	if repaired > 0 {
		log.Info("files that others could read were made private", "files", repaired)
	}
}

// tighten removes the permissions of group and others.
func tighten(path string, e fs.DirEntry) (done bool, err error) {
	info, err := e.Info()
	if err != nil {
		return false, nil // already removed
	}
	mode := privateFile
	if e.IsDir() {
		mode = privateFolder
	}
	if have := info.Mode().Perm(); have&^mode == 0 || !e.IsDir() && !info.Mode().IsRegular() {
		return false, nil
	}
	return true, os.Chmod(path, info.Mode().Perm()&mode)
}

// WarnReadable warns of key files that others than their owner can read.
func WarnReadable(cfg *config.Config, log *slog.Logger) {
	for _, f := range []struct{ setting, path string }{
		{"tls.key", cfg.TLS.Key},
		{"oidc.client_secret_file", cfg.OIDC.ClientSecretFile},
		{"secrets.key_file", cfg.Inside(cfg.Secrets.KeyFile)},
	} {
		if f.path == "" {
			continue
		}
		if info, err := os.Stat(f.path); err == nil && info.Mode().Perm()&0o077 != 0 {
			log.Warn("a file with a key can be read by others; chmod 600 it", "setting", f.setting, "file", f.path, "mode", info.Mode().Perm().String())
		}
	}
	if cfg.OIDC.ClientSecret == "" || cfg.File() == "" {
		return
	}
	if info, err := os.Stat(cfg.File()); err == nil && info.Mode().Perm()&0o077 != 0 {
		log.Warn("the configuration holds a secret and can be read by others; chmod 600 it, or put the secret into a file", "file", cfg.File(), "mode", info.Mode().Perm().String())
	}
}

// CheckKinds returns an error for named pipes and devices among the data, as opening a pipe blocks. It also returns one for links
// and folders in place of files that are opened without following links: otherwise the start would fail later, or run without
// being able to store anything.
func CheckKinds(cfg *config.Config) (err error) {
	look := func(root string, deep bool) {
		filepath.WalkDir(root, func(at string, e fs.DirEntry, failed error) error {
			switch {
			case failed != nil:
				return nil // reported by the code that needs it
			case e.IsDir() && at != root && !deep:
				return fs.SkipDir
			case e.Type()&(fs.ModeNamedPipe|fs.ModeDevice) != 0:
				err = fmt.Errorf("%s is a pipe or a device, not a file; move it away", at)
				return fs.SkipAll
			}
			return nil
		})
	}
	look(cfg.Data, false)
	look(cfg.Inside("journal"), true)
	look(cfg.RowsDir(), true)
	look(cfg.Inside(cfg.Meta.SQLite.Path), false)
	for _, f := range plainFiles(cfg) {
		if info, e := os.Lstat(f.path); err == nil && e == nil && !info.Mode().IsRegular() {
			err = inTheWay(f.path, info.Mode(), f.remedy)
		}
	}
	return err
}

const arrivalsRemedy = "put the file back, or remove this: then the service writes a new one"

// plainFile is a path that must be a file, and the remedy if it is not.
type plainFile struct{ path, remedy string }

func plainFiles(cfg *config.Config) []plainFile {
	db := cfg.Inside(cfg.Meta.SQLite.Path)
	const reserve = "remove it: the service creates a new one"
	list := []plainFile{
		{db, "put the file itself there, or name it with meta.sqlite.path"},
		{db + "-wal", "put the file itself there: it has the latest changes of the metadata"},
		{db + "-shm", "remove it: it is rebuilt"},
		{filepath.Join(cfg.Data, ArrivalsFile), arrivalsRemedy},
		{filepath.Join(cfg.Data, BranchesFile), inPlaceRemedy},
	}
	if cfg.Storage.Reserve > 0 {
		list = append(list, plainFile{filepath.Join(cfg.Data, "reserve"), reserve}, plainFile{filepath.Join(cfg.RowsDir(), "belfry.reserve"), reserve})
	}
	return list
}

// WrongKind is the message that a path is not a file, and the remedy.
type WrongKind string

func (w WrongKind) Error() string { return string(w) }

func inTheWay(path string, mode fs.FileMode, remedy string) error {
	what := "is not a file"
	switch {
	case mode.IsDir():
		what = "is a folder, not a file"
	case mode&fs.ModeSymlink != 0:
		what = "is a link, and links are not followed"
	}
	return WrongKind(path + " " + what + "; " + remedy)
}
