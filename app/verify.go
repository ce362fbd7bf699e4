package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"belfry/config"
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
	v, rows, err := verifyLocked(ctx, o)
	v.Problems = append(v.Problems, rows...)
	return v, err
}

// VerifyRestored is Verify for a folder into which a backup was restored. The key file is no problem, as backups have none.
func VerifyRestored(ctx context.Context, o Options) (Verification, error) {
	v, err := Verify(ctx, o)
	v.Problems = withoutKeyFile(o.Config, v.Problems)
	return v, err
}

func withoutKeyFile(c *config.Config, list []store.Problem) []store.Problem {
	path := c.Inside(c.Secrets.KeyFile)
	return slices.DeleteFunc(list, func(p store.Problem) bool { return p.File == path })
}

// verifyLocked verifies a folder that the caller has locked. The problems of files of rows come apart.
func verifyLocked(ctx context.Context, o Options) (v Verification, ofRows []store.Problem, err error) {
	budget := newBudget(findMemoryLimit("/"))
	o.useBudget(budget)
	rows, err := verifyRows(ctx, o, budget)
	if err != nil {
		return v, nil, err
	}
	f, err := folder.Verify(ctx, o.Config, folder.Rows{Files: storageEngines[usedEngine].files, Reached: rows.Reached, Noted: rowsNoted(o.Config)})
	return Verification{Files: rows.Files + f.Files, Problems: f.Problems, Known: f.Known, Unread: rows.Unread}, rows.Problems, err
}
