package body

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"belfry"
	"belfry/api/limit"
)

// TestTurns: as many bodies of a customer are decoded at a time as there are turns; one that waits for its client
// has none, and other customers are not concerned.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &limit.Limiter{Queue: limit.LongQueue}
		open := func(c belfry.CustomerID, r io.Reader) *Turns {
			return &Turns{Reader: r, Limiter: g, Context: t.Context(), Customer: c}
		}
		text := func() io.Reader { return iotest.OneByteReader(strings.NewReader("abc")) }
		read := func(d *Turns) (done chan error) {
			done = make(chan error, 1)
			go func() {
				_, err := d.Read(make([]byte, 8))
				done <- err
			}()
			synctest.Wait()
			return done
		}
		var first []*Turns
		for range limit.ProcessorShare() {
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
		second.Pause()
		client.Close()
		synctest.Wait()
		if err := <-slow; err != io.EOF || first[0].has {
			t.Errorf("at the end: %v, has a turn: %t", err, first[0].has)
		}
	})
}

// TestTurnsEnd: who waits for a turn gives up with its request.
func TestTurnsEnd(t *testing.T) {
	g := &limit.Limiter{Queue: limit.LongQueue}
	for range limit.ProcessorShare() {
		g.Enter(t.Context(), 1, limit.ProcessorShare())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &Turns{Reader: strings.NewReader("abc"), Limiter: g, Context: ctx, Customer: 1}
	if _, err := d.Read(make([]byte, 8)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.Pause()
}

// TestDecodingInTurns: a body that has arrived takes a turn again after a pause, and ends with its client.
func TestDecodingInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &limit.Limiter{Queue: limit.LongQueue}
		ctx, cancel := context.WithCancel(t.Context())
		d := &Turns{Limiter: g, Context: ctx, Customer: 1, Last: true}
		u := &decoding{iotest.OneByteReader(strings.NewReader("abc")), d}
		read := func() error {
			_, err := u.Read(make([]byte, 8))
			return err
		}
		if err := read(); err != nil || !d.has {
			t.Errorf("%v, has a turn: %t", err, d.has)
		}
		d.Pause()
		for range limit.ProcessorShare() {
			g.Enter(t.Context(), 1, limit.ProcessorShare())
		}
		done := make(chan error, 1)
		go func() { done <- read() }()
		synctest.Wait()
		if len(done) != 0 {
			t.Fatal("it goes on without a turn")
		}
		g.Leave(1)
		if err := <-done; err != nil || !d.has {
			t.Errorf("after the wait: %v, has a turn: %t", err, d.has)
		}
		cancel()
		if err := read(); !errors.Is(err, context.Canceled) {
			t.Errorf("the client has gone: %v", err)
		}
		d.Pause()
	})
}
