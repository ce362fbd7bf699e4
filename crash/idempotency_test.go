package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestIdempotency lets several clients send the same requests at once, each under an Idempotency-Key, until each has an
// answer to each. All answers to a request are the same bytes, and it has happened once, whatever was killed meanwhile.
// The lanes use the same Idempotency-Keys, with keys of their own: one does not see the answers of another.
func TestIdempotency(t *testing.T) {
	n := someKills()
	g := newSiege(t, n, keptDir(t))
	g.s.start()
	var lanes []*lane
	var clients []func(*atomic.Bool)
	for i, who := range [][2]string{{"default", "crash"}, {"default", "other"}, {"second", "crash"}} {
		l := &lane{client: g.client(who[0], who[1]), number: i + 1, name: fmt.Sprint("lane", i+1), rng: g.stream(10 * i), fail: g.fault, point: g.point}
		lanes = append(lanes, l)
		for j := range 4 {
			r := &repeater{lane: l, rng: g.stream(10*i + j + 1)}
			clients = append(clients, r.run)
		}
	}
	g.besiege(n, func() {
		for _, l := range lanes {
			if err := l.compare(); err != nil {
				t.Fatalf("%v\n%s", err, tail(g.s.text()))
			}
			l.again()
			if g.killed == n {
				l.finish()
			}
		}
	}, clients...)
	repeats, answers := 0, 0
	for _, l := range lanes {
		answers += l.done
		repeats += l.answers - l.done
	}
	if answers == 0 || repeats == 0 {
		t.Errorf("the test compares nothing: %d requests, %d repeats", answers, repeats)
	}
	t.Logf("%d kills, %d before ready; %d requests answered, and %d times again", g.killed, g.early, answers, repeats)
}

// lane is a series of requests that several clients send, each client all of it, in order.
type lane struct {
	*client
	number int // in i3 of its rows
	name   string
	fail   func(format string, args ...any)
	point  func()

	mu       sync.Mutex
	rng      *rand.Rand
	requests []*repeated
	done     int // requests that anybody has an answer to
	answers  int

	compared int // requests whose rows have been found whole
	found    int // rows of theirs
}

// repeated is a request under an Idempotency-Key.
type repeated struct {
	n            int // in i1 of its rows
	method, path string
	body         []byte
	data, logs   int    // rows that it stores
	want         []byte // the answer; nil when it is an error
	code         string // of the error
	first        *answer
}

func (r *repeated) key() string { return fmt.Sprint("request ", r.n) }

// at gives a request of the lane. A new one is made when the one before has an answer, so that what it does is certain.
func (l *lane) at(n int) *repeated {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n == len(l.requests) {
		l.requests = append(l.requests, l.compose(n))
	}
	return l.requests[n]
}

// cycle is how many requests a lane has, over and over: its resource comes into being, is filled, and goes.
const cycle = 6

func (l *lane) compose(n int) *repeated {
	r := &repeated{n: n, method: "POST"}
	[cycle]func(*repeated){l.tooEarly, l.provision, l.fill, l.views, l.fill, l.remove}[n%cycle](r)
	return r
}

// tooEarly sends rows of a resource that does not exist. The refusal is remembered as well.
func (l *lane) tooEarly(r *repeated) {
	l.fill(r)
	r.data, r.logs, r.want, r.code = 0, 0, nil, "all_rows_rejected"
	if l.rng.IntN(2) == 0 {
		r.path, r.code = "/api/send?atomic=true", "atomic_rejected"
	}
}

func (l *lane) provision(r *repeated) {
	r.path, r.body, r.want = "/api/provisioning/custom", []byte("name\n"+l.name+"\n"), report(1, 1, 0, 0)
}

func (l *lane) views(r *repeated) {
	r.path, r.want = "/api/provisioning/view", report(2, 0, 2, 0)
	r.body = fmt.Appendf(nil, "name,view,resname\nouter,%s,%s\ninner,outer,%s\n", l.name, l.name, l.name)
}

func (l *lane) remove(r *repeated) {
	r.method, r.path, r.body = "DELETE", "/api/provisioning/custom", []byte("name\n"+l.name+"\n")
	r.want = bytes.Replace(report(1, 0, 0, 0), []byte(`"removed":0`), []byte(`"removed":1`), 1)
}

// fill sends data and log rows that also make the objects they are about.
func (l *lane) fill(r *repeated) {
	var b bytes.Buffer
	b.WriteString("type,resname,object,class,view,i1,i2,i3,log\n")
	r.path, r.data, r.logs = "/api/send", 1+l.rng.IntN(20), l.rng.IntN(4)
	objects := map[string]bool{}
	object := func() string {
		name := fmt.Sprintf("%d.%d", r.n%cycle, l.rng.IntN(5))
		objects[name] = true
		return name
	}
	for i := range r.data {
		fmt.Fprintf(&b, "data,%s,%s,crash,%s,%d,%d,%d,\n", l.name, object(), l.name, r.n, i, l.number)
	}
	for i := range r.logs {
		fmt.Fprintf(&b, "log,%s,%s,crash,%s,,,,%d %d\n", l.name, object(), l.name, r.n, i)
	}
	r.body, r.want = b.Bytes(), report(r.data+r.logs, 0, 0, len(objects))
}

// heard holds an answer against the first one to the same request.
func (l *lane) heard(r *repeated, a *answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers++
	l.done = max(l.done, r.n+1)
	if r.first == nil {
		r.first = a
		if r.want != nil && (a.status != http.StatusOK || !bytes.Equal(a.body, r.want)) || r.want == nil && (a.status != http.StatusBadRequest || a.code() != r.code) {
			l.fail("%s %d, %s %s: answer %s, want %s%s", l.name, r.n, r.method, r.path, a, r.want, r.code)
		}
	}
	if a.status != r.first.status || !bytes.Equal(a.body, r.first.body) {
		l.fail("%s %d, %s %s: answer %s, and before it was %s", l.name, r.n, r.method, r.path, a, r.first)
	}
}

// repeater is one client of a lane.
type repeater struct {
	*lane
	rng *rand.Rand
	at  int // the request to which it has no answer yet
}

const repeatsPerLife = 500

func (c *repeater) run(stop *atomic.Bool) {
	for range repeatsPerLife {
		if stop.Load() {
			return
		}
		n := c.at
		if n > 0 && c.rng.IntN(6) == 0 {
			n = c.rng.IntN(n) // long done; what it made may be gone again
		}
		r := c.lane.at(n)
		if n == c.at {
			c.point()
		}
		a, err := c.do(r.method, r.path, r.key(), r.body)
		if err != nil {
			return // and it comes again in the next life
		}
		if a.status == http.StatusServiceUnavailable {
			continue
		}
		c.heard(r, a)
		c.at = max(c.at, n+1)
	}
}

// compare counts the rows of every request since the last comparison: once if it was answered, never if it was refused,
// and once or never if nobody knows.
func (l *lane) compare() error {
	data, logs := map[[2]string]int{}, map[[2]string]int{}
	where := fmt.Sprintf(" FROM objectdata WHERE i3=%d AND i1>=%d", l.number, l.compared)
	err := l.each("SELECT i1, i2, resource"+where, func(f []string) {
		data[[2]string{f[0], f[1]}]++
		if f[2] != l.name {
			l.fail("a row of %s is found in %q", l.name, f[2])
		}
	})
	if err != nil {
		return err
	}
	err = l.each("SELECT log FROM objectlog WHERE resource='"+l.name+"'", func(f []string) {
		n, i, _ := strings.Cut(f[0], " ")
		logs[[2]string{n, i}]++
	})
	if err != nil {
		return err
	}
	for _, r := range l.requests[l.compared:] {
		l.judge(r, data, logs)
	}
	for row, n := range data {
		l.fail("%s: row %v is there %d times and should not be", l.name, row, n)
	}
	for _, r := range l.requests[l.compared:l.done] {
		l.found += r.data
	}
	l.compared = l.done
	return l.compareAll()
}

// judge takes the rows of a request out of those that were found.
func (l *lane) judge(r *repeated, data, logs map[[2]string]int) {
	var times []int
	take := func(m map[[2]string]int, rows int) {
		for i := range rows {
			at := [2]string{fmt.Sprint(r.n), fmt.Sprint(i)}
			times = append(times, m[at])
			delete(m, at)
		}
	}
	take(data, r.data)
	take(logs, r.logs)
	if len(times) == 0 {
		return
	}
	least, most := slices.Min(times), slices.Max(times)
	switch {
	case r.first != nil && (least != 1 || most != 1):
		l.fail("%s %d was answered; its rows are there %v times", l.name, r.n, times)
	case least != most || most > 1:
		l.fail("%s %d was not answered; its rows are there %v times", l.name, r.n, times)
	}
}

// compareAll looks at all rows of the lane, and at what exists of it.
func (l *lane) compareAll() error {
	rows, err := l.sql(fmt.Sprintf("SELECT COUNT(*) FROM objectdata WHERE timestamp >= '2020-01-01' AND i3=%d", l.number))
	if err != nil {
		return err
	}
	sent, open := l.done < len(l.requests), 0 // the request that nobody has an answer to, and its rows
	if sent {
		open = l.requests[l.done].data
	}
	if n := rows[0].Count; n != l.found && n != l.found+open {
		l.fail("%s has %d rows, want %d, or %d with those of a request without an answer", l.name, n, l.found, l.found+open)
	}
	rows, err = l.sql("SELECT name FROM objectstatus WHERE kind='resource' AND name='" + l.name + "'")
	if err != nil {
		return err
	}
	exists := func(n int) bool { return n%cycle >= 2 } // after so many requests
	if here := len(rows) == 1; here != exists(l.done) && !(sent && here == exists(l.done+1)) {
		l.fail("after %d requests, %s exists: %t", l.done, l.name, here)
	}
	return nil
}

// finish sends the request that nobody has an answer to, if there is one.
func (l *lane) finish() {
	if l.done == len(l.requests) {
		return
	}
	r := l.requests[l.done]
	a, err := l.do(r.method, r.path, r.key(), r.body)
	if err != nil {
		l.fail("%s %d in the end: %v", l.name, r.n, err)
		return
	}
	l.heard(r, a)
}

// again sends some requests of the past once more, and other requests under their keys. The start before was a new
// process: it has the answers from the disk.
func (l *lane) again() {
	for range min(3, l.done) {
		r := l.requests[l.rng.IntN(l.done)]
		a, err := l.do(r.method, r.path, r.key(), r.body)
		if err != nil {
			l.fail("%s %d again: %v", l.name, r.n, err)
			return
		}
		l.heard(r, a)
		others := []repeated{
			{method: r.method, path: r.path, body: append(slices.Clone(r.body), '\n')},
			{method: r.method, path: r.path + "?atomic=true", body: r.body},
			{method: "POST", path: "/api/provisioning/label", body: r.body},
		}
		if strings.Contains(r.path, "?") {
			others[1].path = "/api/send"
		}
		o := others[l.rng.IntN(len(others))]
		if a, err = l.do(o.method, o.path, r.key(), o.body); err != nil || a.status != http.StatusConflict || a.code() != "idempotency_mismatch" {
			l.fail("%s %d, another request under its key, %s %s: %v, %v", l.name, r.n, o.method, o.path, a, err)
		}
	}
}
