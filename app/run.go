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

// run waits until the rows of the journal are in the store, logs that the service is ready, and then waits for the end. The
// metadata database catches up in the background: until then, the tree and the mover have what it lacks.
func (s *service) run(ctx context.Context) error {
	begun := time.Now()
	s.store.Flush()
	go s.meta.Drain(ctx) // it logs its own errors
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
				s.reportIncomplete(nil)
				s.faults.endStale()
			}
			switch err := s.faults.ready(); {
			case err == nil:
				caught.Stop()
				objects, resources, views := s.Tree.Size()
				s.Log.Info("ready", "objects", objects, "resources", resources, "views", views, "dur", time.Since(begun).Round(time.Millisecond))
			case !blocked:
				blocked = true
				s.Log.Warn("started, but not ready", "why", message(err))
			}
		}
	}
}

// housekeep releases journal segments, and writes last uses and shortfalls at intervals.
func (s *service) housekeep(ctx context.Context) error {
	release, uses := time.NewTicker(releaseEvery), time.NewTicker(usesEvery)
	defer uses.Stop()
	defer release.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-release.C:
			s.release(ctx)
		case <-uses.C:
			s.storeUses()
			s.reportShortfalls()
			s.accounts.FlushRefused()
			if s.faults.isOpen(secretsFault) {
				s.checkSecrets() // they may have been replaced
			}
		}
	}
}

// keepRetention applies retention at intervals. That may take minutes, while journal segments must be released.
func (s *service) keepRetention(ctx context.Context) error {
	tick := time.NewTicker(retentionEvery)
	defer tick.Stop()
	for {
		s.retain(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-s.reloads:
		}
	}
}

func (s *service) release(ctx context.Context) {
	rows := s.store.Position()
	if err := s.rows.durable(rows); err != nil { // after Position, so that it covers these rows
		s.filesChanged()
		return
	}
	if rows > s.Moved && s.failures.meta.err() == nil {
		if err := s.DB.MarkRows(ctx, rows); err != nil {
			if ctx.Err() == nil {
				s.Log.Warn("position of the stored rows not saved; the next start replays them", "err", err)
			}
			return
		}
		s.Moved = rows
	}
	if _, segments := s.Journal.Size(); segments > 1 || s.Journal.Short() || s.disk.journalLow.Load() {
		s.releaseUpTo(ctx, min(s.Moved, s.meta.Position())) // a start treats segments beyond either position as lost
	}
}

// releaseUpTo deletes segments. Before that, the metadata and the position of the row store must be on disk: a power cut may undo
// the last writes, and then the records would be lost, or look lost.
func (s *service) releaseUpTo(ctx context.Context, pos belfry.Position) {
	release := s.Journal.Release
	if s.disk.journalLow.Load() {
		release = s.Journal.Shrink
	}
	err := errors.Join(s.DB.Sync(ctx), s.rows.sync())
	if err == nil {
		err = release(pos)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("journal segments not deleted", "err", err)
	}
}

// retain drops the rows that are older than the retention of their collection. While the clock is suspect, or a backup runs, it
// deletes nothing.
func (s *service) retain(ctx context.Context) {
	now, sure := s.guard.mayDelete()
	if !sure {
		return
	}
	before := map[string]belfry.Time{} // 0 drops nothing, but the row store still maintains its lists
	for name, age := range s.cfg.Load().Retention {
		if before[name] = 0; age != 0 {
			before[name] = belfry.At(now.Add(-time.Duration(age)))
		}
	}
	for name, t := range before { // before a backup would have to wait for it
		if err := s.finishSummaries(ctx, name, t); err != nil {
			delete(before, name)
			if ctx.Err() == nil {
				s.Log.Warn("old rows not deleted, as they must be summarised first", "collection", name, "err", err)
			}
		}
	}
	end, ok := s.beginDeletions()
	if !ok {
		return
	}
	defer end()
	if _, sure := s.guard.mayDelete(); !sure {
		return
	}
	for name, t := range before {
		s.retainOne(ctx, name, t)
		if name == belfry.Events { // snapshots are useless without the events after them
			s.retainOne(ctx, belfry.StatusDay, t)
			s.retainOne(ctx, belfry.StatusChange, t)
		}
	}
	s.purge(ctx)
	if err := s.DB.ForgetAnswers(ctx, belfry.At(s.guard.answersFrom())); err != nil && ctx.Err() == nil {
		s.Log.Warn("old idempotency answers not deleted", "err", err)
	}
	if err := s.meta.RecountAnswers(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn("idempotency answers could not be counted", "err", err)
	}
	if err := s.accounts.ForgetSessions(); err != nil && ctx.Err() == nil {
		s.Log.Warn("expired sessions not deleted", "err", err)
	}
}

func (s *service) retainOne(ctx context.Context, collection string, before belfry.Time) {
	had := s.rows.Stats().Expired
	if err := s.drop(ctx, collection, before); err != nil && ctx.Err() == nil {
		s.Log.Warn("old rows not deleted", "collection", collection, "err", err)
	}
	if rows := s.rows.Stats().Expired - had; rows > 0 {
		s.Log.Info("old rows removed", "collection", collection, "rows", rows, "before", before)
	}
}

// storeUses stores when keys and sessions were last used. On failure it retries later; a loss does no harm.
func (s *service) storeUses() {
	if err := s.accounts.KeysUsed(); err != nil {
		s.Log.Debug("last use of keys not stored", "err", err)
	}
	if err := s.accounts.SessionsUsed(); err != nil {
		s.Log.Debug("last use of sessions not stored", "err", err)
	}
}

// reportShortfalls writes events about rows that were not stored and senders that were held up. On failure it retries later.
func (s *service) reportShortfalls() {
	if err := s.intake.TellShortfalls(); err != nil {
		s.Log.Debug("events about rows that were not stored are not written", "err", err)
	}
}

// stop ends the parts in reverse order of their start, within limits.stop. What is unfinished then is in the journal.
func (s *service) stop() error {
	s.notReady("the service is stopping")
	begun := time.Now()
	most := time.Duration(s.cfg.Load().Limits.Stop)
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	s.closeEntries(ctx)
	errs := []error{s.upkeep.end(ctx)}
	if len(s.upkeep) > 0 {
		_ = within(ctx, func() error { s.storeUses(); return nil }) // a last time, if there is time
	}
	s.reportStop(ctx)
	errs = append(errs, s.engineParts.end(ctx))
	s.drain(ctx, most/moverShare)
	errs = append(errs, s.watches.end(ctx))
	if s.rows != nil {
		err := within(ctx, s.rows.Close)
		if errors.Is(err, context.DeadlineExceeded) {
			s.logUnfinished("row store", err)
		} else {
			errs = append(errs, err)
		}
	}
	errs = append(errs, s.instanceFiles.Close(), s.closeFolder(begun.Add(most+closeWithin)))
	s.Log.Info("stopped", "dur", time.Since(begun).Round(time.Millisecond))
	return errors.Join(errs...)
}

// closeEntries stops receiving rows and requests.
func (s *service) closeEntries(ctx context.Context) {
	if s.store != nil {
		s.store.Closing()
	}
	if s.collecting != nil {
		s.collecting.stop() // at once: no sender waits for a reply, and requests may take long
	}
	if s.seq != nil {
		s.intake.Closing()
	}
	if s.hub != nil {
		s.hub.Close() // streams do not end by themselves
	}
	if s.listeners != nil {
		s.listeners.Close(ctx, func() {
			if s.api != nil {
				s.api.EndBodies()
			}
		})
	}
}

// closeFolder closes the journal and the metadata. A part that did not end in time may be writing at this moment.
func (s *service) closeFolder(deadline time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	if err := within(ctx, s.Close); err != nil {
		return fmt.Errorf("close journal and metadata: %w", err)
	}
	return nil
}

// drain ends the movers after they have moved the rest, if there is time.
func (s *service) drain(ctx context.Context, each time.Duration) {
	if m := s.movers.rows; m != nil {
		s.logUnfinished(m.name, m.endAndDrain(ctx, each, s.drainStore))
	}
	if m := s.movers.meta; m != nil {
		s.logUnfinished(m.name, m.endAndDrain(ctx, each, s.drainMeta))
	}
	if s.Journal != nil && s.store != nil {
		s.release(ctx)
	}
}

// logUnfinished logs a part that did not finish. Its data are in the journal.
func (s *service) logUnfinished(part string, err error) {
	if err != nil {
		s.Log.Warn("not finished; the next start continues", "part", part, "err", err)
	}
}

// drainStore moves the last rows. A large backlog stays in the journal, so that a flooded service stops soon: the next start
// takes as long to move it. If the journal is gone, all rows are moved.
func (s *service) drainStore(ctx context.Context) error {
	if rows, _ := s.store.Backlog(); rows > drainMost && s.failures.folder.err() == nil {
		return fmt.Errorf("%d rows stay in the journal; a stop moves at most %d", rows, drainMost)
	}
	return s.store.Drain(ctx)
}

func (s *service) drainMeta(ctx context.Context) error {
	s.watchMeta(ctx)
	return s.meta.Drain(ctx)
}
