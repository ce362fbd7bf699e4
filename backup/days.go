package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/folder"
)

// DaysWish says which rows of a backup to bring back into the running service.
type DaysWish struct {
	Backup     string // absolute path of the folder of the backup
	Collection string
	Day        string // 2026-11-15, or 2026-11 where a file holds a month; empty: all days of the collection
	Identity   string // file of the private key of an encrypted backup
}

// days are the files to bring back.
type days struct {
	DaysWish
	from    *Backup
	entries []Entry
}

// days checks a wish and finds the files in the backup.
func (k *Keeper) days(w DaysWish) (*days, error) {
	c := k.c.Catalog.KeptAs(w.Collection)
	if c == nil {
		return nil, belfry.Errorf(belfry.UnknownCollection, "there is no historical collection %.64q", w.Collection)
	}
	from, err := find(w.Backup)
	if err != nil {
		return nil, belfry.Errorf(belfry.BadParameter, "%v", err)
	}
	m := from.Manifest
	if m.Instance != k.c.Source.Instance() {
		return nil, belfry.Errorf(belfry.BadParameter, "%s is a backup of instance %s, and this is instance %s: rows of one cannot be brought into another; restore it into an empty folder instead", from.Path, m.Instance, k.c.Source.Instance())
	}
	d := &days{DaysWish: w, from: from}
	have := map[string]bool{}
	for _, e := range m.Files {
		collection, day, ok := k.fileOf(e.Name)
		if ok && collection == c.Name {
			have[day] = true
			if w.Day == "" || day == w.Day {
				d.entries = append(d.entries, e)
			}
		}
	}
	if len(d.entries) == 0 {
		return nil, belfry.Errorf(belfry.UnknownItem, "%s has no rows of %s; it has %s", from.Path, strings.TrimSpace(w.Collection+" "+w.Day), span(have))
	}
	return d, nil
}

// fileOf returns the collection and day of which a file of a backup has rows.
func (k *Keeper) fileOf(name string) (collection, day string, ok bool) {
	if name, ok = strings.CutPrefix(name, "rows/"); !ok {
		return "", "", false
	}
	return k.c.Rows.FileOf(name)
}

// span names the first and last of some days.
func span(days map[string]bool) string {
	list := slices.Sorted(maps.Keys(days))
	switch len(list) {
	case 0:
		return "none"
	case 1:
		return list[0]
	}
	return fmt.Sprintf("%d from %s to %s", len(list), list[0], list[len(list)-1])
}

// merge adds the rows of all files that the service lacks. A file that fails does not keep the others from being merged.
func (k *Keeper) merge(ctx context.Context, j *job, d *days) error {
	var errs []error
	if err := k.checkBranch(ctx, d); err != nil {
		return err
	}
	for _, e := range d.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		added, err := k.mergeFile(ctx, d, e)
		k.mu.Lock()
		j.Files++
		j.Bytes += e.Size
		j.Rows += added
		k.mu.Unlock()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
		}
	}
	if j.Rows > 0 {
		k.c.Report(fmt.Sprintf("%d rows of %s were brought back from the backup %s", j.Rows, strings.TrimSpace(d.Collection+" "+d.Day), d.Backup))
	}
	return errors.Join(errs...)
}

// checkBranch returns an error if rows of the backup may have positions and ids that this service has given to other rows.
func (k *Keeper) checkBranch(ctx context.Context, d *days) (err error) {
	ours, err := folder.ReadBranches(k.c.Config().Inside(folder.BranchesFile))
	if err != nil {
		return err
	}
	refuse := func(why error) error {
		return fmt.Errorf("the rows of %s cannot be added to this service: %w, so its rows may have the ids of others here. Restore it into another folder, start it there, and send the rows that are missing here", d.Backup, why)
	}
	files := d.from.Manifest.Files
	i := slices.IndexFunc(files, func(e Entry) bool { return e.Name == dataDir+folder.BranchesFile })
	if i < 0 {
		return refuse(errors.New("it does not say after which restores it was made"))
	}
	dir, err := k.tempDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, folder.BranchesFile)
	if err := extract(ctx, d.from, files[i], d.Identity, path); err != nil {
		return err
	}
	theirs, err := folder.ReadBranches(path)
	if err == nil {
		err = folder.CheckBranch(ours, theirs, d.from.Manifest.Position)
	}
	if err != nil {
		return refuse(err)
	}
	return nil
}

// tempDir returns a new folder for files of a backup.
func (k *Keeper) tempDir() (string, error) {
	temp := k.c.Config().Inside("tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(temp, "restore-")
}

// mergeFile copies one file out of the backup, with those that belong to it, checked and decrypted, and merges it.
func (k *Keeper) mergeFile(ctx context.Context, d *days, e Entry) (added int, err error) {
	dir, err := k.tempDir()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := strings.TrimPrefix(e.Name, "rows/")
	main := filepath.Join(dir, filepath.Base(name))
	for _, other := range d.from.Manifest.Files {
		suffix, with := strings.CutPrefix(other.Name, e.Name)
		if _, _, own := k.fileOf(other.Name); !with || own && suffix != "" {
			continue
		}
		if err := extract(ctx, d.from, other, d.Identity, main+suffix); err != nil {
			return 0, err
		}
	}
	return k.c.Rows.Merge(ctx, main, name, k.c.Exists)
}
