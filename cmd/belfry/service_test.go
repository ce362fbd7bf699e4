package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"belfry"
)

// service is a process with a key that may do everything.
type service struct {
	*process
	key  string
	addr string
}

// start runs a server on a new data folder until the test ends. flags are more flags of serve.
func start(t *testing.T, flags ...string) *service {
	t.Helper()
	s := &service{}
	s.process = newProcess(t, func(p *process) {
		p.flags = flags
		s.key = p.key("test", "readwritedelete")
	})
	s.addr = strings.TrimPrefix(s.base, "http://")
	t.Cleanup(s.end)
	return s
}

// crash kills the server without a warning and starts it again.
func (p *service) crash() {
	p.t.Helper()
	p.process.crash()
	p.process.start()
	p.addr = strings.TrimPrefix(p.base, "http://")
}

// end stops the server as an operator would; it must have lived until then, and without a panic or a data race.
func (p *service) end() {
	if p.cmd == nil {
		return // it did not stop in good order, and the test has said so
	}
	p.stop()
	log := p.logged()
	for _, bad := range []string{"panic", "DATA RACE", "level=ERROR"} {
		if i := strings.Index(log, bad); i >= 0 {
			p.t.Errorf("the log says:\n%s", log[i:min(i+2000, len(log))])
		}
	}
}

// post sends a body with the key of the process; header is a list of names and values.
func (p *service) post(path string, body io.Reader, header ...string) (status int, answer []byte) {
	p.t.Helper()
	return p.request("POST", path, body, header...)
}

func (p *service) request(method, path string, body io.Reader, header ...string) (status int, answer []byte) {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", p.key)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, answer
}

// report sends a body and gives the report of its rows.
func (p *service) report(path string, body io.Reader, header ...string) (status int, r belfry.Report) {
	p.t.Helper()
	status, answer := p.post(path, body, header...)
	if err := json.Unmarshal(answer, &r); err != nil {
		p.t.Fatalf("%v: %s", err, answer)
	}
	if r.Accepted+r.Rejected+r.Discarded != r.Rows {
		p.t.Errorf("%d accepted + %d rejected + %d discarded is not %d rows", r.Accepted, r.Rejected, r.Discarded, r.Rows)
	}
	return status, r
}

// query gives the rows of an answer, each as its values by name.
func (p *service) query(text string, params ...string) (rows []map[string]any) {
	p.t.Helper()
	values := url.Values{"q": {text}, "apikey": {p.key}}
	for i := 0; i+1 < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	res, err := http.Get(p.base + "/api/sql?" + values.Encode())
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct{ Rows []map[string]any }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != 200 {
		p.t.Fatalf("%s: status %d, %v", text, res.StatusCode, err)
	}
	return answer.Rows
}

// count gives the one number of SELECT COUNT(*) … over the last hour.
func (p *service) count(rest string) int {
	p.t.Helper()
	rows := p.query("SELECT COUNT(*) "+rest, "span", "1h")
	return int(rows[0]["COUNT(*)"].(float64))
}

// healthy tells whether the server lives and takes data.
func (p *service) healthy() {
	p.t.Helper()
	for _, path := range []string{"/healthz", "/readyz"} {
		res, err := http.Get(p.base + path)
		if err != nil {
			p.t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			p.t.Errorf("%s: status %d", path, res.StatusCode)
		}
	}
}
