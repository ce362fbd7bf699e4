package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// stored is a file of a backup that is being read.
type stored struct {
	name string // with the suffix of an encrypted file
	size int64
	r    io.Reader // valid until the next file
}

// archive reads the files of a backup one after the other. After the last one next returns io.EOF.
type archive interface {
	next() (stored, error)
}

// checkStoredName is checkName for a file that may be encrypted.
func checkStoredName(name string) error {
	if plain, sealed := strings.CutSuffix(name, sealedSuffix); sealed && checkName(plain) == nil {
		return nil
	}
	return checkName(name)
}

// folderArchive reads the folder of a backup.
type folderArchive struct {
	dir      *os.Root // so that no link in it leads elsewhere
	manifest *Manifest
	i        int
	file     *os.File
}

func newFolderArchive(dir string, m *Manifest) (*folderArchive, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}
	return &folderArchive{dir: root, manifest: m}, nil
}

func (a *folderArchive) next() (stored, error) {
	if err := a.closeFile(); err != nil {
		return stored{}, err
	}
	if a.i == len(a.manifest.Files) {
		return stored{}, io.EOF
	}
	e := a.manifest.Files[a.i]
	a.i++
	name := a.manifest.Stored(e.Name)
	f, err := openIn(a.dir, name)
	if err != nil {
		return stored{}, fmt.Errorf("read the backup: %w", err)
	}
	a.file = f
	return stored{name, e.Size, f}, nil
}

func (a *folderArchive) closeFile() (err error) {
	if a.file != nil {
		err, a.file = a.file.Close(), nil
	}
	return err
}

func (a *folderArchive) close() error { return errors.Join(a.closeFile(), a.dir.Close()) }

// openIn opens a file of a backup. A link is refused, even to a file in the backup.
func openIn(root *os.Root, name string) (*os.File, error) {
	if err := plainPath(root, name); err != nil {
		return nil, err
	}
	return root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// plainPath refuses links and devices in the path of a file.
func plainPath(root *os.Root, name string) error {
	for i := 0; i < len(name); {
		n := strings.IndexByte(name[i:], '/')
		if n < 0 {
			n = len(name) - i
		}
		part := name[:i+n]
		info, err := root.Lstat(part)
		if err != nil {
			return err
		}
		if last := i+n == len(name); last && !info.Mode().IsRegular() || !last && !info.IsDir() {
			return fmt.Errorf("%s is a link, a device or something else than the backup had there", filepath.Join(root.Name(), part))
		}
		i += n + 1
	}
	return nil
}

// absent lists the files of a backup that are missing or have another size.
func absent(dir string, m *Manifest) (list []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}
	defer root.Close()
	for _, e := range m.Files {
		name := m.Stored(e.Name)
		err := plainPath(root, name)
		info, statErr := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			list = append(list, name)
		case err != nil:
			list = append(list, err.Error())
		case statErr != nil:
			list = append(list, statErr.Error())
		case info.Size() != e.Size:
			list = append(list, fmt.Sprintf("%s (has %d bytes instead of %d)", name, info.Size(), e.Size))
		}
	}
	return list, nil
}
