package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"belfry/query"
)

const day = 24 * time.Hour

// scale is how much data the part queries works on.
type scale struct {
	objects int     // of the dataset of many rows, not fewer than those with log lines
	lines   int     // log lines, all of one day; some of each object in an hour
	days    int     // that the dataset of many days has files for, today among them
	runs    int     // of each query, at least
	each    float64 // seconds that a query is asked for, at least, unless it is very quick
	most    float64 // seconds after which a few runs are enough of a slow one
}

func (b *bench) scale() scale {
	if b.quick {
		return scale{objects: 10_000, lines: 300_000, days: 30, runs: 5, each: 0.1, most: 1}
	}
	return scale{objects: min(b.objects, query.MaxRows), lines: 10_000_000, days: 400, runs: 20, each: 1, most: 12}
}

// stretch is a time in which every object has so many rows, at even distances.
type stretch struct {
	from, to time.Time
	rounds   int
}

// at is the moment of a row of the stretch, of so many.
func (s stretch) at(n, of int) time.Time {
	return s.from.Add(time.Duration(float64(s.to.Sub(s.from)) * float64(n) / float64(of)))
}

// stretches give each object a hundred rows, 58 of them on the day before now.
func stretches(now time.Time) []stretch {
	today := now.UTC().Truncate(day)
	return []stretch{
		{today.Add(-2 * day), today.Add(-day), 21},
		{today.Add(-day), today, 58},
		{today, now, 21},
	}
}

// rowsOf counts the rows of stretches.
func rowsOf(list []stretch, objects int) (n int) {
	for _, s := range list {
		n += s.rounds * objects
	}
	return n
}

const datedHeader = "type,timestamp,resname,object,class,view,i1,i2,i3,i4,i5\n"

// datedRow is a row of a moment, with what it takes to make its object.
func (w *workload) datedRow(dst []byte, object int, at time.Time) []byte {
	dst = strconv.AppendInt(append(dst, "data,"...), at.UnixMilli(), 10)
	dst = appendPadded(append(dst, ",res"...), object/perResource, 5)
	dst = appendPadded(append(dst, ",obj"...), object, 7)
	dst = appendPadded(append(dst, ",bench,res"...), object/perResource, 5)
	for n := 1; n <= values; n++ {
		dst = w.value(append(dst, ','), object, n)
	}
	return append(dst, '\n')
}

// stretchBodies gives the rows of stretches in the order of time, in bodies; ok is false at the end.
func stretchBodies(list []stretch, objects int) func(rows int) (body []byte, n int) {
	w, done := newWorkload(objects), 0
	return func(rows int) ([]byte, int) {
		body, n := []byte(datedHeader), 0
		for len(list) > 0 && n < rows {
			all := list[0].rounds * objects
			for ; done < all && n < rows; done, n = done+1, n+1 {
				body = w.datedRow(body, w.turn(), list[0].at(done, all))
			}
			if done == all {
				list, done = list[1:], 0
			}
		}
		return body, n
	}
}

// The dataset of many days: one object has rows every day, one on the first day alone, the others take turns.
const (
	dayObjects = 1000
	dayRows    = 200
	steadyRows = 12 // of the steady object, each day
	steady     = 0
	early      = 1
)

// dayBodies gives a body for every ten days.
func dayBodies(now time.Time, days int) func(int) ([]byte, int) {
	w, next, i := newWorkload(dayObjects), early+1, days-1
	return func(int) ([]byte, int) {
		body, n := []byte(datedHeader), 0
		for ; i >= 0 && n < 10*dayRows; i-- {
			from := now.UTC().Truncate(day).Add(-time.Duration(i) * day)
			s := stretch{from, from.Add(day), dayRows}
			if i == 0 {
				s.to = now
			}
			for row := range dayRows {
				object := next
				switch {
				case row%(dayRows/steadyRows) == 0 && row/(dayRows/steadyRows) < steadyRows:
					object = steady
				case i == days-1 && row%2 == 1:
					object = early
				default:
					next = max(early+1, (next+1)%dayObjects)
				}
				body = w.datedRow(body, object, s.at(row, dayRows))
				n++
			}
		}
		return body, n
	}
}

// fill sends bodies until there are no more, without measuring it, and waits until they are stored. The objects are
// made by the first ones, which go alone, so that the order of their numbers is that of their names.
func (s *server) fill(ctx context.Context, alone int, next func(rows int) ([]byte, int)) (sent int, err error) {
	const rows = 10_000
	for sent < alone {
		body, n := next(rows)
		if err := s.send(ctx, body, n); err != nil {
			return sent, err
		}
		sent += n
	}
	const clients = 3
	var turn sync.Mutex
	var all sync.WaitGroup
	errs := make([]error, clients)
	for i := range clients {
		all.Go(func() {
			for errs[i] == nil {
				turn.Lock()
				body, n := next(rows)
				sent += n
				turn.Unlock()
				if n == 0 {
					return
				}
				errs[i] = s.send(ctx, body, n)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return sent, err
	}
	return sent, s.settleRows(ctx)
}
