package app

import (
	"context"
	"errors"
	"fmt"

	"belfry/folder"
	"belfry/journal"
	"belfry/store"
)

// Verification is the result of Verify.
type Verification struct {
	Files    int             `json:"files"` // that were read
	Problems []store.Problem `json:"problems"`
	Known    []store.Problem `json:"known,omitempty"`  // losses that were confirmed, so nothing needs to be done
	Unread   []store.Problem `json:"unread,omitempty"` // files that could not be looked at
}

// Verify reads everything in a data folder that no service holds and reports what is damaged, missing or inconsistent. It changes
// nothing.
func Verify(ctx context.Context, o Options) (v Verification, err error) {
	if err := errors.Join(o.checkFolder(), folder.CheckKinds(o.Config)); err != nil {
		return v, err
	}
	budget := newBudget(findMemoryLimit("/"))
	o.useBudget(budget)
	lock, err := journal.LockDir(o.Config.Data)
	if errors.Is(err, journal.ErrLocked) {
		return v, fmt.Errorf("%w; stop the service first, or look at faults in GET /api/health", err)
	}
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := folder.CheckRestored(o.Config.Data); err != nil {
		return v, err
	}
	found, err := verifyLocked(ctx, o, budget)
	return Verification{Files: found.Files, Problems: append(found.Problems, found.Rows...), Known: found.Known, Unread: found.Unread}, err
}

// verifiedParts is the result of verifyLocked: Rows are the problems of files of rows, Problems all others.
type verifiedParts struct {
	Verification
	Rows []store.Problem
}

// verifyLocked verifies a folder that the caller has locked.
func verifyLocked(ctx context.Context, o Options, b *budget) (v verifiedParts, err error) {
	rows, err := verifyRows(ctx, o, b)
	if err != nil {
		return v, err
	}
	moved, noted := rowsMoved(o.Config)
	f, err := folder.Verify(ctx, o.Config, folder.Rows{Files: storageEngines[usedEngine].files, Reached: rows.Reached, Moved: moved, Noted: noted})
	return verifiedParts{Verification{Files: rows.Files + f.Files, Problems: f.Problems, Known: f.Known, Unread: rows.Unread}, rows.Problems}, err
}
