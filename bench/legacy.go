package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	legacyObjects = 1000
	legacyRounds  = 10 // addresses made ready for each object
)

// legacyResult is one row in the address of each request, to the server and to a bare handler.
type legacyResult struct {
	plain         *wrkOutcome // bare handler that does not look at the query
	before, after *wrkOutcome // bare handler that reads it
	server        *wrkOutcome
	stored        int // rows
	cost              // until both stores had caught up
}

// bare is the rate to compare with: the mean of before and after.
func (l *legacyResult) bare() float64 { return (l.before.rate() + l.after.rate()) / 2 }

// share of the bare handler, in per cent.
func (l *legacyResult) share() float64 { return 100 * l.server.rate() / l.bare() }

// legacyPaths are the addresses of requests for known objects in turn, one on each line.
func legacyPaths(path, key string, objects, rounds int) []byte {
	w := newWorkload(objects)
	var dst []byte
	for range objects * rounds {
		object := w.turn()
		dst = append(append(dst, path...), "?apikey="...)
		dst = append(append(dst, url.QueryEscape(key)...), "&resname=res"...)
		dst = append(appendPadded(dst, object/perResource, 5), "&o=obj"...)
		dst = appendPadded(dst, object, 7)
		for n := 1; n <= values; n++ {
			dst = append(strconv.AppendInt(append(dst, "&i"...), int64(n), 10), '=')
			dst = w.value(dst, object, n)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// legacy sends single rows in addresses: to the bare handler, to the server, and to the bare handler again.
func (b *bench) legacy(ctx context.Context) error {
	addr, end, err := b.startBare(ctx)
	if err != nil {
		return err
	}
	defer end()
	r := &legacyResult{}
	bare := func(to **wrkOutcome, path string) error {
		b.say("wrk, bare handler %s", path)
		const key = "00000000-0000-4000-8000-000000000000" // as long as a real one
		o, err := runWrk(ctx, b.wrk, b.tmp, addr, legacyPaths(path, key, legacyObjects, legacyRounds), b.wrkSeconds())
		if err == nil && (o.refused > 0 || o.failed > 0) {
			err = fmt.Errorf("the bare handler refused %d requests and did not answer %d", o.refused, o.failed)
		}
		*to = o
		return err
	}
	if err := bare(&r.plain, plainPath); err != nil {
		return err
	}
	if err := bare(&r.before, queryPath); err != nil {
		return err
	}
	if err := b.legacyServer(ctx, r); err != nil {
		return err
	}
	if err := bare(&r.after, queryPath); err != nil {
		return err
	}
	b.say("%.0f requests/s, %.0f %% of the bare handler, p99 %.1f ms", r.server.rate(), r.share(), r.server.p99)
	b.res.legacy = r
	return nil
}

func (b *bench) wrkSeconds() int { return int(b.part(6)) }

func (b *bench) legacyServer(ctx context.Context, r *legacyResult) (err error) {
	s, err := b.startServer(ctx, filepath.Join(b.tmp, "legacy"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.makeObjects(ctx, legacyObjects); err != nil {
		return err
	}
	paths := legacyPaths(queryPath, s.key, legacyObjects, legacyRounds)
	if err := s.knows(ctx, paths); err != nil {
		return err
	}
	b.say("wrk, server %s", queryPath)
	since := time.Now()
	w := b.watch(ctx, s, "legacy", 0.8*float64(b.wrkSeconds()))
	if r.server, err = runWrk(ctx, b.wrk, b.tmp, s.addr, paths, b.wrkSeconds()); err != nil {
		return errors.Join(err, s.tail())
	}
	if r.stored, err = s.count(ctx, "objectdata", since); err != nil {
		return err
	}
	if err := checkStored(r.server, r.stored); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	r.cost, err = w.end(ctx, r.server.cpu)
	return err
}

// knows asks once for the first address, so that a server without that endpoint is told from a slow one.
func (s *server) knows(ctx context.Context, paths []byte) error {
	first, _, _ := strings.Cut(string(paths), "\n")
	_, err := s.get(ctx, s.addr, first)
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return fmt.Errorf("the server does not know %s, so there is nothing to measure: %w", queryPath, err)
	}
	return err
}

// checkStored holds the rows that can be queried against the requests that succeeded. When time is up, wrk lets go of
// every connection, and what was under way there may have been stored.
func checkStored(o *wrkOutcome, stored int) error {
	if o.failed > 0 || o.requests == 0 {
		return fmt.Errorf("%d requests succeeded, %d were refused, %d not answered", o.requests, o.refused, o.failed)
	}
	if more := stored - o.requests; more < 0 || more > wrkConnections {
		return fmt.Errorf("%d requests succeeded and %d rows were stored", o.requests, stored)
	}
	return nil
}
