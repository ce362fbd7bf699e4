package crash

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// fate is what is known about a row.
type fate uint8

const (
	unknown fate = iota // sent, and no answer came
	present             // acknowledged, or found after a restart
	absent              // refused, or not found after a restart
)

// stream is the rows of one object in one collection, numbered from 1. A row carries its number, so it can be told from
// all others. A view and a resource are streams of one row each.
type stream struct {
	name  string
	view  string // in which the object or view stands
	fates []fate
	times []int64  // microseconds; 0 is arrival
	alive int      // how many are present
	seen  []uint64 // ids of the rows that a comparison has found, by number; 0 is none
}

// found tells whether a comparison has found any row.
func (s *stream) found() bool {
	return s != nil && slices.ContainsFunc(s.seen, func(id uint64) bool { return id != 0 })
}

// next begins a row.
func (s *stream) next(at int64) ref {
	s.fates, s.times = append(s.fates, unknown), append(s.times, at)
	return ref{s, len(s.fates)}
}

// ref is one row.
type ref struct {
	*stream
	n int
}

func (r ref) settle(f fate) {
	if r.fates[r.n-1] != present && f == present {
		r.alive++
	}
	r.fates[r.n-1] = f
}

// second is the value of i2, which follows from the number of the row.
func second(n int) float64 { return float64(n)*1.25 + 0.5 }

func line(object string, n int) string { return fmt.Sprintf("line %d of %s\tcolumn two", n, object) }

// customer is one tenant and where its rows go.
type customer struct {
	client
	name string

	mu     sync.Mutex
	places []*place // senders add to it; whoever compares has stopped them
}

// place is a resource with what was sent into it, by one sender. It is small enough to be compared with a few queries.
type place struct {
	customer *customer
	name     string
	self     *stream
	data     map[string]*stream // by object
	logs     map[string]*stream
	views    map[string]*stream
	open     []*request // without an answer
	rows     int
	dirty    bool // something happened since it was compared
}

func (c *customer) place(name string) *place {
	p := &place{
		customer: c, name: name, self: &stream{name: name},
		data: map[string]*stream{}, logs: map[string]*stream{}, views: map[string]*stream{},
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places = append(c.places, p)
	return p
}

// exists tells whether an object is known to exist.
func (p *place) exists(object string) bool {
	for _, m := range []map[string]*stream{p.data, p.logs} {
		if s := m[object]; s != nil && s.alive > 0 {
			return true
		}
	}
	return false
}

// request is what a sender sends.
type request struct {
	place *place
	path  string
	key   string // Idempotency-Key
	body  []byte
	whole bool // all its rows or none
	rows  []ref
	want  []byte // the answer
}

func (r *request) settle(f fate) {
	for _, row := range r.rows {
		row.settle(f)
	}
}

// reopen makes a request that is sent again unknown again, unless it has taken effect already.
func (r *request) reopen() {
	for _, row := range r.rows {
		if row.fates[row.n-1] == absent {
			row.settle(unknown)
		}
	}
	r.place.dirty = true
}

// chunk is how many rows the program commits at once, of a body that is not whole.
const chunk = 16_384

// When rows create or remove something, fewer of them are read at once, and they are committed in turns.
const (
	leastChunk = 2048
	createTurn = 256
	removeTurn = 1000
)

// parts tells whether the request may be applied in part.
func (r *request) parts() bool { return !r.whole && len(r.rows) > createTurn }

// body composes a request.
type body struct {
	place          *place
	text           bytes.Buffer
	rows           []ref
	objects, views map[string]bool // that it creates
}

func (p *place) body() *body {
	b := &body{place: p, objects: map[string]bool{}, views: map[string]bool{}}
	b.text.WriteString("type,resname,object,class,view,parentview,timestamp,i1,i2,log\n")
	return b
}

// data adds a data row of an object that stands in view; at zero is arrival.
func (b *body) data(object, view string, at time.Time) {
	micro, stamp := int64(0), ""
	if !at.IsZero() {
		micro, stamp = at.UnixMicro(), at.UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	r := b.row(b.place.data, object, view, micro)
	fmt.Fprintf(&b.text, "data,%s,%s,crash,%s,,%s,%d,%s,\n", b.place.name, object, view, stamp, r.n, strconv.FormatFloat(second(r.n), 'f', -1, 64))
}

// log adds a log row.
func (b *body) log(object, view string) {
	r := b.row(b.place.logs, object, view, 0)
	fmt.Fprintf(&b.text, "log,%s,%s,crash,%s,,,,,%s\n", b.place.name, object, view, line(object, r.n))
}

func (b *body) row(m map[string]*stream, object, view string, at int64) ref {
	s := m[object]
	if s == nil {
		s = &stream{name: object, view: view}
		m[object] = s
	}
	if !b.place.exists(object) {
		b.objects[object] = true
	}
	r := s.next(at)
	b.rows = append(b.rows, r)
	return r
}

// view adds a row that creates a view in the resource.
func (b *body) view(name string) {
	s := &stream{name: name, view: b.place.name}
	b.place.views[name] = s
	b.views[name] = true
	b.rows = append(b.rows, s.next(0))
	fmt.Fprintf(&b.text, "createview,%s,,generic,%s,%s,,,,\n", b.place.name, name, b.place.name)
}

func (b *body) request() *request {
	b.place.rows += len(b.rows)
	b.place.dirty = true
	return &request{
		place: b.place, path: "/api/send", body: b.text.Bytes(), rows: b.rows,
		want: report(len(b.rows), 0, len(b.views), len(b.objects)),
	}
}

// provision makes the resource itself.
func (p *place) provision() *request {
	p.dirty = true
	return &request{
		place: p, path: "/api/provisioning/custom", body: []byte("name\n" + p.name + "\n"), whole: true,
		rows: []ref{p.self.next(0)}, want: report(1, 1, 0, 0),
	}
}
