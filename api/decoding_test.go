package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"belfry"
	"belfry/accounts"
)

// TestDecodingInTurns: as many bodies of a customer are decoded at a time as there are turns; one that waits for its client
// has none, and other customers are not concerned.
func TestDecodingInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &limiter{queue: workQueue}
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
	g := &limiter{queue: workQueue}
	for range processorShare() {
		g.enter(t.Context(), 1, processorShare())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &decoding{Reader: strings.NewReader("abc"), turns: g, ctx: ctx, customer: 1, valid: func() error { return nil }}
	if _, err := d.Read(make([]byte, 8)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.pause()
}

// TestCustomerRemovedBeforeTurn: a body that waits for its turn while its customer is removed is refused.
func TestCustomerRemovedBeforeTurn(t *testing.T) {
	f := func(params, header string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			h := newBulkHouse(t)
			acme, err := h.accounts.AddCustomer("acme", "", &belfry.Actor{Name: "test"})
			h.must(err)
			secret, err := h.accounts.CreateKey(in(acme.ID), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWrite})
			h.must(err)
			h.want(200, "", "POST", "/api/provisioning/custom", "name\nweb01\n", "X-Api-Key: "+secret)
			for range processorShare() {
				h.computing.enter(t.Context(), acme.ID, processorShare())
			}
			r := httptest.NewRequest("POST", "/api/send"+params, strings.NewReader("type,resname,object,class,view,i1\ndata,web01,cpu,cpu,web01,1\n"))
			r.RemoteAddr = h.peer
			r.Header.Set("X-Api-Key", secret)
			r.Header.Set(header, "1")
			rec := httptest.NewRecorder()
			go h.ServeHTTP(rec, r)
			synctest.Wait()
			if n := len(h.computing.tenants[acme.ID].waiters); n != 1 {
				t.Errorf("%d bodies wait for a turn", n)
			}
			err = h.accounts.RemoveCustomer(in(1), "acme")
			h.must(err)
			for range processorShare() {
				h.computing.leave(acme.ID)
			}
			synctest.Wait()
			if rec.Code != 401 || !strings.Contains(rec.Body.String(), "invalid_key") || len(h.computing.tenants) != 0 {
				t.Errorf("%s %s: answered with %d %s, %d customers compute", params, header, rec.Code, rec.Body, len(h.computing.tenants))
			}
		})
	}
	f("?atomic", "X-Other")
	f("?dryrun", "X-Other")
	f("", "Idempotency-Key")
}

// TestRowsInTurns: a body that is applied in parts is decoded in turns while other customers are at work. It has none while it is
// applied.
func TestRowsInTurns(t *testing.T) {
	const rows = "type,resname,object,class,view,i1\ndata,web01,cpu,cpu,web01,1\n"
	var pack bytes.Buffer
	z := gzip.NewWriter(&pack)
	io.WriteString(z, rows)
	z.Close()
	f := func(body, encoding string, others bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			h := newBulkHouse(t)
			secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWrite})
			h.must(err)
			h.want(200, "", "POST", "/api/provisioning/custom", "name\nweb01\n", "X-Api-Key: "+secret)
			if others {
				h.Engine.Active(2)
			}
			h.room = func() {
				if d := h.computing.tenants[1]; others && d != nil && d.active >= processorShare() {
					t.Error("a body that waits has a turn")
				}
			}
			for range processorShare() {
				h.computing.enter(t.Context(), 1, processorShare())
			}
			r := httptest.NewRequest("POST", "/api/send", strings.NewReader(body))
			r.RemoteAddr = h.peer
			r.Header.Set("X-Api-Key", secret)
			r.Header.Set("Content-Encoding", encoding)
			rec := httptest.NewRecorder()
			done := make(chan bool, 1)
			go func() {
				h.ServeHTTP(rec, r)
				done <- true
			}()
			synctest.Wait()
			waits := len(h.computing.tenants[1].waiters)
			if waited := len(done) == 0; waited != others || (waits == 1) != others {
				t.Errorf("%s: waits %t with %d in the line, others are at work: %t", encoding, waited, waits, others)
			}
			for range processorShare() {
				h.computing.leave(1)
			}
			if <-done; rec.Code != 200 || len(h.computing.tenants) != 0 {
				t.Errorf("%s: answered with %d %s, %d customers compute", encoding, rec.Code, rec.Body, len(h.computing.tenants))
			}
		})
	}
	f(rows, "identity", true)
	f(rows, "identity", false)
	f(pack.String(), "gzip", true)
	f(pack.String(), "gzip", false)
}

// TestUnpackingInTurns: a body that has arrived takes a turn again after a pause, and ends with its client.
func TestUnpackingInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &limiter{queue: workQueue}
		ctx, cancel := context.WithCancel(t.Context())
		d := &decoding{turns: g, ctx: ctx, customer: 1, last: true, valid: func() error { return nil }}
		u := &unpacking{iotest.OneByteReader(strings.NewReader("abc")), d}
		read := func() error {
			_, err := u.Read(make([]byte, 8))
			return err
		}
		if err := read(); err != nil || !d.has {
			t.Errorf("%v, has a turn: %t", err, d.has)
		}
		d.pause()
		for range processorShare() {
			g.enter(t.Context(), 1, processorShare())
		}
		done := make(chan error, 1)
		go func() { done <- read() }()
		synctest.Wait()
		if len(done) != 0 {
			t.Fatal("it goes on without a turn")
		}
		g.leave(1)
		if err := <-done; err != nil || !d.has {
			t.Errorf("after the wait: %v, has a turn: %t", err, d.has)
		}
		cancel()
		if err := read(); !errors.Is(err, context.Canceled) {
			t.Errorf("the client has gone: %v", err)
		}
		d.pause()
	})
}

// TestRightsAfterTurn: a body whose sender loses its rights while it waits for its turn is not read any further.
func TestRightsAfterTurn(t *testing.T) {
	for _, last := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := &limiter{queue: workQueue}
			for range processorShare() {
				g.enter(t.Context(), 1, processorShare())
			}
			revoked := belfry.Errorf(belfry.InvalidKey, "revoked")
			var now error
			d := &decoding{Reader: iotest.DataErrReader(strings.NewReader("abc")), turns: g, ctx: t.Context(), customer: 1, last: last, valid: func() error { return now }}
			size := 8 // the end comes with the bytes
			if !last {
				size = 2
			}
			read := make(chan error, 1)
			go func() {
				_, err := d.Read(make([]byte, size))
				read <- err
			}()
			synctest.Wait()
			now = revoked
			g.leave(1)
			if err := <-read; !errors.Is(err, revoked) {
				t.Errorf("last %v: %v", last, err)
			}
			d.pause()
		})
	}
}
