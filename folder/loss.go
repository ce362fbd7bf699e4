package folder

import (
	"cmp"
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
	"belfry/journal"
)

// A start may find that records of the journal are lost: damaged, cut off, or gone with their segment. Rows that were
// acknowledged may then be missing from the row store, and statuses may be older than what was last shown. What is known
// about it is in a file in the data folder, until an administrator confirms it:
//
//	gap    positions that are lost, found by Open, by the positions of the metadata and of the rows
//	loss   the times between which the records of a gap arrived, from the records around it and from how the clock was set
//
// A torn last record is not a loss, unless something else has come farther, or the journal's own note of its end: that is
// what a crash leaves, and it was not acknowledged.

const (
	FaultLoss = "journal_loss"
	FaultEnd  = "journal_end"
	lossFile  = "journal_loss"
	// lossMargin is how long before the last note of the clock the first lost record may have arrived.
	lossMargin = time.Hour
	maxLosses  = 100
	maxListed  = 5 // in one message
)

// gap is a range of lost positions, both ends included.
type gap struct {
	from, to belfry.Position
	why      string
	segment  string // the file that is damaged; empty when there is none to name
}

// Loss is what an administrator has to know about lost records.
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

// lossFinder finds out between which records the gaps lie, while the journal is replayed.
type lossFinder struct {
	gaps   []gap
	times  recordTimes
	before time.Time // of the last record
	found  []Loss
}

func newLossFinder(gaps []gap, earliest time.Time, times recordTimes) *lossFinder {
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	return &lossFinder{gaps: gaps, times: times, before: earliest}
}

// insert adds gaps that the replay itself has found.
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

// record takes note of a record that is there.
func (f *lossFinder) record(pos belfry.Position, at time.Time) {
	for len(f.gaps) > 0 && f.gaps[0].to < pos {
		f.end(at, at)
	}
	f.before = at
}

// end ends a gap. The record behind it, or the clock at the start, has the time at. If the clock was not set meanwhile, no lost
// record is later than latest.
func (f *lossFinder) end(at, latest time.Time) {
	g := f.gaps[0]
	f.gaps = f.gaps[1:]
	from, to := f.times.widen(g.from, g.to, earlier(f.before, at), later(f.before, latest))
	f.found = append(f.found, Loss{Position: g.from.String(), From: from, To: to, Why: g.why, Segment: g.segment})
}

// rest ends the gaps behind which there is no record. Very many losses become one: every query is compared with each.
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

// earliestLoss is when a record may have arrived before which there is no other.
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

// keepLosses adds what was found to the file. What the file has already keeps its times, and whether it was confirmed. What has
// to follow from a new loss is done before, as afterwards the loss is nothing new.
func (f *Folder) keepLosses(found []Loss, before func() error) error {
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
	f.losses = known
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
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the journal has lost: %w; restore %s from a backup. If every loss in it was confirmed, or none is known, it can be removed; otherwise queries would be answered as if nothing were missing", err, path)
	}
	return list, nil
}

func writeLosses(path string, list []Loss) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = journal.WriteFile(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note what the journal has lost: %w", err)
	}
	return nil
}

// confirmLosses notes that an administrator knows of all losses.
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

// openLosses are those that nobody has confirmed.
func openLosses(list []Loss) (open []Loss) {
	for _, l := range list {
		if !l.Confirmed {
			open = append(open, l)
		}
	}
	return open
}

// lossText is the message of the fault.
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
	if open = openLosses(f.losses); len(open) == 0 {
		return nil, ""
	}
	return open, lossText(open, f.o.Config.Data)
}

// ConfirmLosses notes that an administrator knows of all losses.
func (f *Folder) ConfirmLosses() error {
	return confirmLosses(filepath.Join(f.o.Config.Data, lossFile))
}
