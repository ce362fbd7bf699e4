package backup

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// open finds the backup. Except for a stream, it is checked, without reading all of it.
func (r *restorer) open(from string) error {
	if r.o.Stream != nil {
		r.res.From = "the stream"
		r.archive = newTarArchive(r.o.Stream, r.res.From)
		return nil
	}
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	if info.IsDir() {
		err = r.openFolder(from)
	} else {
		err = r.openTar(from)
	}
	if err != nil {
		return err
	}
	r.progress.TotalFiles, r.progress.TotalBytes = len(r.manifest.Files), r.manifest.Bytes()
	return r.checkManifest()
}

func (r *restorer) openFolder(from string) error {
	b, err := find(from)
	if err != nil {
		return err
	}
	r.use(b.Manifest)
	r.res.From = b.Path
	lost, err := absent(b.Path, b.Manifest)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return fmt.Errorf("the backup %s is damaged; missing or of another size: %s%s", b.Path, few(lost), otherRemedy)
	}
	a, err := newFolderArchive(b.Path, b.Manifest)
	if err != nil {
		return err
	}
	r.archive = a
	r.closers = append(r.closers, closer(a.close))
	return nil
}

type closer func() error

func (c closer) Close() error { return c() }

// find returns the backup in a folder, or the newest one in a folder of backups. If that is damaged, an older one is used only if it is
// named: it lacks what is newer.
func find(from string) (*Backup, error) {
	if name, partial := strings.CutSuffix(filepath.Base(from), partialSuffix); partial && isBackupName(name) && !exists(filepath.Join(from, ManifestFile)) {
		return nil, fmt.Errorf("%s is not complete%s", from, otherRemedy)
	}
	if isOne(from) {
		m, err := loadManifest(from)
		return &Backup{Path: from, Manifest: m}, err
	}
	list, err := List(from)
	if err != nil {
		return nil, err
	}
	var newest, damaged *Backup
	for i, b := range list {
		if b.Err != nil {
			damaged = &list[i]
			continue
		}
		if newest != nil && b.Manifest.Instance != newest.Manifest.Instance {
			return nil, fmt.Errorf("%s has backups of several instances, such as %s and %s; name the folder of one backup", from, newest.Path, b.Path)
		}
		newest = &list[i]
	}
	if newest == nil && damaged != nil {
		return nil, fmt.Errorf("%s has no backup that can be used: %w", from, damaged.Err)
	}
	if newest == nil {
		return nil, fmt.Errorf("%s has no complete backup; name the folder of a backup, a folder of backups, or a tar file", from)
	}
	if damaged != nil && damaged.Path > newest.Path {
		return nil, fmt.Errorf("the newest backup %s cannot be used: %w. To restore what is older, name the folder of an earlier one, such as %s", damaged.Path, damaged.Err, newest.Path)
	}
	return newest, nil
}

// openTar reads a tar file once for its names and its manifest, and opens it again.
func (r *restorer) openTar(from string) error {
	f, err := openPlain(from)
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	r.closers = append(r.closers, f)
	a := newTarArchive(f, from)
	sizes := map[string]int64{}
	for {
		e, err := a.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		sizes[e.name] = e.size
	}
	r.use(a.manifest)
	var lost []string
	for name, e := range r.entries {
		if size, ok := sizes[name]; !ok || size != e.Size {
			lost = append(lost, name)
		}
		delete(sizes, name)
	}
	slices.Sort(lost)
	if len(lost) > 0 || len(sizes) > 0 {
		text := ""
		if len(lost) > 0 {
			text += "; missing or of another size: " + few(lost)
		}
		if len(sizes) > 0 {
			text += "; unknown: " + few(slices.Sorted(maps.Keys(sizes)))
		}
		return fmt.Errorf("the backup %s is damaged%s%s", from, text, otherRemedy)
	}
	_, err = f.Seek(0, io.SeekStart)
	r.archive = newTarArchive(f, from)
	return err
}

func (r *restorer) use(m *Manifest) {
	r.manifest, r.res.Manifest = m, m
	r.entries = make(map[string]Entry, len(m.Files))
	for _, e := range m.Files {
		r.entries[m.Stored(e.Name)] = e
	}
}

// checkManifest checks that the manifest has what every instance has, and that no file was missing or damaged when the backup was made.
func (r *restorer) checkManifest() error {
	if names := r.manifest.lacks(); len(names) > 0 {
		return fmt.Errorf("the manifest lists no %s, which every instance has, so this is not a backup that belfry made%s", few(names), otherRemedy)
	}
	missing, _, damaged := r.manifest.Texts()
	switch {
	case r.o.AcceptMissing:
	case len(missing) > 0:
		return fmt.Errorf("files are missing from the backup, because they could not be read when it was made: %s. Use another backup, or accept that they are missing", few(missing))
	case len(damaged) > 0:
		return fmt.Errorf("files of the backup were damaged when it was made: %s. Use another backup, or accept that they are damaged", few(damaged))
	}
	return nil
}
