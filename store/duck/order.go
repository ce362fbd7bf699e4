package duck

import (
	"cmp"
	"context"
	"errors"
	"time"

	"belfry/store/duck/clustering"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// Where there are summaries, charts of single items are asked for. So the rows of these collections are put in order, see package clustering.
// Queries and writers continue meanwhile, but for the moment in which the copy takes the place of the file. It is made in
// steps, so that nothing waits for the whole of it. After an interruption it is begun again.

// orderSwap is how long the copy waits until no one uses the file. Whoever asks for the file then waits, too.
const orderSwap = 2 * time.Second

// ordering is the copy that is being made.
type ordering struct {
	*clustering.Copy
	file   *file
	engine *duckdb.Engine // to which it is attached
}

// order does one step of putting rows in order.
func (s *Store) order(ctx context.Context) (more bool) {
	if !s.orderMu.TryLock() { // rows are being erased
		return false
	}
	defer s.orderMu.Unlock()
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if s.usable() != nil {
		return false
	}
	q, err := s.engine.ConnectBehind(s.cfg.Upkeep)
	if err != nil {
		return false
	}
	defer q.Close()
	if s.ordering != nil && s.ordering.engine != s.engine {
		s.discardOrder(ctx, nil)
	}
	if s.ordering == nil {
		if now := s.files.now(); now.Sub(s.orderLook) >= s.cfg.orderAge/4 {
			s.orderLook, s.ordering = now, s.findUnordered(ctx, q)
		}
		return s.ordering != nil
	}
	o := s.ordering
	if more, err = s.orderStep(ctx, q, o); more && err == nil {
		return true
	}
	if err == nil {
		err = s.endOrder(ctx, o)
	}
	if errors.Is(err, errLater) {
		return false
	}
	s.discardOrder(ctx, q)
	s.noteOrder(ctx, o.file, err)
	return err == nil
}

// noteOrder notes that the copy of a file has ended, or could not be begun.
func (s *Store) noteOrder(ctx context.Context, f *file, err error) {
	switch {
	case err == nil:
		f.order = clustering.State{}
		s.cfg.Log.Info("rows were put in order, so that charts of single items read few of them", "file", f.path)
	case ctx.Err() == nil && !errors.Is(err, errGone) && f.order.Failed(err, s.files.now()):
		s.cfg.Log.Warn("rows were not put in order, so charts of single items read more of them than necessary; this will be tried again", "file", f.path, "err", err)
	}
}

// discardOrder removes an unfinished copy; q is nil if its engine is gone.
func (s *Store) discardOrder(ctx context.Context, q *duckdb.Conn) {
	if o := s.ordering; o != nil {
		s.ordering = nil
		if err := o.Discard(ctx, q); err != nil {
			s.cfg.Log.Warn("an unfinished copy of a file of rows was not removed; the next start does it", "err", err)
		}
	}
}

// stopOrder discards an unfinished copy, and prevents another one until release is called.
func (s *Store) stopOrder(ctx context.Context) (release func()) {
	s.orderMu.Lock()
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if s.ordering == nil || s.ordering.engine != s.engine {
		s.discardOrder(ctx, nil)
	} else if q, err := s.engine.Connect(); err == nil {
		s.discardOrder(ctx, q)
		q.Close()
	}
	return s.orderMu.Unlock
}

// findUnordered begins a copy of the oldest file for which that is worth it; nil if there is none.
func (s *Store) findUnordered(ctx context.Context, q *duckdb.Conn) *ordering {
	for _, d := range s.trackers {
		for _, f := range s.files.list(d.Raw, s.files.periods(d.Raw, 0, folder.EndOfTime)) {
			if f == nil || f.late || f.order.Idle(s.files.writeCount(f), s.files.now()) {
				continue
			}
			c, err := s.beginOrder(ctx, q, f)
			if err != nil {
				s.noteOrder(ctx, f, err)
			}
			if c != nil {
				return &ordering{Copy: c, file: f, engine: s.engine}
			}
		}
	}
	return nil
}

func (s *Store) beginOrder(ctx context.Context, q *duckdb.Conn, f *file) (c *clustering.Copy, err error) {
	changes := s.files.writeCount(f)
	if held, err := s.files.acquireOne(ctx, f); err != nil || !held {
		return nil, cmp.Or(err, errGone)
	}
	defer func() { s.files.finish([]*file{f}, err) }()
	src := s.orderSource(f)
	src.Changes = changes
	return s.cfg.order.Begin(ctx, q, src, &f.order, s.files.now(), s.cfg.orderAge, s.files.owner.Identity)
}

func (s *Store) orderSource(f *file) clustering.Source {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	return clustering.Source{Path: f.path, Alias: f.alias, Kinds: f.kinds, Over: !f.To.Std().After(s.files.now())}
}

// orderStep does the next step of a copy. Like queries, it ends when its memory is needed for rows that arrive.
func (s *Store) orderStep(ctx context.Context, q *duckdb.Conn, o *ordering) (more bool, err error) {
	if held, err := s.files.acquireOne(ctx, o.file); err != nil || !held {
		return false, cmp.Or(err, errGone)
	}
	defer func() { s.files.finish([]*file{o.file}, err) }()
	inner, entered, err := s.queries.Enter(ctx)
	if err != nil {
		return false, err
	}
	defer s.queries.Leave(entered)
	more, err = o.Step(inner, q, s.orderSource(o.file))
	return more, cmp.Or(context.Cause(inner), err)
}

var errLater = errors.New("a copy has to wait, as the files are being backed up")

// endOrder has the copy take the place of the file. It runs at normal priority, because others wait for it.
func (s *Store) endOrder(ctx context.Context, o *ordering) (err error) {
	if !s.orderEnd.TryLock() { // a backup would have to copy the file again
		return errLater
	}
	defer s.orderEnd.Unlock()
	q, err := s.engine.Connect()
	if err != nil {
		return err
	}
	defer q.Close()
	f := o.file
	release, err := s.lockWriteFor(ctx, f.collection)
	if err != nil {
		return err
	}
	defer release()
	if held, err := s.files.acquireOne(ctx, f); err != nil || !held {
		return cmp.Or(err, errGone)
	}
	if err = o.Finish(ctx, q, s.orderSource(f)); err == nil {
		err = s.files.checkpoint(ctx, q, f) // the log must not be replayed into the new file
	}
	if err != nil {
		s.files.finish([]*file{f}, err)
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, orderSwap, errors.New("queries use the file all the time"))
	defer cancel()
	if err = s.files.swap(ctx, f, o.Path); err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return err
}
