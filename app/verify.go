package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"belfry"
	"belfry/journal"
	"belfry/meta"
	"belfry/store/duck"
)

// Verification is what Verify has found.
type Verification struct {
	Files    int            `json:"files"` // that were read
	Problems []duck.Problem `json:"problems"`
	Unread   []duck.Problem `json:"unread,omitempty"` // files that could not be looked at
}

// Verify reads everything in a data folder that no service holds, and tells what is damaged, missing or does not belong
// together. It changes nothing.
func Verify(ctx context.Context, o Options) (v Verification, err error) {
	if err := o.checkFolder(); err != nil {
		return v, err
	}
	budget := newBudget(findMemoryLimit("/"))
	o.useBudget(budget)
	lock, err := journal.LockDir(o.Config.Data)
	if errors.Is(err, journal.ErrLocked) {
		return v, fmt.Errorf("%w; stop the service first, or ask it: GET /api/health lists under faults what it has found", err)
	}
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	dir := o.Config.inside(o.Config.Storage.DuckDB.Dir)
	id, err := journal.ReadInstance(dir)
	if err != nil {
		id = "" // the verifier tells about it
	}
	rows, err := duck.Verify(ctx, duck.Config{
		Dir: dir, Instance: id, Catalog: o.Catalog, Log: o.Log,
		MemoryLimit: int64(o.Config.Storage.DuckDB.MemoryLimit), MemoryMost: budget.engineMost,
	})
	if err != nil {
		return v, err
	}
	p := verifier{cfg: o.Config}
	err = p.run(ctx)
	return Verification{Files: rows.Files + p.files, Problems: append(p.problems, rows.Problems...), Unread: rows.Unread}, err
}

// verifier looks at all parts but the rows.
type verifier struct {
	cfg      *Config
	problems []duck.Problem
	files    int

	places  places
	facts   meta.Facts
	journal *journal.Journal // nil when it cannot be read
}

func (v *verifier) found(file, problem, remedy string) {
	v.problems = append(v.problems, duck.Problem{File: file, Problem: problem, Remedy: remedy})
}

func (v *verifier) run(ctx context.Context) (err error) {
	v.problems = []duck.Problem{}
	if _, err := journal.ReadFormat(v.cfg.Data); err != nil {
		v.found(filepath.Join(v.cfg.Data, "format"), err.Error(), "The service does not start before that is put right.")
	}
	if v.places, err = findPlaces(v.cfg); err != nil { // a file named instance with something else in it
		v.found(filepath.Join(v.cfg.Data, "instance"), err.Error(), "Correct that file; then run this command again, which has not looked at the metadata and the journal.")
		return nil
	}
	if p := &v.places; !p.meta.used && !p.journal.used && !p.rows.used && p.dir.id == "" {
		return nil // a service that has never run
	}
	if v.metadata(ctx) {
		v.instances()
	}
	v.segments()
	if v.journal != nil && v.facts.Instance != "" {
		v.positions()
	}
	return v.losses()
}

// metadata reports whether they can be read.
func (v *verifier) metadata(ctx context.Context) bool {
	p := &v.places.meta
	const restore = "Restore it from a backup. The start brings in what the journal has of later changes, and refuses if that is not all of them."
	if !p.used {
		v.found(p.path, "missing or empty", restore)
		return false
	}
	v.files++
	err := meta.Verify(ctx, p.path)
	if err == nil {
		v.facts, err = meta.ReadFacts(ctx, p.path)
	}
	if err != nil {
		v.found(p.path, err.Error(), restore)
		return false
	}
	p.id = v.facts.Instance
	return true
}

// instances compares the ids of all parts with that of the metadata.
func (v *verifier) instances() {
	of := v.places.meta
	if of.id == "" {
		return // of a version without ids, which the next start gives it
	}
	for _, p := range []place{v.places.dir, v.places.journal, v.places.rows} {
		path := filepath.Join(p.path, "instance")
		switch {
		case p.id == of.id:
		case p.id == "" && p.name == "":
			v.found(path, "missing", "The next start writes it again.")
		case p.id == "":
			v.found(path, "missing: the next start will refuse "+p.path, fmt.Sprintf("If the folder belongs to %s, write %s into the file.", of.path, of.id))
		default:
			v.found(path, fmt.Sprintf("names instance %s, but %s belongs to instance %s", p.id, of.path, of.id),
				fmt.Sprintf("Put the folder back that belongs here, or the metadata. If all belong together, write %s into the file.", of.id))
		}
	}
}

const (
	journalRemedy = "If there is a copy of the journal as it was when the service ended, put it in place. Otherwise start the service: it tells which rows may be missing, until you confirm it with belfry fault confirm " + faultLoss + "."
	storedRemedy  = "Nothing is lost by it: the metadata and the rows have what was there. The file goes by itself."
	knownRemedy   = "Nothing needs to be done: the loss was confirmed, and what is left counts. The file goes by itself."
)

// segments reads every record of the journal.
func (v *verifier) segments() {
	dir := v.places.journal.path
	if !v.places.journal.used {
		if v.places.meta.used {
			v.found(dir, "missing, or has no segments", journalRemedy+" If nothing is left of it, start once with --accept-loss="+lossJournal+".")
		}
		return
	}
	j, err := journal.Read(dir)
	if err == nil {
		err = j.Replay(0, func(pos uint64, payload []byte) error {
			if _, err := belfry.DecodeRecord(payload); err != nil {
				v.found(dir, unusable(pos), journalRemedy)
			}
			return nil
		})
	}
	if err != nil {
		v.found(dir, err.Error(), "Give this user the right to read it, or check the disk.")
		return
	}
	v.journal = j
	_, segments := j.Size()
	v.files += segments
	if why := j.MarkProblem(); why != "" {
		v.found(filepath.Join(dir, "end"), "not usable: "+why, "The next start replaces it. Until then nobody can tell whether the last records of the journal were lost.")
	}
	for _, d := range j.Damaged() {
		remedy := journalRemedy
		switch {
		case d.Torn:
			continue // as a crash leaves it; what others have beyond it is looked at by its position
		case v.confirmed(d.From):
			remedy = knownRemedy
		case d.From == 0, d.To != 0 && d.To <= min(v.facts.Stored, v.facts.Rows):
			remedy = storedRemedy
		}
		v.found(filepath.Join(dir, d.Segment), d.String(), remedy)
	}
}

// positions compares how far the metadata have come with the journal.
func (v *verifier) positions() {
	dir := v.places.journal.path
	begins, _, _ := v.journal.Bounds()
	if v.facts.Stored < begins {
		v.found(v.places.meta.path, fmt.Sprintf("has the records up to %s, and the journal begins after %s: the metadata are older than the journal", position(v.facts.Stored), position(begins)),
			"Restore all parts of the data from the same backup. To go on without what was created or changed in between, start once with --accept-loss="+lossMetadata+".")
	} else if v.facts.Rows < begins {
		v.found(dir, fmt.Sprintf("begins after %s, and the rows have been stored up to %s: segments are missing", position(begins), position(v.facts.Rows)), journalRemedy)
	}
	for _, pos := range []uint64{v.facts.Stored, v.facts.Rows} {
		if last, lacks := endsBefore(v.journal, pos); lacks {
			remedy := journalRemedy
			if v.confirmed(last + 1) {
				remedy = knownRemedy
			}
			v.found(dir, fmt.Sprintf("ends at %s, before what the metadata and the rows have (%s): records are missing at the end", position(last), position(pos)), remedy)
			return
		}
	}
}

// confirmed tells whether an administrator knows of the loss that begins at a position.
func (v *verifier) confirmed(from uint64) bool {
	list, err := readLosses(filepath.Join(v.cfg.Data, lossFile))
	if err != nil {
		return false // losses tells about it
	}
	return slices.ContainsFunc(list, func(l loss) bool { return l.Confirmed && l.Position == position(from) })
}

// losses lists what starts have found and nobody has confirmed.
func (v *verifier) losses() error {
	path := filepath.Join(v.cfg.Data, lossFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	v.files++
	list, err := readLosses(path)
	if err != nil {
		v.found(path, err.Error(), "Restore it, or remove it.")
		return nil
	}
	for _, l := range openLosses(list) {
		v.found(path, fmt.Sprintf("rows that arrived between %s may be missing: %s", l.span(), l.Why),
			"If they cannot be brought back, confirm the loss with belfry fault confirm "+faultLoss+".")
	}
	return nil
}
