package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/config"
	"belfry/journal"
	"belfry/meta"
	"belfry/meta/sqlite"
	"belfry/store"
)

// Findings is what Verify has found.
type Findings struct {
	Files    int // that were read
	Problems []store.Problem
	Known    []store.Problem // losses that were confirmed, so nothing needs to be done
}

// Rows are the positions of a row store.
type Rows struct {
	Files   []string        // see Options.RowFiles
	Reached belfry.Position // of the last record it has
	Moved   belfry.Position // up to which it has noted that it has all records
	Noted   bool            // Moved is known
}

// Verify reads all parts of a folder but the rows, and finds what is damaged, missing or does not belong together. It changes nothing; the
// caller holds the lock.
func Verify(ctx context.Context, cfg *config.Config, rows Rows) (Findings, error) {
	v := verifier{cfg: cfg, rows: rows}
	err := v.run(ctx)
	return Findings{Files: v.files, Problems: v.problems, Known: v.known}, err
}

// verifier looks at all parts but the rows.
type verifier struct {
	cfg      *config.Config
	problems []store.Problem
	known    []store.Problem
	files    int

	places places
	facts  sqlite.Facts
	rows   Rows
	losses []Loss // what starts have noted
	times  recordTimes

	timesKnown bool // times are what the file says
}

func (v *verifier) found(file, problem, remedy string) {
	v.problems = append(v.problems, store.Problem{File: file, Problem: problem, Remedy: remedy})
}

func (v *verifier) run(ctx context.Context) (err error) {
	v.problems = []store.Problem{}
	if _, err := journal.ReadFormat(v.cfg.Data); err != nil {
		v.found(filepath.Join(v.cfg.Data, "format"), err.Error(), "The service does not start before that is put right.")
	}
	if v.places, err = findPlaces(v.cfg, v.rows.Files); err != nil { // a file named instance with something else in it
		v.found(filepath.Join(v.cfg.Data, "instance"), err.Error(), "Correct that file; then run this command again, which has not looked at the metadata and the journal.")
		return nil
	}
	if p := &v.places; !p.meta.used && !p.journal.used && !p.rows.used && p.dir.id == "" {
		return nil // a service that has never run
	}
	readable := v.metadata(ctx)
	if readable {
		v.instances()
		v.secrets(ctx)
	}
	v.readLosses()
	v.readArrivals()
	v.ReadClock()
	v.segments(readable)
	return nil
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
	err := sqlite.Verify(ctx, p.path)
	if err == nil {
		v.facts, err = sqlite.ReadFacts(ctx, p.path)
	}
	if err != nil {
		v.found(p.path, err.Error(), restore)
		return false
	}
	p.id = v.facts.Instance
	return true
}

// secrets looks whether the key file opens the secrets that the metadata have. A start makes the file when there are none.
func (v *verifier) secrets(ctx context.Context) {
	path := v.cfg.Inside(v.cfg.Secrets.KeyFile)
	keys, err := ReadKeys(path)
	sealed, shut := 0, 0
	failed := meta.ReadSecrets(ctx, v.places.meta.path, func(p meta.SecretRef, text string) {
		sealed++
		if _, err := keys.Open(p, text); err != nil {
			shut++
		}
	})
	if failed != nil {
		v.found(v.places.meta.path, "the secrets of receivers cannot be read: "+failed.Error(), "Restore it from a backup.")
		return
	}
	const remedy = "Put the file back that belongs to these data: without it, receivers that need these secrets are off. If it is lost, start the service and provision the secrets again."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if sealed > 0 {
			v.found(path, fmt.Sprintf("missing, and %d secrets of receivers are encrypted with a key in it", sealed), remedy)
		}
	case err != nil:
		v.found(path, "it cannot be used: "+err.Error(), remedy)
	case shut > 0:
		v.found(path, fmt.Sprintf("it does not have the key of %d of %d secrets of receivers", shut, sealed), remedy)
	}
}

// instances compares the ids of all parts with that of the metadata.
func (v *verifier) instances() {
	of := v.places.meta
	if of.id == "" {
		if v.facts.Stored > 0 {
			v.found(of.path, noInstance, noInstanceRemedy+".")
		}
		return // else of a first start that was interrupted, which the next one continues
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
	journalRemedy = "If there is a copy of the journal as it was when the service ended, put it in place. Otherwise start the service: it tells which rows may be missing, until you confirm it with belfry fault confirm " + FaultLoss + "."
	storedRemedy  = "Nothing is lost by it: the metadata and the rows have what was there. The file goes by itself."
	knownRemedy   = "Nothing needs to be done: the loss was confirmed, and what is left counts. The segment goes by itself."
)

// segments reads every record of the journal. How far it must go can be judged only if the metadata can be read.
func (v *verifier) segments(judge bool) {
	dir := v.places.journal.path
	if !v.places.journal.used {
		if v.places.meta.used {
			v.found(dir, "missing, or has no segments", journalRemedy+" If nothing is left of it, start once with --accept-loss="+LossJournal+".")
		}
		return
	}
	j, err := journal.Read(dir)
	if err == nil {
		err = v.records(&evidence{journal: j, stored: v.facts.Stored, moved: movedIn(v.rows.Moved, v.rows.Noted, v.facts.Rows), noted: v.facts.Rows}, judge)
	}
	if err != nil {
		v.found(dir, err.Error(), "Give this user the right to read it, or check the disk.")
		return
	}
	_, segments := j.Size()
	v.files += segments
	if err := j.MarkProblem(); err != nil {
		path := filepath.Join(dir, "end")
		problem, remedy := EndProblem(path, err)
		v.found(path, problem, remedy)
	}
}

// records finds what is lost in the way that a start does.
func (v *verifier) records(e *evidence, judge bool) error {
	dir := v.places.journal.path
	if judge {
		if why := e.older(v.rows.Reached); why != "" {
			v.found(v.places.meta.path, why, "Restore all parts of the data from the same backup. To go on without what was created or changed in between, start once with --accept-loss="+LossMetadata+".")
			judge = false // a start refuses, and looks no further
		}
	}
	var gaps []gap
	if judge {
		gaps = append(e.gaps(), e.end(v.rows.Reached, "the rows")...)
	} else {
		for _, d := range e.journal.Damaged() {
			gaps = append(gaps, e.damaged(d)...)
		}
	}
	finder := newLossFinder(gaps, earliestLoss(v.cfg.Data, v.times), v.times)
	err := e.journal.Replay(0, func(pos belfry.Position, payload []byte) error {
		r, err := belfry.DecodeRecord(payload)
		if err == nil {
			finder.record(pos, r.Time.Std())
			return nil
		}
		lost := e.unused(pos)
		if finder.insert(lost); len(lost) == 0 {
			v.found(dir, unusable(pos), storedRemedy)
		}
		return nil
	})
	for _, l := range finder.rest(time.Now()) {
		v.report(l.Segment, fmt.Sprintf("%s; rows that arrived between %s may be missing", l.Why, l.Span()), v.confirmed(l), journalRemedy)
	}
	for _, d := range e.journal.Damaged() {
		if !d.Torn && len(e.damaged(d)) == 0 { // a torn end is what a crash leaves
			v.report(d.Segment, d.String(), v.confirmedIn(d.Number()), storedRemedy)
		}
	}
	return err
}

// report lists something about the journal, or about one of its segments.
func (v *verifier) report(segment, what string, confirmed bool, remedy string) {
	file := filepath.Join(v.places.journal.path, segment)
	if confirmed {
		v.known = append(v.known, store.Problem{File: file, Problem: what, Remedy: knownRemedy})
		return
	}
	v.found(file, what, remedy)
}

// confirmed tells whether an administrator knows of a loss.
func (v *verifier) confirmed(l Loss) bool {
	k := findLoss(v.losses, l)
	return k != nil && k.Confirmed
}

// confirmedIn tells whether an administrator knows of a loss in a segment.
func (v *verifier) confirmedIn(number uint64) bool {
	segment, _, _ := strings.Cut(belfry.PositionOf(number, 0).String(), "·")
	return slices.ContainsFunc(v.losses, func(l Loss) bool { return l.Confirmed && strings.HasPrefix(l.Position, segment+"·") })
}

// readArrivals reads the file that says how the clock was set.
func (v *verifier) readArrivals() {
	p := &v.places
	var err error
	v.times, err = readArrivals(v.cfg.Data, cmp.Or(p.meta.id, p.dir.id, p.journal.id), journal.ReadNote(p.journal.path))
	v.timesKnown = err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a new folder has none
		v.found(filepath.Join(v.cfg.Data, ArrivalsFile), "it cannot be used: "+err.Error(),
			"Restore it from a backup of the whole data folder, or let the next start write a new one. Without it, all times count as incomplete if records of the journal are lost.")
	}
}

// ReadClock reads the note of the clock. A start compares it with the clock; here the folder may have been idle for long, so only
// what no such pause explains is a problem.
func (v *verifier) ReadClock() {
	path := filepath.Join(v.cfg.Data, ClockFile)
	noted, _, err := ReadClock(path)
	problem := ""
	switch now := time.Now(); {
	case errors.Is(err, fs.ErrNotExist): // as in a new folder
	case err != nil:
		problem = "it cannot be used: " + err.Error()
	case noted.Sub(now) > MaxClockStep:
		problem = fmt.Sprintf("it says %s, which is %s ahead of the clock", noted.UTC().Format(time.RFC3339), Distance(noted, now))
	case v.timesKnown && v.times.Until.Sub(noted) > MaxClockStep+arrivalsAhead:
		problem = fmt.Sprintf("it says %s, which is %s before the last records", noted.UTC().Format(time.RFC3339), Distance(noted, v.times.Until))
	}
	if problem != "" {
		v.found(path, problem, "See that the clock of this machine is right. Then start the service, and confirm the clock with belfry clock confirm if the fault "+FaultClock+" is open: until then nothing is deleted.")
	}
}

// readLosses reads what starts have noted as lost, and lists what nobody has confirmed.
func (v *verifier) readLosses() {
	path := filepath.Join(v.cfg.Data, lossFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	v.files++
	var err error
	if v.losses, err = readLosses(path); err != nil {
		v.found(path, err.Error(), "Restore it. If every loss in it was confirmed, it can be removed: the service does not start with it.")
		return
	}
	for _, l := range openLosses(v.losses) {
		v.found(path, fmt.Sprintf("rows that arrived between %s may be missing: %s", l.Span(), l.Why),
			"If they cannot be brought back, confirm the loss with belfry fault confirm "+FaultLoss+".")
	}
}
