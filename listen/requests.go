package listen

import (
	"net/http"
	"sync"
)

// requests limits the requests of HTTP/2 that are in progress. Each takes memory for its header, its handler and its answer, and
// a client may have many of them on one connection. With HTTP/1.1 there are no more requests than connections.
//
// There may be as many as there are places for connections, and a quarter more for addresses that have few.
type requests struct {
	most, few int

	mu       sync.Mutex
	n        int
	by       map[string]int // requests of an address
	refusing int
	refused  int
}

// leastRefusing is how many answers that refuse may wait to be sent, however few requests are served. The requests of one
// connection are refused at the same time, and each answer waits for those before it.
const leastRefusing = 256

func newRequests(most int) *requests {
	return &requests{most: most, few: max(4, most/64), by: map[string]int{}}
}

func (q *requests) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor < 2 {
		next.ServeHTTP(w, r)
		return
	}
	from := sourceOf(r.RemoteAddr)
	if !q.begin(from) {
		q.refuse(w)
		return
	}
	defer q.end(from)
	next.ServeHTTP(w, r)
	http.NewResponseController(w).Flush() // otherwise the server would do it after the request has ended here, and a short answer could wait for its client uncounted
}

// begin tells whether one more request of an address may be served; end has to follow.
func (q *requests) begin(from string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n >= q.most && (q.n >= q.most+q.most/4 || q.by[from] >= q.few) {
		return false
	}
	q.n++
	q.by[from]++
	return true
}

func (q *requests) end(from string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n--
	if q.by[from]--; q.by[from] == 0 {
		delete(q.by, from)
	}
}

// refuse answers 503, without a body: that would wait until the client has a window for it. The connection stays open: what
// else has been sent on it would get no answer. The header of the answer
// waits, too, when the client reads nothing at all, so with many such answers the stream is reset without one.
func (q *requests) refuse(w http.ResponseWriter) {
	q.mu.Lock()
	q.refused++
	q.refusing++
	many := q.refusing > max(leastRefusing, q.most/4)
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.refusing--
	}()
	if many {
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	h.Set("Retry-After", "1")
	h.Set("Content-Length", "0")
	w.WriteHeader(http.StatusServiceUnavailable)
	http.NewResponseController(w).Flush()
}

// count is how many requests have been refused so far.
func (q *requests) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refused
}
