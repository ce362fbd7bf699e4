package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
	return v
}

// Query asks, and hands the answer to read as it comes. more tells whether the server has rows beyond those it gave, and
// missing which days the answer is without; of a JSON answer both stand in its text.
func (c *Client) Query(ctx context.Context, q Query, read func(io.Reader) error) (more bool, missing string, err error) {
	res, err := c.open(ctx, request{
		method: http.MethodPost, path: "/api/sql", body: []byte(q.form().Encode()), stream: true,
		typ: "application/x-www-form-urlencoded",
	})
	if err != nil {
		return false, "", err
	}
	if res.StatusCode != http.StatusOK {
		return false, "", failure(res)
	}
	defer res.Body.Close()
	whole := &reader{r: res.Body}
	err = read(whole)
	if whole.err != nil { // whatever read made of it
		return false, "", fmt.Errorf("the answer of %s broke off: %w", c.base, whole.err)
	}
	return res.Trailer.Get("X-More") == "true", res.Header.Get("X-Missing"), err
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
