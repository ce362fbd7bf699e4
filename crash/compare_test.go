package crash

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// gone tells that a request failed because the program was killed.
func gone(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// comparison holds what the program says about a place against the ledger.
type comparison struct {
	*place
	faults        []string
	points, lines int             // rows found
	ids           []uint64        // of rows and events
	times         map[string]span // of the data rows of an object
}

// span is what the data rows of an object say about its state: the first by id, the newest by time, then id.
type span struct{ first, newest datum }

type datum struct {
	id uint64
	at int64 // microseconds
	n  int
}

// compare finds everything in which a place differs from the ledger, and settles what was unknown.
func (p *place) compare() (*comparison, error) {
	c := &comparison{place: p, times: map[string]span{}}
	for _, s := range c.streams() {
		s.seen = make([]uint64, len(s.fates))
	}
	for _, step := range []func() error{c.readData, c.readLogs, c.readStatus} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.judgeRequests()
	for _, s := range c.streams() {
		c.judgeStream(s)
	}
	if err := c.readEvents(); err != nil {
		return nil, err
	}
	for _, s := range c.streams() {
		s.seen = nil // a long run has many of them
	}
	p.dirty = false
	return c, nil
}

func (c *comparison) fault(format string, args ...any) {
	c.faults = append(c.faults, c.name+": "+fmt.Sprintf(format, args...))
}

func (p *place) streams() []*stream {
	return slices.Concat([]*stream{p.self}, slices.Collect(maps.Values(p.data)), slices.Collect(maps.Values(p.logs)), slices.Collect(maps.Values(p.views)))
}

func (c *comparison) where() string { return " WHERE resource='" + c.name + "'" }

// take notes a row that was found.
func (c *comparison) take(s *stream, n int, id uint64) {
	switch {
	case s == nil || n < 1 || n > len(s.fates):
		c.fault("row %d, id %x, was never sent", n, id)
	case s.seen[n-1] != 0:
		c.fault("row %d of %s is there twice: %x and %x", n, s.name, s.seen[n-1], id)
	default:
		s.seen[n-1] = id
	}
}

func (c *comparison) id(text string) uint64 {
	id, err := strconv.ParseUint(text, 16, 64)
	if err != nil || id == 0 {
		c.fault("row id %q", text)
	}
	c.ids = append(c.ids, id)
	return id
}

func (c *comparison) readData() error {
	return c.customer.each("SELECT id, timestamp, object, i1, i2 FROM objectdata"+c.where(), func(f []string) {
		c.points++
		id := c.id(f[0])
		at, err := time.Parse(time.RFC3339, f[1])
		n, errN := strconv.Atoi(f[3])
		i2, errI := strconv.ParseFloat(f[4], 64)
		if err != nil || errN != nil || errI != nil || i2 != second(n) {
			c.fault("row %q does not have the values that were sent", f)
			return
		}
		s, d := c.data[f[2]], datum{id, at.UnixMicro(), n}
		c.take(s, n, id)
		if s != nil && n <= len(s.times) && s.times[n-1] != 0 && s.times[n-1] != d.at {
			c.fault("row %d of %s has the time %v", n, s.name, at)
		}
		t, ok := c.times[f[2]]
		if !ok || id < t.first.id {
			t.first = d
		}
		if !ok || d.at > t.newest.at || d.at == t.newest.at && id > t.newest.id {
			t.newest = d
		}
		c.times[f[2]] = t
	})
}

func (c *comparison) readLogs() error {
	return c.customer.each("SELECT id, object, log FROM objectlog"+c.where(), func(f []string) {
		c.lines++
		id, n := c.id(f[0]), 0
		fmt.Sscanf(f[2], "line %d of", &n)
		if f[2] != line(f[1], n) {
			c.fault("log row %q is not one that was sent", f)
			return
		}
		c.take(c.logs[f[1]], n, id)
	})
}

// judgeRequests settles the rows of requests without an answer: those found must be the beginning of the body, or all
// or none of it.
func (c *comparison) judgeRequests() {
	for _, r := range c.open {
		n, holes := 0, false
		for i, row := range r.rows {
			if row.seen[row.n-1] == 0 {
				row.settle(absent)
				continue
			}
			holes = holes || n < i
			n++
			row.settle(present)
		}
		if holes || n < len(r.rows) && n > 0 && !r.parts() {
			c.fault("of %d rows in a body without an answer %d are there, which is no beginning of it (whole: %t)", len(r.rows), n, r.whole)
		}
	}
	c.open = nil
}

func (c *comparison) judgeStream(s *stream) {
	for i, f := range s.fates {
		switch ok := s.seen[i] != 0; {
		case f == present && !ok:
			c.fault("row %d of %s was acknowledged and is lost", i+1, s.name)
		case f == absent && ok:
			c.fault("row %d of %s was refused, or not there before, and is there", i+1, s.name)
		}
	}
}

// readStatus compares the tree: what exists, the last values, the statuses and their roll-up.
func (c *comparison) readStatus() error {
	rows, err := c.customer.sql("SELECT name, kind, view, status, since, lastdata, i1, i2 FROM objectstatus" + c.where())
	if err != nil {
		return err
	}
	objects, counts := map[string]bool{}, map[string]bool{} // views and resources that hold an object with data
	for _, f := range rows {
		switch f.Kind {
		case "resource":
			c.take(c.self, len(c.self.fates), 1)
		case "view":
			c.take(c.views[f.Name], 1, 1)
		case "object":
			if objects[f.Name] {
				c.fault("object %s is there twice", f.Name)
			}
			objects[f.Name] = true
			c.object(f, counts)
		}
	}
	for _, m := range []map[string]*stream{c.data, c.logs} {
		for name, s := range m {
			if s.found() && !objects[name] {
				c.fault("object %s has rows and does not exist", name)
			}
		}
	}
	for _, f := range rows {
		if want := status(f.Kind == "resource" && len(c.times) > 0 || counts[f.Name]); f.Kind != "object" && f.Status != want {
			c.fault("%s %s has the status %s, its content says %s", f.Kind, f.Name, f.Status, want)
		}
	}
	return nil
}

func status(data bool) string {
	if data {
		return "0"
	}
	return "?"
}

func (c *comparison) object(f found, counts map[string]bool) {
	if !c.data[f.Name].found() && !c.logs[f.Name].found() {
		c.fault("object %s exists without a row", f.Name)
		return
	}
	t, ok := c.times[f.Name]
	if f.Status != status(ok) {
		c.fault("object %s has the status %s", f.Name, f.Status)
	}
	if !ok {
		return
	}
	counts[f.View] = true
	if f.I1 == nil || *f.I1 != float64(t.newest.n) || f.I2 == nil || *f.I2 != second(t.newest.n) ||
		f.LastData.UnixMicro() != t.newest.at || f.Since.UnixMicro() != t.first.at {
		c.fault("object %s shows %s (last data %v, since %v); its newest row is %d of %v, its first of %v", f.Name, number(f.I1),
			f.LastData, f.Since, t.newest.n, time.UnixMicro(t.newest.at).UTC(), time.UnixMicro(t.first.at).UTC())
	}
}

func number(f *float64) string {
	if f == nil {
		return "nothing"
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// readEvents compares the events: one for each object, view and resource that went from unknown to good, at the time of
// the row that made it so, and no other.
func (c *comparison) readEvents() error {
	rows, err := c.customer.sql("SELECT id, timestamp, type, source, status, previous, view, object FROM events" + c.where())
	if err != nil {
		return err
	}
	want := map[string]int{}
	for object := range c.times {
		want["object "+object]++
		want["resource "] = 1
		if v := c.data[object].view; v != c.name {
			want["view "+v] = 1
		}
	}
	for _, f := range rows {
		c.id(f.ID)
		name := f.Source + " " + f.Object
		if f.Source == "view" {
			name += f.View
		}
		want[name]--
		if f.Type != "alarm" || f.Status != "0" || f.Previous != "?" {
			c.fault("event %+v", f)
		}
		if t, ok := c.times[f.Object]; ok && f.Timestamp.UnixMicro() != t.first.at {
			c.fault("the event of %s has the time %v, its first row %v", f.Object, f.Timestamp, time.UnixMicro(t.first.at).UTC())
		}
	}
	for name, n := range want {
		if n != 0 {
			c.fault("the event of %q: %d too few", name, n)
		}
	}
	return nil
}

func sum(faults []string) string {
	if n := len(faults); n > 20 {
		faults = append(faults[:20:20], fmt.Sprintf("and %d more", n-20))
	}
	return strings.Join(faults, "\n")
}
