package app

import (
	"context"
	"errors"
	"fmt"

	"belfry/journal"
	"belfry/store/duck"
)

// Verification is what Verify has found.
type Verification struct {
	Files    int            `json:"files"` // that were read
	Problems []duck.Problem `json:"problems"`
}

// Verify reads everything in a data folder that no service holds, and tells what is damaged or missing. It changes nothing.
func Verify(ctx context.Context, o Options) (v Verification, err error) {
	if err := o.checkFolder(); err != nil {
		return v, err
	}
	lock, err := journal.LockDir(o.Config.Data)
	if errors.Is(err, journal.ErrLocked) {
		return v, fmt.Errorf("%w; stop the service first, or ask it: GET /api/health lists under faults what it has found", err)
	}
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	dir := o.Config.inside(o.Config.Storage.DuckDB.Dir)
	id, err := journal.ReadInstance(dir)
	if err != nil {
		return v, err
	}
	v.Problems, v.Files, err = duck.Verify(ctx, duck.Config{Dir: dir, Instance: id, Catalog: o.Catalog, Log: o.Log})
	return v, err
}
