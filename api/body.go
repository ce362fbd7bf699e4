package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"belfry"
)

// mediaType checks what a body says about itself against what the endpoint reads. An absent type is the first one.
func mediaType(r *http.Request, known ...string) (string, error) {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return known[0], nil
	}
	typ, params, err := mime.ParseMediaType(text)
	if err == nil {
		for _, k := range known {
			if typ == k {
				return k, charset(params["charset"])
			}
		}
	}
	return "", belfry.Errorf(belfry.UnsupportedMediaType, "cannot read a body of Content-Type %q here; send Content-Type: %s", text, strings.Join(known, " or "))
}

func charset(name string) error {
	if name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") {
		return nil
	}
	return belfry.Errorf(belfry.UnsupportedMediaType, "cannot read charset %q; send UTF-8, as in Content-Type: text/csv; charset=utf-8", name)
}

// openBody unpacks the body of a request and caps it: no more than limit bytes come out of it, whatever went in.
func openBody(w *answer, r *request, limit int64) (io.ReadCloser, error) {
	return openInTurns(w, r, limit, nil)
}

// openInTurns is openBody, with turns in which the body is unpacked; nil: it needs none.
func openInTurns(w *answer, r *request, limit int64, turns *decoding) (io.ReadCloser, error) {
	in := &bodyReader{body: r.Body, ctl: http.NewResponseController(w), idle: r.limits.Idle, answer: w, place: r.place}
	if r.place != nil {
		r.place.breaksOff(func() { in.ctl.SetReadDeadline(time.Now()) })
	}
	var out, pack io.Reader = nil, in
	if turns != nil {
		turns.Reader = in
		pack = turns
	}
	closer := func() {}
	switch enc := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
		if r.ContentLength > limit {
			return nil, tooLarge(limit)
		}
		out = in
		if turns != nil && turns.rows {
			out = turns
		}
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(pack)
		if err != nil {
			return nil, unpackError("gzip", err)
		}
		out, closer = &packed{z, "gzip"}, func() { z.Close() }
	case "zstd":
		z, err := openZstd(pack, r)
		if err != nil {
			return nil, unpackError("zstd", err)
		}
		out, closer = &packed{z, "zstd"}, z.Close
	default:
		return nil, belfry.Errorf(belfry.UnsupportedMediaType, "cannot unpack Content-Encoding %q; send gzip, zstd or no Content-Encoding", enc)
	}
	if _, ok := out.(*packed); ok && turns != nil {
		out = &unpacking{out, turns}
	}
	return &capped{Reader: out, left: limit, limit: limit, done: in.done, close: closer, valid: r.stillMay}, nil
}

// readWhole reads a body that is needed as a whole. It is counted as memory of the request, weight times its length; a small
// one is not, since the number of connections limits those. A packed one that may be long is unpacked in
// turns, see compute.
func readWhole(w *answer, r *request, limit int64, weight int) ([]byte, error) {
	var turns *decoding
	if limit > smallBody {
		turns = &decoding{turns: &r.server.computing, ctx: r.ctx(), customer: r.customer, valid: r.stillMay, last: true}
		defer turns.pause()
	}
	body, err := openInTurns(w, r, limit, turns)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text := make([]byte, 0, 512)
	counted := 0
	for {
		n, err := body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		if len(text) < cap(text) {
			continue
		}
		text = append(text, 0)[:len(text)] // a larger one, by a quarter or more
		if cap(text) <= smallBody+smallBody/2 {
			continue
		}
		if err := r.reserve(int64((cap(text) - counted) * weight)); err != nil {
			return nil, err
		}
		counted = cap(text)
	}
}

func tooLarge(limit int64) error {
	return belfry.Errorf(belfry.BodyTooLarge, "the body is larger than %d bytes unpacked; send it in parts", limit)
}

func unpackError(how string, err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) { // its client has gone
		return err
	}
	return belfry.Errorf(belfry.BadCSV, "the body is not proper %s: %v", how, err)
}

// packed turns the faults of a decompressor into errors a client may read.
type packed struct {
	io.Reader
	how string
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = unpackError(p.how, err)
	}
	return n, err
}

// capped ends with an error, not with the end of the body, when more than limit bytes come.
type capped struct {
	io.Reader
	left, limit int64
	done        func() // called at the end
	close       func()
	valid       func() error // says why what has just come must not be applied
}

func (c *capped) Read(b []byte) (int, error) {
	if c.left < 0 {
		return 0, tooLarge(c.limit)
	}
	if int64(len(b)) > c.left+1 {
		b = b[:c.left+1] // one more than allowed, to tell "just fits" from "too large"
	}
	n, err := c.Reader.Read(b)
	if c.left -= int64(n); c.left < 0 {
		return n - 1, tooLarge(c.limit)
	}
	if err != nil {
		c.done()
	}
	if err == nil || err == io.EOF {
		if refused := c.valid(); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

func (c *capped) Close() error {
	c.close()
	return nil
}

// slowest is how many bytes of a body must come in a second, taken over a while as long as the limit for silence. A byte
// now and then is no silence, and would hold its place for ever.
const slowest = 256

// bodyReader reads from a client as long as enough comes: the time limit is for silence, not for the whole body. Only the
// time it waits for the client counts; the client may wait for us as long as it takes.
type bodyReader struct {
	body   io.Reader
	ctl    *http.ResponseController
	idle   time.Duration
	answer *answer
	place  *place        // that is lost while the client sends nothing; nil: none
	came   int           // bytes, since there were enough the last time
	waited time.Duration // for these
}

func (p *bodyReader) Read(b []byte) (int, error) {
	start := time.Now()
	if p.idle > 0 {
		p.ctl.SetReadDeadline(start.Add(p.idle - p.waited)) // a recorder in a test has none
	}
	if err := p.place.stopped(); err != nil { // after the time limit was set, as the end of the place sets it, too
		return 0, err
	}
	n, err, lost := p.read(b)
	if lost != nil {
		p.answer.hangUp = p.answer.hangUp || p.place.evicted.Load()
		return 0, lost
	}
	p.came += n
	p.waited += time.Since(start)
	if err == nil || err == io.EOF {
		p.done() // while what has come is unpacked and applied
		if float64(p.came) >= slowest*p.idle.Seconds() {
			p.came, p.waited = 0, 0
		}
		return n, err
	}
	if stop := p.place.stopped(); stop != nil {
		return n, stop
	}
	p.answer.hangUp = true
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		err = belfry.Errorf(belfry.BadCSV, "the body broke off before its end; send it again")
	case p.came == 0:
		err = belfry.Errorf(belfry.BadCSV, "nothing came for %s although the body is not complete; send it without pauses", p.idle)
	default:
		err = belfry.Errorf(belfry.BadCSV, "only %d bytes came in %s although the body is not complete; send it without pauses", p.came, p.idle)
	}
	return n, err
}

// read waits for the client; lost says that its place has gone meanwhile.
func (p *bodyReader) read(b []byte) (n int, err, lost error) {
	if p.place == nil {
		n, err = p.body.Read(b)
		return n, err, nil
	}
	lost = p.place.wait(func() { n, err = p.body.Read(b) })
	return n, err, lost
}

// done lifts the time limit: it is the client who waits, in silence.
func (p *bodyReader) done() { p.ctl.SetReadDeadline(time.Time{}) }
