package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// TestSingles sends single rows over the legacy paths, on many connections at once. A row that was acknowledged is there
// once, and as often more as it was sent without an answer, at most. Objects show what was acknowledged last.
func TestSingles(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	n := someKills()
	g := newSiege(t, n, keptDir(t))
	g.s.start()
	c := g.client("default", "crash")
	mustDo(t, c, "POST", "/api/provisioning/custom", "name\nsingles\n")
	all := &agents{client: c, fail: g.fault, point: g.point, made: map[string]*atomic.Int64{}}
	var clients []func(*atomic.Bool)
	for i := range 32 {
		a := &agent{agents: all, object: fmt.Sprint("o", i), view: fmt.Sprint("v", i%4), rng: g.stream(i), repeats: i%2 == 0, state: state{status: "?"}}
		all.list = append(all.list, a)
		all.made[a.object], all.made[a.view] = new(atomic.Int64), new(atomic.Int64)
		clients = append(clients, a.run)
	}
	g.besiege(n, func() {
		if err := all.compare(g.killed == n); err != nil {
			t.Fatalf("%v\n%s", err, tail(g.s.text()))
		}
		all.life = len(all.from)
		all.from = append(all.from, time.Now())
	}, clients...)
	if all.acknowledged.Load() == 0 || all.unanswered.Load() == 0 {
		t.Error("the test compares nothing")
	}
	t.Logf("%d kills, %d before ready; %d rows acknowledged, %d without an answer, %d of them sent again", g.killed, g.early,
		all.acknowledged.Load(), all.unanswered.Load(), all.again.Load())
}

// agents share a resource and some views.
type agents struct {
	*client
	fail  func(format string, args ...any)
	point func()
	list  []*agent
	life  int                      // in i2 and in log lines
	from  []time.Time              // when each life began
	made  map[string]*atomic.Int64 // how often an answer said that a view or object was created

	acknowledged, unanswered, again atomic.Int64
}

// agent feeds one object over one connection.
type agent struct {
	*agents
	object, view string
	rng          *rand.Rand
	repeats      bool // what got no answer
	rows         []*single
	settled      int // rows whose number does not change any more
	state        state
	maybe        *state // as well, after a row without an answer
}

// state is what objectstatus should show, and how many changes of status led to it.
type state struct {
	status string
	last   int // number of the newest data row
	moves  int
}

// single is a row; its number is its place in the list, from 1.
type single struct {
	kind  string // data, log, or none for n=yes
	n     int
	life  int // in which it was first sent
	lost  int // how often without an answer
	taken bool
	times int // how often it was found, -1 before anybody has looked
}

const singlesPerLife = 300

func (a *agent) run(stop *atomic.Bool) {
	for range singlesPerLife {
		if stop.Load() || !a.send(a.next()) {
			return
		}
	}
}

// next is the last row once more, or a new one.
func (a *agent) next() *single {
	if n := len(a.rows); n > 0 && a.repeats && !a.rows[n-1].taken {
		a.again.Add(1)
		return a.rows[n-1]
	}
	kind := []string{"data", "data", "data", "log", "none"}[a.rng.IntN(5)]
	r := &single{kind: kind, n: len(a.rows) + 1, life: a.life, times: -1}
	a.rows = append(a.rows, r)
	return r
}

// text is what a log line says.
func (r *single) text() string { return fmt.Sprintf("%d.%d", r.life, r.n) }

// address has all that is needed to create the object and its view, until it exists and at times afterwards.
func (a *agent) address(r *single) string {
	v := url.Values{"resname": {"singles"}, "o": {a.object}}
	if a.state.status == "?" || a.rng.IntN(4) == 0 {
		v.Set("c", "crash")
		v.Set("v", a.view)
		v.Set("p", "singles")
	}
	switch r.kind {
	case "log":
		v.Set("l", r.text())
		return "/l?" + v.Encode()
	case "none":
		v.Set("n", "yes")
	default:
		v.Set("i1", strconv.Itoa(r.n))
		v.Set("i2", strconv.Itoa(r.life))
	}
	return "/d?" + v.Encode()
}

// send sends a row and notes what became of it; false when the program is gone.
func (a *agent) send(r *single) bool {
	a.point()
	ans, err := a.do("GET", a.address(r), "", nil)
	after := a.state.after(r)
	switch {
	case err != nil:
		a.unanswered.Add(1)
		r.lost++
		r.times = -1
		a.maybe = &after
		return false
	case ans.status == http.StatusServiceUnavailable:
		return true
	}
	a.acknowledged.Add(1)
	r.taken, r.times = true, -1
	a.state, a.maybe = after, nil
	a.heard(ans)
	return true
}

// heard looks at an answer: a view and an object are created once.
func (a *agent) heard(ans *answer) {
	for views := range 2 {
		for objects := range 2 {
			if ans.status == http.StatusOK && bytes.Equal(ans.body, report(1, 0, views, objects)) {
				if a.made[a.view].Add(int64(views)) > 1 || a.made[a.object].Add(int64(objects)) > 1 {
					a.fail("%s or its view is created twice: %s", a.object, ans)
				}
				return
			}
		}
	}
	a.fail("%s: answer %s", a.object, ans)
}

func (s state) after(r *single) state {
	to := map[string]string{"data": "0", "none": "-", "log": s.status}[r.kind]
	if to != s.status {
		s.moves++
	}
	s.status = to
	if r.kind == "data" {
		s.last = r.n
	}
	return s
}

// compare counts the rows of recent lives, and at the end all.
func (c *agents) compare(end bool) error {
	if len(c.from) == 0 {
		return nil
	}
	since := c.since()
	data, logs := map[string]int{}, map[string]int{}
	err := c.each(fmt.Sprintf("SELECT object, i1 FROM objectdata WHERE resource='singles' AND i2>=%d", since), func(f []string) { data[f[0]+" "+f[1]]++ })
	if err != nil {
		return err
	}
	from := c.from[since].UTC().Format("2006-01-02T15:04:05Z")
	err = c.each("SELECT object, log FROM objectlog WHERE resource='singles' AND timestamp>='"+from+"'", func(f []string) {
		life := 0
		fmt.Sscanf(f[1], "%d.", &life)
		if life >= since {
			logs[f[0]+" "+f[1]]++
		}
	})
	if err != nil {
		return err
	}
	for _, a := range c.list {
		for i := len(a.rows) - 1; i >= 0 && a.rows[i].life >= since; i-- {
			a.judge(a.rows[i], data, logs)
		}
	}
	for _, m := range []map[string]int{data, logs} {
		for row, n := range m {
			c.fail("row %s is there %d times and was never sent", row, n)
		}
	}
	if err := c.compareStatus(); err != nil || !end {
		return err
	}
	if err := c.compareCounts(); err != nil {
		return err
	}
	return c.compareEvents()
}

// since is the life before the one that has the oldest row whose number can have changed.
func (c *agents) since() int {
	oldest := c.life
	for _, a := range c.list {
		if a.settled < len(a.rows) {
			oldest = min(oldest, a.rows[a.settled].life)
		}
		a.settled = len(a.rows)
		if n := len(a.rows); n > 0 && a.repeats && !a.rows[n-1].taken {
			a.settled-- // it comes again
		}
	}
	return max(0, oldest-1)
}

// compareCounts shows that nothing came or went after it was counted.
func (c *agents) compareCounts() error {
	for collection, kind := range map[string]string{"objectdata": "data", "objectlog": "log"} {
		want := 0
		for _, a := range c.list {
			for _, r := range a.rows {
				if r.kind == kind {
					want += r.times
				}
			}
		}
		n, err := c.count(collection, " AND resource='singles'")
		if err != nil {
			return err
		}
		if n != want {
			c.fail("%s has %d rows, counted one by one they were %d", collection, n, want)
		}
	}
	return nil
}

// judge takes a row out of those that were found.
func (a *agent) judge(r *single, data, logs map[string]int) {
	m, at := data, fmt.Sprintf("%s %d", a.object, r.n)
	switch r.kind {
	case "none":
		return
	case "log":
		m, at = logs, a.object+" "+r.text()
	}
	n, least := m[at], 0
	delete(m, at)
	if r.taken {
		least = 1
	}
	if n < least || n > least+r.lost {
		a.fail("row %d of %s (%s, life %d of %d) is there %d times; acknowledged %t, and sent %d times without an answer", r.n, a.object, r.kind, r.life, a.life, n, r.taken, r.lost)
	}
	if r.times >= 0 && r.times != n {
		a.fail("row %d of %s was there %d times and is there %d times now", r.n, a.object, r.times, n)
	}
	r.times = n
}

// compareStatus looks at what the objects show, and what follows from it for the views, the resource and MAIN.
func (c *agents) compareStatus() error {
	rows, err := c.sql("SELECT name, kind, resource, view, parentview, status, i1 FROM objectstatus")
	if err != nil {
		return err
	}
	shown := map[string]found{}
	for _, f := range rows {
		if _, ok := shown[f.Name]; ok {
			c.fail("%s %s is there twice", f.Kind, f.Name)
		}
		shown[f.Name] = f
	}
	for _, a := range c.list {
		f, ok := shown[a.object]
		if !ok {
			f.Status = "?"
		}
		if exists := a.state != (state{status: "?"}) || a.heardOf(); exists && (!ok || f.View != a.view) {
			c.fail("%s was made in %s: %+v", a.object, a.view, f)
		}
		if a.maybe != nil && a.maybe.shows(f) {
			a.state = *a.maybe
		} else if !a.state.shows(f) {
			c.fail("%s shows %s, i1 %s; acknowledged was %+v, without an answer %+v", a.object, f.Status, number(f.I1), a.state, a.maybe)
		}
		a.maybe = nil
	}
	for _, fault := range rollUp(rows) {
		c.fail("%s", fault)
	}
	return nil
}

// heardOf tells whether any row was acknowledged; a log line makes an object and leaves its status open.
func (a *agent) heardOf() bool {
	for _, r := range a.rows {
		if r.taken {
			return true
		}
	}
	return false
}

func (s *state) shows(f found) bool {
	i1 := 0
	if f.I1 != nil {
		i1 = int(*f.I1)
	}
	return f.Status == s.status && i1 == s.last
}

// compareEvents counts the changes of status of each object.
func (c *agents) compareEvents() error {
	for _, a := range c.list {
		n, err := c.count("events", " AND source='object' AND object='"+a.object+"'")
		if err != nil {
			return err
		}
		if n != a.state.moves {
			c.fail("%s has %d events, its status changed %d times", a.object, n, a.state.moves)
		}
	}
	return nil
}
