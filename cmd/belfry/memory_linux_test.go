package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// group makes a control group with so much memory; the test is skipped where it may not.
func group(t *testing.T, bytes int64) string {
	t.Helper()
	for _, h := range []struct{ root, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"},
	} {
		dir := filepath.Join(h.root, "belfry-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if os.WriteFile(filepath.Join(dir, h.limit), []byte(strconv.FormatInt(bytes, 10)), 0o644) == nil {
			return dir
		}
	}
	t.Skip("control groups cannot be made here")
	return ""
}

// inGroup lets a service run in a control group from its first moment.
func inGroup(dir string) func(*exec.Cmd) {
	return func(serve *exec.Cmd) {
		serve.Args = append([]string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, dir, serve.Path}, serve.Args[1:]...)
		serve.Path = "/bin/sh"
	}
}

// killed is how many processes of the group the system has ended for want of memory.
func killed(t *testing.T, dir string) string {
	t.Helper()
	for _, name := range []string{"memory.oom_control", "memory.events"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
				return strings.TrimSpace(n)
			}
		}
	}
	return "unknown"
}

// TestSmallContainer: 512 MiB hold 100,000 objects, eight senders and four hungry queries. What is too much is refused,
// and the system never has to end the process.
func TestSmallContainer(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const objects, rows = 100_000, 10_000
	dir := group(t, 512<<20)
	p := newProcess(t, func(p *process) { p.as = inGroup(dir) })
	if !strings.Contains(p.logged(), `from="control group"`) {
		t.Fatal("the limit of the group was not seen")
	}
	key := p.key("all", "readwritedelete")
	var names strings.Builder
	names.WriteString("name\n")
	for i := range objects / 100 {
		fmt.Fprintf(&names, "res%04d\n", i)
	}
	if a := p.post("/api/provisioning/custom", key, names.String()); a.status != 200 {
		t.Fatal(a)
	}
	send := func(from int) outcome {
		var b strings.Builder
		b.WriteString("type,resname,object,class,view,i1,i2,i3,i4,i5\n")
		for i := range rows {
			o := (from + i) % objects
			fmt.Fprintf(&b, "data,res%04d,obj%06d,c,res%04d,%d.5,%d,3,4,%d\n", o/100, o, o/100, o, i, from)
		}
		return p.post("/api/send", key, b.String())
	}
	taken := new(atomic.Int64)
	for from := 0; from < objects; from += rows {
		p.until("the objects are made", func() bool { return send(from).status == 200 })
		taken.Add(rows)
	}
	end := time.Now().Add(30 * time.Second)
	parallel(12, func(i int) {
		for n := i; time.Now().Before(end); n++ {
			if i < 8 {
				switch a := send(n * rows); {
				case a.status == 200:
					taken.Add(rows)
				case !a.busy():
					t.Errorf("a sender: %s", a)
					return
				}
				continue
			}
			q := []string{
				"SELECT object, resource, AVG(i1), MAX(i2), MIN(i3), SUM(i4) FROM objectdata GROUP BY object, resource ORDER BY AVG(i1) DESC",
				"SELECT * FROM objectdata ORDER BY i1 DESC", "SELECT timestamp, object, i1, COUNT(*) FROM objectdata GROUP BY timestamp, object, i1",
				"SELECT * FROM objectdata",
			}[i-8]
			req, err := http.NewRequest(http.MethodGet, p.base+"/api/sql?"+url.Values{"q": {q}, "span": {"1d"}, "rows": {"100000"}}.Encode(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			if res, err := p.client.Do(with(req, "X-Api-Key", key)); err == nil {
				read(res) // it may be refused, or cut off when its memory was needed
			}
		}
	})
	t.Logf("%d rows acknowledged; memory %d MiB at most", taken.Load(), p.memory("VmHWM"))
	if n := killed(t, dir); n != "0" {
		t.Errorf("%s processes were ended by the system", n)
	}
	p.until("all rows are visible", func() bool { return p.rows(key, "objectdata") >= int(taken.Load()) })
	p.stop()
}

// TestSmallContainerLongRows: the same with texts as long as they may be, which the engine holds by the thousand.
func TestSmallContainerLongRows(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := group(t, 512<<20)
	p := newProcess(t, func(p *process) { p.as = inGroup(dir) })
	key := p.key("all", "readwritedelete")
	if a := p.post("/api/provisioning/custom", key, "name\nr\n"); a.status != 200 {
		t.Fatal(a)
	}
	const rows, length = 250, 16_000
	send := func(n int) outcome {
		var b strings.Builder
		b.WriteString("type,resname,object,class,view,log\n")
		for i := range rows {
			fmt.Fprintf(&b, "log,r,o%d,c,r,%s\n", i%10, strings.Repeat(string(rune('a'+(n+i)%26)), length))
		}
		return p.post("/api/send", key, b.String())
	}
	p.until("the objects are made", func() bool { return send(0).status == 200 })
	taken := new(atomic.Int64)
	taken.Add(rows)
	end := time.Now().Add(30 * time.Second)
	parallel(5, func(i int) {
		for n := i; time.Now().Before(end); n++ {
			if i >= 3 {
				if req, err := http.NewRequest(http.MethodGet, p.base+"/api/sql?"+url.Values{"q": {"SELECT log, COUNT(*) AS n FROM objectlog GROUP BY log"}, "span": {"1d"}}.Encode(), nil); err == nil {
					if res, err := p.client.Do(with(req, "X-Api-Key", key)); err == nil {
						read(res) // it may be refused, or cut off
					}
				}
				continue
			}
			switch a := send(n); {
			case a.status == 200:
				taken.Add(rows)
			case !a.busy():
				t.Errorf("a sender: %s", a)
				return
			}
		}
	})
	t.Logf("%d rows acknowledged; memory %d MiB at most", taken.Load(), p.memory("VmHWM"))
	if n := killed(t, dir); n != "0" {
		t.Errorf("%s processes were ended by the system", n)
	}
	p.until("all rows are visible", func() bool { return p.rows(key, "objectlog") >= int(taken.Load()) })
	p.stop()
}

// TestSmallContainerFilled: two customers send objects with as much in them as they can, until they are refused. Others send,
// query and create all the while, and everything can be removed again.
func TestSmallContainerFilled(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := group(t, 512<<20)
	p := newProcess(t, func(p *process) { p.as = inGroup(dir) })
	small := p.key("small", "readwritedelete")
	if a := p.post("/api/provisioning/custom", small, "name\nmine\n"); a.status != 200 {
		t.Fatal(a)
	}
	keys := []string{p.customer("texts"), p.customer("names")}
	bodies := []func(n int) string{
		func(n int) string { // a hundred short texts each
			var b strings.Builder
			b.WriteString("type,resname,object,class,view")
			for i := range 100 {
				fmt.Fprintf(&b, ",i%d", i+1)
			}
			for i := range 500 {
				fmt.Fprintf(&b, "\ndata,res,o%d,c,res%s", 500*n+i, strings.Repeat(","+strings.Repeat("x", 64), 100))
			}
			return b.String() + "\n"
		},
		func(n int) string { // long names
			var b strings.Builder
			b.WriteString("type,resname,object,class,view,i1\n")
			for i := range 5000 {
				fmt.Fprintf(&b, "data,res,%s%d,c,res,1\n", strings.Repeat("x", 200), 5000*n+i)
			}
			return b.String()
		},
	}
	var full [2]atomic.Bool
	lines := new(atomic.Int64)
	parallel(3, func(i int) {
		if i == 2 { // somebody else
			for n := 0; !full[0].Load() || !full[1].Load(); n++ {
				a := p.post("/api/send", small, fmt.Sprintf("type,resname,object,class,view,i1\ndata,mine,o%d,c,mine,%d\n", n%100, n))
				if a.status != 200 && !a.busy() {
					t.Errorf("somebody else: %s", a)
					return
				}
				lines.Add(1)
			}
			return
		}
		defer full[i].Store(true)
		for n, refused := 0, 0; refused < 20 && n < 400; n++ {
			switch a := p.post("/api/send", keys[i], bodies[i](n)); {
			case strings.Contains(a.text, "limit_reached"):
				refused++
			case a.status != 200 && !a.busy():
				t.Errorf("body %d: %s", n, a)
				return
			}
		}
	})
	t.Logf("%d requests of somebody else; memory %d MiB at most", lines.Load(), p.memory("VmHWM"))
	if n := killed(t, dir); n != "0" {
		t.Errorf("%s processes were ended by the system", n)
	}
	for range 20 {
		if a := p.ask("GET", "/readyz", ""); a.StatusCode != 200 {
			t.Errorf("when all is full: %s", a.body)
		}
		if a := p.post("/api/send", small, "type,resname,object,class,view,i1\ndata,mine,last,c,mine,1\n"); a.status != 200 {
			t.Errorf("somebody else when all is full: %s", a)
		}
	}
	p.stop()
	p.start()
	for _, key := range keys {
		if a := p.ask("DELETE", "/api/provisioning/custom", "name\nres\n", "X-Api-Key: "+key, "Content-Type: text/csv"); a.StatusCode != 200 {
			t.Errorf("removal: %s", a.body)
		}
	}
	if n := p.metric("belfry_items_bytes"); n > 1<<20 {
		t.Errorf("%d bytes of items are left", n)
	}
	p.stop()
}

// TestSmallContainerKeptWaiting: in 512 MiB, two customers send bodies without their last byte and do not read long answers, as
// often as they can. A third one is served all the while, and the system never has to end the process.
func TestSmallContainerKeptWaiting(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := group(t, 512<<20)
	p := newProcess(t, func(p *process) { p.as = inGroup(dir) })
	small := p.key("small", "readwritedelete")
	if a := p.post("/api/provisioning/custom", small, "name\nmine\n"); a.status != 200 {
		t.Fatal(a)
	}
	keys := []string{p.customer("first"), p.customer("second")}
	for _, key := range keys {
		var b strings.Builder
		b.WriteString("name,view,text\n")
		for i := range 3000 {
			fmt.Fprintf(&b, "l%d,MAIN,%s\n", i, strings.Repeat("x", 2500))
		}
		if a := p.post("/api/provisioning/label", key, b.String()); a.status != 200 && a.status != 207 {
			t.Fatal(a)
		}
	}
	body := func(path, kind string, size int) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: KEY\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, kind, size+1, strings.Repeat("x", size))
	}
	attacks := []string{
		body("/api/ackmanagenote/objects", "application/json", 30<<20),
		body("/api/sql", "application/x-www-form-urlencoded", 1<<20-1),
		body("/api/receivers/mine/try", "application/json", 500<<10),
		"GET /api/tree?limit=10000 HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: KEY\r\n\r\n",
		"GET /api/provisioning/label HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: KEY\r\n\r\n",
	}
	for _, attack := range attacks {
		line, _, _ := strings.Cut(attack, "\r\n")
		var served, refused int
		done := make(chan bool)
		go func() {
			defer close(done)
			for n := range 200 {
				a := p.post("/api/send", small, fmt.Sprintf("type,resname,object,class,view,i1\ndata,mine,o%d,c,mine,%d\n", n%10, n))
				if served++; a.status != 200 {
					t.Logf("beside %s: %s", line, a)
					refused++
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
		conns := make([]net.Conn, 150)
		parallel(len(conns), func(i int) {
			c, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
			if err != nil {
				return // there are enough
			}
			conns[i] = c
			c.(*net.TCPConn).SetReadBuffer(4096)
			c.SetWriteDeadline(time.Now().Add(5 * time.Second))
			io.WriteString(c, strings.Replace(attack, "KEY", keys[i%2], 1)) // fails when it is refused
		})
		<-done
		if refused > served/10 {
			t.Errorf("beside %s: %d of %d requests of somebody else were refused", line, refused, served)
		}
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
		t.Logf("beside %s: memory %d MiB at most", line, p.memory("VmHWM"))
	}
	if n := killed(t, dir); n != "0" {
		t.Errorf("%s processes were ended by the system", n)
	}
	if a := p.ask("GET", "/readyz", ""); a.StatusCode != 200 {
		t.Errorf("afterwards: %s", a.body)
	}
	p.stop()
}

// TestSmallContainerStreams: in 512 MiB, an address opens hundreds of connections of HTTP/2 with as many requests as each may have. The
// requests have long headers and either no body or no window for their answers. Another address is served all the while, and
// the system never has to end the process.
func TestSmallContainerStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := group(t, 512<<20)
	p := newProcess(t, func(p *process) { p.as, p.flags = inGroup(dir), []string{"--tls-self-signed"} })
	address := strings.TrimPrefix(p.base, "https://")
	other := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}).DialContext,
	}}
	ready := func() error {
		res, err := other.Get(p.base + "/readyz")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s %w", res.Status, err)
		}
		return nil
	}
	for _, attack := range []struct{ method, path string }{{"POST", "/api/session"}, {"GET", "/api/openapi.json"}, {"GET", "/healthz"}} {
		var conns []net.Conn
		for i := range 350 {
			c, err := manyStreams(address, attack.method, attack.path)
			if err != nil {
				t.Fatalf("connection %d for %s: %v", i, attack.path, err)
			}
			conns = append(conns, c)
			if i%10 > 0 {
				continue
			}
			if err := ready(); err != nil {
				t.Errorf("beside %d connections for %s: %v", i, attack.path, err)
			}
		}
		t.Logf("beside %s %s: memory %d MiB at most", attack.method, attack.path, p.memory("VmHWM"))
		for _, c := range conns {
			c.Close()
		}
	}
	if n := killed(t, dir); n != "0" {
		t.Errorf("%s processes were ended by the system", n)
	}
	p.stop()
}

// manyStreams opens a connection with a hundred requests, whose answers it does not take. Writing fails when the connection is
// closed meanwhile, which is no error here.
func manyStreams(address, method, path string) (net.Conn, error) {
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		return nil, err
	}
	c.SetWriteDeadline(time.Now().Add(5 * time.Second))
	io.WriteString(c, http2.ClientPreface)
	f := http2.NewFramer(c, nil)
	f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for i := range uint32(100) {
		var block bytes.Buffer
		e := hpack.NewEncoder(&block)
		for _, h := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path}, {"x-pad", strings.Repeat("a", 14_000)}} {
			e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1], Sensitive: true}) // not to be remembered
		}
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: block.Bytes(), EndStream: method == "GET", EndHeaders: true})
	}
	return c, nil
}
