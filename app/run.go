package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry"
)

const (
	releaseEvery   = time.Second
	retentionEvery = 10 * time.Minute
	usesEvery      = time.Minute
	summariesEvery = time.Minute
	catchUpEvery   = 10 * time.Millisecond
)

// run waits until the rows of the journal are in the store, says that the service is ready, and then waits for the end.
// The metadata database catches up meanwhile: nobody reads from it what the tree and the mover have in memory.
func (s *service) run(ctx context.Context) error {
	begun := time.Now()
	s.store.Hurry()
	go s.meta.Drain(ctx) // it reports by itself what goes wrong
	caught := time.NewTicker(catchUpEvery)
	defer caught.Stop()
	blocked := false
	for {
		select {
		case <-ctx.Done():
			s.Log.Info("stopping", "why", context.Cause(ctx))
			return nil
		case err := <-s.failed:
			return err
		case <-s.Reload:
			s.reload()
		case <-caught.C:
			if s.store.Position() < s.goal {
				continue
			}
			if s.phase.Swap(nil) != nil {
				s.settleFaults()
			}
			switch err := s.faults.ready(); {
			case err == nil:
				caught.Stop()
				objects, resources, views := s.tree.Size()
				s.Log.Info("ready", "objects", objects, "resources", resources, "views", views, "dur", time.Since(begun).Round(time.Millisecond))
			case !blocked:
				blocked = true
				s.Log.Warn("started, but not ready", "why", message(err))
			}
		}
	}
}

// settleFaults ends the faults of the last run that this one has not found.
func (s *service) settleFaults() {
	s.tellIncomplete(nil)
	s.faults.settle()
}

// keepHouse lets go of what is not needed any more: segments that have arrived everywhere, rows and answers that are
// too old.
func (s *service) keepHouse(ctx context.Context) error {
	release, retention, uses := time.NewTicker(releaseEvery), time.NewTicker(retentionEvery), time.NewTicker(usesEvery)
	defer uses.Stop()
	defer release.Stop()
	defer retention.Stop()
	s.retain(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-release.C:
			s.release(ctx)
		case <-uses.C:
			s.noteUses()
			s.tellShortfalls()
			s.accounts.FlushRefused()
			if s.faults.isOpen(secretsFault) {
				s.checkSecrets() // somebody may have given them again
			}
		case <-retention.C:
			s.retain(ctx)
		case <-s.reloads:
			s.retain(ctx)
		}
	}
}

func (s *service) release(ctx context.Context) {
	rows := s.store.Position()
	if err := s.rows.durable(rows); err != nil { // after Position, so that it speaks for these rows
		s.filesChanged()
		return
	}
	if rows > s.moved && s.trouble.meta.err() == nil {
		if err := s.db.MarkRows(ctx, rows); err != nil {
			if ctx.Err() == nil {
				s.Log.Warn("the next start will offer rows again that are stored", "err", err)
			}
			return
		}
		s.moved = rows
	}
	if _, segments := s.journal.Size(); segments > 1 || s.journal.Short() || s.disk.journalLow.Load() {
		s.releaseUpTo(ctx, min(s.moved, s.meta.Position())) // a start takes segments for lost that go beyond either
	}
}

// releaseUpTo lets segments go. What the database has of them must be on disk first, and the note of what is in the row store:
// a power cut may take back what was written last, and then the records would be nowhere, or seem to be.
func (s *service) releaseUpTo(ctx context.Context, pos belfry.Position) {
	release := s.journal.Release
	if s.disk.journalLow.Load() {
		release = s.journal.Shrink
	}
	err := errors.Join(s.db.Sync(ctx), s.rows.sync())
	if err == nil {
		err = release(pos)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("journal segments stay", "err", err)
	}
}

// retain drops the rows of each collection that are older than it keeps them. While the clock is in doubt nothing is
// deleted.
func (s *service) retain(ctx context.Context) {
	now, sure := s.guard.mayDelete()
	if !sure {
		return
	}
	cfg := s.cfg.Load()
	for name, age := range cfg.Retention {
		before := belfry.Time(0) // nothing is dropped, but the row store looks after its lists
		if age != 0 {
			before = belfry.At(now.Add(-time.Duration(age)))
		}
		s.retainOne(ctx, name, before)
		if name == belfry.Events { // without events there is nothing that could follow a snapshot
			s.retainOne(ctx, belfry.StatusDay, before)
			s.retainOne(ctx, belfry.StatusChange, before)
		}
	}
	s.purge(ctx)
	if err := s.db.ForgetAnswers(ctx, belfry.At(s.guard.answersFrom())); err != nil && ctx.Err() == nil {
		s.Log.Warn("old idempotency answers stay", "err", err)
	}
	if err := s.meta.RecountAnswers(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn("idempotency answers could not be counted", "err", err)
	}
	if err := s.accounts.ForgetSessions(); err != nil && ctx.Err() == nil {
		s.Log.Warn("sessions that are over stay", "err", err)
	}
}

func (s *service) retainOne(ctx context.Context, collection string, before belfry.Time) {
	had := s.rows.Stats().Expired
	if err := s.drop(ctx, collection, before); err != nil && ctx.Err() == nil {
		s.Log.Warn("old rows stay", "collection", collection, "err", err)
	}
	if rows := s.rows.Stats().Expired - had; rows > 0 {
		s.Log.Info("old rows removed", "collection", collection, "rows", rows, "before", before)
	}
}

// noteUses stores when keys and sessions were last used. What cannot be stored now is stored later, or lost without harm.
func (s *service) noteUses() {
	if err := s.accounts.KeysUsed(); err != nil {
		s.Log.Debug("last use of keys not stored", "err", err)
	}
	if err := s.accounts.SessionsUsed(); err != nil {
		s.Log.Debug("last use of sessions not stored", "err", err)
	}
}

// tellShortfalls writes events about rows that were not stored and senders that were held up. What cannot be written now is told later.
func (s *service) tellShortfalls() {
	if err := s.intake.TellShortfalls(); err != nil {
		s.Log.Debug("events about rows that were not stored are not written", "err", err)
	}
}

// stop ends the parts in reverse. Each may take its time, all together no longer than a stop may: what is left then is
// in the journal.
func (s *service) stop() error {
	s.notReady("the service is stopping")
	begun := time.Now()
	most := time.Duration(s.cfg.Load().Limits.Stop)
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if s.store != nil {
		s.store.Closing()
	}
	if s.parts.collect != nil {
		s.parts.collect.stop() // at once: nobody waits for an answer from it, and others may have many requests open
	}
	if s.seq != nil {
		s.intake.Closing()
	}
	if s.hub != nil {
		s.hub.Close() // streams would not end by themselves
	}
	if s.listeners != nil {
		s.listeners.close(ctx, s.endBodies)
	}
	p := &s.parts
	errs := []error{endAll(ctx, p.demo, p.measure, p.collect, p.snap, p.check, p.sum, p.erase, p.keep)}
	if p.keep != nil {
		s.lastUses(ctx)
	}
	errs = append(errs, endAll(ctx, p.watch))
	s.tellStop(ctx)
	errs = append(errs, endAll(ctx, p.faults, p.seq, p.hub))
	s.drain(ctx, most/moverShare)
	errs = append(errs, endAll(ctx, p.pressure, p.disk, p.clock, p.arrivals, p.files))
	if s.rows != nil {
		err := within(ctx, s.rows.Close)
		if errors.Is(err, context.DeadlineExceeded) {
			s.leave("row store", err)
		} else {
			errs = append(errs, err)
		}
	}
	errs = append(errs, s.labels.close(), s.closeCore(begun.Add(most+closeWithin)))
	s.Log.Info("stopped", "dur", time.Since(begun).Round(time.Millisecond))
	return errors.Join(errs...)
}

// endBodies ends the bodies that requests still bring.
func (s *service) endBodies() {
	if s.api != nil {
		s.api.EndBodies()
	}
}

// closeCore closes what all parts use. One that was left behind may write at this moment.
func (s *service) closeCore(deadline time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	if err := within(ctx, s.core.close); err != nil {
		return fmt.Errorf("close journal and metadata: %w", err)
	}
	return nil
}

// lastUses stores the last use of keys and sessions once more; not at any price.
func (s *service) lastUses(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.noteUses()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// drain lets the movers finish, unless that takes long.
func (s *service) drain(ctx context.Context, each time.Duration) {
	for _, m := range []struct {
		part  *part
		drain func(context.Context) error
	}{{s.parts.store, s.drainStore}, {s.parts.meta, s.drainMeta}} {
		if m.part == nil {
			continue
		}
		s.leave(m.part.name, m.part.endAndDrain(ctx, each, m.drain))
	}
	if s.journal != nil && s.store != nil {
		s.release(ctx)
	}
}

// leave tells what could not be finished. It is in the journal.
func (s *service) leave(part string, err error) {
	if err != nil {
		s.Log.Warn("left to the next start", "part", part, "err", err)
	}
}

// drainStore moves the last rows. Many of them are left where they are, in the journal: the next start moves them in the
// time that it would take here, and a service that was flooded ends soon. Unless the journal is not there any more.
func (s *service) drainStore(ctx context.Context) error {
	if rows, _ := s.store.Backlog(); rows > drainMost && s.trouble.folder.err() == nil {
		return fmt.Errorf("%d rows wait in the journal, and more than %d are not moved now", rows, drainMost)
	}
	return s.store.Drain(ctx)
}

func (s *service) drainMeta(ctx context.Context) error {
	s.watchMeta(ctx)
	return s.meta.Drain(ctx)
}
