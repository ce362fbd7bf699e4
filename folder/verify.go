package folder

import (
	"cmp"
	"context"
	"encoding/json"
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

// Findings are the results of Verify.
type Findings struct {
	Files    int // number of files read
	Problems []store.Problem
	Known    []store.Problem // confirmed losses, which need no action
}

// Rows are the files and positions of a row store.
type Rows struct {
	Files   []string        // see Options.RowFiles
	Reached belfry.Position // of the last record
	Noted   store.Noted     // by itself
}

// Verify reads all parts of a folder except the rows, and reports what is damaged, missing or inconsistent. It changes nothing;
// the caller holds the lock.
func Verify(ctx context.Context, cfg *config.Config, rows Rows) (Findings, error) {
	v := verifier{cfg: cfg, rows: rows}
	err := v.run(ctx)
	return Findings{Files: v.files, Problems: v.problems, Known: v.known}, err
}

// verifier checks all parts except the rows.
type verifier struct {
	cfg      *config.Config
	problems []store.Problem
	known    []store.Problem
	files    int

	parts  parts
	facts  sqlite.Facts
	list   *belfry.Branches // the starts; nil if they are not known
	rows   Rows
	losses []Loss // recorded by earlier starts
	times  recordTimes

	timesKnown bool // times come from the file
}

func (v *verifier) found(file, problem, remedy string) {
	v.problems = append(v.problems, store.Problem{File: file, Problem: problem, Remedy: remedy})
}

func (v *verifier) run(ctx context.Context) (err error) {
	v.problems = []store.Problem{}
	if _, err := journal.ReadFormat(v.cfg.Data); err != nil {
		v.found(filepath.Join(v.cfg.Data, "format"), err.Error(), "The service does not start until this is fixed.")
	}
	if v.parts, err = findParts(v.cfg, v.rows.Files); err != nil { // a file named instance has invalid content
		v.found(filepath.Join(v.cfg.Data, "instance"), err.Error(), "Correct that file; then run this command again: it has not checked the metadata and the journal.")
		return nil
	}
	if p := &v.parts; !p.meta.used && !p.journal.used && !p.rows.used && p.dir.id == "" {
		return nil // the service has never run
	}
	readable := v.metadata(ctx)
	if readable {
		v.instances()
		v.branches()
		v.secrets(ctx)
	}
	v.readLosses()
	v.readArrivals()
	v.readClock()
	v.readFaults()
	v.segments(readable)
	return nil
}

// metadata reports whether the metadata can be read.
func (v *verifier) metadata(ctx context.Context) bool {
	p := &v.parts.meta
	const restore = "Restore it from a backup. The start replays later changes from the journal, and fails if some are missing."
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

// secrets checks that the key file decrypts the secrets in the metadata. A start creates the file if there are none.
func (v *verifier) secrets(ctx context.Context) {
	path := v.cfg.Inside(v.cfg.Secrets.KeyFile)
	keys, err := ReadKeys(path)
	sealed, shut := 0, 0
	failed := meta.ReadSecrets(ctx, v.parts.meta.path, func(p meta.SecretRef, text string) {
		sealed++
		if _, err := keys.Open(p, text); err != nil {
			shut++
		}
	})
	if failed != nil {
		v.found(v.parts.meta.path, "the secrets of receivers cannot be read: "+failed.Error(), "Restore it from a backup.")
		return
	}
	const remedy = "Restore the key file of these data: without it, receivers that need these secrets are off. If it is lost, start the service and provision the secrets again."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if sealed > 0 {
			what := fmt.Sprintf("%d secrets of receivers are", sealed)
			if sealed == 1 {
				what = "1 secret of receivers is"
			}
			v.found(path, "missing, and "+what+" encrypted with a key in it", remedy)
		}
	case err != nil:
		v.found(path, "it cannot be used: "+err.Error(), remedy)
	case shut > 0:
		v.found(path, fmt.Sprintf("it does not have the key of %d of %d secrets of receivers", shut, sealed), remedy)
	}
}

// instances compares the ids of all parts with that of the metadata.
func (v *verifier) instances() {
	of := v.parts.meta
	if of.id == "" {
		if v.facts.Stored > 0 {
			v.found(of.path, noInstance, noInstanceRemedy+".")
		}
		return // otherwise a first start was interrupted, and the next one continues it
	}
	for _, p := range []partState{v.parts.dir, v.parts.journal, v.parts.rows} {
		path := filepath.Join(p.path, "instance")
		switch {
		case p.id == of.id:
		case p.id == "" && p.name == "":
			v.found(path, "missing", "The next start writes it again.")
		case p.id == "":
			v.found(path, "missing: the next start will reject "+p.path, fmt.Sprintf("If the folder belongs to %s, write %s into the file.", of.path, of.id))
		default:
			v.found(path, fmt.Sprintf("names instance %s, but %s belongs to instance %s", p.id, of.path, of.id),
				fmt.Sprintf("Restore the folder or the metadata that belong here. If all of them belong together, write %s into the file.", of.id))
		}
	}
}

// branches checks the list of starts, and whether the metadata and the rows were written in one of them. The files of rows are
// checked by the row store.
func (v *verifier) branches() {
	if max(v.facts.Stored, v.rows.Noted.Reached) == 0 {
		return // the first start writes the list
	}
	path := filepath.Join(v.cfg.Data, BranchesFile)
	list, err := ReadBranches(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it is missing")
		}
		v.found(path, "the list of starts cannot be used: "+err.Error(), "The next start writes it again, from the metadata.")
		list = v.facts.Branches
	}
	v.list = belfry.NewBranches(list)
	remedy := "Restore the one that belongs here. " + fmt.Sprintf(olderListRemedy, path) + ". " + v.branchesRemedy()
	if err := branchProblem(v.list, v.facts.Branch, max(v.facts.Stored, v.facts.Rows)); err != nil {
		v.found(v.parts.meta.path, "of another branch of this instance: "+err.Error(), remedy)
	}
	if err := branchProblem(v.list, v.rows.Noted.Branch, v.rows.Noted.Reached); err != nil {
		v.found(filepath.Join(v.parts.rows.path, "manifest"), "the rows are of another branch of this instance: "+err.Error(), remedy)
	}
}

func (v *verifier) branchesRemedy() string {
	return fmt.Sprintf(branchesRemedy+".", filepath.Join(v.cfg.Data, BranchesFile), "--accept-loss="+LossBranches)
}

const (
	journalRemedy = "If there is a copy of the journal as it was when the service ended, restore it. Otherwise start the service: it reports which rows may be missing, until you confirm this with belfry fault confirm " + FaultLoss + "."
	storedRemedy  = "Nothing is lost: the metadata and the rows have these records. The service will remove the file."
	knownRemedy   = "No action is needed: the loss was confirmed. The service will remove the segment."
)

// segments reads every record of the journal. Without readable metadata, judge is false and the end of the journal is not
// checked.
func (v *verifier) segments(judge bool) {
	dir := v.parts.journal.path
	if !v.parts.journal.used {
		if v.parts.meta.used {
			v.found(dir, "missing, or has no segments", journalRemedy+" If nothing of it is left, start once with --accept-loss="+LossJournal+".")
		}
		return
	}
	j, err := journal.Read(dir, v.list)
	if err == nil {
		err = v.records(&evidence{journal: j, stored: v.facts.Stored, moved: movedIn(v.rows.Noted, v.facts.Rows), noted: v.facts.Rows}, judge)
	}
	if s, ok := errors.AsType[*journal.SegmentError](err); ok && errors.Is(err, journal.ErrForeign) {
		remedy := "If there was none of this number, move it away and start the service."
		if errors.Is(err, journal.ErrBranch) {
			remedy += " " + v.branchesRemedy()
		}
		v.found(filepath.Join(dir, s.Segment), s.Err.Error(), remedy)
		return
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

// records finds losses the same way as a start.
func (v *verifier) records(e *evidence, judge bool) error {
	dir := v.parts.journal.path
	if judge {
		if why := e.older(v.rows.Reached); why != "" {
			v.found(v.parts.meta.path, why, "Restore all parts of the data from the same backup. To continue without the changes in between, start once with --accept-loss="+LossMetadata+".")
			judge = false // a start would fail here
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
		if !d.Torn && len(e.damaged(d)) == 0 { // a crash leaves a torn end
			v.report(d.Segment, d.String(), v.confirmedIn(d.Number()), storedRemedy)
		}
	}
	return err
}

// report adds a finding about the journal or one of its segments.
func (v *verifier) report(segment, what string, confirmed bool, remedy string) {
	file := filepath.Join(v.parts.journal.path, segment)
	if confirmed {
		v.known = append(v.known, store.Problem{File: file, Problem: what, Remedy: knownRemedy})
		return
	}
	v.found(file, what, remedy)
}

// confirmed reports whether an administrator has confirmed a loss.
func (v *verifier) confirmed(l Loss) bool {
	k := findLoss(v.losses, l)
	return k != nil && k.Confirmed
}

// confirmedIn reports whether an administrator has confirmed a loss in a segment.
func (v *verifier) confirmedIn(number uint64) bool {
	segment, _, _ := strings.Cut(belfry.PositionOf(number, 0).String(), "·")
	return slices.ContainsFunc(v.losses, func(l Loss) bool { return l.Confirmed && strings.HasPrefix(l.Position, segment+"·") })
}

// readArrivals reads the file with the steps of the clock.
func (v *verifier) readArrivals() {
	p := &v.parts
	var err error
	v.times, err = readArrivals(v.cfg.Data, cmp.Or(p.meta.id, p.dir.id, p.journal.id), journal.ReadNote(p.journal.path))
	v.timesKnown = err == nil
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && journal.ReadNote(p.journal.path) == 0) { // a new folder has none
		v.found(filepath.Join(v.cfg.Data, ArrivalsFile), "it cannot be used: "+err.Error(),
			"Restore it from a backup of the whole data folder, or let the next start write a new one. Without it, all times count as incomplete if records of the journal are lost.")
	}
}

// readClock checks the clock file. A start compares it with the clock, but here the folder may have been idle for long, so only
// differences that no pause explains are problems.
func (v *verifier) readClock() {
	path := filepath.Join(v.cfg.Data, ClockFile)
	noted, _, err := ReadClock(path)
	problem := ""
	switch now := time.Now(); {
	case errors.Is(err, fs.ErrNotExist): // a new folder has none
	case err != nil:
		problem = "it cannot be used: " + err.Error()
	case noted.Sub(now) > MaxClockStep:
		problem = fmt.Sprintf("it says %s, which is %s ahead of the clock", noted.UTC().Format(time.RFC3339), Distance(noted, now))
	case v.timesKnown && v.times.Until.Sub(noted) > MaxClockStep+arrivalsAhead:
		problem = fmt.Sprintf("it says %s, which is %s before the last records", noted.UTC().Format(time.RFC3339), Distance(noted, v.times.Until))
	}
	if problem != "" {
		v.found(path, problem, "Make sure that the clock of this machine is right. Then start the service, and confirm the clock with belfry clock confirm if the fault "+FaultClock+" is open: until then nothing is deleted.")
	}
}

// CheckOwn reads the small files of a data folder that have checksums, except that of arrival times, and calls each for those that
// cannot be used.
func CheckOwn(dir string, each func(name string, err error)) {
	_, _, clock := ReadClock(filepath.Join(dir, ClockFile))
	_, loss := readLosses(filepath.Join(dir, lossFile))
	for _, f := range []struct {
		name string
		err  error
	}{{ClockFile, clock}, {lossFile, loss}, {FaultsFile, readFaults(filepath.Join(dir, FaultsFile))}} {
		if f.err != nil && !errors.Is(f.err, fs.ErrNotExist) { // none is in every folder
			each(f.name, f.err)
		}
	}
}

func readFaults(path string) error {
	text, err := journal.ReadChecked(path)
	if err == nil && !json.Valid(text) {
		err = errors.New("it is not JSON")
	}
	return err
}

// readFaults checks the file with the open faults.
func (v *verifier) readFaults() {
	path := filepath.Join(v.cfg.Data, FaultsFile)
	if err := readFaults(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // the file is not needed
		v.found(path, "it cannot be used: "+err.Error(), "Restore it from a backup, or remove it: then events about the end of faults that were open, or are not written yet, are missing.")
	}
}

// readLosses reads the losses recorded by earlier starts and reports those that are not confirmed.
func (v *verifier) readLosses() {
	path := filepath.Join(v.cfg.Data, lossFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	v.files++
	var err error
	if v.losses, err = readLosses(path); err != nil {
		v.found(path, err.Error(), "Restore it, or remove it if every loss in it was confirmed. The service does not start with this file.")
		return
	}
	for _, l := range openLosses(v.losses) {
		v.found(path, fmt.Sprintf("rows that arrived between %s may be missing: %s", l.Span(), l.Why),
			"If they cannot be restored, confirm the loss with belfry fault confirm "+FaultLoss+".")
	}
}
