package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// sender sends one kind of load, one request after the other, and writes into the ledger what it was told.
type sender struct {
	name    string
	to      *customer
	rng     *rand.Rand
	step    func(*sender) bool // one request; false when the program is gone
	at      *place
	lives   int // of the program that the place has seen
	most    int // rows between two kills, about
	places  int
	pending *request    // under an Idempotency-Key, to be repeated until it is answered
	past    []*request  // answered, under an Idempotency-Key
	blind   atomic.Bool // does not look whether what was acknowledged is visible
	lenient bool        // a query may be refused because the row store fails
	fail    func(format string, args ...any)
	tally   *tally
}

// tally counts over all senders.
type tally struct {
	requests, rows, unanswered, refused, repeats atomic.Int64
}

const (
	requestsPerLife = 300 // of one sender between two kills
	rowsPerPlace    = 15_000
	livesPerPlace   = 5
	newObjects      = 30 // in each view; what exists is read at every start, so there must not be ever more of it
)

// run sends until the program is gone or enough has been sent, or stop says so.
func (s *sender) run(stop *atomic.Bool) {
	s.lives++
	rows := 0
	for range requestsPerLife {
		if stop.Load() || rows >= s.most {
			return
		}
		before := s.sent()
		if !s.once() {
			return
		}
		rows += max(0, s.sent()-before)
	}
}

func (s *sender) sent() int {
	if s.at == nil {
		return 0
	}
	return s.at.rows
}

// once sends one request, into a resource that is made first if need be; false when the program is gone.
func (s *sender) once() bool {
	full := s.at == nil || s.at.rows >= rowsPerPlace || s.lives >= livesPerPlace
	if full && s.pending == nil {
		s.places++
		s.lives = 0
		s.past = nil
		s.at = s.to.place(fmt.Sprintf("%s-%d", s.name, s.places))
	}
	if s.at.self.alive == 0 {
		return s.send(s.at.provision())
	}
	return s.step(s)
}

// send sends a request and settles its rows; false when the program is gone.
func (s *sender) send(r *request) bool {
	s.tally.requests.Add(1)
	a, err := s.to.do("POST", r.path, r.key, r.body)
	switch {
	case err != nil:
		s.tally.unanswered.Add(1)
		r.place.open = append(r.place.open, r)
		return false
	case a.status == http.StatusServiceUnavailable && !r.parts():
		s.tally.refused.Add(1)
		r.settle(absent)
	case a.status == http.StatusServiceUnavailable:
		s.tally.refused.Add(1)
		r.place.open = append(r.place.open, r)
	case a.status != http.StatusOK || !bytes.Equal(a.body, r.want):
		s.fail("%s: answer %s, want %s", s.name, a, r.want)
		return false
	default:
		s.tally.rows.Add(int64(len(r.rows)))
		r.settle(present)
	}
	return true
}

// size is how many rows a body gets: mostly few, sometimes many.
func (s *sender) size(most int) int {
	if s.rng.IntN(3) > 0 {
		return 1 + s.rng.IntN(max(1, most/50))
	}
	return 1 + s.rng.IntN(most)
}

// bulk sends rows of a few objects that soon all exist, now and then more than fit into one commit.
func bulk(s *sender) bool {
	b := s.at.body()
	n := s.size(2000)
	if s.rng.IntN(80) == 0 {
		n = chunk + s.rng.IntN(chunk)
	}
	for range n {
		b.data(fmt.Sprintf("o%d", s.rng.IntN(4)), s.at.name, time.Time{})
	}
	r := b.request()
	return s.send(r) && (s.rng.IntN(20) > 0 || s.see(r))
}

// see asks for the newest row of a request that has just been acknowledged: it must be visible.
func (s *sender) see(r *request) bool {
	last := r.rows[len(r.rows)-1]
	if last.fates[last.n-1] != present || s.blind.Load() {
		return true
	}
	where := fmt.Sprintf(" WHERE resource='%s' AND object='%s'", s.at.name, last.name)
	for _, collection := range []string{"objectdata", "objectstatus"} {
		got, err := s.to.sql("SELECT i1 FROM "+collection+where, "rows=1")
		if err != nil {
			if len(got) == 0 && gone(err) {
				return false
			}
			if s.lenient && strings.Contains(err.Error(), `"storage_unavailable"`) {
				continue
			}
			s.fail("%s: %v", s.name, err)
			return false
		}
		if len(got) != 1 || got[0].I1 == nil || *got[0].I1 != float64(last.n) {
			s.fail("%s: the newest row of %s in %s is %v, want %d, which was acknowledged", s.name, last.name, collection, got, last.n)
		}
	}
	return true
}

// late sends rows with times of their own, over a week, in no order.
func late(s *sender) bool {
	b := s.at.body()
	now := time.Now()
	for range s.size(400) {
		at := now.Add(-time.Duration(s.rng.Int64N(int64(7 * 24 * time.Hour)))).Truncate(time.Microsecond)
		b.data(fmt.Sprintf("late%d", s.rng.IntN(3)), s.at.name, at)
	}
	return s.send(b.request())
}

// mixed makes views and objects and sends data and log lines to them, all in one body.
func mixed(s *sender) bool {
	b := s.at.body()
	s.mix(b, 1+s.rng.IntN(8))
	return s.send(b.request())
}

func (s *sender) mix(b *body, n int) {
	view := s.at.name
	if s.rng.IntN(10) == 0 {
		view = fmt.Sprintf("v%d", len(s.at.views))
		b.view(view)
	}
	for range n {
		object := fmt.Sprintf("%s.%d", view, s.rng.IntN(newObjects))
		switch s.rng.IntN(4) {
		case 0:
			b.data(object, view, time.Time{})
		case 1:
			b.log(object, view)
		case 2:
			b.log("known", s.at.name)
		default:
			b.data("known", s.at.name, time.Time{})
		}
	}
}

// keyed sends requests under an Idempotency-Key and repeats those without an answer. At times two repeats come at once,
// and at times one that was answered long ago comes again: each gets the first answer, and nothing is stored twice.
func keyed(s *sender) bool {
	if len(s.past) > 0 && s.rng.IntN(3) == 0 {
		return s.repeat(s.past[s.rng.IntN(len(s.past))])
	}
	r := s.pending
	if r == nil {
		b := s.at.body()
		s.mix(b, 1+s.rng.IntN(20))
		r = b.request()
		r.whole = true
		r.key = fmt.Sprintf("%s %d", s.at.name, s.at.rows)
		s.pending = r
	} else {
		s.tally.repeats.Add(1)
		r.reopen()
	}
	twin := make(chan bool, 1)
	if s.rng.IntN(4) == 0 {
		go func() { twin <- s.repeat(r) }()
	} else {
		twin <- true
	}
	a, err := s.to.do("POST", r.path, r.key, r.body)
	alive := <-twin && err == nil
	if err != nil {
		s.tally.unanswered.Add(1)
		r.place.open = append(r.place.open, r) // and it stays pending
		return false
	}
	s.judge(r, a)
	if a.status == http.StatusOK {
		s.tally.rows.Add(int64(len(r.rows)))
		r.settle(present)
		s.past = append(s.past, r)
		s.pending = nil
	}
	return alive
}

// repeat sends a request once more and compares the answer.
func (s *sender) repeat(r *request) bool {
	s.tally.repeats.Add(1)
	a, err := s.to.do("POST", r.path, r.key, r.body)
	if err != nil {
		return false
	}
	s.judge(r, a)
	return true
}

func (s *sender) judge(r *request, a *answer) {
	if a.status == http.StatusServiceUnavailable {
		s.tally.refused.Add(1)
	} else if a.status != http.StatusOK || !bytes.Equal(a.body, r.want) {
		s.fail("%s: answer under Idempotency-Key %q is %s, want %s", s.name, r.key, a, r.want)
	}
}

// allOrNone sends bodies that are applied whole or not at all; some have a row that is wrong.
func allOrNone(s *sender) bool {
	b := s.at.body()
	s.mix(b, 1+s.rng.IntN(30))
	wrong := s.rng.IntN(5) == 0
	if wrong {
		fmt.Fprintf(&b.text, "data,%s,known,crash,%s,,,much,,\n", s.at.name, s.at.name)
		s.mix(b, 1+s.rng.IntN(5))
	}
	r := b.request()
	r.path += "?atomic=true"
	r.whole = true
	if !wrong {
		return s.send(r)
	}
	r.settle(absent)
	a, err := s.to.do("POST", r.path, "", r.body)
	if err != nil {
		return false
	}
	if a.code() != "atomic_rejected" && a.status != http.StatusServiceUnavailable {
		s.fail("%s: a body with a wrong row is answered %s", s.name, a)
	}
	return true
}
