package crash

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// writer sends rows into a resource of its own, each request under an Idempotency-Key until it is answered. So at any
// moment the first so many requests have happened, and no other.
type writer struct {
	*client
	name string
	most int // rows of a request
	rng  *rand.Rand
	fail func(format string, args ...any)

	sent  []*sheet // the last one may have no answer yet
	model *written
	rows  int // of all requests that were answered

	old               int // requests of which the rows are only counted and added up
	count, sum1, sum2 int // of these
}

// sheet is a request. Its number is in i1 of its rows, and the number of the row in i2.
type sheet struct {
	n          int
	body, want []byte
	data, logs int
	objects    []string // that have data with the time of arrival
	sum        uint64   // of its rows with ids and times, once they have been read
}

// written is what the resource must show after some requests.
type written struct {
	n       int            // requests
	objects map[string]int // the number that each shows
}

func (w *written) listing() []string {
	list := []string{fmt.Sprintf("%d requests", w.n)}
	for object, n := range w.objects {
		list = append(list, fmt.Sprintf("%s shows %d", object, n))
	}
	slices.Sort(list)
	return list
}

// newWriter makes the resource.
func newWriter(c *client, name string, most int, rng *rand.Rand, fail func(string, ...any)) (*writer, error) {
	a, err := c.do("POST", "/api/provisioning/custom", "", []byte("name\n"+name+"\n"))
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("provision %s: %s", name, a)
	}
	return &writer{client: c, name: name, most: most, rng: rng, fail: fail, model: &written{objects: map[string]int{}}}, err
}

// course is that of a writer. What it sends in one run is limited, because all of it is read again and again.
func (w *writer) course(clock *atomic.Int64) *course {
	return &course{
		name: w.name, client: w.client, clock: clock, fail: w.fail, past: []moment{{want: w.model}}, most: 20_000 / w.most,
		step: w.send, ended: w.finish, model: func() listed { return w.model },
		shown: func(c *client) ([]string, error) { return w.shown(c, len(w.sent)) },
	}
}

// pending is the request without an answer, or a new one.
func (w *writer) pending() *sheet {
	if len(w.sent) == w.model.n {
		w.sent = append(w.sent, w.compose(w.model.n+1))
	}
	return w.sent[w.model.n]
}

// compose makes a request: rows of objects that exist or that it makes, and at times rows of past days and log rows.
func (w *writer) compose(n int) *sheet {
	r := &sheet{n: n}
	made := map[string]bool{}
	var b bytes.Buffer
	b.WriteString("type,resname,object,class,view,timestamp,i1,i2,log\n")
	for range 1 + w.rng.IntN(w.most) {
		object, at := fmt.Sprint("o", w.rng.IntN(30)), ""
		if w.rng.IntN(10) == 0 {
			object = "late"
			at = time.Now().Add(-time.Duration(1+w.rng.IntN(5*24)) * time.Hour).UTC().Format(time.RFC3339)
		} else {
			r.objects = append(r.objects, object)
		}
		made[object] = true
		fmt.Fprintf(&b, "data,%s,%s,crash,%s,%s,%d,%d,\n", w.name, object, w.name, at, n, r.data)
		r.data++
	}
	if w.rng.IntN(8) == 0 {
		made["log"] = true
		fmt.Fprintf(&b, "log,%s,log,crash,%s,,,,%d %d\n", w.name, w.name, n, r.data)
		r.logs++
	}
	for object := range made {
		if _, ok := w.model.objects[object]; ok {
			delete(made, object)
		}
	}
	r.body, r.want = b.Bytes(), report(r.data+r.logs, 0, 0, len(made))
	return r
}

// send sends the pending request; false when the program is gone.
func (w *writer) send() bool {
	r := w.pending()
	a, err := w.post(w.client, r)
	switch {
	case err != nil:
		return false
	case a.status == http.StatusServiceUnavailable:
		return true
	case a.status != http.StatusOK || !bytes.Equal(a.body, r.want):
		w.fail("%s: request %d is answered %s, want %s", w.name, r.n, a, r.want)
		return false
	}
	after := &written{r.n, maps.Clone(w.model.objects)}
	if r.logs > 0 {
		after.objects["log"] = 0
	}
	for _, object := range r.objects {
		after.objects[object] = r.n
	}
	if r.data > len(r.objects) {
		after.objects["late"] = 0 // it shows the newest by time, whichever that is
	}
	w.model = after
	w.rows += r.data + r.logs
	return true
}

func (w *writer) post(c *client, r *sheet) (*answer, error) {
	return c.do("POST", "/api/send", fmt.Sprint(w.name, " ", r.n), r.body)
}

// finish sends a request without an answer until it has one, and compares.
func (w *writer) finish() error {
	for len(w.sent) > w.model.n {
		if !w.send() {
			return fmt.Errorf("%s: the program is gone", w.name)
		}
	}
	got, err := w.shown(w.client, len(w.sent))
	if want := w.model.listing(); err == nil && !slices.Equal(got, want) {
		w.fail("%s differs from the model:\n%s", w.name, difference(got, want))
	}
	return err
}

// again repeats the last requests to a copy: some that are in it, and those that are not. Each gets the answer that it had,
// and then all rows are there once. It returns how many requests that were.
func (w *writer) again(copied *server) (n int, err error) {
	c := &client{s: copied, key: w.key}
	list, err := w.shown(c, len(w.sent))
	if err != nil {
		return 0, err
	}
	has := 0
	for _, line := range list {
		fmt.Sscanf(line, "%d requests", &has)
	}
	for _, r := range w.sent[max(w.old, has-5):] {
		a, err := w.post(c, r)
		if err != nil {
			return 0, err
		}
		if a.status != http.StatusOK || !bytes.Equal(a.body, r.want) {
			w.fail("%s: to a copy that has %d requests number %d is repeated and answered %s, want %s", w.name, has, r.n, a, r.want)
		}
		n++
	}
	got, err := w.shown(c, has)
	w.age(max(w.old, has-5))
	if want := w.model.listing(); err == nil && !slices.Equal(got, want) {
		w.fail("%s: a copy to which all requests were repeated differs from the model:\n%s", w.name, difference(got, want))
	}
	return n, err
}

var sums = maphash.MakeSeed()

// shown reads what is in the resource: all rows of the first requests, once, and no others. Ids and times of the rows of the
// first so many requests are those that were read before.
func (w *writer) shown(c *client, known int) ([]string, error) {
	is := &written{n: w.old, objects: map[string]int{}}
	seen := map[[2]int]int{} // request and row
	hashes := make([]uint64, len(w.sent)+1)
	take := func(f []string, n, i int) {
		seen[[2]int{n, i}]++
		if n > 0 && n <= len(w.sent) {
			hashes[n] += maphash.String(sums, fmt.Sprint(f))
		}
	}
	if err := w.read(c, take); err != nil {
		return nil, err
	}
	for _, r := range w.sent[w.old:] {
		times := make([]int, r.data+r.logs)
		for i := range times {
			times[i] = seen[[2]int{r.n, i}]
			delete(seen, [2]int{r.n, i})
		}
		least, most := slices.Min(times), slices.Max(times)
		if least != most || most > 1 || most == 1 && is.n != r.n-1 {
			w.fail("%s: the rows of request %d are there %v times, and of the first %d requests all are", w.name, r.n, times, is.n)
			continue
		}
		if most == 0 {
			continue
		}
		is.n = r.n
		if r.sum == 0 {
			r.sum = hashes[r.n]
		}
		if r.n <= known && r.sum != hashes[r.n] {
			w.fail("%s: the rows of request %d have other ids or times than before", w.name, r.n)
		}
	}
	for row, n := range seen {
		w.fail("%s: row %v is there %d times and was never sent", w.name, row, n)
	}
	objects, err := c.sql("SELECT name, i1 FROM objectstatus WHERE kind='object' AND resource='" + w.name + "'")
	for _, f := range objects {
		is.objects[f.Name] = 0
		if f.I1 != nil && f.Name != "late" {
			is.objects[f.Name] = int(*f.I1)
		}
	}
	return is.listing(), err
}

// read gives the rows of the resource, with the number of the request and that in it, except for those of the first w.old
// requests, which it only counts and adds up.
func (w *writer) read(c *client, take func(f []string, n, i int)) error {
	of := " WHERE timestamp >= '2020-01-01' AND resource='" + w.name + "'"
	err := c.each(fmt.Sprintf("SELECT COUNT(*), SUM(i1), SUM(i2) FROM objectdata%s AND i1<=%d", of, w.old), func(f []string) {
		if want := []string{fmt.Sprint(w.count), fmt.Sprint(w.sum1), fmt.Sprint(w.sum2)}; w.old > 0 && !slices.Equal(f, want) {
			w.fail("%s: the first %d requests have a number of rows and sums of %v, want %v", w.name, w.old, f, want)
		}
	})
	if err != nil {
		return err
	}
	err = c.each(fmt.Sprintf("SELECT id, timestamp, object, i1, i2 FROM objectdata%s AND i1>%d", of, w.old), func(f []string) {
		n, errN := strconv.Atoi(f[3])
		i, errI := strconv.Atoi(f[4])
		if errN != nil || errI != nil {
			w.fail("%s: row %q does not have the values that were sent", w.name, f)
		}
		take(f, n, i)
	})
	if err != nil {
		return err
	}
	return c.each("SELECT id, timestamp, object, log FROM objectlog"+of, func(f []string) {
		var n, i int
		if _, err := fmt.Sscanf(f[3], "%d %d", &n, &i); err != nil {
			w.fail("%s: log row %q does not have the text that was sent", w.name, f)
		}
		if n > w.old {
			take(f, n, i)
		}
	})
}

// age says that the first n requests have been compared row by row, in the program and in a copy.
func (w *writer) age(n int) {
	for _, r := range w.sent[w.old:n] {
		w.count += r.data
		w.sum1 += r.n * r.data
		w.sum2 += r.data * (r.data - 1) / 2
		r.body = nil
	}
	w.old = n
}
