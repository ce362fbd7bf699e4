package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Query is a query with its options; empty fields are not sent.
type Query struct {
	Text     string
	Rows     string
	From, To string
	Span     string
	Zone     string
	Filter   string
	Format   string // json, csv or ndjson
	Explain  bool
	Partial  bool // leave out days that cannot be read

	Pages bool   // return a page of Rows rows
	After string // where the page begins: Next of the previous page; empty: the first page
}

// Answer is the metadata of a query result. In a JSON result it is part of the text.
type Answer struct {
	Limit   int    // maximum number of rows; 0: unknown
	Ended   bool   // the trailer was received
	More    bool   // there are more rows
	Next    string // where the next page begins
	Missing string // days that were left out
}

func (q Query) form() url.Values {
	v := url.Values{"q": {q.Text}}
	for _, p := range []struct{ name, value string }{
		{"rows", q.Rows}, {"from", q.From}, {"to", q.To}, {"span", q.Span}, {"tz", q.Zone}, {"fq", q.Filter}, {"wt", q.Format},
	} {
		if p.value != "" {
			v.Set(p.name, p.value)
		}
	}
	if q.Explain {
		v.Set("explain", "true")
	}
	if q.Partial {
		v.Set("partial", "true")
	}
	if q.Pages {
		v.Set("after", q.After)
	}
	return v
}

// Query runs a query and passes the response to read as it arrives.
func (c *Client) Query(ctx context.Context, q Query, read func(io.Reader) error) (a Answer, err error) {
	res, err := c.open(ctx, request{
		method: http.MethodPost, path: "/api/sql", body: []byte(q.form().Encode()), stream: true,
		typ: "application/x-www-form-urlencoded",
	})
	if err != nil {
		return a, err
	}
	if res.StatusCode != http.StatusOK {
		return a, failure(res)
	}
	defer res.Body.Close()
	whole := &reader{r: res.Body}
	err = read(whole)
	if whole.err != nil { // whatever error read returned
		return a, fmt.Errorf("the response of %s was cut off: %w", c.base, whole.err)
	}
	more := res.Trailer.Get("X-More")
	a.Limit, _ = strconv.Atoi(res.Header.Get("X-Limit"))
	a.Ended, a.More, a.Next, a.Missing = more != "", more == "true", res.Trailer.Get("X-Next"), res.Header.Get("X-Missing")
	return a, err
}

// reader remembers the error that ended reading.
type reader struct {
	r   io.Reader
	err error // other than EOF
}

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// Passing reports whether a later attempt may succeed, because the server is unreachable or busy.
func Passing(ctx context.Context, err error) bool {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Status >= 500 || f.Status == http.StatusTooManyRequests
	}
	return err != nil && passing(ctx, err)
}
