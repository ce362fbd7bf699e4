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
	faults []string
	rows   map[ref]found // by stream and number
	ids    []uint64
	times  map[string]span // of the data rows of an object
}

// span is what the data rows of an object say about its state.
type span struct {
	first, newest found // by id; by time, then id
}

// compare finds everything in which a place differs from the ledger, and settles what was unknown.
func (p *place) compare() (*comparison, error) {
	c := &comparison{place: p, rows: map[ref]found{}, times: map[string]span{}}
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
func (c *comparison) take(s *stream, n int, f found) {
	if s == nil || n < 1 || n > len(s.fates) {
		c.fault("row %+v was never sent", f)
		return
	}
	if old, ok := c.rows[ref{s, n}]; ok {
		c.fault("row %d of %s is there twice: %s and %s", n, s.name, old.ID, f.ID)
	}
	c.rows[ref{s, n}] = f
}

func (c *comparison) id(f found) uint64 {
	id, err := strconv.ParseUint(f.ID, 16, 64)
	if err != nil {
		c.fault("row id %q", f.ID)
	}
	c.ids = append(c.ids, id)
	return id
}

func (c *comparison) readData() error {
	rows, err := c.customer.sql("SELECT id, timestamp, object, i1, i2 FROM objectdata" + c.where())
	if err != nil {
		return err
	}
	for _, f := range rows {
		c.id(f)
		if f.I1 == nil || f.I2 == nil || *f.I2 != second(int(*f.I1)) {
			c.fault("row %+v does not have the values that were sent", f)
			continue
		}
		s, n := c.data[f.Object], int(*f.I1)
		c.take(s, n, f)
		if s != nil && n <= len(s.times) && s.times[n-1] != 0 && s.times[n-1] != f.Timestamp.UnixMicro() {
			c.fault("row %d of %s has the time %v", n, s.name, f.Timestamp)
		}
		t, ok := c.times[f.Object]
		if !ok || f.ID < t.first.ID {
			t.first = f
		}
		if d := f.Timestamp.Compare(t.newest.Timestamp); !ok || d > 0 || d == 0 && f.ID > t.newest.ID {
			t.newest = f
		}
		c.times[f.Object] = t
	}
	return nil
}

func (c *comparison) readLogs() error {
	rows, err := c.customer.sql("SELECT id, object, log FROM objectlog" + c.where())
	if err != nil {
		return err
	}
	for _, f := range rows {
		c.id(f)
		n := 0
		fmt.Sscanf(f.Log, "line %d of", &n)
		if f.Log != line(f.Object, n) {
			c.fault("log row %+v is not one that was sent", f)
			continue
		}
		c.take(c.logs[f.Object], n, f)
	}
	return nil
}

// judgeRequests settles the rows of requests without an answer: those found must be the beginning of the body, or all
// or none of it.
func (c *comparison) judgeRequests() {
	for _, r := range c.open {
		n, holes := 0, false
		for i, row := range r.rows {
			_, ok := c.rows[row]
			holes = holes || ok && n < i
			if ok {
				n++
				row.settle(present)
			} else {
				row.settle(absent)
			}
		}
		if holes || n > 0 && n < len(r.rows) && !r.parts() || n%chunk != 0 && n != len(r.rows) {
			c.fault("of %d rows in a body without an answer %d are there, which is no beginning of it (whole: %t)", len(r.rows), n, r.whole)
		}
	}
	c.open = nil
}

func (c *comparison) judgeStream(s *stream) {
	for i, f := range s.fates {
		switch _, ok := c.rows[ref{s, i + 1}]; {
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
			c.take(c.self, len(c.self.fates), f)
		case "view":
			c.take(c.views[f.Name], 1, f)
		case "object":
			if objects[f.Name] {
				c.fault("object %s is there twice", f.Name)
			}
			objects[f.Name] = true
			c.object(f, counts)
		}
	}
	for s, row := range c.rows {
		if row.Kind == "" && !objects[s.name] {
			c.fault("object %s has rows and does not exist", s.name)
			objects[s.name] = true
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
	data, logs := c.data[f.Name], c.logs[f.Name]
	any := func(s *stream) bool {
		for n := range len(s.fates) {
			if _, ok := c.rows[ref{s, n + 1}]; ok {
				return true
			}
		}
		return false
	}
	if (data == nil || !any(data)) && (logs == nil || !any(logs)) {
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
	if f.I1 == nil || *f.I1 != *t.newest.I1 || *f.I2 != *t.newest.I2 || !f.LastData.Equal(t.newest.Timestamp) || !f.Since.Equal(t.first.Timestamp) {
		c.fault("object %s shows %s (last data %v, since %v); its newest row is %s of %v, its first of %v",
			f.Name, number(f.I1), f.LastData, f.Since, number(t.newest.I1), t.newest.Timestamp, t.first.Timestamp)
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
		c.id(f)
		name := f.Source + " " + f.Object
		if f.Source == "view" {
			name += f.View
		}
		want[name]--
		if f.Type != "alarm" || f.Status != "0" || f.Previous != "?" {
			c.fault("event %+v", f)
		}
		if t, ok := c.times[f.Object]; ok && !f.Timestamp.Equal(t.first.Timestamp) {
			c.fault("the event of %s has the time %v, its first row %v", f.Object, f.Timestamp, t.first.Timestamp)
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
