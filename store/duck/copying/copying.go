// Package copying reads the files of a store that is in use, for a copy of them.
//
// A database file is read as of its last checkpoint: what the engine writes later goes into its log, or into blocks that
// the file as of that checkpoint does not use. So a file that is being copied must not be checkpointed; the store makes
// sure of that, and the number of checkpoints in the header, compared after the copy, proves it.
package copying

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/folder"
)

// ErrChanged means that a file was changed or replaced while it was copied.
var ErrChanged = errors.New("it was changed while it was copied")

// File is a database file that is being copied.
type File struct {
	in          *os.File
	info        os.FileInfo
	checkpoints uint64
	sums        *damage.Sums // of what was read
	err         error        // of a read
}

// Open opens a database file. It has no log, or one that is not copied.
func Open(path string) (*File, error) {
	in, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	f := &File{in: in, sums: damage.NewSums()}
	if f.info, err = in.Stat(); err == nil {
		f.checkpoints, err = damage.CheckpointsIn(in)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is cut off")
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return f, nil
}

// openRegular opens a file, and nothing else; see damage.Open.
func openRegular(path string) (*os.File, error) {
	f, err := damage.Open(path, os.O_RDONLY|unix.O_NOFOLLOW)
	return f, folder.Cause(err)
}

// Copied describes the file.
func (f *File) Copied(name string) store.CopiedFile {
	return store.CopiedFile{Name: name, Size: f.info.Size(), Content: io.LimitReader(f, f.info.Size()), State: f.State()}
}

// State tells files apart; empty: unknown. The number of checkpoints tells whether the content is another one, as long as the
// file is the same: its inode, its size and the time of its last change, which no program can set.
func (f *File) State() string {
	var s unix.Stat_t
	if unix.Fstat(int(f.in.Fd()), &s) != nil {
		return ""
	}
	return fmt.Sprintf("%d checkpoints, %d bytes, inode %d:%d, changed %d.%09d", f.checkpoints, s.Size, s.Dev, s.Ino, s.Ctim.Sec, s.Ctim.Nsec)
}

// Is reports whether this is the file that was attached, which had a number of checkpoints then or later.
func (f *File) Is(attached os.FileInfo, checkpoints uint64) bool {
	return os.SameFile(f.info, attached) && f.checkpoints >= checkpoints
}

// Read implements io.Reader. A file that is shorter than it was is an error.
func (f *File) Read(b []byte) (int, error) {
	n, err := f.in.Read(b)
	f.sums.Write(b[:n]) // cannot fail
	if err == io.EOF {
		err = errors.New("it has become shorter while it was copied")
	}
	if err != nil {
		f.err = folder.Cause(err)
	}
	return n, err
}

// Check returns an error if what was read is not the content of the file at path when it was opened: it could not be
// read, or was changed or replaced.
func (f *File) Check(path string) error {
	if f.err != nil {
		return f.err
	}
	n, err := damage.CheckpointsIn(f.in)
	if err != nil {
		return folder.Cause(err)
	}
	if n != f.checkpoints {
		return fmt.Errorf("%w: it was checkpointed", ErrChanged)
	}
	info, err := os.Stat(path)
	if err != nil {
		return folder.Cause(err)
	}
	if !os.SameFile(info, f.info) {
		return fmt.Errorf("%w: another file is in its place", ErrChanged)
	}
	return nil
}

// Damage returns what is wrong with the file, if all of it was read: it does not match its checksums. used reports whether
// the engine uses one of some blocks.
func (f *File) Damage(used func(blocks []uint64) bool) string {
	if f.sums.Read() < f.info.Size() {
		return ""
	}
	return f.sums.Damage(f.in, used)
}

// Close closes the file.
func (f *File) Close() { _ = f.in.Close() }

// Text returns a file with this content.
func Text(name, text string) store.CopiedFile {
	return store.CopiedFile{Name: name, Size: int64(len(text)), Content: strings.NewReader(text), State: fmt.Sprintf("sha256 %x", sha256.Sum256([]byte(text)))}
}

// Notes returns the notes about whole collections and about the manifest. Those that the store has in memory are as they are there,
// whatever became of their files. One that was damaged when the store read it is copied as it is.
func Notes(dir string, all []*catalog.Collection, marks *folder.Watermarks, kept *folder.Kept) (list []store.CopiedFile) {
	for _, path := range folder.ManifestNotes(dir) {
		if f, any := Small(filepath.Base(path), path); any {
			f.Lost = "the list of files of rows was lost or damaged, so days may be missing without another note"
			list = append(list, f)
		}
	}
	add := func(name, text, damaged string) {
		switch {
		case damaged != "":
			list = append(list, asItIs(dir, name, damaged))
		case text != "":
			list = append(list, Text(name, text))
		}
	}
	for _, c := range all {
		add(c.Name+"/"+folder.WatermarkFile, marks.Text(c), marks.Damaged()[c.Name])
		add(folder.KeptKey(c), kept.Text(c), kept.Damaged()[c.Name])
	}
	return list
}

// asItIs returns a small file that is damaged, or missing.
func asItIs(dir, name, damaged string) store.CopiedFile {
	f, any := Small(name, filepath.Join(dir, filepath.FromSlash(name)))
	if !any {
		return store.CopiedFile{Name: name, Err: errors.New(damaged)}
	}
	if f.Err == nil {
		f.Damaged = damaged
	}
	return f
}

// maxSmall is the maximum size of a file that Small reads.
const maxSmall = max(folder.MaxKeptBytes, 1<<20)

// Small reads a small file, of which the store always replaces the whole. It returns false if there is none.
func Small(name, path string) (c store.CopiedFile, any bool) {
	f, err := openRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return c, false
	}
	if err != nil {
		return store.CopiedFile{Name: name, Err: err}, true
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(text) > maxSmall {
		err = fmt.Errorf("it has more than %d bytes", maxSmall)
	}
	if err != nil {
		return store.CopiedFile{Name: name, Err: folder.Cause(err)}, true
	}
	return Text(name, string(text)), true
}

// To copies a file to a new one.
func To(ctx context.Context, from, to string) error {
	in, err := damage.Open(from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(out, in, 64<<20)
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, ctx.Err(), out.Close())
}
