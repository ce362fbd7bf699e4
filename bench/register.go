package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
)

// registering is how objects are made: a row for each.
type registering struct {
	objects int
	rows    int // of a body
	clients int
}

func (r registering) job() job {
	return job{Objects: r.objects, Rows: r.rows, Clients: r.clients, Create: true, Seconds: float64(r.objects) / 100_000}
}

// check sees to it that every object was made.
func (r registering) check(m *measured) error {
	if m.Refused > 0 || m.Rows != r.objects {
		return fmt.Errorf("%d of %d objects were made, %d bodies refused: %s", m.Rows, r.objects, m.Refused, m.Example)
	}
	return nil
}

// register makes objects by sending one row for each. Their resources are there before.
func (b *bench) register(ctx context.Context, s *server, r registering) (*measured, error) {
	if _, err := s.provision(ctx, http.MethodPost, "custom", resourceNames(r.objects)); err != nil {
		return nil, err
	}
	b.say("registering %d objects, bodies of %d rows, %d clients", r.objects, r.rows, r.clients)
	m, err := b.run(ctx, s, r.job(), "register")
	if err != nil {
		return nil, err
	}
	return m, r.check(m)
}

// makeResources makes the resources of so many objects.
func (s *server) makeResources(ctx context.Context, objects int) error {
	_, err := s.provision(ctx, http.MethodPost, "custom", resourceNames(objects))
	return err
}

// makeObjects makes some objects without measuring it.
func (s *server) makeObjects(ctx context.Context, n int) error {
	if err := s.makeResources(ctx, n); err != nil {
		return err
	}
	answer, err := s.send(ctx, formCSV, newWorkload(n).csvBody(nil, n, true))
	if err == nil && accepted(answer) != n {
		err = fmt.Errorf("%d objects were asked for: %.300s", n, answer)
	}
	return err
}

// registered is the same registering several times, each in an empty server, the slowest first.
type registered struct {
	registering
	runs []*measured
}

func (r *registered) median() *measured { return r.runs[len(r.runs)/2] }

// registerAll lets many clients register all objects, in bodies of two sizes. One run is over within a second, so it
// is the middle of several that counts.
func (b *bench) registerAll(ctx context.Context) error {
	times := 3
	if b.quick {
		times = 1
	}
	for _, rows := range []int{1000, 10_000} {
		r := &registered{registering: registering{objects: b.objects, rows: rows, clients: 16}}
		for range times {
			m, err := b.registerOnce(ctx, r.registering)
			if err != nil {
				return err
			}
			r.runs = append(r.runs, m)
		}
		slices.SortFunc(r.runs, func(x, y *measured) int { return int(x.rate() - y.rate()) })
		b.say("%.0f rows/s", r.median().rate())
		b.res.registered = append(b.res.registered, r)
	}
	return nil
}

func (b *bench) registerOnce(ctx context.Context, r registering) (m *measured, err error) {
	data := filepath.Join(b.tmp, "register")
	s, err := b.startServer(ctx, data, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop(), os.RemoveAll(data)) }()
	if _, err := s.provision(ctx, http.MethodPost, "custom", resourceNames(r.objects)); err != nil {
		return nil, err
	}
	b.say("registering %d objects, bodies of %d rows, %d clients", r.objects, r.rows, r.clients)
	if m, err = b.runBriefly(ctx, s, r.job(), "register"); err != nil {
		return nil, err
	}
	return m, r.check(m)
}
