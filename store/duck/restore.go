package duck

import (
	"context"
	"errors"
	"fmt"
	"os"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/rowwriter"
)

// restore stores what the journal still has of incomplete days. Otherwise acknowledged rows on their way into a file
// that was set aside would be lost: positions are kept by file, and the new file would skip rows that come after later
// ones. So this comes before any other write to it. The caller holds write and engineMu.
//
// It may be repeated: the file knows the position it has reached.
func (s *Store) restore(ctx context.Context, days []*loss) error {
	for {
		losses := s.files.losses()
		err := s.restoreOnce(ctx, days)
		if err == nil || s.files.losses() == losses {
			return err
		}
		days = s.files.unrestored() // another file was taken out of use
	}
}

func (s *Store) restoreOnce(ctx context.Context, days []*loss) error {
	if len(days) == 0 {
		return nil
	}
	r := restoring{store: s, ctx: ctx, loads: map[*loss]*load{}, rows: map[*loss]int{}, bytes: map[*loss]int{}, days: map[*catalog.Collection]map[belfry.Time]*loss{}}
	for _, l := range days {
		if r.days[l.collection] == nil {
			r.days[l.collection] = map[belfry.Time]*loss{}
		}
		r.days[l.collection][l.From] = l
		r.loads[l] = &load{collection: l.collection, period: l.Span}
	}
	before := s.files.positions(days)
	if err := s.cfg.Journal(r.add); err != nil {
		return fmt.Errorf("read the journal for incomplete days: %w", err)
	}
	for l := range r.loads {
		if err := r.flush(l); err != nil {
			return err
		}
	}
	for _, l := range days {
		s.files.restoredFrom(l, r.hasAllAfter(before[l]))
	}
	return nil
}

// hasAllAfter reports whether the journal still had every record after a position.
func (r *restoring) hasAllAfter(pos belfry.Position) bool {
	if since := r.store.cfg.JournalSince; since != nil {
		return since() <= pos
	}
	return r.first != 0 && r.first <= pos
}

// restoreBytes is how much text of a day is buffered before it is written.
const restoreBytes = 16 << 20

// restoring sorts the content of the journal by file.
type restoring struct {
	store *Store
	ctx   context.Context
	days  map[*catalog.Collection]map[belfry.Time]*loss
	loads map[*loss]*load
	rows  map[*loss]int
	bytes map[*loss]int   // of texts
	first belfry.Position // position of the first record
}

func (r *restoring) add(b *belfry.Batch) (err error) {
	if r.first == 0 {
		r.first = b.Pos
	}
	c := r.store.cfg.Catalog.KeptAs(b.Collection)
	if b.Collection == belfry.Dimension || b.Len() == 0 || c == nil || r.days[c] == nil {
		return nil
	}
	rowwriter.Split(c, b, func(p belfry.Span, rows []int) {
		l := r.days[c][p.From]
		if l == nil || err != nil {
			return
		}
		load := r.loads[l]
		if n := len(load.pieces); n > 0 && (r.rows[l] >= rowwriter.MaxCommit || r.bytes[l] >= restoreBytes) && load.pieces[n-1].Batch.Pos != b.Pos {
			err = r.flush(l)
		}
		some := rowwriter.Piece{Batch: b, Rows: rows}
		bytes, _ := some.TextBytes(0, some.Len())
		load.pieces = append(load.pieces, some)
		r.rows[l], r.bytes[l] = r.rows[l]+some.Len(), r.bytes[l]+bytes
	})
	return err
}

func (r *restoring) flush(l *loss) error {
	load := r.loads[l]
	if len(load.pieces) == 0 {
		return nil
	}
	if err := r.store.deliverTo(r.ctx, load); err != nil {
		return err
	}
	load.pieces, r.rows[l], r.bytes[l] = nil, 0, 0
	return nil
}

// positions returns the positions that the files of incomplete days have reached.
func (fs *files) positions(days []*loss) map[*loss]belfry.Position {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	pos := map[*loss]belfry.Position{}
	for _, l := range days {
		if _, f := fs.find(l.collection, l.Span); f != nil {
			pos[l] = f.pos
		}
	}
	return pos
}

// restoredFrom records that the journal has been read for an incomplete day. If only the last rows were lost, and the
// journal had everything after the remaining ones (whole), the day is complete again.
func (fs *files) restoredFrom(l *loss, whole bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	l.restored = true
	if l.kept() || !l.shortened || !whole {
		return
	}
	fs.log.Info("rows that a file had lost are stored again from the journal", "collection", l.collection.Name, "day", l.name())
	if err := os.Remove(l.marker); err != nil && !errors.Is(err, os.ErrNotExist) {
		fs.log.Warn("the note about lost rows stays", "file", l.marker, "err", err)
		return
	}
	fs.forgetLoss(l)
}

// checkPresent returns an error if a file that is about to be written to was deleted. A truncated log must be noticed
// before it grows again.
func (fs *files) checkPresent(f *file) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.checkFile(f)
	fs.checkLog(f, false)
	if f.doomed || f.stale {
		return errLost
	}
	return nil
}

// lostRows discards what the summaries know of a file that lost rows.
func (s *Store) lostRows(f *file) {
	s.invalidateRows(f)
	if d := s.trackerFor(f.collection); d != nil {
		d.ForgetMade(f.attached())
	}
}
