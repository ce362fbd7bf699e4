package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// ErrChecksum means that the content of a small file is not what was written.
var ErrChecksum = errors.New("its content does not match its checksum")

// CheckLine returns the first line of a file with a checksum:
//
//	clock 1 5f1c09aa    name of the file, format version, CRC32C of everything after this line
func CheckLine(name string, rest []byte) []byte {
	return fmt.Appendf(nil, "%s%08x\n", checkHead(name), crc32.Checksum(rest, castagnoli()))
}

func checkHead(name string) string { return name + " 1 " }

// Checked returns the content of a file with such a line before it.
func Checked(name string, content []byte) []byte { return append(CheckLine(name, content), content...) }

// WriteChecked is WriteFile for Checked.
func WriteChecked(path string, content []byte) error {
	return WriteFile(path, Checked(filepath.Base(path), content))
}

// ReadChecked returns the content of a file that WriteChecked has written; the error for a wrong checksum wraps ErrChecksum. A file
// without a checksum, of an older version or written by hand, is returned whole: its reader must reject a damaged first line.
func ReadChecked(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(text, []byte(checkHead(filepath.Base(path)))) {
		return text, err
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	if string(line)+"\n" != string(CheckLine(filepath.Base(path), rest)) {
		return nil, fmt.Errorf("read %s: %w", path, ErrChecksum)
	}
	return rest, nil
}
