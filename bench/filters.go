package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// filtered are loads of log lines, with and without the token filters that the store makes of them.
type filtered struct {
	turns
	rows int     // of the last load with filters
	size int64   // bytes of its filters
	late float64 // seconds after the lines were visible until the filters were complete
}

// filterFiles are the files with token filters of a data folder's log lines.
func filterFiles(data string) string { return filepath.Join(data, "rows", "objectlog", "*.tokens") }

// filterSize adds up the token filters of a data folder.
func filterSize(data string) (size int64, err error) {
	list, err := filepath.Glob(filterFiles(data))
	for _, f := range list {
		if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size, err
}

// waitFilters waits until the token filters do not grow any more: they are made beside everything else. It gives the
// seconds that it took.
func waitFilters(ctx context.Context, data string) (float64, error) {
	const still = 4 // looks without a change
	start := time.Now()
	grew, last, same := start, int64(-1), 0
	for same < still {
		size, err := filterSize(data)
		if err != nil {
			return 0, err
		}
		if same++; size != last {
			grew, last, same = time.Now(), size, 0
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return grew.Sub(start).Seconds(), nil
}

// waitLists waits until the items of all days but the newest are listed, which is also made beside everything else.
func waitLists(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		days, err := filepath.Glob(filepath.Join(data, "rows", "objectdata", "*.duckdb"))
		if err != nil {
			return err
		}
		lists, err := filepath.Glob(filepath.Join(data, "rows", "objectdata", "*.duckdb.items"))
		if err != nil || len(lists) >= len(days)-1 {
			return err
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// preventFilters puts a folder where the store would make the filters of a day, which it can neither write nor remove.
// There is no switch for it: nobody who runs the program needs one.
func preventFilters(data string, day time.Time) error {
	name := day.UTC().Format(time.DateOnly) + ".duckdb.tokens"
	return os.MkdirAll(filepath.Join(data, "rows", "objectlog", name, "in the way"), 0o750)
}

// filters sends log lines without and with token filters, each time to an empty server.
func (b *bench) filters(ctx context.Context, seconds float64) (r *filtered, err error) {
	r = &filtered{}
	r.turns, err = takeTurns(func(on bool) (*measured, error) { return b.logsOnce(ctx, seconds, r, on) })
	if err != nil {
		return nil, err
	}
	b.say("%.0f %% of the lines/s without filters", r.share())
	return r, nil
}

func (b *bench) logsOnce(ctx context.Context, seconds float64, r *filtered, on bool) (m *measured, err error) {
	e := &estate{data: filepath.Join(b.tmp, "filters")}
	defer func() { err = errors.Join(err, os.RemoveAll(e.data)) }()
	err = b.during(ctx, e, func(s *server) error {
		if err := s.makeObjects(ctx, logObjects); err != nil {
			return err
		}
		if !on {
			if err := preventFilters(e.data, time.Now()); err != nil {
				return err
			}
		}
		b.say("log lines, filters %v, %.0f s", on, seconds)
		j := job{Objects: logObjects, Rows: 10_000, Clients: 4, Seconds: seconds, Log: true}
		if m, err = b.runBriefly(ctx, s, j, ""); err != nil {
			return err
		}
		late, err := waitFilters(ctx, e.data)
		if err != nil {
			return err
		}
		size, err := filterSize(e.data)
		if err == nil && on != (size > 0) {
			err = fmt.Errorf("filters should be there: %v; the store has made %d bytes of them", on, size)
		}
		if on {
			r.rows, r.size, r.late = m.Rows, size, late
		}
		return err
	})
	return m, err
}
