package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"time"
)

// tarOutput writes a backup as a tar stream.
type tarOutput struct {
	w     *tar.Writer
	begin time.Time
}

func (o *tarOutput) write(name string, size int64, r io.Reader) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o400, ModTime: o.begin.Truncate(time.Second)}
	if err := o.w.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.CopyBuffer(onlyWriter{o.w}, r, make([]byte, chunkSize))
	return err
}

// onlyWriter hides that a tar.Writer can read: it would do so in small chunks.
type onlyWriter struct{ io.Writer }

// undo is not possible: the reader has the name and the size already.
func (o *tarOutput) undo(string) bool { return false }

func (o *tarOutput) finish(*Manifest) error { return o.w.Close() }

// tarArchive reads a backup from a tar stream.
type tarArchive struct {
	r        *tar.Reader
	path     string // for messages
	names    nameSet
	manifest *Manifest // when the end has been reached
}

func newTarArchive(r io.Reader, path string) *tarArchive {
	return &tarArchive{r: tar.NewReader(r), path: path, names: nameSet{}}
}

// next returns the next file. After the last one it reads the manifest and returns io.EOF.
func (a *tarArchive) next() (stored, error) {
	h, err := a.r.Next()
	switch {
	case errors.Is(err, io.EOF):
		return stored{}, fmt.Errorf("%s ends before %s, its last file: it is not complete%s", a.path, ManifestFile, otherRemedy)
	case err != nil:
		return stored{}, fmt.Errorf("%s is not a tar of a backup, or is damaged: %w%s", a.path, err, otherRemedy)
	}
	if err := checkHeader(h); err != nil {
		return stored{}, fmt.Errorf("%s: %w. A tar that this program has not written can be unpacked, and restored from that folder", a.path, err)
	}
	if h.Name != ManifestFile {
		if err := a.names.add(h.Name); err != nil {
			return stored{}, fmt.Errorf("%s: %w%s", a.path, err, otherRemedy)
		}
		return stored{h.Name, h.Size, a.r}, nil
	}
	if a.manifest, err = readManifest(a.r, ManifestFile+" in "+a.path); err != nil {
		return stored{}, err
	}
	if _, err := a.r.Next(); !errors.Is(err, io.EOF) {
		return stored{}, fmt.Errorf("%s does not end after %s%s", a.path, ManifestFile, otherRemedy)
	}
	return stored{}, io.EOF
}

// checkHeader accepts the headers that tarOutput writes. Links and devices are refused, and sparse files: a small one of these can
// have any size.
func checkHeader(h *tar.Header) error {
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("%q is a link, a folder or a device (type %q), not a file", h.Name, h.Typeflag)
	}
	for key := range h.PAXRecords {
		if key != "path" && key != "size" {
			return fmt.Errorf("%q has the attribute %.40q", h.Name, key)
		}
	}
	if h.Name == ManifestFile {
		return nil
	}
	return checkStoredName(h.Name)
}
