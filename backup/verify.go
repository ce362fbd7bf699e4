package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/folder"
	"belfry/journal"
	"belfry/meta/sqlite"
	"belfry/store"
)

// Verified is the result of Verify.
type Verified struct {
	Backups  int // complete ones
	Files    int // that were read
	Problems []store.Problem
}

// Verify reads a backup, or all backups in a folder of backups, and reports what is damaged, missing, unknown or inconsistent. It
// needs no key and changes nothing. Of a backup that is encrypted or a tar it does not check whether the parts fit together, but
// every byte of every file is compared with the manifest.
func Verify(ctx context.Context, path string, progress func(Progress)) (Verified, error) {
	v := &verifier{ctx: ctx, report: progress, sums: map[inode]string{}, res: Verified{Problems: []store.Problem{}}}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return v.res, fmt.Errorf("open the backup: %w", err)
	case !info.IsDir():
		err = v.tarFile(path)
	case isOne(path):
		err = v.folder(path)
	default:
		err = v.all(path)
	}
	return v.res, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// verifier checks backups.
type verifier struct {
	ctx      context.Context
	report   func(Progress)
	progress Progress
	res      Verified
	sums     map[inode]string // of files with several links, which other backups have, too
}

// inode identifies a file that has several names.
type inode struct{ device, number uint64 }

const damageRemedy = "Restore from another backup. A full backup copies the file again."

func (v *verifier) found(file, problem, remedy string) {
	v.res.Problems = append(v.res.Problems, store.Problem{File: file, Problem: problem, Remedy: remedy})
}

// all verifies every backup in a folder of backups.
func (v *verifier) all(target string) error {
	list, err := List(target)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("%s has no complete backup; name the folder of a backup, a folder of backups, or a tar file", target)
	}
	for _, b := range list {
		if b.Err == nil {
			v.progress.TotalFiles += len(b.Manifest.Files)
			v.progress.TotalBytes += b.Manifest.Bytes()
		}
	}
	for _, b := range list {
		if errors.Is(b.Err, errNoFolder) {
			v.found(b.Path, b.Err.Error(), "Then verify it again.")
			continue
		}
		if err := v.folder(b.Path); err != nil {
			return err
		}
	}
	return nil
}

// folder verifies one backup. The error means that it could not be read to the end.
func (v *verifier) folder(dir string) error {
	m, err := loadManifest(dir)
	if err != nil {
		v.found(filepath.Join(dir, ManifestFile), err.Error(), "Without the manifest it is unknown what the backup should have. Use another backup.")
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	defer root.Close()
	before := len(v.res.Problems)
	for _, e := range m.Files {
		if err := v.file(root, m, e); err != nil {
			return err
		}
	}
	others, err := unknownFiles(dir, m)
	if err != nil {
		return err
	}
	for _, name := range others {
		v.found(filepath.Join(dir, name), "unknown: it is not in the manifest", "A restore ignores it. Move it away if it is not needed.")
	}
	v.missing(dir, m)
	if len(v.res.Problems) == before {
		v.res.Backups++
		v.parts(dir, m)
	}
	return nil
}

// missing reports the files that could not be read when the backup was made, and the days whose rows were lost before.
func (v *verifier) missing(path string, m *Manifest) {
	for _, f := range m.Missing {
		v.found(filepath.Join(path, f.Name), "missing from the backup: it could not be read when that was made: "+f.Reason,
			"Use another backup, or accept at the restore that the file is missing.")
	}
	for _, name := range m.lacks() {
		v.found(filepath.Join(path, name), "the manifest does not list it, although every instance has it", "Use another backup.")
	}
	for _, f := range m.Lost {
		v.found(filepath.Join(path, f.Name), "rows were lost before the backup was made: "+f.Reason,
			"An earlier backup may have them: belfry restore --collection --day adds its rows to the running service.")
	}
	for _, f := range m.Damaged {
		remedy := "Use an earlier backup. A restore of this one has to accept the damage, and the service may not start with it."
		if strings.HasPrefix(f.Name, rowsDir) && f.Name != rowsInstanceName {
			remedy = "An earlier backup may have it whole. A restore of this one has to accept the damage; belfry restore --collection --day then adds the rows of the earlier one."
		}
		v.found(filepath.Join(path, f.Name), "damaged when the backup was made: "+f.Reason, remedy)
	}
}

// file compares one file with the manifest.
func (v *verifier) file(root *os.Root, m *Manifest, e Entry) error {
	name := m.Stored(e.Name)
	path := filepath.Join(root.Name(), filepath.FromSlash(name))
	f, err := openIn(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		v.found(path, "missing", damageRemedy)
		return nil
	}
	if err != nil {
		v.found(path, err.Error(), damageRemedy)
		return v.ctx.Err()
	}
	defer f.Close()
	v.progress.Name = name
	info, err := f.Stat()
	switch {
	case err != nil:
		v.found(path, err.Error(), damageRemedy)
	case info.Size() != e.Size:
		v.found(path, fmt.Sprintf("it has %d bytes instead of %d", info.Size(), e.Size), damageRemedy)
	default:
		sum, err := v.sum(f, info)
		switch {
		case v.ctx.Err() != nil:
			return v.ctx.Err()
		case err != nil:
			v.found(path, "it cannot be read: "+err.Error(), damageRemedy)
		case sum != e.SHA256:
			v.found(path, "damaged: its SHA-256 is not that of the manifest", damageRemedy)
		}
	}
	return nil
}

// sum returns the SHA-256 of a file. One that several backups have is read once.
func (v *verifier) sum(f *os.File, info fs.FileInfo) (string, error) {
	id, links := linksOf(info)
	if known, ok := v.sums[id]; ok && links > 1 {
		v.moved(int(info.Size()))
		return known, nil
	}
	h := sha256.New()
	if _, err := io.CopyBuffer(h, &sourceReader{ctx: v.ctx, r: f, size: info.Size(), moved: v.moved}, make([]byte, chunkSize)); err != nil {
		return "", err
	}
	v.res.Files++
	v.progress.Files++
	sum := hex.EncodeToString(h.Sum(nil))
	if links > 1 {
		v.sums[id] = sum
	}
	return sum, nil
}

func (v *verifier) moved(n int) {
	v.progress.Bytes += int64(n)
	if v.report != nil {
		v.report(v.progress)
	}
}

// tarFile verifies a tar in one pass.
func (v *verifier) tarFile(path string) error {
	f, err := openPlain(path)
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	defer f.Close()
	a := newTarArchive(f, path)
	sums := map[string]Entry{}
	for {
		e, err := a.next()
		if errors.Is(err, io.EOF) {
			break
		}
		h := sha256.New()
		if err == nil {
			v.progress.Name = e.name
			_, err = io.CopyBuffer(h, &sourceReader{ctx: v.ctx, r: e.r, size: e.size, moved: v.moved}, make([]byte, chunkSize))
		}
		if v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		if err != nil {
			v.found(path, err.Error(), damageRemedy)
			return nil
		}
		v.res.Files++
		v.progress.Files++
		sums[e.name] = Entry{Name: e.name, Size: e.size, SHA256: hex.EncodeToString(h.Sum(nil))}
	}
	v.compare(path, a.manifest, sums)
	return nil
}

// compare compares the files of a tar with its manifest.
func (v *verifier) compare(path string, m *Manifest, sums map[string]Entry) {
	before := len(v.res.Problems)
	for _, e := range m.Files {
		name := m.Stored(e.Name)
		have, ok := sums[name]
		delete(sums, name)
		switch {
		case !ok:
			v.found(path, name+" is missing", damageRemedy)
		case have.Size != e.Size || have.SHA256 != e.SHA256:
			v.found(path, name+" is damaged: its size or SHA-256 is not that of the manifest", damageRemedy)
		}
	}
	for name := range sums {
		v.found(path, name+" is unknown: it is not in the manifest", damageRemedy)
	}
	v.missing(path, m)
	if len(v.res.Problems) == before {
		v.res.Backups++
	}
}

// parts checks that the parts of an undamaged backup belong together, if they can be read.
func (v *verifier) parts(dir string, m *Manifest) {
	const remedy = "Restore from another backup, and make a new one."
	if len(m.Encrypted) > 0 {
		return
	}
	for _, name := range []string{instanceName, rowsInstanceName, journalInstanceName} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		switch id, err := journal.ReadInstance(filepath.Dir(at)); {
		case err != nil:
			v.found(at, err.Error(), remedy)
		case id != m.Instance:
			v.found(at, fmt.Sprintf("names instance %q, and the backup is of instance %s", id, m.Instance), remedy)
		}
	}
	data := filepath.Join(dir, strings.TrimSuffix(dataDir, "/"))
	folder.CheckOwn(data, func(name string, err error) { v.found(filepath.Join(data, name), err.Error(), remedy) })
	has := func(name string) bool {
		return slices.ContainsFunc(m.Files, func(e Entry) bool { return e.Name == name && e.Size > 0 })
	}
	at := filepath.Join(dir, filepath.FromSlash(metaName))
	if !has(metaName) {
		v.found(at, "missing or empty", remedy)
		return
	}
	if has(metaLogName) { // reading it would write beside it; a start does
		return
	}
	facts, err := sqlite.ReadFacts(v.ctx, at)
	if err != nil {
		v.found(at, err.Error(), remedy)
		return
	}
	if facts.Instance != m.Instance {
		v.found(at, fmt.Sprintf("belongs to instance %q, and the backup is of instance %s", facts.Instance, m.Instance), remedy)
	}
	at = filepath.Join(dir, filepath.FromSlash(dataDir+folder.BranchesFile))
	text, err := folder.ReadBranches(at)
	list := belfry.NewBranches(text)
	if err != nil {
		v.found(at, "the list of starts cannot be used: "+err.Error(), "Use another backup, if there is one: rows of this one cannot be added to a service, and one restored from it begins the list again.")
	} else if err := list.Check(facts.Branch, facts.Stored); err != nil && facts.Stored > 0 {
		v.found(filepath.Join(dir, filepath.FromSlash(metaName)), "of another branch of this instance: "+err.Error(), remedy)
	}
	v.journal(filepath.Join(dir, strings.TrimSuffix(journalDir, "/")), m, facts, list)
}

// journal checks that the journal has every record after the positions of the metadata and of the rows, up to that of the backup.
func (v *verifier) journal(dir string, m *Manifest, facts sqlite.Facts, list *belfry.Branches) {
	const remedy = "Restore from another backup. If the data folder has the same problem, which belfry verify tells, records were lost before the backup."
	j, err := journal.Read(dir, list)
	if err != nil {
		v.found(dir, err.Error(), remedy)
		return
	}
	from := min(facts.Stored, facts.Rows)
	if begins, _, _ := j.Bounds(); from < begins {
		v.found(dir, fmt.Sprintf("it begins after %s, but the metadata or the rows have the records up to %s only: segments are missing", begins, from), remedy)
	}
	if last := j.Last(); last < m.Position {
		v.found(dir, fmt.Sprintf("it ends at %s, before the position of the backup, %s", last, m.Position), remedy)
	}
	for _, d := range j.Damaged() {
		if !d.Torn && (d.To == 0 || d.To > from) {
			v.found(filepath.Join(dir, d.Segment), d.String(), remedy)
		}
	}
	if err := j.MarkProblem(); err != nil {
		v.found(filepath.Join(dir, "end"), err.Error(), remedy)
	}
}
