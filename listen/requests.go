package listen

import (
	"net/http"
	"sync"
)

// requests limits the HTTP/2 requests in progress. Each takes memory for its header, its handler and its response, and a client
// may have many on one connection; with HTTP/1.1, the connection limit is enough.
// The limit is the number of connections, plus a quarter for addresses that have few requests.
type requests struct {
	most, few int

	mu       sync.Mutex
	n        int
	by       map[string]int // by address
	refusing int
	refused  int
}

// leastRefusing is the minimum number of refusals that may wait to be sent. The requests of one connection are refused at the
// same time, and each response waits for those before it.
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
	http.NewResponseController(w).Flush() // otherwise the server flushes after end was called, and a short response that waits for its client would not count
}

// begin reports whether one more request of an address may be served. If so, the caller calls end.
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

// refuse answers 503 without a body, which would wait for the client's flow control window. The connection stays open, because
// other requests on it still need their responses. If the client reads nothing, even the header waits, so with many such
// responses the stream is reset instead.
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

// count returns the number of refused requests.
func (q *requests) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refused
}
