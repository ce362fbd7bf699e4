package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
)

// streams is a server with real sockets over a stage.
type streams struct {
	*stage
	*rig
	url string
}

func newStreams(t *testing.T, change func(*Hub)) *streams {
	s := &streams{stage: newStage(t), rig: newRig(t)}
	if change != nil {
		change(s.Hub)
	}
	s.stage.run()
	s.rig.Server.Hub = s.stage.Hub
	s.SetLimits(Limits{Streams: 300, AllStreams: 300, Idle: time.Minute})
	server := httptest.NewServer(s.rig.Server)
	t.Cleanup(server.Close)
	t.Cleanup(s.stage.Hub.Close) // before it
	s.url = server.URL
	return s
}

// message is one of a stream.
type message struct{ id, event, data string }

// ear reads a stream. Comments and bare ids are messages without an event.
type ear struct {
	t    testing.TB
	body io.Closer
	in   *bufio.Reader
	last string
}

func (s *streams) open(params string, headers ...string) *ear {
	s.stage.t.Helper()
	req, err := http.NewRequest("GET", s.url+"/api/stream?"+params, nil)
	if err != nil {
		s.stage.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", readKey)
	req.Header.Set("Accept-Encoding", "gzip")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.stage.t.Fatal(err)
	}
	s.stage.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Content-Encoding") != "" {
		s.stage.t.Fatalf("%d, %v", res.StatusCode, res.Header)
	}
	e := &ear{t: s.stage.t, body: res.Body, in: bufio.NewReader(res.Body)}
	if m, err := e.next(); err != nil || m.id == "" {
		s.stage.t.Fatalf("it begins with %v, %v", m, err)
	}
	return e
}

// next reads a message.
func (e *ear) next() (m message, err error) {
	for {
		line, err := e.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			m.id, e.last = value, value
		case "event":
			m.event = value
		case "data":
			m.data = value
		case "":
			if line == "\n" {
				return m, nil
			}
			m.event = "comment"
		}
	}
}

// want reads the next message and compares its kind.
func (e *ear) want(event string) message {
	e.t.Helper()
	m, err := e.next()
	if err != nil || m.event != event {
		e.t.Fatalf("got %v, %v, want %s", m, err, event)
	}
	return m
}

func (s *streams) change(to belfry.Status) {
	s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{moved(12, to, 0, "")}})
}

// TestStreamResumes: who was cut off gets what it missed, by header or by parameter; who asks for too much is told.
func TestStreamResumes(t *testing.T) {
	s := newStreams(t, nil)
	e := s.open("")
	begin := e.last
	s.change(belfry.OK)
	first := e.want("status")
	e.body.Close()
	s.change(belfry.Major)
	f := func(e *ear, want ...string) {
		t.Helper()
		for _, status := range want {
			if m := e.want("status"); !strings.Contains(m.data, `"status":"`+status+`"`) {
				t.Errorf("got %v, want status %s", m, status)
			}
		}
		s.change(belfry.Critical)
		if m := e.want("status"); !strings.Contains(m.data, `"status":"3"`) {
			t.Errorf("got %v afterwards", m)
		}
		e.body.Close()
	}
	f(s.open("", "Last-Event-ID: "+first.id), "2")
	f(s.open("lasteventid="+begin), "0", "2", "3")
	f(s.open("lasteventid="+begin, "Last-Event-ID: "+first.id), "0", "2", "3", "3")
	f(s.open(""))
	for _, unknown := range []string{"1.1", "nonsense"} {
		e := s.open("lasteventid=" + unknown) // its first message is the resync
		f(e)
	}
	if n := s.stage.Hub.resyncs.Load(); n != 2 {
		t.Errorf("%d resyncs", n)
	}
}

// TestSlowClient: a client that does not read costs a bounded amount of memory and holds up nobody. When it reads again it
// is told that it missed something, and then hears what is new.
func TestSlowClient(t *testing.T) {
	s := newStreams(t, func(h *Hub) { h.limits.feed, h.timing.pace = 64<<10, time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/stream HTTP/1.1\r\nHost: belfry\r\nX-Api-Key: %s\r\n\r\n", readKey)
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil) // the header alone: it listens
	if err != nil {
		t.Fatal(err)
	}
	e := &ear{t: t, body: res.Body, in: bufio.NewReader(res.Body)}
	info := strings.Repeat("x", 10_000)
	for i := range 2000 { // 40 MB, more than sockets hold
		s.happen(s.alarm(1, 12, info, belfry.OK, belfry.Major)) // a status and an event
		if i%50 == 0 {
			for !s.settledNow() {
				time.Sleep(time.Millisecond) // the hub has caught up, whatever the client does
			}
		}
	}
	for !s.settledNow() {
		time.Sleep(time.Millisecond)
	}
	f := s.byOwner[1][0]
	f.mu.Lock()
	kept, newest := f.bytes, f.id(f.next-1)
	f.mu.Unlock()
	if kept > 64<<10 {
		t.Errorf("%d bytes are kept", kept)
	}
	told, heard, before := 0, 0, []uint64{0, 0}
	for e.last != newest {
		m, err := e.next()
		if err != nil {
			t.Fatal(err)
		}
		switch m.event {
		case "resync":
			told++
		case "status", "event":
			heard++
		}
		if now := numbers(t, m.id); slices.Compare(now, before) > 0 {
			before = now
		} else if m.event != "resync" {
			t.Fatalf("%s comes after %v", m.id, before)
		}
	}
	if told == 0 || heard >= 4000 {
		t.Errorf("%d messages were heard, and %d times it was told that some are missing", heard, told)
	}
	s.change(belfry.Critical)
	e.want("status")
}

// settledNow tells whether the hub has nothing left to write.
func (s *stage) settledNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, all := range s.byOwner {
		for _, f := range all {
			if len(f.inbox) > 0 || f.busy {
				return false
			}
		}
	}
	return true
}

// TestStreamEnds: revoked and expired keys end a stream, with nothing more said.
func TestStreamEnds(t *testing.T) {
	s := newStreams(t, func(h *Hub) { h.timing.check = time.Millisecond })
	f := func(end func()) {
		t.Helper()
		e := s.open("types=status")
		end()
		s.change(belfry.OK)
		if m, err := e.next(); err != io.EOF {
			t.Errorf("got %v, %v", m, err)
		}
		s.addKey(readKey, belfry.LevelRead, 0)
	}
	f(func() {
		if err := s.Accounts.RevokeKey(in(1), readKey[34:]); err != nil {
			t.Fatal(err)
		}
	})
	f(func() { s.addKey(readKey, belfry.LevelRead, belfry.At(time.Now().Add(-time.Second))) })
	f(s.stage.Hub.Close)
}

// TestStreamKeepsAlive: a stream with nothing to tell says so.
func TestStreamKeepsAlive(t *testing.T) {
	s := newStreams(t, func(h *Hub) { h.timing.alive = time.Millisecond })
	e := s.open("")
	for range 3 {
		e.want("comment")
	}
}

// TestStreamAlive: a client can ask how often an idle stream says that it is there.
func TestStreamAlive(t *testing.T) {
	s := newStreams(t, func(h *Hub) { h.timing.alive = time.Hour })
	s.open("alive=1s").want("comment")
}

// TestStreamFor: with a length the stream ends by itself, with all that was committed before.
func TestStreamFor(t *testing.T) {
	s := newStreams(t, nil)
	begin := s.open("").last
	for range 1000 {
		s.change(belfry.OK)
	}
	e := s.open("for=0s&lasteventid=" + begin)
	for range 1000 {
		e.want("status")
	}
	if m, err := e.next(); err != io.EOF {
		t.Errorf("got %v, %v", m, err)
	}
}

// TestManyClients: all hear the same, and the counters say so.
func TestManyClients(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := newStreams(t, nil)
	s.stage.Hub.register(reg)
	const clients, changes = 100, 50
	ears := make([]*ear, clients)
	for i := range ears {
		ears[i] = s.open("")
	}
	value := func(name string) (v float64) {
		t.Helper()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == name {
				v = f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
			}
		}
		return v
	}
	if n := value("belfry_streams"); n != clients {
		t.Errorf("%v streams are open", n)
	}
	for range changes {
		s.change(belfry.OK)
	}
	var first []message
	for i, e := range ears {
		for n := range changes {
			m := e.want("status")
			if i == 0 {
				first = append(first, m)
			} else if m != first[n] {
				t.Fatalf("client %d heard %v, the first %v", i, m, first[n])
			}
		}
	}
	s.stage.Hub.Close()
	for _, e := range ears {
		if m, err := e.next(); err != io.EOF {
			t.Errorf("got %v, %v", m, err)
		}
	}
	if n := value("belfry_stream_messages_total"); n != clients*changes {
		t.Errorf("%v messages were sent", n)
	}
	if res := s.rig.do("GET", "/api/stream", "", "X-Api-Key: "+readKey); res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Errorf("after the end: %d %v", res.StatusCode, res.Header)
	}
}

func TestStreamParameters(t *testing.T) {
	s := newStreams(t, nil)
	f := func(query string, want int) {
		t.Helper()
		if res := s.rig.do("GET", "/api/stream?"+query, "", "X-Api-Key: "+readKey); res.StatusCode != want {
			t.Errorf("%s: %d", query, res.StatusCode)
		}
	}
	f("for=0s", 200)
	f("for=0S&types=event,%20status", 200)
	f("types=", 400)
	f("types=status,", 400)
	f("types=alarm", 400)
	f("for=", 400)
	f("for=1", 400)
	f("for=-1s", 400)
	f("alive=1M&for=0s", 200)
	f("alive=0s", 400)
	f("alive=61s", 400)
	f("alive=", 400)
	f("view=MAIN", 400)
	if res := s.rig.do("HEAD", "/api/stream", "", "X-Api-Key: "+readKey); res.StatusCode != 200 {
		t.Errorf("HEAD: %d", res.StatusCode)
	}
}
