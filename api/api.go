// Package api serves HTTP: the table of routes, keys, sessions and levels, errors, and the handlers.
//
// Requests are refused in one order on all routes: unknown path, wrong method, no valid key or session, one below
// the level, wrong media type, body too large, and then what is wrong in the body. ServeHTTP keeps that order, so a
// handler starts with a key or session that has the rights:
//
//	ServeHTTP ─ id, recover, log ─► route ─ 404, 405 ─► admit ─ 401, 403, parameters ─► handler ─► error? ─► fail
//
// Handlers return errors; one function, fail, turns them into answers. Any other error than a *belfry.Error is
// internal: the client gets "internal error" and the request's id, the log has the error.
//
// A key is never written to a log line, an error text or an answer; nor is the secret of a session.
package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/accounts"
	"belfry/api/body"
	"belfry/api/browser"
	"belfry/api/encode"
	"belfry/api/input"
	"belfry/api/limit"
	"belfry/api/live"
	"belfry/api/meter"
	"belfry/backup"
	"belfry/collect"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
	"belfry/meta/sqlite"
	"belfry/status"
	"belfry/store"
)

// Config is what the server needs from the rest of the program.
type Config struct {
	Log *slog.Logger
	Now func() time.Time
	// Trusted is the time by which keys and sessions expire; nil: that of Now.
	Trusted  func() time.Time
	Tree     *meta.Tree
	Engine   *engine.Sequencer
	Intake   *intake.Intake
	Accounts *accounts.Accounts
	Provider *accounts.Provider  // nil: there is none
	Collect  *collect.Supervisor // nil: there are no collectors
	Backups  *backup.Keeper      // nil: the service is not running
	Images   *sqlite.Mover       // has the bytes of pictures
	Hub      *live.Hub

	Rows    *store.Mover  // answers queries of historical collections
	Present status.Source // and those of current ones
	// QueryReady says why no query is answered now, as there is too little memory; nil when they are.
	QueryReady func() error
	// Ready says why data cannot be taken and queried now; nil when it can.
	Ready func() error
	// Health reports the condition of the service, with the sessions of a customer, or with customer 0 of all of them.
	Health func(belfry.CustomerID) (Health, error)
	// ConfirmFault ends a fault that an administrator has confirmed, and reports whether it was open.
	ConfirmFault func(id, by string) (open bool, err error)
	// Settings lists the settings that a level may see.
	Settings func(belfry.CustomerID, belfry.Level) []Setting
	// PutSettings changes settings, all or none, and applies them; nil resets one.
	PutSettings func(engine.Sender, belfry.Level, map[string]*string) error

	UI       http.Handler // answers everything under /ui/
	Metrics  http.Handler // nil: /metrics is served elsewhere
	Register prometheus.Registerer
	Hosts    []string // names of this machine for which /metrics is served
	Version  Version
	Limits   Limits
	Spool    string // folder for bodies that must be held and are too long for memory
}

// Limits bound requests. They may change while the server runs.
type Limits struct {
	Body         int64         // bytes of an unpacked body
	BodyHeld     int64         // the same when the body is held until its end: atomic, Idempotency-Key
	BulkRequests int           // bulk requests at the same time
	Queries      int           // queries of one customer at the same time
	QueryTime    time.Duration // how long one query may take
	Wait         time.Duration // how long a request waits for a place
	Idle         time.Duration // how long a client may neither send nor read a byte
	SessionAge   time.Duration // maximum age of a session; 0: none
	Streams      int           // streams of one customer at the same time
	AllStreams   int           // streams of all customers together
}

// Version is the version of the program.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// Server answers HTTP requests.
type Server struct {
	Config
	limits      atomic.Pointer[Limits]
	mux         *http.ServeMux // finds the routes of a path, see route
	bulk        limit.Limiter  // shared
	queries     limit.Limiter  // of stored rows and past statuses
	present     limit.Limiter  // queries of the present state: they never wait for stored rows
	reads       limit.Limiter  // answers that grow with what a customer has
	work        limit.Limiter  // one of these at a time works for a customer
	computing   limit.Limiter  // on processors, see compute and decoding
	planning    limit.Limiter  // the same for plans of queries
	waits       limit.Waits    // for bodies and answers of queries
	unread      limit.Waits    // for clients to read such answers
	compressors encode.Compressors
	logins      logins
	origins     http.CrossOriginProtection
	meter       meter.Meter
	slow        meter.Slow
	ended       context.Context // ends when bodies are to end, see EndBodies
	end         context.CancelFunc
}

// New builds a server. It panics when two routes conflict.
func New(c Config) *Server {
	if c.Trusted == nil {
		c.Trusted = c.Now
	}
	s := &Server{Config: c, mux: http.NewServeMux(), meter: meter.New(c.Register, retryableCodes())}
	s.bulk.Shared = true
	s.work.Queue, s.computing.Queue, s.planning.Queue = limit.LongQueue, limit.LongQueue, limit.LongQueue
	s.ended, s.end = context.WithCancel(context.Background())
	s.SetLimits(c.Limits)
	meter.RegisterBulk(&s.bulk, c.Register)
	if c.Register != nil {
		s.Hub.Register(c.Register)
	}
	byPath := map[string]methods{}
	for _, rt := range Routes {
		if byPath[rt.Path] == nil {
			byPath[rt.Path] = methods{}
		}
		byPath[rt.Path][rt.Method] = rt
	}
	for p, m := range byPath {
		s.mux.HandleFunc(p, func(w http.ResponseWriter, _ *http.Request) { w.(*answer).methods = m })
	}
	s.mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {}) // nothing is there
	return s
}

// SetLimits replaces the limits; requests that run keep the ones they started with.
func (s *Server) SetLimits(l Limits) { s.limits.Store(&l) }

func unknownPath(r *http.Request) error {
	return belfry.Errorf(belfry.UnknownPath, "there is nothing at %q; the paths are listed in the reference, e.g. /api/send and /api/sql", input.Mask(r.URL.Path))
}

// ServeHTTP answers a request exactly once, with an id, and logs it. What can be refused without reading the body is refused
// here, in one order for all endpoints.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := &answer{ResponseWriter: rw, id: newID(), start: s.Now(), idle: s.limits.Load().Idle}
	h := w.Header()
	h["X-Request-Id"] = []string{w.id}
	browser.Protect(h, r)
	defer func() {
		fault := recover()
		if fault != nil && fault != http.ErrAbortHandler {
			s.Log.Error("panic in a handler", "request", w.id, "fault", fault, "stack", string(debug.Stack()))
			s.fail(w, r, errFault)
		}
		s.record(w, r)
		w.extendDeadline() // for what is still buffered
		if w.broken || fault == http.ErrAbortHandler {
			panic(http.ErrAbortHandler) // so that the client notices that the answer is incomplete
		}
	}()
	w.setDeadlines(r)
	found, rt, err := s.route(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if found == nil {
		return // answered already
	}
	req, err := s.admit(found, rt)
	if err == nil {
		defer req.end()
		req.id = w.id
		s.renew(w, req)
		if rt.InTurn {
			err = s.inTurn(w, req, rt.serve)
		} else {
			err = rt.serve(s, w, req)
		}
	}
	if err != nil {
		s.fail(w, found, err)
	}
}

// withoutSlash removes a trailing slash from the path of a request, unless a route has it or ends with a name, which may have it.
func (s *Server) withoutSlash(r *http.Request) *http.Request {
	if p := r.URL.Path; !strings.HasSuffix(p, "/") || p == "/" {
		return r
	}
	plain := *r.URL
	plain.Path, plain.RawPath = strings.TrimSuffix(plain.Path, "/"), strings.TrimSuffix(plain.RawPath, "/")
	other := *r
	other.URL = &plain
	if _, pattern := s.mux.Handler(&other); pattern == "/" || strings.HasSuffix(pattern, "...}") || strings.HasSuffix(pattern, "/") {
		return r
	}
	return &other
}

var errFault = errors.New("panic")

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// answer is the ResponseWriter of a request. It records what was written.
type answer struct {
	http.ResponseWriter
	id      string
	start   time.Time
	methods methods // routes of the path; nil: there is none
	route   string  // path of the route that took the request
	status  int
	bytes   int64
	idle    time.Duration // how long the client may read nothing
	body    *body.Reader  // of the request; nil: it was not opened
	gone    bool          // the client has disconnected
	broken  bool          // begun, and cannot be completed
	reading *clientRead   // of a route that is served in turn; else nil
}

func (w *answer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.bytes+int64(len(b)) > unsent {
		w.extendDeadline()
	}
	n, err := w.write(b)
	w.bytes += int64(n)
	w.gone = w.gone || err != nil
	return n, err
}

// write writes a part of an answer. While the client does not read a long one, other requests have its turn.
func (w *answer) write(b []byte) (n int, err error) {
	if w.reading == nil || w.bytes+int64(len(b)) <= unsent {
		return w.ResponseWriter.Write(b)
	}
	if err := w.reading.request.checkRights(); err != nil {
		w.broken = true
		return 0, err
	}
	lost := w.reading.wait(func() { n, err = w.ResponseWriter.Write(b) })
	if err == nil && lost != nil {
		err, w.broken = lost, true
	}
	return n, err
}

// setDeadlines sets the deadlines of a new request: none for the answer until it begins, and one for the body, even if no handler
// reads it.
func (w *answer) setDeadlines(r *http.Request) {
	if r.ContentLength == 0 {
		return // nothing is written before the answer, which sets its own
	}
	ctl := http.NewResponseController(w.ResponseWriter)
	ctl.SetWriteDeadline(time.Time{}) // the one of an earlier answer on this connection
	if w.idle > 0 {
		ctl.SetReadDeadline(time.Now().Add(w.idle))
	}
}

// unsent is how much of an answer the standard library buffers at least until the handler returns.
const unsent = 2 << 10

// extendDeadline sets the deadline for the next part of an answer.
func (w *answer) extendDeadline() {
	if w.idle > 0 {
		http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.idle)) // a recorder in a test has none
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
