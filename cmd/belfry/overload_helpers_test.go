package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/client"
)

// What the tests of overload have in common: processes with limits, customers, floods, and connections that misbehave.

// hang ends what hangs. No test passes or fails by it otherwise.
const hang = 3 * time.Minute

// limited starts a service with a configuration.
func limited(t testing.TB, config string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "belfry.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProcess(t, func(p *process) { p.flags = []string{"--config", file} })
	p.client.Timeout = hang
	p.client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	return p
}

// customer makes a customer with one key and one resource, res, through the socket that the commands use.
func (p *process) customer(name string) (key string) {
	p.t.Helper()
	local := func(customer string) *client.Client {
		return client.NewLocal(&http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", filepath.Join(p.data, "control.sock"))
		}}, customer)
	}
	if err := local(belfry.DefaultCustomer).CreateCustomer(p.t.Context(), name); err != nil {
		p.t.Error(err)
	}
	k, err := local(name).CreateKey(p.t.Context(), client.NewKey{Name: "k", Level: "readwritedelete"})
	if err != nil {
		p.t.Error(err)
	}
	key = k.Key
	if a := p.post("/api/provisioning/custom", key, "name\nres\n"); a.status != 200 {
		p.t.Errorf("provision: %s", a)
	}
	return key
}

// outcome is what became of one body.
type outcome struct {
	status   int
	retry    string
	code     string
	accepted int
	text     string
}

func (o outcome) String() string { return fmt.Sprintf("%d %s", o.status, o.text) }

// busy tells whether a body was refused in the proper way because of too much work; nothing of it is stored.
func (o outcome) busy() bool {
	seconds, err := strconv.Atoi(o.retry)
	return o.status == 503 && o.code == "overloaded" && err == nil && seconds > 0
}

// post sends a body, from any goroutine.
func (p *process) post(target, key, body string) outcome {
	res, err := p.client.Do(with(csvBody(p.base+target, body), "X-Api-Key", key))
	if err != nil {
		return outcome{text: err.Error()}
	}
	return read(res)
}

func read(res *http.Response) outcome {
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return outcome{text: err.Error()}
	}
	var report struct {
		Accepted int
		Error    struct{ Code string }
	}
	json.Unmarshal(text, &report)
	return outcome{res.StatusCode, res.Header.Get("Retry-After"), report.Error.Code, report.Accepted, string(text)}
}

// body is a send body of so many rows over a hundred objects of res.
func body(rows int) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range rows {
		fmt.Fprintf(&b, "data,res,o%02d,load,res,%d\n", i%100, i)
	}
	return b.String()
}

// rows counts what a query finds of a customer's stored data.
func (p *process) rows(key, collection string) int {
	p.t.Helper()
	res := p.ask("GET", "/api/sql?span=1h&q=SELECT+COUNT(*)+AS+n+FROM+"+collection, "", "X-Api-Key: "+key)
	if res.StatusCode == http.StatusServiceUnavailable { // for the moment
		return -1
	}
	var answer struct{ Rows []struct{ N int } }
	if err := json.Unmarshal([]byte(res.body), &answer); err != nil || len(answer.Rows) != 1 {
		p.t.Fatalf("%d %s", res.StatusCode, res.body)
	}
	return answer.Rows[0].N
}

// metric is the sum of a metric over its labels.
func (p *process) metric(name string) (sum int) {
	p.t.Helper()
	found := false
	for line := range strings.Lines(p.ask("GET", "/metrics", "").body) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		_, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			p.t.Fatal(line)
		}
		sum, found = sum+int(v), true
	}
	if !found {
		p.t.Fatalf("there is no metric %s", name)
	}
	return sum
}

// until waits for something that must come.
func (p *process) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(hang); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("it never came that %s\n%s", what, p.ask("GET", "/metrics", "").body)
		}
	}
}

// checkCounters adds up what became of rows.
func (p *process) checkCounters() {
	p.t.Helper()
	sum := 0
	for _, name := range []string{"stored", "rejected", "discarded", "tried", "dropped"} {
		sum += p.metric("belfry_rows_" + name + "_total")
	}
	if got := p.metric("belfry_rows_received_total"); got != sum {
		p.t.Errorf("%d rows were received, and %d are accounted for", got, sum)
	}
}

// memory reads a line of what the kernel knows about the process, in MiB.
func (p *process) memory(line string) int {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skip("only Linux tells the memory of a process")
	}
	for l := range strings.Lines(string(text)) {
		if f := strings.Fields(l); f[0] == line+":" {
			kb, _ := strconv.Atoi(f[1])
			return kb >> 10
		}
	}
	p.t.Fatalf("no line %s", line)
	return 0
}

// wire is a connection on which a test says what it likes.
type wire struct {
	net.Conn
	in *bufio.Reader
}

func (p *process) dial() wire {
	p.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(hang))
	return wire{c, bufio.NewReader(c)}
}

// begin sends the head of a body of so many bytes, and the first part of it.
func (w wire) begin(key string, length int, first string) {
	fmt.Fprintf(w, "POST /api/send HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n%s", key, length, first)
}

// answer reads an answer; one without a status when the connection was closed.
func (w wire) answer() outcome {
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return outcome{text: err.Error()}
	}
	return read(res)
}

// parallel runs n goroutines and waits for them.
func parallel(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
