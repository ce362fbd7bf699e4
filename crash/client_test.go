package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// client speaks to a server with one key.
type client struct {
	s     *server
	key   string
	watch func(*answer) // told of every answer to a POST; may be nil
}

// answer is what came back, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

func (a *answer) String() string {
	return fmt.Sprintf("%d %s", a.status, bytes.TrimSpace(a.body[:min(len(a.body), 500)]))
}

// code is the error code of the answer; empty for none.
func (a *answer) code() string {
	var e struct {
		Error struct{ Code string }
	}
	_ = json.Unmarshal(a.body, &e)
	return e.Error.Code
}

// do sends a request. An error means that nobody knows what became of it.
func (c *client) do(method, path, idempotencyKey string, body []byte) (*answer, error) {
	header := http.Header{"Content-Type": {"text/csv"}}
	if idempotencyKey != "" {
		header.Set("Idempotency-Key", idempotencyKey)
	}
	return c.exchange(method, path, header, body)
}

// doAs sends a request with a body of another kind.
func (c *client) doAs(method, path, media string, body []byte) (*answer, error) {
	return c.exchange(method, path, http.Header{"Content-Type": {media}}, body)
}

func (c *client) exchange(method, path string, header http.Header, body []byte) (*answer, error) {
	r, err := http.NewRequest(method, c.s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	r.Header.Set("X-Api-Key", c.key)
	begun := time.Now()
	res, err := c.s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	a := &answer{res.StatusCode, res.Header, text, time.Since(begun)}
	if c.watch != nil && method == "POST" {
		c.watch(a)
	}
	return a, nil
}

// found is a row of an answer to a query; the fields that the query did not name are zero.
type found struct {
	ID        string    `json:"id"`
	Timestamp time.Time `json:"timestamp"`
	Name      string    `json:"name"`
	Kind      string    `json:"kind"`
	Class     string    `json:"class"`
	Package   string    `json:"package"`
	Resource  string    `json:"resource"`
	View      string    `json:"view"`
	Parent    string    `json:"parentview"`
	Object    string    `json:"object"`
	Status    string    `json:"status"`
	Previous  string    `json:"previous"`
	Source    string    `json:"source"`
	Type      string    `json:"type"`
	Info      string    `json:"info"`
	Log       string    `json:"log"`
	Since     time.Time `json:"since"`
	LastData  time.Time `json:"lastdata"`
	I1        *float64  `json:"i1"`
	I2        *float64  `json:"i2"`
	Count     int       `json:"COUNT(*)"`
}

// most is the largest answer a query can have.
const most = 100_000

// sql asks for all rows of a query, unless params say how many.
func (c *client) sql(q string, params ...string) ([]found, error) {
	v := url.Values{"q": {q}, "rows": {fmt.Sprint(most)}}
	for _, p := range params {
		name, value, _ := strings.Cut(p, "=")
		v.Set(name, value)
	}
	a, err := c.do("GET", "/api/sql?"+v.Encode(), "", nil)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", q, a)
	}
	var out struct {
		Rows  []found
		Count int
		More  bool
	}
	if err := json.Unmarshal(a.body, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", q, err)
	}
	if out.Count != len(out.Rows) || out.More && len(params) == 0 {
		return nil, fmt.Errorf("%s: %d rows, count %d, more %t", q, len(out.Rows), out.Count, out.More)
	}
	return out.Rows, nil
}

// each calls f with the fields of every row of a query whose values have no commas in them. Many rows are read faster so.
func (c *client) each(q string, f func(fields []string)) error {
	a, err := c.do("GET", "/api/sql?"+url.Values{"q": {q}, "rows": {fmt.Sprint(most)}, "wt": {"csv"}}.Encode(), "", nil)
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("%s: %s", q, a)
	}
	_, text, _ := strings.Cut(string(a.body), "\n") // the header
	n := 0
	for line := range strings.Lines(text) {
		f(strings.Split(strings.TrimRight(line, "\r\n"), ","))
		n++
	}
	if n >= most {
		return fmt.Errorf("%s: %d rows or more", q, n)
	}
	return nil
}

// count asks how many rows a historical collection has in all.
func (c *client) count(collection, where string) (int, error) {
	rows, err := c.sql("SELECT COUNT(*) FROM " + collection + " WHERE timestamp >= '2020-01-01'" + where)
	if err != nil {
		return 0, err
	}
	return rows[0].Count, nil
}

// report is the answer to a request all of whose rows were taken.
func report(rows, resources, views, objects int) []byte {
	return fmt.Appendf(nil, `{"rows":%d,"accepted":%d,"rejected":0,"discarded":0,"created":{"resources":%d,"views":%d,"objects":%d,"elements":0},`+
		`"updated":0,"unchanged":0,"removed":0,"errors":[],"errors_truncated":false}`+"\n", rows, rows, resources, views, objects)
}
