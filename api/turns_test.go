package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"belfry"
	"belfry/accounts"
	"belfry/api/limit"
)

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
			for range limit.ProcessorShare() {
				h.computing.Enter(t.Context(), acme.ID, limit.ProcessorShare())
			}
			r := httptest.NewRequest("POST", "/api/send"+params, strings.NewReader("type,resname,object,class,view,i1\ndata,web01,cpu,cpu,web01,1\n"))
			r.RemoteAddr = h.peer
			r.Header.Set("X-Api-Key", secret)
			r.Header.Set(header, "1")
			rec := httptest.NewRecorder()
			go h.ServeHTTP(rec, r)
			synctest.Wait()
			if _, n := h.computing.Of(acme.ID); n != 1 {
				t.Errorf("%d bodies wait for a turn", n)
			}
			err = h.accounts.RemoveCustomer(in(1), "acme")
			h.must(err)
			for range limit.ProcessorShare() {
				h.computing.Leave(acme.ID)
			}
			synctest.Wait()
			active, _, _ := h.computing.Counts()
			if rec.Code != 401 || !strings.Contains(rec.Body.String(), "invalid_key") || active != 0 {
				t.Errorf("%s %s: answered with %d %s, %d requests compute", params, header, rec.Code, rec.Body, active)
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
				if active, _ := h.computing.Of(1); others && active >= limit.ProcessorShare() {
					t.Error("a body that waits has a turn")
				}
			}
			for range limit.ProcessorShare() {
				h.computing.Enter(t.Context(), 1, limit.ProcessorShare())
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
			_, waits := h.computing.Of(1)
			if waited := len(done) == 0; waited != others || (waits == 1) != others {
				t.Errorf("%s: waits %t with %d in the line, others are at work: %t", encoding, waited, waits, others)
			}
			for range limit.ProcessorShare() {
				h.computing.Leave(1)
			}
			<-done
			if active, _, _ := h.computing.Counts(); rec.Code != 200 || active != 0 {
				t.Errorf("%s: answered with %d %s, %d requests compute", encoding, rec.Code, rec.Body, active)
			}
		})
	}
	f(rows, "identity", true)
	f(rows, "identity", false)
	f(pack.String(), "gzip", true)
	f(pack.String(), "gzip", false)
}
