package folder

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"belfry/journal"
)

// FormatFile is the file with the number of the format of the data folder.
const FormatFile = "format"

// inPlaceRemedy is for what is in the place of a file that the service writes again.
const inPlaceRemedy = "move it away: the service writes the file again"

// Problem returns what is wrong with a file that the start has written and that does not change while the service runs: BranchesFile or
// FormatFile; empty if nothing is. One goroutine calls it. It reads the file only if that was changed.
func (f *Folder) Problem(name string) string {
	path := filepath.Join(f.o.Config.Data, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "was removed"
	}
	if seen := f.seen[name]; err == nil && seen != nil && os.SameFile(seen, info) && seen.ModTime().Equal(info.ModTime()) && seen.Size() == info.Size() {
		return ""
	}
	if err == nil && info.Mode().IsRegular() {
		text, err := os.ReadFile(path)
		want, unknown := f.content(name, nil)
		if err == nil && unknown == nil && bytes.Equal(text, want) {
			f.seen[name] = info
			return ""
		}
	}
	return "was changed"
}

// WriteAgain writes such a file as it should be.
func (f *Folder) WriteAgain(name string) error {
	path := filepath.Join(f.o.Config.Data, name)
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return inTheWay(path, info.Mode(), inPlaceRemedy)
	}
	content, err := f.content(name, nil)
	if err != nil {
		return err
	}
	return journal.WriteFile(path, content)
}
