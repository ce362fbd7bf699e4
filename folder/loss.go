package folder

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/journal"
)

// A start may find that journal records are lost: damaged, cut off, or gone with their segment. Acknowledged rows may then be
// missing from the row store, and statuses may be older than those last shown. A file in the data folder lists the losses until
// an administrator confirms them:
//
//	gap    lost positions, found by Open from the positions of the journal, the metadata and the rows
//	loss   the times between which the records of a gap arrived, from the records around it and the steps of the clock
//
// A torn last record is not a loss unless another part or the journal's end file is ahead of it: a crash leaves one, and it was
// not acknowledged.

const (
	FaultLoss = "journal_loss"
	FaultEnd  = "journal_end"
	lossFile  = "journal_loss"
	// lossMargin is how long before the last saved clock the first lost record may have arrived.
	lossMargin = time.Hour
	maxLosses  = 100
	maxListed  = 5 // in one message
)

// gap is a range of lost positions, both ends included.
type gap struct {
	from, to belfry.Position
	why      string
	segment  string // the damaged file; empty if there is none
}

// Loss describes a loss to administrators.
type Loss struct {
	Position  string    `json:"position"` // the first that was lost: the same damage is found again as long as its segment is there
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Why       string    `json:"why"`
	Confirmed bool      `json:"confirmed"`
	Segment   string    `json:"-"` // the file that is damaged; empty when there is none to name
}

func (l *Loss) Span() string {
	return l.From.UTC().Format(time.RFC3339) + " and " + l.To.UTC().Format(time.RFC3339)
}

// lossFinder determines during the replay between which records the gaps lie.
type lossFinder struct {
	gaps   []gap
	times  recordTimes
	before time.Time // time of the last record
	found  []Loss
}

func newLossFinder(gaps []gap, earliest time.Time, times recordTimes) *lossFinder {
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	return &lossFinder{gaps: gaps, times: times, before: earliest}
}

// insert adds gaps found by the replay itself.
func (f *lossFinder) insert(gaps []gap) {
	for _, g := range gaps {
		i, _ := slices.BinarySearchFunc(f.gaps, g.from, func(have gap, from belfry.Position) int { return cmp.Compare(have.from, from) })
		if i > 0 && f.gaps[i-1].to+1 == g.from {
			f.gaps[i-1].to = g.to
			continue
		}
		f.gaps = slices.Insert(f.gaps, i, g)
	}
}

// record ends the gaps before a record.
func (f *lossFinder) record(pos belfry.Position, at time.Time) {
	for len(f.gaps) > 0 && f.gaps[0].to < pos {
		f.end(at, at)
	}
	f.before = at
}

// end ends a gap. at is the time of the next record, or of the clock at the start. If the clock was not set, no lost record is
// later than latest.
func (f *lossFinder) end(at, latest time.Time) {
	g := f.gaps[0]
	f.gaps = f.gaps[1:]
	from, to := f.times.widen(g.from, g.to, earlier(f.before, at), later(f.before, latest))
	f.found = append(f.found, Loss{Position: g.from.String(), From: from, To: to, Why: g.why, Segment: g.segment})
}

// rest ends the gaps at the end of the journal. It merges very many losses into one, because every query is compared with each.
func (f *lossFinder) rest(now time.Time) []Loss {
	for len(f.gaps) > 0 {
		f.end(now, later(now, f.times.Until))
	}
	if len(f.found) <= maxLosses {
		return f.found
	}
	all := f.found[0]
	all.Segment = ""
	all.Why = fmt.Sprintf("%s, and %d places more", all.Why, len(f.found)-1)
	for _, l := range f.found[1:] {
		all.From, all.To = earlier(all.From, l.From), later(all.To, l.To)
	}
	return []Loss{all}
}

// earliestLoss returns the earliest possible time of a lost first record.
func earliestLoss(dir string, times recordTimes) time.Time {
	noted, _, err := ReadClock(filepath.Join(dir, ClockFile))
	if err != nil {
		noted = time.Now().Add(-24 * time.Hour)
	}
	if !times.Until.IsZero() {
		noted = earlier(noted, times.Until.Add(-arrivalsAhead))
	}
	return noted.Add(-lossMargin)
}

// saveLosses adds new losses to the file. Known losses keep their times and confirmation. It calls before first: once a loss is
// in the file it is no longer new, so the follow-up work must be done.
func (f *Folder) saveLosses(found []Loss, before func() error) error {
	path := filepath.Join(f.o.Config.Data, lossFile)
	known, err := readLosses(path)
	if err != nil {
		return err
	}
	news := false
	for _, l := range found {
		if findLoss(known, l) == nil {
			known, news = append(known, l), true
			f.o.Log.Error("records of the journal are lost", "from", l.From, "to", l.To, "why", l.Why)
		}
	}
	f.setLosses(known)
	if news || f.skipped {
		if err := before(); err != nil {
			return err
		}
	}
	if !news {
		return nil
	}
	return writeLosses(path, known)
}

// findLoss finds a loss in a list by its position.
func findLoss(list []Loss, l Loss) *Loss {
	i := slices.IndexFunc(list, func(k Loss) bool { return k.Position == l.Position })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func readLosses(path string) (list []Loss, err error) {
	text, err := journal.ReadChecked(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of lost journal records: %w; restore %s from a backup. It can be removed if every loss in it was confirmed, or none is known; otherwise queries would return incomplete results without saying so", err, path)
	}
	return list, nil
}

func writeLosses(path string, list []Loss) error {
	text, err := encodeLosses(list)
	if err == nil {
		err = journal.WriteFile(path, text)
	}
	if err != nil {
		return fmt.Errorf("write the list of lost journal records: %w", err)
	}
	return nil
}

// encodeLosses returns the content of the file.
func encodeLosses(list []Loss) ([]byte, error) {
	text, err := json.MarshalIndent(list, "", "  ")
	return journal.Checked(lossFile, append(text, '\n')), err
}

// confirmLosses marks all losses as confirmed.
func confirmLosses(path string) error {
	list, err := readLosses(path)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Confirmed = true
	}
	if len(list) == 0 {
		return nil
	}
	return writeLosses(path, list)
}

// openLosses returns the losses that are not confirmed.
func openLosses(list []Loss) (open []Loss) {
	for _, l := range list {
		if !l.Confirmed {
			open = append(open, l)
		}
	}
	return open
}

// lossText returns the message of the fault.
func lossText(list []Loss, dir string) string {
	var spans, why []string
	for _, l := range list[:min(len(list), maxListed)] {
		spans, why = append(spans, l.Span()), append(why, l.Why)
	}
	return fmt.Sprintf("records of the journal are lost (%s): rows that arrived between %s may be missing, and statuses may be older than what was last shown. "+
		"Queries over that time are refused, or answered with partial=true. Restore the whole data folder from a backup, or confirm the loss with belfry fault confirm %s --data %s or POST /api/health/faults/%s",
		strings.Join(why, "; "), strings.Join(spans, ", between "), FaultLoss, dir, FaultLoss)
}

// OpenLosses returns the losses that are not confirmed, and the message of their fault.
func (f *Folder) OpenLosses() (open []Loss, message string) {
	if open = openLosses(f.allLosses()); len(open) == 0 {
		return nil, ""
	}
	return open, lossText(open, f.o.Config.Data)
}

func (f *Folder) allLosses() []Loss {
	f.lossesMu.Lock()
	defer f.lossesMu.Unlock()
	return f.losses
}

func (f *Folder) setLosses(list []Loss) {
	f.lossesMu.Lock()
	defer f.lossesMu.Unlock()
	f.losses = list
}

// ConfirmLosses marks all losses as confirmed.
func (f *Folder) ConfirmLosses() error {
	path := filepath.Join(f.o.Config.Data, lossFile)
	if err := confirmLosses(path); err != nil {
		return err
	}
	list, err := readLosses(path)
	if err == nil {
		f.setLosses(list)
	}
	return err
}
