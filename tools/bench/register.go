package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
)

// register makes objects by sending one row for each. Their resources are there before.
func (b *bench) register(ctx context.Context, s *server, objects int) (*measured, error) {
	if err := s.makeResources(ctx, objects); err != nil {
		return nil, err
	}
	b.progress("registering %d objects", objects)
	j := job{Objects: objects, Rows: 10_000, Clients: 4, Create: true}
	m, err := b.runJob(ctx, s, j)
	if err == nil && (m.Refused > 0 || m.Rows != objects) {
		err = fmt.Errorf("%d of %d objects were made, %d bodies refused: %s", m.Rows, objects, m.Refused, m.Example)
	}
	return m, err
}

// makeResources makes the resources of so many objects.
func (s *server) makeResources(ctx context.Context, objects int) error {
	_, err := s.provision(ctx, http.MethodPost, "custom", resourceNames(objects))
	return err
}

// makeObjects makes some objects without measuring it.
func (s *server) makeObjects(ctx context.Context, n int) error {
	return errors.Join(s.makeResources(ctx, n), s.send(ctx, newWorkload(n).body(nil, n, true), n))
}

// registerMany registers many objects, starts again, sends for them, and starts after an end without a stop.
func (b *bench) registerMany(ctx context.Context) error {
	e := &dataset{scale: b.scale(), data: filepath.Join(b.tmp, "many")}
	err := b.during(ctx, e, func(s *server) error {
		m, err := b.register(ctx, s, b.many)
		if err == nil {
			b.addLoad("register", "registering, from empty", m)
		}
		return err
	})
	if err != nil {
		return err
	}
	b.progress("starting with %d objects", b.many)
	var last *outcome
	err = b.during(ctx, e, func(s *server) error {
		if err := b.addStart("start", s); err != nil {
			return err
		}
		m, err := b.runJob(ctx, s, bulkJob(b.many, b.fraction(4)))
		if err != nil {
			return err
		}
		b.addLoad("register", bulkLoad, m)
		a, err := s.put(ctx, statusQuestion(b.many/2), e.scale)
		if err == nil {
			b.addTimes("register", a.Name, a.P50, a.P99, a.Max)
			last, err = b.sender(ctx, loadCommand, bulkJob(b.many, b.fraction(30)).to(s), func() {})
		}
		if err != nil {
			return err
		}
		return s.kill()
	})
	if err != nil {
		return err
	}
	b.progress("starting after kill -9")
	return b.during(ctx, e, func(s *server) error {
		if err := b.addStart("start after kill -9", s); err != nil {
			return err
		}
		return s.waitVisible(ctx, "objectdata", last.Start, last.Rows)
	})
}

// addStart notes how long a start with many objects took.
func (b *bench) addStart(of string, s *server) error {
	now, peak, err := s.memory()
	b.progress("ready after %.1f s with %.0f MiB", s.ready.Seconds(), now)
	b.add("register", of, "until ready", "s", s.ready.Seconds())
	b.add("register", of, "memory", "MiB", now)
	b.add("register", of, "peak memory", "MiB", peak)
	return err
}
