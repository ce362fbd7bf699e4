package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// instanceFile has the id of the instance that a folder belongs to. There is one in the data folder, in the journal and
// among the rows, so that it is copied with each of them.
const instanceFile = "instance"

// ReadInstance returns the id of the instance that a folder belongs to; "" if the folder has no id or does not exist.
func ReadInstance(dir string) (string, error) {
	path := filepath.Join(dir, instanceFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read instance: %w", err)
	}
	id := strings.TrimSpace(string(text))
	if !instanceID(id) {
		return "", fmt.Errorf("%s should hold 32 hexadecimal digits and holds %.40q; restore it from a backup, "+
			"or copy the file of that name from the data folder if you know that both belong together", path, text)
	}
	return id, nil
}

// WriteInstance creates a folder if necessary and writes durably which instance it belongs to.
func WriteInstance(dir, id string) error {
	err := makeDir(dir)
	if err == nil {
		err = WriteFile(filepath.Join(dir, instanceFile), []byte(id+"\n"))
	}
	if err != nil {
		return fmt.Errorf("write instance: %w", err)
	}
	return nil
}

func instanceID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// Segments returns the numbers of the oldest and the newest segment in a folder; 0 if it has none or does not exist.
func Segments(dir string) (oldest, newest uint64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read journal: %w", err)
	}
	for _, e := range entries {
		if n, ok := parseName(e.Name()); ok && e.Type().IsRegular() {
			if newest = max(newest, n); oldest == 0 || n < oldest {
				oldest = n
			}
		}
	}
	return oldest, newest, nil
}
