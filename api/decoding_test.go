package api

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"belfry"
)

// TestDecodingInTurns: as many bodies of a customer are decoded at a time as there are turns; one that waits for its client
// has none, and other customers are not concerned.
func TestDecodingInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{line: workLine}
		open := func(c belfry.CustomerID, r io.Reader) *decoding {
			return &decoding{Reader: r, turns: g, ctx: t.Context(), customer: c, valid: func() error { return nil }}
		}
		text := func() io.Reader { return iotest.OneByteReader(strings.NewReader("abc")) }
		read := func(d *decoding) (done chan error) {
			done = make(chan error, 1)
			go func() {
				_, err := d.Read(make([]byte, 8))
				done <- err
			}()
			synctest.Wait()
			return done
		}
		var first []*decoding
		for range processorShare() {
			d := open(1, text())
			first = append(first, d)
			if len(read(d)) != 1 {
				t.Fatal("a body waits although there are turns")
			}
		}
		second := open(1, text())
		waits := read(second)
		if len(waits) != 0 {
			t.Fatal("more bodies are decoded than there are turns")
		}
		if len(read(open(2, text()))) != 1 {
			t.Error("another customer waits")
		}
		silent, client := io.Pipe()
		first[0].Reader = silent
		slow := read(first[0])
		if len(waits) != 1 || len(slow) != 0 {
			t.Error("a body that waits for its client keeps its turn")
		}
		second.pause()
		client.Close()
		synctest.Wait()
		if err := <-slow; err != io.EOF || first[0].has {
			t.Errorf("at the end: %v, has a turn: %t", err, first[0].has)
		}
	})
}

// TestDecodingEnds: who waits for a turn gives up with its request.
func TestDecodingEnds(t *testing.T) {
	g := &gate{line: workLine}
	for range processorShare() {
		g.enter(t.Context(), 1, processorShare())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &decoding{Reader: strings.NewReader("abc"), turns: g, ctx: ctx, customer: 1, valid: func() error { return nil }}
	if _, err := d.Read(make([]byte, 8)); belfry.CodeOf(err) != belfry.Overloaded {
		t.Error(err)
	}
	d.pause()
}

// TestBodiesTakeTurns: the bodies that are decoded before they are applied have turns, and no others.
func TestBodiesTakeTurns(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		query, header string
		turns         bool
	}{{"", "", false}, {"?atomic=true", "", true}, {"?dryrun=true", "", true}, {"", "Idempotency-Key: a", true}} {
		headers := []string{"x-api-key: " + writeKey, "Content-Type: text/csv"}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		if res := r.do("POST", "/api/send"+c.query, "a\n1\n", headers...); res.StatusCode != 200 {
			t.Fatalf("%q %q: %d", c.query, c.header, res.StatusCode)
		}
		if _, turns := r.bulk.Body.(*decoding); turns != c.turns || string(r.body) != "a\n1\n" {
			t.Errorf("%q %q: turns %t, body %q", c.query, c.header, turns, r.body)
		}
	}
}
