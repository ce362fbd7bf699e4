package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"belfry"
	"belfry/api/input"
	"belfry/api/live"
	"belfry/catalog"
)

var streamRoutes = []Route{{
	Method: "GET", Path: "/api/stream", Level: belfry.LevelRead, Limited: true, serve: (*Server).live,
	ID: "stream", Tag: "items", Help: "Streams status changes and events as server-sent events.",
	Detail: "`event: status` and `event: event` carry JSON in `data`; `event: resync` means that messages are missing and the client should reload what it shows. " +
		"Lines that begin with a colon only keep the connection alive.",
	Params: []Param{
		{Name: "types", Schema: "pattern=^ *(status|event) *(, *(status|event) *)*$", Help: "Messages to send, as `status,event`; default: both."},
		{Name: "lasteventid", Help: "Continue after this message, like the header `Last-Event-ID`."},
		{Name: "for", Schema: "pattern=^([1-9][0-9]*[smhdwSMHDW]|0[sS])$", Help: "Length of the stream, as 30s; 0s: only messages that exist already. Without it the stream does not end."},
		{Name: "alive", Schema: "pattern=^([1-9]|[1-5][0-9]|60)[sS]$|^1[mM]$", Help: "Maximum silence before a keep-alive comment, a line that begins with a colon: from 1s to 1m, default 15s."},
	},
	Headers: []Param{{Name: "Last-Event-ID", Help: "Continue after this message. Browsers send it automatically."}},
	Answers: []Answer{{Status: 200, Help: "The messages.", Body: []Media{{Type: "text/event-stream"}}}},
	Errors:  []belfry.Code{belfry.RateLimited, belfry.Overloaded, belfry.StorageUnavailable},
}}

// live sends a client changes of status and events as server-sent events, until the client or the service ends the stream. The
// client gets everything from the moment at which it has the header of the answer; before that, what it missed since the
// last message it knows or, when that is gone, a resync.
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
	alive, err := streamAlive(r.params, s.Hub.Timing.Alive)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies must not buffer a stream
	if r.Method == http.MethodHead {
		return nil
	}
	listener, err := s.Hub.Listen(r.scope(), kinds, r.limits.Streams, r.limits.AllStreams)
	if err != nil {
		h.Del("X-Accel-Buffering")
		return err
	}
	defer listener.Close()
	c := &sseConn{server: s, w: w, r: r, listener: listener, ctl: http.NewResponseController(w), idle: w.idle, silence: alive}
	w.idle = 0 // the stream sets its own deadlines
	defer func() { w.idle = min(c.idle, closeTime) }()
	c.alive, c.check = time.NewTimer(alive), time.NewTicker(s.Hub.Timing.Check)
	defer c.alive.Stop()
	defer c.check.Stop()
	if bounded {
		over := time.NewTimer(length)
		defer over.Stop()
		c.over = over.C
	}
	cut := make(chan struct{})
	stop := context.AfterFunc(s.Hub.Context(), func() {
		defer close(cut)
		c.cut()
	})
	defer func() {
		if !stop() {
			<-cut // the connection may serve another request after this one
		}
	}()
	c.run(listener.Resume(last))
	return nil
}

// closeTime is how long the end of a stream may take: it must not delay the end of the service.
const closeTime = 500 * time.Millisecond

// messageKinds reads the parameter types.
func messageKinds(p params) (kinds live.Kind, err error) {
	if !p.Has("types") {
		return live.Statuses | live.Events, nil
	}
	for name := range strings.SplitSeq(p.Get("types"), ",") {
		switch strings.TrimSpace(name) {
		case "status":
			kinds |= live.Statuses
		case "event":
			kinds |= live.Events
		default:
			return 0, belfry.Errorf(belfry.BadParameter, "types must be status, event or status,event, got %.64q", input.Mask(p.Get("types")))
		}
	}
	return kinds, nil
}

// streamLength reads the parameter for.
func streamLength(p params) (length time.Duration, bounded bool, err error) {
	text := strings.ToLower(p.Get("for"))
	if !p.Has("for") || text == "0s" {
		return 0, p.Has("for"), nil
	}
	d, err := catalog.ParseDuration(text)
	if err != nil {
		return 0, false, belfry.Errorf(belfry.BadParameter, "for must be 0s or a whole number with s, m, h, d or w, as 30s, got %.64q", input.Mask(p.Get("for")))
	}
	return d.Std(), true, nil
}

// streamAlive reads the parameter alive. A client that shows whether it is connected needs a short silence.
func streamAlive(p params, usual time.Duration) (time.Duration, error) {
	if !p.Has("alive") {
		return usual, nil
	}
	d, err := catalog.ParseDuration(strings.ToLower(p.Get("alive")))
	if err != nil || d.Std() < time.Second || d.Std() > time.Minute {
		return 0, belfry.Errorf(belfry.BadParameter, "alive must be between 1s and 1m, as 5s, got %.64q", input.Mask(p.Get("alive")))
	}
	return d.Std(), nil
}

// sseConn is one stream.
type sseConn struct {
	server   *Server
	w        *answer
	r        *request
	listener *live.Listener
	ctl      *http.ResponseController
	idle     time.Duration // how long a write may take
	silence  time.Duration // longest silence
	alive    *time.Timer   // the silence is over
	check    *time.Ticker  // it is time to check the key
	over     <-chan time.Time
	ended    time.Time // when the time that the client asked for was over
}

// run sends messages until the client disconnects or reads nothing, loses its rights, has listened for as long as it wanted, or
// the service stops.
func (c *sseConn) run(resumed bool) {
	ok := c.greet(resumed)
	for ok && !c.complete() {
		p, complete := c.listener.Read()
		switch {
		case !complete:
			ok = c.send(c.listener.Resync())
		case p.Wait != nil:
			ok = c.wait(p.Wait)
		case len(p.Texts) > 0: // else the client wants messages of other kinds
			// Unless there is more already, the next messages are gathered for a moment.
			ok = c.send(p.Texts...) && (p.More || c.sleep(c.server.Hub.Timing.Gather))
		}
	}
}

// retry is after how many milliseconds a browser reconnects.
const retry = "retry: 2000\n"

// greet sends the client its position, so that it can resume even before the first message.
func (c *sseConn) greet(resumed bool) bool {
	if !resumed {
		return c.send([]byte(retry)) && c.send(c.listener.Resync())
	}
	return c.send([]byte(retry + "id: " + c.listener.Last() + "\n\n"))
}

// send writes to the client, if it still has the rights.
func (c *sseConn) send(texts ...[]byte) bool {
	if !c.server.mayListen(c.r) {
		return false
	}
	c.alive.Reset(c.silence)
	for _, text := range texts {
		if !c.extend() {
			return false
		}
		if _, err := c.w.Write(text); err != nil {
			return false
		}
	}
	return c.extend() && c.ctl.Flush() == nil
}

// extend sets the deadline of the next write. When streams are to end, cut shortens it; whichever comes second sees the
// other.
func (c *sseConn) extend() bool {
	if c.idle > 0 {
		c.ctl.SetWriteDeadline(time.Now().Add(c.idle)) // a recorder in a test has none
	}
	if c.server.Hub.Context().Err() != nil {
		c.cut()
		return false
	}
	return true
}

// cut ends a write that hangs, after the time that a client which reads needs for it.
func (c *sseConn) cut() { c.ctl.SetWriteDeadline(time.Now().Add(closeTime)) }

// wait waits for changes, and keeps the connection alive.
func (c *sseConn) wait(wake <-chan struct{}) bool {
	if !c.ended.IsZero() {
		return c.sleep(time.Millisecond)
	}
	select {
	case <-wake:
		return true
	case <-c.alive.C:
		return c.send([]byte(": still here\n\n"))
	case <-c.check.C:
		return c.server.mayListen(c.r)
	case <-c.over:
		c.ended = time.Now()
		return true
	case <-c.r.ctx().Done():
		return false
	case <-c.server.Hub.Context().Done():
		return false
	}
}

// sleep waits for a while, in which messages gather.
func (c *sseConn) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.over:
		c.ended = time.Now()
		return true
	case <-c.r.ctx().Done():
		return false
	case <-c.server.Hub.Context().Done():
		return false
	}
}

// complete reports whether a client that has listened for as long as it wanted has all that was committed until then. Under a
// constant flow of changes it never catches up, and the stream ends soon after.
func (c *sseConn) complete() bool {
	return !c.ended.IsZero() && (c.listener.CaughtUp() || time.Since(c.ended) > closeTime)
}

// mayListen reports whether the request still has its rights, and whether its session still acts in the same customer.
func (s *Server) mayListen(r *request) bool {
	c, err := r.rights()
	return err == nil && c == r.customer
}
