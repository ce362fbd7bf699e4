package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ear reads a stream of a process.
type ear struct {
	t    testing.TB
	in   *bufio.Reader
	last string // id
}

// heard is a message of a stream; one without an event only says where the stream is.
type heard struct {
	id, event string
	data      map[string]string
}

// listen opens a stream and reads its first words: what is committed from then on is told.
func (p *process) listen(params string, headers ...string) (*ear, heard) {
	p.t.Helper()
	r, err := http.NewRequest("GET", p.base+"/api/stream?"+params, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 {
		p.t.Fatalf("stream: %d", res.StatusCode)
	}
	e := &ear{t: p.t, in: bufio.NewReader(res.Body)}
	m, err := e.next()
	if err != nil || m.id == "" {
		p.t.Fatalf("the stream begins with %v, %v", m, err)
	}
	return e, m
}

func (e *ear) next() (m heard, err error) {
	for {
		line, err := e.in.ReadString('\n')
		if err != nil || line == "\n" {
			return m, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			m.id, e.last = value, value
		case "event":
			m.event = value
		case "data":
			if err := json.Unmarshal([]byte(value), &m.data); err != nil {
				return m, err
			}
		}
	}
}

// status reads until an item has a status; what it passes over it gives back, too.
func (e *ear) status(name, status string) (passed []heard) {
	e.t.Helper()
	for {
		m, err := e.next()
		if err != nil {
			e.t.Fatalf("%v before %s had status %s: %v", err, name, status, passed)
		}
		passed = append(passed, m)
		if m.event == "status" && m.data["name"] == name && m.data["status"] == status {
			return passed
		}
	}
}

// ends reads to the end, which must be a proper one.
func (e *ear) ends() {
	e.t.Helper()
	for {
		if m, err := e.next(); err == io.EOF {
			return
		} else if err != nil {
			e.t.Errorf("%v, %v, want the end", m, err)
			return
		}
	}
}

// ping sends what makes an object available, or not.
func (p *process) ping(key, resource, object string, available bool) {
	p.t.Helper()
	query := "/d?resname=" + resource + "&o=" + object + "&apikey=" + key + "&c=host&v=" + resource
	if available {
		query += "&i1=1"
	} else {
		query += "&n=yes"
	}
	if res := p.ask("GET", query, ""); res.StatusCode != 200 {
		p.t.Fatalf("%d %s", res.StatusCode, res.body)
	}
}

// TestStreamAndQuery: events come on the stream as a query gives them, each once, and statuses up to MAIN.
func TestStreamAndQuery(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	key := p.key("all", "readwritedelete")
	p.fill(key, ours)
	e, _ := p.listen("", "X-Api-Key: "+key)
	p.ping(key, "shared", "cpu", false)
	passed := e.status("MAIN", "-")
	p.ping(key, "shared", "cpu", true)
	passed = append(passed, e.status("MAIN", "0")...)
	p.ping(key, ours, "late", true) // its events come after those of what was before
	passed = append(passed, e.status("late", "0")...)
	var told []map[string]string
	for _, m := range passed {
		if m.event == "event" && m.data["type"] == "alarm" {
			told = append(told, m.data)
		}
	}
	if len(told) != 6 {
		t.Errorf("%d alarms were told, want those of cpu, shared and MAIN, there and back", len(told))
	}
	var answer struct{ Rows []map[string]string }
	text := p.ask("GET", "/api/sql?rows=1000&q=SELECT+*+FROM+events+WHERE+id+%3E%3D+'"+told[0]["id"]+"'+AND+id+%3C%3D+'"+told[len(told)-1]["id"]+"'+AND+type='alarm'+ORDER+BY+id+ASC", "", "X-Api-Key: "+key).body
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if diff := cmp.Diff(answer.Rows, told); diff != "" {
		t.Errorf("asked (-) and told (+):\n%s", diff)
	}
	p.stop()
}

// TestStreamsApart: a customer hears nothing of another, even with the same names.
func TestStreamsApart(t *testing.T) {
	t.Parallel()
	p := newProcess(t, func(p *process) { p.belfry("customer", "create", "--name", "acme") })
	mine, other := p.key("mine", "readwritedelete"), p.key("other", "readwritedelete", "--customer", "acme")
	p.fill(mine, ours)
	p.fill(other, theirs)
	e, _ := p.listen("", "X-Api-Key: "+mine)
	for range 20 {
		p.ping(other, "shared", "cpu", false)
		p.ping(other, "shared", "cpu", true)
	}
	p.ping(mine, "shared", "cpu", false)
	if passed := e.status("cpu", "-"); len(passed) != 1 || passed[0].id != e.last || !strings.HasSuffix(e.last, ".1") {
		t.Errorf("%d messages, the last is %s", len(passed), e.last)
	}
	p.stop()
}

// TestStreamRestart: after a restart a client is told once to read everything again, and goes on from there.
func TestStreamRestart(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	key := p.key("all", "readwritedelete")
	p.fill(key, ours)
	f := func(end func()) {
		t.Helper()
		e, _ := p.listen("", "X-Api-Key: "+key)
		p.ping(key, "shared", "cpu", false)
		e.status("MAIN", "-")
		p.ping(key, "shared", "cpu", true)
		e.status("MAIN", "0")
		end()
		p.start()
		again, first := p.listen("lasteventid="+e.last, "X-Api-Key: "+key)
		if first.event != "resync" || first.data["id"] != first.id || first.id <= e.last { // both have the same length
			t.Errorf("after %s it begins with %v", e.last, first)
		}
		p.ping(key, "shared", "cpu", false)
		if passed := again.status("cpu", "-"); len(passed) != 1 {
			t.Errorf("then %v", passed)
		}
		p.ping(key, "shared", "cpu", true)
	}
	f(p.stop)
	f(p.crash)
	p.stop()
}

// TestStreamStops: streams end when the service does, and do not hold it up; not even those that nobody reads.
func TestStreamStops(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	key := p.key("all", "readwritedelete")
	p.fill(key, ours)
	var ears []*ear
	readers, turns := 10, 6 // some 20 MB, more than a socket holds
	if testing.Short() {
		readers, turns = 2, 2
	}
	for range readers {
		e, _ := p.listen("", "X-Api-Key: "+key)
		ears = append(ears, e)
	}
	conn, err := narrow.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/stream HTTP/1.1\r\nHost: belfry\r\nX-Api-Key: %s\r\n\r\n", key)
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 200") {
		t.Fatalf("%q, %v", line, err)
	}
	var rows strings.Builder
	rows.WriteString("type,resname,object,class,view,i1\n")
	for i := range 5000 { // 10,000 messages for each turn of the loop below
		fmt.Fprintf(&rows, "data,shared,a rather long name of an object %d,host,shared,1\n", i)
	}
	for _, e := range ears {
		go func() { // those who do read
			for _, err := e.next(); err == nil; _, err = e.next() {
			}
		}()
	}
	for range turns {
		for _, req := range [][2]string{{"POST /api/send", rows.String()}, {"DELETE /api/provisioning/object", "name,view\n*,shared\n"}} {
			method, path, _ := strings.Cut(req[0], " ")
			if res := p.ask(method, path, req[1], "X-Api-Key: "+key, "Content-Type: text/csv"); res.StatusCode != 200 {
				t.Fatalf("%s: %d %s", req[0], res.StatusCode, res.body)
			}
		}
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) { // the metadata of many objects take their time, which is not what this is about
		if m := p.ask("GET", "/metrics", ""); strings.Contains(m.body, "\nbelfry_backlog_records 0\n") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the backlog does not become empty")
		}
	}
	p.stop()
	if strings.Contains(p.logged(), "cut off") {
		t.Errorf("a stream did not end by itself:\n%s", p.logged())
	}
}

// narrow connects with a receive buffer that is soon full.
var narrow = net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
	if controlErr := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }); controlErr != nil {
		return controlErr
	}
	return err
}}

// TestStreamOfTheRevoked: a stream ends with the key or the session it was opened with.
func TestStreamOfTheRevoked(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	p.user("default", "eve", "viewer")
	f := func(header string, end func()) {
		t.Helper()
		e, _ := p.listen("", header)
		end()
		e.ends()
	}
	f("X-Api-Key: "+p.key("gone", "read"), func() { p.belfry("key", "revoke", "--name", "gone") })
	cookie := p.logIn("", "eve", "pw of eve")
	f(cookie, func() { p.ask("DELETE", "/api/session", "", cookie) })
	cookie = p.logIn("", "eve", "pw of eve")
	f(cookie, func() { p.belfry("user", "password", "--name", "eve") })
	p.stop()
}
