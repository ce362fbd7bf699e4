package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/api/live"
)

// streams is a server with real sockets and a hub.
type streams struct {
	*rig
	url  string
	item belfry.ID // of MAIN
}

func newStreams(t *testing.T, timing func(*live.Timing)) *streams {
	s := &streams{rig: newRig(t)}
	main, err := s.Tree.Container(belfry.Whole(1), "", "")
	if err != nil {
		t.Fatal(err)
	}
	s.item = main.ID
	s.Hub = live.NewHub(s.Tree, slog.New(slog.DiscardHandler))
	if timing != nil {
		timing(&s.Hub.Timing)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Hub.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	s.SetLimits(Limits{Streams: 300, AllStreams: 300, Idle: time.Minute})
	server := httptest.NewServer(s.Server)
	t.Cleanup(server.Close)
	t.Cleanup(s.Hub.Close) // before it
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
	s.t.Helper()
	req, err := http.NewRequest("GET", s.url+"/api/stream?"+params, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", readKey)
	req.Header.Set("Accept-Encoding", "gzip")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Content-Encoding") != "" {
		s.t.Fatalf("%d, %v", res.StatusCode, res.Header)
	}
	e := &ear{t: s.t, body: res.Body, in: bufio.NewReader(res.Body)}
	if m, err := e.next(); err != nil || m.id == "" {
		s.t.Fatalf("it begins with %v, %v", m, err)
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
	s.happen(to, "")
}

// happen commits a status of MAIN.
func (s *streams) happen(to belfry.Status, info string) {
	c := belfry.StateChange{Item: s.item, Differs: true}
	c.Status, c.Info = to, info
	s.Hub.Add(&belfry.Record{Customer: 1, States: []belfry.StateChange{c}})
}

// counter reads a counter of the hub.
func counter(t *testing.T, reg *prometheus.Registry, name string) (v float64) {
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

// TestStreamResumes: who was cut off gets what it missed, by header or by parameter; who asks for too much is told.
func TestStreamResumes(t *testing.T) {
	s, reg := newStreams(t, nil), prometheus.NewRegistry()
	s.Hub.Register(reg)
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
	if n := counter(t, reg, "belfry_stream_resyncs_total"); n != 2 {
		t.Errorf("%v resyncs", n)
	}
}

// TestSlowClient: a client that does not read costs a bounded amount of memory and holds up nobody. When it reads again it
// is told that it missed something, and then hears what is new.
func TestSlowClient(t *testing.T) {
	s := newStreams(t, func(l *live.Timing) { l.Gather = time.Millisecond })
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
	quick, err := s.Hub.Listen(belfry.Whole(1), live.Statuses|live.Events, 300, 300)
	if err != nil {
		t.Fatal(err)
	}
	defer quick.Close()
	const changes = 4000 // 40 MB, more than a feed and sockets hold
	for i := range changes {
		s.happen(belfry.Major, info)
		for i%50 == 0 || i == changes-1 { // the hub catches up, whatever the client does
			if _, ok := quick.Read(); !ok {
				t.Fatal("the hub is not read in time")
			} else if quick.CaughtUp() {
				break
			}
			runtime.Gosched()
		}
	}
	newest := quick.Last()
	resyncs, received, before := 0, 0, ""
	for e.last != newest {
		m, err := e.next()
		if err != nil {
			t.Fatal(err)
		}
		switch m.event {
		case "resync":
			resyncs++
		case "status":
			received++
			if len(m.id) < len(before) || len(m.id) == len(before) && m.id <= before {
				t.Fatalf("%s comes after %s", m.id, before)
			}
		}
		before = m.id
	}
	if resyncs == 0 || received >= changes {
		t.Errorf("%d messages were received, and %d resyncs", received, resyncs)
	}
	s.change(belfry.Critical)
	e.want("status")
}

// TestStreamEnds: revoked and expired keys end a stream, with nothing more said.
func TestStreamEnds(t *testing.T) {
	s := newStreams(t, func(l *live.Timing) { l.Check = time.Millisecond })
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
	f(s.Hub.Close)
}

// TestStreamKeepsAlive: a stream with nothing to tell says so.
func TestStreamKeepsAlive(t *testing.T) {
	s := newStreams(t, func(l *live.Timing) { l.Alive = time.Millisecond })
	e := s.open("")
	for range 3 {
		e.want("comment")
	}
}

// TestStreamAlive: a client can ask how often an idle stream says that it is there.
func TestStreamAlive(t *testing.T) {
	s := newStreams(t, func(l *live.Timing) { l.Alive = time.Hour })
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
	s.Hub.Register(reg)
	const clients, changes = 100, 50
	ears := make([]*ear, clients)
	for i := range ears {
		ears[i] = s.open("")
	}
	value := func(name string) float64 { return counter(t, reg, name) }
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
	s.Hub.Close()
	for _, e := range ears {
		if m, err := e.next(); err != io.EOF {
			t.Errorf("got %v, %v", m, err)
		}
	}
	if n := value("belfry_stream_messages_total"); n != clients*changes {
		t.Errorf("%v messages were sent", n)
	}
	if res := s.do("GET", "/api/stream", "", "X-Api-Key: "+readKey); res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Errorf("after the end: %d %v", res.StatusCode, res.Header)
	}
}

func TestStreamParameters(t *testing.T) {
	s := newStreams(t, nil)
	f := func(query string, want int) {
		t.Helper()
		if res := s.do("GET", "/api/stream?"+query, "", "X-Api-Key: "+readKey); res.StatusCode != want {
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
	if res := s.do("HEAD", "/api/stream", "", "X-Api-Key: "+readKey); res.StatusCode != 200 {
		t.Errorf("HEAD: %d", res.StatusCode)
	}
}
