// Package body reads the bodies of requests: it decompresses them, limits their size and the memory and processors they take,
// and gives up clients that send too slowly.
//
//	client ─► source ─► Turns ─► gzip, zstd ─► Reader ─► the rows, or JSON
package body

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"belfry"
	"belfry/api/limit"
	"belfry/intake"
)

// Options say how a body is read.
type Options struct {
	Limit  int64            // bytes of the decompressed body
	Idle   time.Duration    // how long the client may send nothing
	Slot   *limit.Slot      // lost while the client sends nothing; nil: none
	Memory *intake.HeldBody // counts what decompression takes
	Turns  *Turns           // in which the body is decoded; nil: it needs none
}

// Reader reads the body of a request, decompressed.
type Reader struct {
	out         io.Reader
	left, limit int64
	source      *source
	close       func()
}

// Open returns the body of a request. No more than the limit comes out of it, whatever was sent.
func Open(w http.ResponseWriter, r *http.Request, o Options) (*Reader, error) {
	in := &source{body: r.Body, ctl: http.NewResponseController(w), idle: o.Idle, slot: o.Slot}
	if o.Slot != nil {
		o.Slot.OnBreak(func() { in.ctl.SetReadDeadline(time.Now()) })
	}
	b := &Reader{source: in, left: o.Limit, limit: o.Limit, close: func() {}}
	var compressed io.Reader = in
	if o.Turns != nil {
		o.Turns.Reader = in
		compressed = o.Turns
	}
	switch enc := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
		if r.ContentLength > o.Limit {
			return b, tooLarge(o.Limit)
		}
		b.out = in
		if o.Turns != nil && o.Turns.Plain {
			b.out = o.Turns
		}
		return b, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(compressed)
		if err != nil {
			return b, decodeError("gzip", err)
		}
		b.out, b.close = &decoder{z, "gzip"}, func() { z.Close() }
	case "zstd":
		z, err := openZstd(compressed, o.Memory)
		if err != nil {
			return b, decodeError("zstd", err)
		}
		b.out, b.close = &decoder{z, "zstd"}, z.Close
	default:
		return b, belfry.Errorf(belfry.UnsupportedMediaType, "cannot unpack Content-Encoding %q; send gzip, zstd or no Content-Encoding", enc)
	}
	if o.Turns != nil {
		b.out = &decoding{b.out, o.Turns}
	}
	return b, nil
}

func tooLarge(limit int64) error {
	return belfry.Errorf(belfry.BodyTooLarge, "the body is larger than %d bytes unpacked; send it in parts", limit)
}

func decodeError(how string, err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) { // the client has gone
		return err
	}
	e := belfry.Errorf(belfry.BadCSV, "the body is not proper %s: %v", how, err)
	e.Doubtful = true
	return e
}

// decoder turns the errors of a decompressor into errors for the client.
type decoder struct {
	io.Reader
	how string
}

func (p *decoder) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = decodeError(p.how, err)
	}
	return n, err
}

// Read implements io.Reader. It ends with an error when more than the limit comes.
func (b *Reader) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, tooLarge(b.limit)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more than allowed, to tell "just fits" from "too large"
	}
	n, err := b.out.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, tooLarge(b.limit)
	}
	if err != nil {
		b.source.done()
	}
	return n, err
}

// HungUp reports whether nothing more will come from the client: the connection must be closed after the answer.
func (b *Reader) HungUp() bool { return b.source.hungUp }

// Close implements io.Closer.
func (b *Reader) Close() error {
	b.close()
	return nil
}

// minRate is how many bytes of a body must come in a second, on average over the limit for silence. A byte now and then is no
// silence, and would keep its slot for ever.
const minRate = 256

// source reads from a client as long as enough comes: the time limit is for silence, not for the whole body. Only the
// time it waits for the client counts, not the time in which the client waits for us.
type source struct {
	body   io.Reader
	ctl    *http.ResponseController
	idle   time.Duration
	slot   *limit.Slot   // lost while the client sends nothing; nil: none
	came   int           // bytes, since there were enough the last time
	waited time.Duration // for these
	hungUp bool          // nothing more will come
}

func (p *source) Read(b []byte) (int, error) {
	start := time.Now()
	if p.idle > 0 {
		p.ctl.SetReadDeadline(start.Add(p.idle - p.waited)) // a recorder in a test has none
	}
	if err := p.stopped(); err != nil { // after the deadline was set, since Stop sets it, too
		return 0, err
	}
	n, err, lost := p.read(b)
	if lost != nil {
		p.hungUp = p.hungUp || p.slot.Evicted()
		return 0, lost
	}
	p.came += n
	p.waited += time.Since(start)
	if err == nil || err == io.EOF {
		p.done() // while what has come is unpacked and applied
		if float64(p.came) >= minRate*p.idle.Seconds() {
			p.came, p.waited = 0, 0
		}
		return n, err
	}
	if stop := p.stopped(); stop != nil {
		return n, stop
	}
	p.hungUp = true
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

// stopped says that the service stops; nil: the request may continue.
func (p *source) stopped() error {
	if p.slot == nil {
		return nil
	}
	return p.slot.Stopped()
}

// read waits for the client; lost is the error when the slot was lost and no other is free.
func (p *source) read(b []byte) (n int, err, lost error) {
	if p.slot == nil {
		n, err = p.body.Read(b)
		return n, err, nil
	}
	lost = p.slot.Wait(func() { n, err = p.body.Read(b) })
	return n, err, lost
}

// done lifts the time limit: the client waits for us.
func (p *source) done() { p.ctl.SetReadDeadline(time.Time{}) }
