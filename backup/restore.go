package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"belfry/config"
	"belfry/folder"
	"belfry/journal"
	"belfry/meta"
)

// RestoreOptions configure Restore.
type RestoreOptions struct {
	Stream        io.Reader // a tar; used instead of from
	IdentityFile  string    // private keys of age, if the backup is encrypted
	AcceptMissing bool      // restore a backup with files that were missing or damaged when it was made
	Progress      func(Progress)
}

// Restored is the result of Restore.
type Restored struct {
	*Manifest
	From    string // folder or file of the backup
	Secrets int    // sealed secrets of receivers, which need the key file; that is never in a backup
}

// Restore writes the files of a backup to an empty data folder, and to the places that the configuration gives for rows and
// metadata. From is the folder of a backup, a folder of backups, of which the newest complete one is used, or a tar file.
//
// A folder or a tar file is checked before anything is written: names, sizes and whether every file is there. Sums are checked while
// files are written; those of a stream at its end, where its manifest is. Until everything is on disk the data folder has a marker
// that prevents a start. A restore of the same backup into such a folder starts over.
func Restore(ctx context.Context, from string, cfg *config.Config, o RestoreOptions) (_ *Restored, err error) {
	r := &restorer{ctx: ctx, o: o, places: placesOf(cfg), sums: map[string]Entry{}, dirs: map[string]bool{}, res: Restored{From: from}}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(from); err != nil {
		return nil, err
	}
	if err := r.first(); err != nil {
		return nil, err
	}
	if err := r.prepare(cfg.Data); err != nil {
		return nil, err
	}
	if err := r.copyAll(); err != nil {
		return nil, fmt.Errorf("the restore into %s is not complete: %w", cfg.Data, r.explain(err))
	}
	return r.finish()
}

// restorer restores one backup.
type restorer struct {
	ctx      context.Context
	o        RestoreOptions
	places   *places
	archive  archive
	manifest *Manifest        // nil until the end of a stream
	entries  map[string]Entry // of the manifest, by stored name
	opening  *opening         // nil: not encrypted
	sums     map[string]Entry // what was written, by stored name
	dirs     map[string]bool  // with new names
	progress Progress
	res      Restored

	pending stored    // the first file
	plain   io.Reader // its content
	sum     hash.Hash // of what was read of it
	raw     io.Reader // as stored

	lock    *journal.Lock
	closers []io.Closer
}

func (r *restorer) close() (err error) {
	for _, c := range r.closers {
		err = errors.Join(err, c.Close())
	}
	if r.lock != nil {
		err = errors.Join(err, r.lock.Unlock())
	}
	return err
}

// first opens the first file, to see that it can be decrypted before anything is written. A backup is encrypted as a whole, so in a
// stream the first name shows whether it is.
func (r *restorer) first() error {
	e, err := r.archive.next()
	if errors.Is(err, io.EOF) {
		return errors.New("the backup has no files" + otherRemedy)
	}
	if err != nil {
		return err
	}
	sealed := strings.HasSuffix(e.name, sealedSuffix)
	var recipients []string
	if r.manifest != nil {
		recipients = r.manifest.Encrypted
		sealed = len(recipients) > 0
	}
	if sealed {
		if r.opening, err = newOpening(r.o.IdentityFile, recipients); err != nil {
			return err
		}
	}
	return r.begin(e)
}

// begin begins to read a file.
func (r *restorer) begin(e stored) (err error) {
	r.pending, r.sum = e, sha256.New()
	src := &sourceReader{ctx: r.ctx, r: e.r, size: e.size, moved: r.report}
	r.raw = io.TeeReader(src, r.sum)
	r.plain, err = r.opening.open(r.raw, e.name)
	return err
}

func (r *restorer) report(n int) {
	r.progress.Name = r.pending.name
	r.progress.Bytes += int64(n)
	if r.o.Progress != nil {
		r.o.Progress(r.progress)
	}
}

// markerText begins the marker; the backup follows.
const markerText = "restoring 1\n"

const streamID = "stream"

// prepare checks that the data folder is empty, locks it and writes the marker.
func (r *restorer) prepare(dir string) error {
	if err := cmp.Or(folder.CheckNoFile(dir), checkOutside(dir, r.places.rows, filepath.Dir(r.places.meta))); err != nil {
		return err
	}
	marker := filepath.Join(dir, folder.RestoringFile)
	if err := r.checkPlaces(marker); err != nil {
		return err
	}
	err := r.makeDirs(dir)
	if err != nil {
		return err
	}
	if r.lock, err = journal.LockDir(dir); err != nil {
		return err
	}
	if err := r.checkPlaces(marker); err != nil { // another process may have been faster
		return err
	}
	text := fmt.Sprintf("%s%s\nThe backup %s is being restored into this folder. If this was interrupted, run the same restore again.\n", markerText, r.id(), r.res.From)
	if err := journal.WriteFile(marker, []byte(text)); err != nil {
		return err
	}
	return r.makeDirs(r.places.rows, r.places.journal, filepath.Dir(r.places.meta))
}

func (r *restorer) makeDirs(list ...string) error {
	for _, at := range list {
		if err := r.makeDir(at); err != nil {
			return fmt.Errorf("create the folder to restore into: %w", err)
		}
		r.dirs[filepath.Dir(filepath.Clean(at))] = true
	}
	return nil
}

// checkOutside refuses folders in a backup, which would not be that backup any more.
func checkOutside(dirs ...string) error {
	for _, dir := range dirs {
		at, err := resolve(dir)
		if err != nil {
			return err
		}
		for ; at != filepath.Dir(at); at = filepath.Dir(at) {
			if exists(filepath.Join(at, ManifestFile)) {
				return fmt.Errorf("%s is in the backup %s; restore into a folder elsewhere", dir, at)
			}
		}
	}
	return nil
}

// id identifies the backup in the marker.
func (r *restorer) id() string {
	if r.manifest == nil {
		return streamID
	}
	return r.manifest.sum
}

// checkPlaces refuses to restore over anything but an interrupted restore of the same backup.
func (r *restorer) checkPlaces(marker string) error {
	text, err := os.ReadFile(marker)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the marker of a restore: %w", err)
	}
	interrupted := strings.HasPrefix(string(text), markerText+r.id()+"\n")
	if err == nil && !interrupted {
		return fmt.Errorf("another restore into %s was interrupted: %.500q. Run that one again, or empty the folder", r.places.data, text)
	}
	return r.checkEmpty(interrupted)
}

// checkEmpty refuses to restore over anything but what an interrupted restore of the same backup has written.
func (r *restorer) checkEmpty(interrupted bool) error {
	may := func(name string) bool {
		if !interrupted {
			return false
		}
		if branches := dataDir + folder.BranchesFile; name == branches || name == branches+journal.TempSuffix {
			return true // the last that a restore writes
		}
		if r.manifest == nil { // all files are compared at the end
			return checkName(name) == nil
		}
		_, ok := r.entries[r.manifest.Stored(name)]
		return ok
	}
	list, err := r.places.inTheWay(may)
	if err != nil {
		return fmt.Errorf("look whether %s is empty: %w", r.places.data, err)
	}
	if len(list) > 0 {
		return fmt.Errorf("a backup is restored into an empty data folder, and there are %s; name another folder, or move these away", few(list))
	}
	return nil
}

// copyAll writes all files and compares them with the manifest.
func (r *restorer) copyAll() error {
	for {
		if err := r.copy(); err != nil {
			return err
		}
		e, err := r.archive.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.begin(e)
		}
		if err != nil {
			return err
		}
	}
	return r.checkEnd()
}

// copy writes the pending file.
func (r *restorer) copy() error {
	name := r.pending.name
	if r.opening != nil {
		plain, sealed := strings.CutSuffix(name, sealedSuffix)
		if !sealed {
			return fmt.Errorf("%s is not encrypted, although the files before it are%s", name, otherRemedy)
		}
		name = plain
	}
	path := r.places.path(name)
	if r.places.keeps(path) {
		return fmt.Errorf("%s would replace %s, which is in no backup%s", r.pending.name, path, otherRemedy)
	}
	if err := r.makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	w, err := createFile(path, 0o600, os.O_TRUNC)
	if err != nil {
		return err
	}
	n, err := io.CopyBuffer(w, r.plain, make([]byte, chunkSize))
	if err == nil {
		_, err = io.Copy(io.Discard, r.raw)
	}
	if err := w.close(err); err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	r.progress.Files++
	e := Entry{Name: name, Source: n, Size: r.pending.size, SHA256: hex.EncodeToString(r.sum.Sum(nil))}
	r.sums[r.pending.name] = e
	if r.manifest == nil {
		return nil
	}
	return r.compare(r.pending.name, e)
}

// compare compares a file that was written with the manifest.
func (r *restorer) compare(name string, e Entry) error {
	want, known := r.entries[name]
	switch {
	case !known:
		return fmt.Errorf("%s is not in the manifest of the backup%s", name, otherRemedy)
	case e.Name != want.Name || e.Size != want.Size || e.Source != want.Source || e.SHA256 != want.SHA256:
		return fmt.Errorf("%s is damaged: its size or SHA-256 is not that of the manifest%s", name, otherRemedy)
	}
	return nil
}

// checkEnd checks at the end of a stream what else is checked at the beginning.
func (r *restorer) checkEnd() error {
	if r.manifest == nil {
		r.use(r.archive.(*tarArchive).manifest)
		if err := r.checkManifest(); err != nil {
			return err
		}
		for name, e := range r.sums {
			if err := r.compare(name, e); err != nil {
				return err
			}
		}
		if err := r.checkEmpty(true); err != nil {
			return err
		}
	}
	for name := range r.entries {
		if _, ok := r.sums[name]; !ok {
			return fmt.Errorf("%s is missing from the backup%s", name, otherRemedy)
		}
	}
	return nil
}

// explain adds the remedy to an error that comes from the disk.
func (r *restorer) explain(err error) error {
	if folder.DiskFull(err) || errors.Is(err, unix.EIO) || errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%w: %s, and run the restore again", err, folder.Explain(r.places.data, err))
	}
	return err
}

// finish makes everything durable and removes the marker.
func (r *restorer) finish() (*Restored, error) {
	if id, err := journal.ReadInstance(r.places.data); err == nil && id != "" && id != r.manifest.Instance {
		return nil, fmt.Errorf("the backup is of instance %s, according to its manifest, and the files in it are of %s%s", r.manifest.Instance, id, otherRemedy)
	}
	if err := folder.AddBranch(r.places.data, r.manifest.Position); err != nil {
		return nil, r.explain(err)
	}
	if err := r.syncDirs(); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(r.places.data, folder.RestoringFile)); err != nil {
		return nil, fmt.Errorf("everything is restored, but its marker cannot be removed, so the service will not start: %w", err)
	}
	if err := journal.SyncDir(r.places.data); err != nil {
		return nil, err
	}
	if err := r.countSecrets(); err != nil {
		return nil, fmt.Errorf("everything is restored, but the secrets in the metadata cannot be counted: %w; check the folder with belfry verify", err)
	}
	return &r.res, nil
}

// makeDir creates a folder, and remembers for syncDirs which folders get new names by that, now or before an interruption.
func (r *restorer) makeDir(dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		r.dirs[at] = true
		if exists(at) && !r.places.contain(at) || at == filepath.Dir(at) {
			return os.MkdirAll(dir, 0o700)
		}
	}
}

// syncDirs makes the names of all files and folders durable.
func (r *restorer) syncDirs() error {
	for dir := range r.dirs {
		if err := journal.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) { // what cannot be read is not new
			return err
		}
	}
	return nil
}

func (r *restorer) countSecrets() error {
	if _, ok := r.entries[r.manifest.Stored(metaName)]; !ok {
		return nil
	}
	return meta.ReadSecrets(r.ctx, r.places.meta, func(meta.SecretRef, string) { r.res.Secrets++ })
}
