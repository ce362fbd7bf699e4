package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"belfry"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
)

// Rows committed since the last checkpoint of a file are in its log, 2026-11-15.duckdb.wal, and in the engine's memory.
// If the log is deleted, truncated or replaced while the service runs, the engine does not notice: it keeps writing to
// a file without a name, and a restart would find fewer rows. So after each commit we record which log there is, and
// check for it every few seconds and before records are released from the journal. A lost log costs nothing while the
// process runs: a checkpoint writes the rows from memory into the file.
//
// The engine itself removes the log when it makes a checkpoint, which it also does on its own at the end of a large
// commit. A checkpoint raises a number in the header of the file before the log is removed. So a log that is gone while
// that number has not changed was removed by someone else.
//
// That comparison needs a log and a number that belong together, and the number from before the commit. Watch and
// Durable run at any time, also in the middle of a commit or a checkpoint. Then they compare but record nothing; the
// end of the last commit or checkpoint of the file compares once more and records the state. If they recorded the
// number of a checkpoint that a commit has just made, the commit would find no log and the same number, and report a
// loss.
//
// A process that was killed may leave a log whose last record is torn. The first commit cuts that record off, so the
// log may be shorter after it than it was found.

// logState is what is known about the log of an attached file, as of before the commits and checkpoints in progress.
type logState struct {
	info        os.FileInfo // the log after the last commit; nil: none
	checkpoints uint64      // number of checkpoints in the header
	found       bool        // the log existed when the file was attached, and nothing has been committed since
	lost        bool        // rows are only in memory
}

// checkpoint moves the log of f into the file. The caller holds f.
func (fs *files) checkpoint(ctx context.Context, c *duckdb.Conn, f *file) error {
	fs.beginChange(f)
	fs.endHold(f)
	err := c.Exec(ctx, "CHECKPOINT "+f.alias)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.changing--
	if err == nil {
		fs.checkpointed(f)
	}
	return err
}

// beginChange records the start of a transaction or a checkpoint, which may write to the file and remove or replace its log.
func (fs *files) beginChange(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.noteForeign(f)
	f.changing++
}

// endTransaction records the end of a transaction. If it was committed, the rows must be in the log, or were checkpointed.
func (fs *files) endTransaction(f *file, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.changing--; f.changing == 0 {
		f.written = modified(f.path)
	}
	if err == nil {
		f.branch = fs.owner.Branches.Current()
	}
	switch {
	case f.changing > 0:
	case err == nil:
		fs.checkLog(f, true)
	case f.log.found: // the torn record may be gone nevertheless
		fs.noteLog(f)
		f.log.found = true
	}
}

// checkpointed records a checkpoint. A commit in progress has its rows in the log that the checkpoint left, or in the
// file, and checks for itself. The mutex is held.
func (fs *files) checkpointed(f *file) {
	f.dirty, f.log.lost = 0, false
	if f.changing == 0 {
		fs.noteLog(f)
	}
	f.stampItems()
}

// noteLog records the log of a file that has no commit or checkpoint in progress. The mutex is held.
func (fs *files) noteLog(f *file) {
	f.log = logState{}
	f.log.info, _ = os.Stat(f.path + ".wal") // nil when there is none
	f.log.checkpoints, _ = damage.Checkpoints(f.path)
	f.written = modified(f.path)
}

// noteForeign records that someone else has written to the file: it was changed although no transaction or checkpoint of ours was
// in progress. It has to be attached again, which finds out whose rows it has now. The mutex is held.
func (fs *files) noteForeign(f *file) {
	if f.alias == "" || f.changing > 0 || f.foreign || f.written.IsZero() {
		return
	}
	if at := modified(f.path); !at.IsZero() && !at.Equal(f.written) {
		f.foreign = true
		fs.log.Warn("another program has written to a file of rows, which is opened again", "file", f.path, "at", at)
	}
}

// modified returns when a file was last written to; 0 if that is unknown.
func modified(path string) (t time.Time) {
	if info, err := os.Stat(path); err == nil {
		t = info.ModTime()
	}
	return t
}

// checkLog checks that the log of an attached file is still the one that was written to. After a commit (committed)
// there must be one, unless a checkpoint was made since it began. The mutex is held.
func (fs *files) checkLog(f *file, committed bool) {
	if f.alias == "" || f.stale || f.log.lost || f.log.info == nil && !committed {
		return
	}
	was := f.log.info
	info, err := os.Stat(f.path + ".wal")
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return // the next write reports why
	case err == nil && (was == nil || os.SameFile(was, info) && (info.Size() >= was.Size() || f.log.found && (committed || f.changing > 0))):
		if committed {
			f.log.info, f.log.found = info, false
		}
		return
	}
	n, err := damage.Checkpoints(f.path) // after Stat: the engine counts before it removes a log
	if err != nil {
		return
	}
	if n != f.log.checkpoints {
		if f.changing == 0 {
			fs.noteLog(f)
		}
		return
	}
	f.log.lost = true
	fs.log.Error("the log of a file of rows was deleted or replaced", "file", f.path+".wal")
	fs.onChange()
}

// Durable returns an error unless all rows that Append has stored are in files that a restart would read. It records
// the positions of the files in the manifest. Records must not be released from the journal before.
func (s *Store) Durable(moved belfry.Position) error {
	fs := s.files
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, list := range fs.byName {
		for _, f := range list {
			fs.checkLog(f, false)
			if f.log.lost {
				return fmt.Errorf("the log of %s was deleted, and its rows are only in memory", f.path)
			}
		}
	}
	return fs.manifest.Note(fs.reached(), moved)
}

// SyncNotes makes durable what Durable has recorded.
func (s *Store) SyncNotes() error {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	return s.files.manifest.Sync()
}

// Mend repairs what Watch and Durable found and what needs the write lock: it saves the rows of lost logs, and retries
// files that could not be read.
func (s *Store) Mend(ctx context.Context) error {
	err := s.files.probe()
	if err != nil || !s.files.needsRepair() {
		return err
	}
	return s.writing(ctx, func() error { return s.repair(ctx) })
}

// needsRepair reports whether there is something for Mend to do.
func (fs *files) needsRepair() bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, list := range fs.byName {
		for _, f := range list {
			if f.log.lost {
				return true
			}
		}
	}
	return len(fs.readyAgain()) > 0
}

// repair is Mend for callers that hold write and engineMu.
func (s *Store) repair(ctx context.Context) error {
	var errs []error
	for _, f := range s.files.lostLogs() {
		err := s.files.checkpoint(ctx, s.writer, f)
		if err == nil {
			s.cfg.Repaired("the log " + filepath.Join(f.collection.Name, filepath.Base(f.path)+".wal") + " of the row store was deleted or replaced while the service ran; its rows were saved from memory, and nothing is missing")
		} else {
			errs = append(errs, fmt.Errorf("save the rows of %s, whose log was deleted: %w", f.path, err))
		}
		s.files.finish([]*file{f}, nil)
	}
	return errors.Join(append(errs, s.retryUnreadable(ctx))...)
}

// lostLogs returns the files whose log was lost. They count as used until they are released.
func (fs *files) lostLogs() (found []*file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, list := range fs.byName {
		for _, f := range list {
			if f.log.lost && f.alias != "" && !f.stale && !f.occupied {
				f.refs++
				found = append(found, f)
			}
		}
	}
	return found
}

// checkpointOverfull checkpoints files until few enough have rows that are only in their logs.
func (s *Store) checkpointOverfull(ctx context.Context) error {
	for {
		f := s.files.overfull(min(maxUncheckpointed, s.files.maxIdle), s.cfg.MemoryLimit/3)
		if f == nil {
			return nil
		}
		err := s.files.checkpoint(ctx, s.writer, f)
		if err != nil {
			s.files.markStale(f)
		}
		losses := s.files.losses()
		s.files.finish([]*file{f}, err)
		if err != nil && s.files.losses() != losses {
			return s.restore(ctx, s.files.unrestored()) // it was damaged and set aside
		}
		if err != nil {
			return fmt.Errorf("checkpoint %s: %w", f.path, err)
		}
	}
}
