package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"belfry"
)

// maxAnswer limits a response that is held in memory: a report lists at most a hundred errors.
const maxAnswer = 16 << 20

// request is a request that can be sent again unchanged.
type request struct {
	method, path string
	escaped      string // path as sent, if names in it may contain slashes
	query        url.Values
	body         []byte
	idempotency  string
	typ          string // content type of the body; empty: CSV
	most         int64  // maximum bytes of the response; 0: maxAnswer
	stream       bool   // the caller reads the response as it arrives; others are read completely first, as the connection may break
}

// Failure is an error response.
type Failure struct {
	Status  int
	Code    belfry.Code
	Message string
	Request string // request id, to look up in the server's log
}

func (f *Failure) Error() string {
	if f.Code == belfry.Internal && f.Request != "" {
		return fmt.Sprintf("%s (status %d, request %s)", Printable(f.Message), f.Status, Printable(f.Request))
	}
	return fmt.Sprintf("%s (status %d %s)", Printable(f.Message), f.Status, Printable(string(f.Code)))
}

// Decided reports whether the request certainly had no effect, because the server refused it.
func (f *Failure) Decided() bool { return f.Status < 500 || f.Status == http.StatusServiceUnavailable }

// Printable replaces control characters, so that foreign text cannot control the terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}

// open sends a request and retries after temporary failures until the retry time is over. The caller closes the body.
func (c *Client) open(ctx context.Context, q request) (*http.Response, error) {
	var first time.Time // of a series of failures
	for attempt := 0; ; attempt++ {
		res, err := c.once(ctx, q)
		if err != nil && !passing(ctx, err) || err == nil && !later(res) {
			return res, err
		}
		hint := time.Duration(0)
		if err == nil {
			hint = retryAfter(res, c.timing.now())
			err = failure(res)
		}
		if attempt == 0 {
			first = c.timing.now()
		}
		left := c.retry - c.timing.now().Sub(first)
		if left <= 0 || hint >= notSoon {
			return nil, err
		}
		if attempt == 0 {
			c.notice(fmt.Sprintf("%v; trying again for %s", err, c.retry))
		}
		if err := c.timing.wait(ctx, min(left, c.timing.pause(attempt, hint))); err != nil {
			return nil, err
		}
	}
}

func (c *Client) once(ctx context.Context, q request) (*http.Response, error) {
	u := *c.base
	u.Path, u.RawPath = c.base.Path+q.path, ""
	if q.escaped != "" {
		u.RawPath = c.base.EscapedPath() + q.escaped
	}
	u.RawQuery = q.query.Encode()
	body, packed := q.body, false
	if c.packer != nil && len(body) > 0 {
		body, packed = c.packer.EncodeAll(body, nil), true
	}
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.customer != "" {
		r.Header.Set("X-Belfry-Customer", url.PathEscape(c.customer))
	}
	if c.key != "" {
		r.Header.Set("X-Api-Key", c.key)
	}
	if q.method != http.MethodGet {
		r.Header.Set("Content-Type", cmp.Or(q.typ, "text/csv"))
	}
	if packed {
		r.Header.Set("Content-Encoding", "zstd")
	}
	if q.idempotency != "" {
		r.Header.Set("Idempotency-Key", q.idempotency)
	}
	res, err := c.http.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the caller knows the URL
		}
		return nil, fmt.Errorf("cannot reach %s: %w", c.base, err)
	}
	if q.stream {
		return res, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, cmp.Or(q.most, maxAnswer)))
	if err != nil {
		return nil, fmt.Errorf("the response of %s was cut off: %w", c.base, err)
	}
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res, nil
}

// passing reports whether a connection error may go away by itself.
func passing(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return !plain && !strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

func later(res *http.Response) bool {
	return res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable
}

// failure converts an error response to an error, and closes it.
func failure(res *http.Response) error {
	defer res.Body.Close()
	f := &Failure{Status: res.StatusCode, Request: res.Header.Get("X-Request-Id")}
	if to := res.Header.Get("Location"); to != "" && res.StatusCode < 400 {
		return fmt.Errorf("the server redirects to %q; if that is right, use it as --url", to)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	var body answer
	if err == nil && json.Unmarshal(text, &body) == nil && body.Error != nil {
		f.Code, f.Message = body.Error.Code, body.Error.Message
		return f
	}
	return fmt.Errorf("the response, status %d, is not from Belfry; is the URL right?", res.StatusCode)
}

// answer is the response to a request with rows.
type answer struct {
	answerError
	belfry.Report
}

// answerError is the error in a response.
type answerError struct {
	Error *struct {
		Code    belfry.Code `json:"code"`
		Message string      `json:"message"`
	} `json:"error"`
}

// report sends a request and decodes the response as a report. A report may also say that all rows were rejected.
func (c *Client) report(ctx context.Context, q request) (*belfry.Report, error) {
	res, err := c.open(ctx, q)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != 200 && res.StatusCode != 207 && res.StatusCode != 400 {
		return nil, failure(res)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the response of %s: %w", c.base, err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("the response, status %d, is not from Belfry; is the URL right?", res.StatusCode)
	}
	if a.Error != nil && a.Error.Code != belfry.AllRowsRejected && a.Error.Code != belfry.AtomicRejected {
		return nil, &Failure{res.StatusCode, a.Error.Code, a.Error.Message, res.Header.Get("X-Request-Id")}
	}
	return &a.Report, nil
}
