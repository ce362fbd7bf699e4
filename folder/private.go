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

// What the service keeps is for its owner alone: files 0600, folders 0700. New ones get that by the umask, also those that the
// engines make; older ones are repaired at the start. What operators put into the data folder (classes, packages, MIB files,
// certificates) keeps the mode that they gave it.

const (
	privateFile   fs.FileMode = 0o600
	privateFolder fs.FileMode = 0o700
)

// makePrivate sets the umask and repairs what exists. What cannot be repaired is logged: the service ran with it before.
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
				return nil // not there yet, or to be told by whoever needs it
			case path == cfg.Data && at != path: // the folder itself alone
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
		log.Info("files that others could read are private now", "files", repaired)
	}
}

// tighten takes from others what they may do with a file or folder.
func tighten(path string, e fs.DirEntry) (done bool, err error) {
	info, err := e.Info()
	if err != nil {
		return false, nil // gone meanwhile
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

// WarnReadable warns of files with keys that others than their owner can read.
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

// CheckKinds refuses named pipes and devices among the data: whoever opens a pipe waits until somebody writes to it. It also
// refuses links and folders in the place of files that are opened without following links, where a start would fail later, or
// run without being able to store anything.
func CheckKinds(cfg *config.Config) (err error) {
	look := func(root string, deep bool) {
		filepath.WalkDir(root, func(at string, e fs.DirEntry, failed error) error {
			switch {
			case failed != nil:
				return nil // to be told by whoever needs it
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

const arrivalsRemedy = "put the file in its place, or remove it: then the service writes a new one"

// plainFile is a file in whose place there must be nothing else, and what to do if there is.
type plainFile struct{ path, remedy string }

func plainFiles(cfg *config.Config) []plainFile {
	db := cfg.Inside(cfg.Meta.SQLite.Path)
	const reserve = "remove it: the service makes a new one"
	list := []plainFile{
		{db, "put the file in its place, or name it with meta.sqlite.path"},
		{db + "-wal", "put the file in its place: it has the latest changes of the metadata"},
		{db + "-shm", "remove it: it is rebuilt"},
		{filepath.Join(cfg.Data, ArrivalsFile), arrivalsRemedy},
	}
	if cfg.Storage.Reserve > 0 {
		list = append(list, plainFile{filepath.Join(cfg.Data, "reserve"), reserve}, plainFile{filepath.Join(cfg.RowsDir(), "belfry.reserve"), reserve})
	}
	return list
}

// WrongKind says that something else is in the place of a file, and what to do.
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
