package duck

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"belfry/store/duck/copying"
	"belfry/store/duck/folder"
)

// One file at a time is held while it is copied: no checkpoint changes it. It need not be attached and may be detached
// meanwhile; when it is attached, a transaction keeps the engine from making checkpoints of it by itself. Rows that are
// stored meanwhile are in its log.
//
// The log grows as long as the copy takes. The engine keeps the rows in it in memory, and what does not fit there in its
// temporary folder. If that is not enough either, the engine is replaced by one with more memory, as always, and the new
// one holds the file, too. The first commit after the copy makes the checkpoint.
//
// Rows come before copies. So a checkpoint that saves rows of a lost log is made nevertheless, and ends the hold; whoever
// copies the file notices.

// errGone means that a file has been dropped.
var errGone = errors.New("the file has been dropped")

// hold opens a file for a copy and holds it until letGo. The caller keeps writers of the file away.
func (fs *files) hold(ctx context.Context, f *file) (*copying.File, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := f.gone(); err != nil {
		return nil, err
	}
	in, err := copying.Open(f.path)
	if err != nil {
		return nil, err
	}
	if !fs.checked(f, in) {
		in.Close()
		return nil, errUnchecked
	}
	fs.held = f
	if f.alias != "" {
		if err := fs.holdAttached(ctx, f); err != nil {
			fs.held = nil
			in.Close()
			return nil, err
		}
	}
	return in, nil
}

// errUnchecked means that another file may be in the place of the one in use, such as an older copy. Attaching it finds that out.
var errUnchecked = fmt.Errorf("%w: another file may be in its place", copying.ErrChanged)

// checked reports whether a file is the one that was attached, or was copied last; its position was compared with the manifest
// then. If an attached file is another one, it must be attached again. The mutex is held.
func (fs *files) checked(f *file, in *copying.File) bool {
	if f.alias == "" {
		return f.copied != "" && f.copied == in.State()
	}
	fs.noteForeign(f)
	same := in.Is(f.inode, f.log.checkpoints) && !f.foreign
	if !same && !f.stale {
		fs.replaced(f)
	}
	return same && !f.stale
}

// gone returns why a file is no longer in use.
func (f *file) gone() error {
	switch {
	case f.loss != nil:
		return errors.New(f.loss.message())
	case f.doomed:
		return errGone
	}
	return nil
}

// holdAttached holds off checkpoints of the held file, which is attached. The mutex is held.
func (fs *files) holdAttached(ctx context.Context, f *file) error {
	err := fs.holder.HoldCheckpoints(ctx, f.alias)
	fs.holding = err == nil
	return err
}

// allowCheckpoint ends the transaction that holds off checkpoints of a file, if it is the held one. The mutex is held.
func (fs *files) allowCheckpoint(f *file) {
	if fs.held == f && fs.holding {
		fs.holder.AllowCheckpoints()
		fs.holding = false
	}
}

// endHold is allowCheckpoint for callers that do not hold the mutex.
func (fs *files) endHold(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.allowCheckpoint(f)
}

// letGo ends the hold of a file, and returns an error if what was copied does not count.
func (fs *files) letGo(f *file, in *copying.File) error {
	defer in.Close()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.allowCheckpoint(f)
	fs.held = nil
	f.copied = ""
	if err := cmp.Or(f.gone(), in.Check(f.path)); err != nil {
		return err
	}
	f.copied = in.State()
	return nil
}

// hasLog reports whether a file may have rows that are not in it: in a log, or in memory if the log was lost.
func (fs *files) hasLog(f *file) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return f.dirty > 0 || f.log.lost || folder.HasLog(f.path)
}
