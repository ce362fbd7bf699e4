package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"belfry/journal"
)

// FaultsFile is the file with the open faults and the events that are not written yet.
const FaultsFile = "faults"

// maxCopied is the size of the largest file in a folder of operators' files that CopyFiles copies. The service reads none that is
// larger.
const maxCopied = 4 << 20

// OwnFiles are the small files that the service writes into the data folder, and that belong to a backup. The marker of a running
// service, the lock, sockets, certificates, keys and what reserves space do not.
func OwnFiles() []string {
	return []string{FormatFile, "instance", ClockFile, ArrivalsFile, lossFile, FaultsFile, BranchesFile, "collect/engine"}
}

// OperatorFolders are the folders in the data folder that operators fill.
func OperatorFolders() []string { return []string{"classes", "packages", "mibs"} }

// CopyFiles calls each for every small file of the data folder: those of the service, then the classes, packages and MIB files that
// operators have put there. The name is relative to the data folder, with slashes; for one that cannot be read, or is damaged, unread
// has the reason. An error of each ends it. Files of which known has the content are not read: they may have been damaged since.
//
// Call it after Journal.Copy. The file of arrival times must not be older than the end of the journal: a start and Verify
// reject one that does not cover the last record.
func (f *Folder) CopyFiles(known map[string][]byte, each func(name string, content []byte, unread error) error) error {
	names := OwnFiles()
	for _, dir := range OperatorFolders() {
		entries, err := os.ReadDir(filepath.Join(f.o.Config.Data, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if err := each(path.Join(dir, "all"), nil, err); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") { // the service ignores hidden files, which editors leave behind
				names = append(names, path.Join(dir, e.Name()))
			}
		}
	}
	for _, name := range names {
		content, unread := f.content(name, known)
		if errors.Is(unread, fs.ErrNotExist) { // it may have been removed since
			continue
		}
		if err := each(name, content, unread); err != nil {
			return err
		}
	}
	return nil
}

// content returns the content of a small file: from memory if the service knows it better than the disk.
func (f *Folder) content(name string, known map[string][]byte) ([]byte, error) {
	if content, ok := known[name]; ok {
		return content, nil
	}
	switch {
	case name == FormatFile:
		return fmt.Appendln(nil, journal.DataFormat), nil
	case name == "instance":
		return []byte(f.Instance + "\n"), nil
	case name == BranchesFile:
		return branchesText(f.Branches.List()), nil
	case name == ArrivalsFile && f.arrivals != nil:
		return f.arrivals.content()
	case name == lossFile:
		if losses := f.allLosses(); len(losses) > 0 {
			return encodeLosses(losses)
		}
	}
	return f.readSmall(name)
}

// readSmall reads a file. What the service would not read either does not exist for it: folders, pipes, and files that are too
// large. Operators' files may be links.
func (f *Folder) readSmall(name string) ([]byte, error) {
	file := filepath.Join(f.o.Config.Data, name)
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCopied {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(file)
}
