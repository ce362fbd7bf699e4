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

// Query is a question to a server; what is empty is not sent.
type Query struct {
	Text     string
	Rows     string
	From, To string
	Span     string
	Zone     string
	Filter   string
	Format   string // json, csv or ndjson
	Explain  bool
	Partial  bool // answer without the days that cannot be read

	Pages bool   // the answer is a page of Rows rows
	After string // where it begins: Next of the page before; empty for the first
}

// Answer is what a server tells about the rows it has given. In a JSON answer this stands in its text.
type Answer struct {
	Limit   int    // rows that it has at most; 0 when the server did not say
	Ended   bool   // the end has come, in which the server tells the rest
	More    bool   // there are rows beyond those given
	Next    string // where the next page begins
	Missing string // days it is without
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

// Query asks, and hands the answer to read as it comes.
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
	if whole.err != nil { // whatever read made of it
		return a, fmt.Errorf("the answer of %s broke off: %w", c.base, whole.err)
	}
	more := res.Trailer.Get("X-More")
	a.Limit, _ = strconv.Atoi(res.Header.Get("X-Limit"))
	a.Ended, a.More, a.Next, a.Missing = more != "", more == "true", res.Trailer.Get("X-Next"), res.Header.Get("X-Missing")
	return a, err
}

// reader remembers how reading ended.
type reader struct {
	r   io.Reader
	err error // other than the proper end
}

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// Passing tells whether asking again later may go better: the server cannot be reached, or has too much to do.
func Passing(ctx context.Context, err error) bool {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Status >= 500 || f.Status == http.StatusTooManyRequests
	}
	return err != nil && passing(ctx, err)
}
