package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"belfry/journal"
)

// RestoringFile is a file in the data folder while a backup is restored into it. A restore writes it first and removes it last,
// when everything is on disk. So a folder that has it is incomplete, and a service that started there would take the rest for lost.
const RestoringFile = "restoring"

// CheckRestored returns an error if a backup is being restored into the folder, or a restore was interrupted.
func CheckRestored(dir string) error {
	path := filepath.Join(dir, RestoringFile)
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(path + journal.TempSuffix) // a restore was killed at its very beginning
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for an interrupted restore: %w", err)
	}
	return fmt.Errorf("%s is incomplete: a backup was being restored into it, and %s says that this has not ended. Run the same restore again; it starts over and removes that file at its end", dir, path)
}
