package api

import (
	"bufio"
	"net/http"
	"runtime"
	"time"

	"belfry"
	"belfry/api/limit"
)

// handler serves a route.
type handler = func(*Server, *answer, *request) error

// inTurn serves a GET whose answer grows with what a customer has. A customer may run as many of them at the same time as
// queries (limits.queries), and one of them works while the others wait or write, so that a customer takes one processor.
// A request whose client does not read loses its slot; at most limit.WaitsPerSlot such answers for each slot are kept in
// memory, for all customers together.
func (s *Server) inTurn(w *answer, r *request, serve handler) error {
	slot, ok := s.reads.Acquire(r.ctx(), r.customer, r.limits.Queries, r.limits.Wait, r.limits.Idle, &s.unread)
	if !ok {
		return belfry.Errorf(belfry.RateLimited, "%d requests for lists, trees or exports run already and none ended in time; try again shortly", r.limits.Queries)
	}
	defer slot.Release()
	slot.OnBreak(func() { http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now()) })
	t := &clientRead{request: r, slot: slot, work: &s.work}
	if err := t.begin(); err != nil {
		return err
	}
	defer t.end()
	w.reading = t
	defer func() { w.reading = nil }()
	return serve(s, w, r)
}

// clientRead is a request that is served in turn. It works while it has the turn of its customer, and writes without it.
type clientRead struct {
	request *request
	slot    *limit.Slot
	work    *limit.Limiter
	working bool
}

func (t *clientRead) begin() error {
	if t.working = t.work.Enter(t.request.ctx(), t.request.customer, 1); !t.working {
		return belfry.Errorf(belfry.Overloaded, "too many requests of this customer wait for their turn; try again shortly")
	}
	return nil
}

func (t *clientRead) end() {
	if t.working {
		t.working = false
		t.work.Leave(t.request.customer)
	}
}

// wait calls f, which writes to the client. The error says that the request cannot continue after it.
func (t *clientRead) wait(f func()) error {
	t.end()
	if err := t.slot.Wait(f); err != nil {
		return err
	}
	runtime.Gosched() // other customers go first
	return t.begin()
}

// answerPiece is how much of a long answer is buffered. An answer that the client does not read keeps about that much in memory.
const answerPiece = 64 << 10

// pieces writes a long answer in pieces of about answerPiece.
func pieces(w *answer) *bufio.Writer { return bufio.NewWriterSize(w, answerPiece) }
