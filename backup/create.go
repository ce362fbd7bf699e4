package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"belfry/folder"
)

// Create makes a backup. When it returns without an error, the backup is on disk, or in the stream. Files that the source cannot
// read are listed in the manifest; a stream ends with an error if reading fails in the middle of a file. A kill leaves
// an incomplete folder, which the next one removes.
func Create(ctx context.Context, src Source, o Options) (_ *Manifest, err error) {
	c := &creator{ctx: ctx, o: o, names: nameSet{}}
	if c.seal, err = newSealing(o.Recipients); err != nil {
		return nil, err
	}
	if o.Rate > 0 {
		c.limiter = rate.NewLimiter(rate.Limit(o.Rate), chunkSize)
	}
	c.m = &Manifest{Format: manifestFormat, Program: o.Program, Instance: src.Instance(), Begin: moment(o.Now()), Encrypted: c.seal.list(), Files: []Entry{}}
	if o.Tar != nil {
		c.out = &tarOutput{tar.NewWriter(o.Tar), c.m.Begin}
		return c.run(src)
	}
	if err := makeTarget(o.Target, o.Config); err != nil {
		return nil, err
	}
	lock, err := lockTarget(o.Target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	m, err := c.intoFolder(src)
	if err != nil && c.folder != nil {
		err = errors.Join(err, removePartial(c.folder.partial))
	}
	return m, err
}

// moment is a time as the manifest has it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// creator makes one backup.
type creator struct {
	ctx      context.Context
	o        Options
	seal     *sealing // nil: not encrypted
	limiter  *rate.Limiter
	out      output
	folder   *folderOutput // out, if it is one
	m        *Manifest
	names    nameSet
	progress Progress

	last  string           // the folder of the last backup; empty: nothing is linked
	begun time.Time        // when the last backup began
	prior map[string]Entry // its files
}

// intoFolder makes a backup in a folder of backups. The lock is held.
func (c *creator) intoFolder(src Source) (*Manifest, error) {
	if err := removePartials(c.o.Target); err != nil {
		return nil, err
	}
	if err := c.findLast(); err != nil {
		return nil, err
	}
	if err := c.estimate(src); err != nil {
		return nil, err
	}
	var err error
	if c.folder, err = newFolderOutput(c.o.Target, c.m.Begin); err != nil {
		return nil, err
	}
	c.out = c.folder
	return c.run(src)
}

// findLast finds the last backup to which files can be linked: one of this instance that is encrypted for the same recipients.
func (c *creator) findLast() error {
	c.prior = map[string]Entry{}
	last, passed, err := Latest(c.o.Target, c.m.Instance)
	c.m.passed = passed
	if err != nil || last == nil || c.o.Full || !slices.Equal(last.Manifest.Encrypted, c.m.Encrypted) {
		return err
	}
	c.last, c.begun = last.Path, last.Manifest.Begin
	for _, e := range last.Manifest.Files {
		c.prior[e.Name] = e
	}
	for _, d := range last.Manifest.Damaged { // found when it was read
		delete(c.prior, d.Name)
	}
	return nil
}

// same returns the file of the last backup if it is equal.
func (c *creator) same(f File) (Entry, bool) {
	e, ok := c.prior[f.Name]
	return e, ok && f.State != "" && e.State == f.State && e.Source == f.Size
}

// estimate adds up what is to come, and compares it with the free space.
func (c *creator) estimate(src Source) error {
	files, err := src.Estimate(c.ctx)
	if err != nil {
		return err
	}
	need := int64(0)
	for _, f := range files {
		c.progress.TotalFiles++
		c.progress.TotalBytes += f.Size
		if _, same := c.same(f); !same {
			need += c.seal.size(f.Size)
		}
	}
	need += need / 20
	free, _, err := folder.FreeSpace(c.o.Target)
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%s has %s free, and this backup needs %s; free space there, remove old backups, or name another folder", c.o.Target, rough(free), rough(need))
	}
	return nil
}

// run copies all files and writes the manifest.
func (c *creator) run(src Source) (_ *Manifest, err error) {
	if c.m.Position, err = src.Files(c.ctx, c.add); err != nil {
		return nil, err
	}
	c.m.End = moment(c.o.Now())
	text, err := c.m.encode()
	if err == nil {
		err = c.m.check()
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", ManifestFile, err)
	}
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.store(ManifestFile, int64(len(text)), bytes.NewReader(text)); err != nil {
		return nil, err
	}
	if err := c.out.finish(c.m); err != nil {
		return nil, fmt.Errorf("complete the backup: %w", err)
	}
	if c.folder != nil {
		c.m.path = strings.TrimSuffix(c.folder.partial, partialSuffix)
	}
	return c.m, nil
}

// add copies or links one file.
func (c *creator) add(f File) error {
	if f.Damaged != "" {
		defer func() { c.m.Damaged = append(c.m.Damaged, Missing{f.Name, f.Damaged}) }()
		if f.Open == nil {
			return nil
		}
	}
	if err := errors.Join(c.ctx.Err(), checkName(f.Name), c.forget(f.Name), c.names.add(f.Name)); err != nil {
		return fmt.Errorf("back up %s: %w", f.Name, err)
	}
	c.progress.Name = f.Name
	if f.Err != nil {
		c.skip(f.Name, f.Err)
		return nil
	}
	if e, same := c.same(f); same && c.folder.link(c.m.Stored(f.Name), filepath.Join(c.last, c.m.Stored(f.Name)), e.Size, c.begun) {
		c.m.Files = append(c.m.Files, e)
		c.progress.Bytes += f.Size
		c.progress.Linked += f.Size
	} else if err := c.copy(f); err != nil {
		return err
	}
	if f.Lost != "" {
		c.m.Lost = append(c.m.Lost, Missing{f.Name, f.Lost})
	}
	c.progress.Files++
	c.report(0)
	return nil
}

// forget removes a file that comes once more, because it changed while it was copied.
func (c *creator) forget(name string) error {
	if !c.names[name] {
		return nil
	}
	c.m.Missing = slices.DeleteFunc(c.m.Missing, func(m Missing) bool { return m.Name == name })
	c.m.Lost = slices.DeleteFunc(c.m.Lost, func(m Missing) bool { return m.Name == name })
	c.m.Damaged = slices.DeleteFunc(c.m.Damaged, func(m Missing) bool { return m.Name == name })
	if i := slices.IndexFunc(c.m.Files, func(e Entry) bool { return e.Name == name }); i >= 0 {
		if !c.out.undo(c.m.Stored(name)) {
			return errors.New("it changed while it was copied, and a stream cannot take it back; repeat the backup")
		}
		c.m.Files = slices.Delete(c.m.Files, i, i+1)
	}
	delete(c.names, name)
	return nil
}

// copy copies a file. If the source cannot be read, the file is left out.
func (c *creator) copy(f File) error {
	r, err := f.Open()
	if err != nil {
		if short(err) || c.ctx.Err() != nil {
			return fmt.Errorf("back up %s: %w", f.Name, err)
		}
		c.skip(f.Name, err)
		return nil
	}
	defer r.Close()
	src := &sourceReader{ctx: c.ctx, r: r, size: f.Size, limiter: c.limiter, moved: c.report}
	e, err := c.write(f, src)
	switch {
	case err == nil:
		c.m.Files = append(c.m.Files, e)
	case src.failed != nil && c.ctx.Err() == nil && c.out.undo(c.m.Stored(f.Name)):
		c.skip(f.Name, src.failed)
	case src.failed != nil && c.ctx.Err() == nil:
		return fmt.Errorf("back up %s: %w; it cannot be left out of a stream that has begun to send it. A backup into a folder leaves it out", f.Name, err)
	default:
		return fmt.Errorf("back up %s: %w", f.Name, err)
	}
	return nil
}

// short reports whether the process lacks descriptors or memory, which says nothing about the file.
func short(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// write stores what it reads, encrypted if the backup is.
func (c *creator) write(f File, r io.Reader) (Entry, error) {
	r, err := c.seal.seal(r)
	if err != nil {
		return Entry{}, err
	}
	sum, size := sha256.New(), c.seal.size(f.Size)
	if err := c.store(c.m.Stored(f.Name), size, io.TeeReader(r, sum)); err != nil {
		return Entry{}, err
	}
	return Entry{f.Name, f.Size, f.State, size, hex.EncodeToString(sum.Sum(nil))}, nil
}

// skip lists a file as missing.
func (c *creator) skip(name string, err error) {
	c.m.Missing = append(c.m.Missing, Missing{name, err.Error()})
	c.progress.Missing++
}

// report adds bytes to the progress.
func (c *creator) report(n int) {
	c.progress.Bytes += int64(n)
	if c.o.Progress != nil {
		c.o.Progress(c.progress)
	}
}

// store writes a file of the backup. If the disk is full, the error says what to do.
func (c *creator) store(name string, size int64, r io.Reader) error {
	err := c.out.write(name, size, r)
	if err == nil || c.folder == nil || !folder.DiskFull(err) {
		return err
	}
	need := "more space"
	if left := c.progress.TotalBytes - c.progress.Bytes; left > 0 {
		need = "about " + rough(left) + " more"
	}
	return fmt.Errorf("no space left in %s after %s of the backup, which needs %s; free space there, remove old backups, or name another folder: %w",
		c.o.Target, rough(c.progress.Bytes-c.progress.Linked), need, err)
}
