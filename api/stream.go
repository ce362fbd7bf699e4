package api

import (
	"net/http"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

var streamRoutes = []Route{{
	Method: "GET", Path: "/api/stream", Level: belfry.LevelRead, Limited: true, serve: (*Server).live,
	ID: "stream", Tag: "items", Help: "Tells changes of status and events as they happen, as server-sent events.",
	Detail: "`event: status` and `event: event` carry JSON in `data`; `event: resync` says that messages are missing and the client should read what it shows anew. " +
		"Lines that begin with a colon only keep the connection.",
	Params: []Param{
		{Name: "types", Schema: "pattern=^ *(status|event) *(, *(status|event) *)*$", Help: "Which messages to send, as `status,event`; both unless given."},
		{Name: "lasteventid", Help: "Go on after this message, like the header `Last-Event-ID`."},
		{Name: "for", Schema: "pattern=^([1-9][0-9]*[smhdwSMHDW]|0[sS])$", Help: "How long to listen, as 30s; 0s: only what there is by now. Without it the stream does not end."},
		{Name: "alive", Schema: "pattern=^([1-9]|[1-5][0-9]|60)[sS]$|^1[mM]$", Help: "How long the stream may say nothing, from 1s to 1m; then it sends a line that begins with a colon. 15s unless given."},
	},
	Headers: []Param{{Name: "Last-Event-ID", Help: "Go on after this message. Browsers send it by themselves."}},
	Answers: []Answer{{Status: 200, Help: "The messages.", Body: []Media{{Type: "text/event-stream"}}}},
	Errors:  []belfry.Code{belfry.RateLimited, belfry.Overloaded, belfry.StorageUnavailable},
}}

// live tells a client what happens, as server-sent events, until one of them has enough. The client is told everything
// from the moment on at which it has the header of the answer; before that, what it missed since the last message it
// knows, or, when that is not to be had any more, that it should read everything again.
func (s *Server) live(w *answer, r *request) error {
	kinds, err := messageKinds(r.params)
	if err != nil {
		return err
	}
	last := r.params.Get("lasteventid")
	if last == "" {
		last = r.Header.Get("Last-Event-ID")
	}
	length, bounded, err := streamLength(r.params)
	if err != nil {
		return err
	}
	timing := s.Hub.timing
	if timing.alive, err = streamAlive(r.params, timing.alive); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy must not gather what is to arrive at once
	if r.Method == http.MethodHead {
		return nil
	}
	t := &sseConn{server: s, w: w, r: r, timing: timing, ctl: http.NewResponseController(w), idle: w.idle}
	if t.listener, err = s.Hub.listen(r.scope(), r.limits, t.cut); err != nil {
		h.Del("X-Accel-Buffering")
		return err
	}
	defer t.listener.leave()
	t.listener.kinds = kinds
	w.idle = 0 // the time limits are the stream's own
	defer func() { w.idle = min(t.idle, lastWords) }()
	t.alive, t.check = time.NewTimer(t.timing.alive), time.NewTicker(t.timing.check)
	defer t.alive.Stop()
	defer t.check.Stop()
	if bounded {
		over := time.NewTimer(length)
		defer over.Stop()
		t.over = over.C
	}
	t.run(t.listener.begin(last))
	return nil
}

// lastWords is how long the end of a stream may take: it must not hold up the end of the service.
const lastWords = 500 * time.Millisecond

// messageKinds reads which messages the client wants.
func messageKinds(p params) (kinds messageKind, err error) {
	if !p.Has("types") {
		return allMessages, nil
	}
	for name := range strings.SplitSeq(p.Get("types"), ",") {
		switch strings.TrimSpace(name) {
		case "status":
			kinds |= statusMessage
		case "event":
			kinds |= eventMessage
		default:
			return 0, belfry.Errorf(belfry.BadParameter, "types must be status, event or status,event, got %.64q", mask(p.Get("types")))
		}
	}
	return kinds, nil
}

// streamLength reads how long the client wants to listen.
func streamLength(p params) (length time.Duration, bounded bool, err error) {
	text := strings.ToLower(p.Get("for"))
	if !p.Has("for") || text == "0s" {
		return 0, p.Has("for"), nil
	}
	d, err := catalog.ParseDuration(text)
	if err != nil {
		return 0, false, belfry.Errorf(belfry.BadParameter, "for must be 0s or a whole number with s, m, h, d or w, as 30s, got %.64q", mask(p.Get("for")))
	}
	return d.Std(), true, nil
}

// streamAlive reads how long the stream may say nothing. A client that shows that its connection is gone needs to know soon.
func streamAlive(p params, usual time.Duration) (time.Duration, error) {
	if !p.Has("alive") {
		return usual, nil
	}
	d, err := catalog.ParseDuration(strings.ToLower(p.Get("alive")))
	if err != nil || d.Std() < time.Second || d.Std() > time.Minute {
		return 0, belfry.Errorf(belfry.BadParameter, "alive must be between 1s and 1m, as 5s, got %.64q", mask(p.Get("alive")))
	}
	return d.Std(), nil
}

// sseConn is one stream.
type sseConn struct {
	server   *Server
	w        *answer
	r        *request
	listener *listener
	timing   hubTiming
	ctl      *http.ResponseController
	idle     time.Duration // how long the client may take nothing
	alive    *time.Timer   // it is time to say something
	check    *time.Ticker  // it is time to look at the key
	over     <-chan time.Time
	ended    time.Time // when the client had listened for as long as it wanted
}

// run ends when the client goes away, or takes nothing, or may not listen any more, or has listened for as long as it
// wanted, or when the service stops.
func (t *sseConn) run(continued bool) {
	goOn := t.greet(continued)
	for goOn && !t.complete() {
		p, ok := t.listener.read()
		switch {
		case !ok:
			goOn = t.resync()
		case p.wait != nil:
			goOn = t.wait(p.wait)
		case p.messages > 0: // else they are of a kind that this client does not want
			goOn = t.tell(p)
		}
	}
}

// tell sends a part. Unless there is more already, what comes next has a moment to gather.
func (t *sseConn) tell(p part) bool {
	said := t.say(p.texts...)
	t.server.Hub.sent.Add(int64(p.messages)) // also when the stream ends with it: the client may have got them
	return said && (p.more || t.rest(t.timing.pace))
}

// retry is after how many milliseconds a browser comes back that was cut off.
const retry = "retry: 2000\n"

// greet tells the client where it is, so that it can come back before the first message, too.
func (t *sseConn) greet(continued bool) bool {
	if !continued {
		return t.say([]byte(retry)) && t.resync()
	}
	return t.say([]byte(retry + "id: " + t.listener.end() + "\n\n"))
}

// resync tells the client that it has missed something, and where it is now.
func (t *sseConn) resync() bool {
	t.server.Hub.resyncs.Add(1)
	id := t.listener.end()
	return t.say([]byte("id: " + id + "\nevent: resync\ndata: {\"id\":\"" + id + "\"}\n\n"))
}

// say sends something, if the client may still hear it.
func (t *sseConn) say(parts ...[]byte) bool {
	if !t.server.mayListen(t.r) {
		return false
	}
	t.alive.Reset(t.timing.alive)
	for _, p := range parts {
		if !t.hasten() {
			return false
		}
		if _, err := t.w.Write(p); err != nil {
			return false
		}
	}
	return t.hasten() && t.ctl.Flush() == nil
}

// hasten gives the client some time for the next part. When streams are to end, cut takes that back; whichever comes
// second sees the other.
func (t *sseConn) hasten() bool {
	if t.idle > 0 {
		t.ctl.SetWriteDeadline(time.Now().Add(t.idle)) // a recorder in a test has none
	}
	select {
	case <-t.server.Hub.ended:
		t.cut()
		return false
	default:
		return true
	}
}

// cut lets a client go that takes nothing. One that does has time to get what it is being told.
func (t *sseConn) cut() { t.ctl.SetWriteDeadline(time.Now().Add(lastWords)) }

// wait waits for changes. Meanwhile it says now and then that it is there.
func (t *sseConn) wait(wake <-chan struct{}) bool {
	if !t.ended.IsZero() {
		return t.rest(time.Millisecond)
	}
	select {
	case <-wake:
		return true
	case <-t.alive.C:
		return t.say([]byte(": still here\n\n"))
	case <-t.check.C:
		return t.server.mayListen(t.r)
	case <-t.over:
		t.ended = time.Now()
		return true
	case <-t.r.ctx().Done():
		return false
	case <-t.server.Hub.ended:
		return false
	}
}

// rest lets what comes next gather for a moment.
func (t *sseConn) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.over:
		t.ended = time.Now()
		return true
	case <-t.r.ctx().Done():
		return false
	case <-t.server.Hub.ended:
		return false
	}
}

// complete tells whether a client that has listened for as long as it wanted has all that was committed until then. While
// more comes all the time nobody can say, and it ends soon after.
func (t *sseConn) complete() bool {
	return !t.ended.IsZero() && (t.listener.settled() && t.listener.atEnd() || time.Since(t.ended) > lastWords)
}

// mayListen tells whether who asked may still have the answer, and whether the session still acts in the same customer.
func (s *Server) mayListen(r *request) bool {
	c, err := r.rights()
	return err == nil && c == r.customer
}
