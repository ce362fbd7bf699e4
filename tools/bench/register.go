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
	j := job{Objects: objects, Rows: 10_000, Clients: 4, Create: true, Seconds: float64(objects) / 100_000}
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

// registerMany registers many objects, starts again, and sends for them.
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
	return b.during(ctx, e, func(s *server) error {
		now, peak, err := s.memory()
		if err != nil {
			return err
		}
		b.progress("ready after %.1f s with %.0f MiB", s.ready.Seconds(), now)
		b.add("register", "start", "until ready", "s", s.ready.Seconds())
		b.add("register", "start", "memory", "MiB", now)
		b.add("register", "start", "peak memory", "MiB", peak)
		m, err := b.runJob(ctx, s, bulkJob(b.many, b.fraction(4)))
		if err != nil {
			return err
		}
		b.addLoad("register", bulkLoad, m)
		a, err := s.put(ctx, statusQuestion(b.many/2), e.scale)
		if err == nil {
			b.addTimes("register", a.Name, a.P50, a.P99, a.Max)
		}
		return err
	})
}
