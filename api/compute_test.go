package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"belfry"
	"belfry/api/limit"
	"belfry/engine"
	"belfry/intake"
	"belfry/query"
	"belfry/store"
)

// workshop is a house with two customers, which sees who computes when.
type workshop struct {
	*house
	store.Store
	users map[belfry.CustomerID]string // an administrator of the instance in each customer: its header
	taken int                          // turns of customer 1 that the test has
}

func newWorkshop(t *testing.T) *workshop {
	w := &workshop{house: newBulkHouse(t), users: map[belfry.CustomerID]string{}}
	w.Server.Settings = func(belfry.CustomerID, belfry.Level) []Setting { return nil }
	w.PutSettings = func(who engine.Sender, _ belfry.Level, _ map[string]*string) error {
		w.computes(who.Customer, 0)
		return nil
	}
	w.Rows = store.NewMover(w, store.MoverOptions{})
	limits := w.Limits
	limits.Body = 1 << 20
	w.SetLimits(limits)
	other, err := w.accounts.AddCustomer("other", "", &belfry.Actor{Name: "test"})
	w.must(err)
	w.must(w.accounts.AddUser(other.ID, belfry.User{Name: "admin", Password: "pw", Instance: true, Role: belfry.Administrator}, &belfry.Actor{Name: "test"}))
	w.must(w.accounts.AddUser(other.ID, belfry.User{Name: "viewer", Password: "pw", Role: belfry.Viewer}, &belfry.Actor{Name: "test"}))
	for _, c := range []belfry.CustomerID{1, other.ID} {
		who := engine.Sender{Scope: belfry.Whole(c)}
		_, _, err := w.intake.Provision(t.Context(), who, "custom", strings.NewReader("name\nweb\n"), intake.Options{})
		w.must(err)
		_, _, err = w.intake.Send(t.Context(), who, strings.NewReader("type,resname,object,class,view,i1\ndata,web,cpu,load,web,1\n"), intake.Options{})
		w.must(err)
		secret, err := w.accounts.LogIn(belfry.Origin{}, w.tree.Access().CustomerName(c), "admin", "pw")
		w.must(err)
		w.users[c] = "Cookie: " + cookieName + "=" + secret
	}
	w.hashing = func(string) { w.computesOnce() }
	w.sink = func(r *belfry.Record) { w.computes(r.Customer, 0) } // a request waits for its record to be committed
	return w
}

// computes checks how many requests of a customer compute. The turns that the test itself has do not count.
func (w *workshop) computes(c belfry.CustomerID, want int) {
	w.t.Helper()
	n := 0
	for _, l := range w.turns() {
		active, _ := l.Of(c)
		n += active
		if c == 1 {
			n -= w.taken
		}
	}
	if n != want {
		w.t.Errorf("%d requests of customer %d compute, want %d", n, c, want)
	}
}

// turns are those to compute and those to make plans.
func (w *workshop) turns() []*limit.Limiter { return []*limit.Limiter{&w.computing, &w.planning} }

// active counts the turns of all customers that are taken.
func (w *workshop) active() (n int) {
	for _, l := range w.turns() {
		active, _, _ := l.Counts()
		n += active
	}
	return n
}

// computesOnce checks that one request computes, of whichever customer.
func (w *workshop) computesOnce() {
	w.t.Helper()
	if n := w.active() - len(w.turns())*w.taken; n != 1 {
		w.t.Errorf("%d requests compute while a password is hashed", n)
	}
}

func (w *workshop) Select(_ context.Context, p *query.Plan) (query.Rows, error) {
	w.computes(p.Customer, 0)
	return &table{names: []string{"name"}}, nil
}

func (w *workshop) Explain(_ context.Context, p *query.Plan) ([]query.Line, error) {
	w.computes(p.Customer, 1)
	return nil, nil
}

// unturned is a body that is read while its request does not compute.
type unturned struct {
	io.Reader
	w *workshop
	c belfry.CustomerID
}

func (u unturned) Read(p []byte) (int, error) {
	u.w.computes(u.c, 0)
	return u.Reader.Read(p)
}

// work is a request that computes, and how it is answered.
type work struct {
	method, target, typ, body string
	status                    int
	encoding                  string
}

const (
	asJSON = "application/json"
	asForm = "application/x-www-form-urlencoded"
)

var works = []work{
	{"GET", "/api/sql?q=SELECT+info+FROM+events&span=1h", "", "", 200, ""},
	{"GET", "/api/sql?q=SELECT+name+FROM", "", "", 400, ""},
	{"GET", "/api/sql?explain=true&q=SELECT+info+FROM+events&span=1h", "", "", 200, ""},
	{"GET", "/api/sql?explain=true&wt=csv&q=SELECT+info+FROM+events&span=1h", "", "", 200, ""},
	{"POST", "/api/sql", asForm, "q=SELECT+info+FROM+events&span=1h", 200, ""},
	{"POST", "/api/sql", asJSON, `{"q": "SELECT info FROM events", "span": "1h"}`, 200, ""},
	{"POST", "/api/sql", asJSON, `{"q": `, 400, ""},
	{"PUT", "/api/classes/c", asJSON, `{"indicators": [{"n": 1, "name": "Used"}]}`, 201, ""},
	{"PUT", "/api/classes/c", asJSON, `{"indicators": `, 400, ""},
	{"PUT", "/api/policies/p", asJSON, `{"kind": "view", "item": "MAIN", "rollup": "2 of m"}`, 201, ""},
	{"PUT", "/api/pictures/p", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`, 201, ""},
	{"PUT", "/api/pictures/p", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg">`, 415, ""},
	{"PUT", "/api/settings", asJSON, `{"timezone": "UTC"}`, 200, ""},
	{"POST", "/api/ackmanagenote/objects", asJSON, `{"items": "cpu", "note": "looking into it"}`, 200, ""},
	{"POST", "/api/users", asJSON, `{"name": "eve", "role": "viewer"}`, 201, ""},
	{"PUT", "/api/users/viewer", asJSON, `{"password": "another long one"}`, 200, ""},
	{"POST", "/api/customers", asJSON, `{"name": "third"}`, 201, ""},
	{"PUT", "/api/session", asJSON, `{"password": "pw", "new": "another long one"}`, 200, ""},
	{"POST", "/api/sql", asJSON, inEncoding("gzip", `{"q": "SELECT info FROM events", "span": "1h"}`), 200, "gzip"},
	{"POST", "/api/sql", asJSON, inEncoding("zstd", `{"q": "SELECT info FROM events", "span": "1h"}`), 200, "zstd"},
	{"POST", "/api/sql", asJSON, damaged(inEncoding("gzip", strings.Repeat(" ", 10_000))), 400, "gzip"}, // seen while it is unpacked
	{"POST", "/api/sql", asJSON, damaged(inEncoding("zstd", strings.Repeat(" ", 10_000))), 400, "zstd"},
	{"POST", "/api/ackmanagenote/objects", asJSON, damaged(inEncoding("gzip", strings.Repeat(" ", 1000))), 400, "gzip"},
}

// inEncoding is a text in a Content-Encoding.
func inEncoding(encoding, text string) string {
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if encoding == "zstd" {
		w, _ = zstd.NewWriter(&b, zstd.WithEncoderCRC(true)) // fails with wrong options alone
	}
	io.WriteString(w, text) // into memory
	w.Close()
	return b.String()
}

// damaged is a packed text with a wrong checksum.
func damaged(text string) string {
	b := []byte(text)
	if text[0] == 0x1f { // gzip ends with the checksum and the length
		b[len(b)-8] ^= 1
	} else {
		b[len(b)-1] ^= 1
	}
	return string(b)
}

// begin sends a request; the channel has its answer when there is one, nil when its client has gone.
func (w *workshop) begin(ctx context.Context, c belfry.CustomerID, k work) (answered chan *httptest.ResponseRecorder) {
	var body io.Reader
	if k.body != "" {
		body = unturned{strings.NewReader(strings.ReplaceAll(k.body, "third", fmt.Sprint("third", c))), w, c}
	}
	r := httptest.NewRequestWithContext(ctx, k.method, k.target, body)
	r.RemoteAddr = w.peer
	name, value, _ := strings.Cut(w.users[c], ": ")
	r.Header.Set(name, value)
	if k.typ != "" {
		r.Header.Set("Content-Type", k.typ)
	}
	if k.encoding != "" {
		r.Header.Set("Content-Encoding", k.encoding)
	}
	answered = make(chan *httptest.ResponseRecorder, 1)
	go func() {
		rec := httptest.NewRecorder()
		defer func() {
			if fault := recover(); fault == http.ErrAbortHandler {
				rec = nil
			} else if fault != nil {
				panic(fault)
			}
			answered <- rec
		}()
		w.ServeHTTP(rec, r)
	}()
	synctest.Wait()
	return answered
}

// occupy takes all turns of customer 1.
func (w *workshop) occupy() {
	for range limit.ProcessorShare() {
		w.taken++
		for _, l := range w.turns() {
			if !l.Try(1, limit.ProcessorShare()) {
				w.t.Error("a turn is taken")
			}
		}
	}
}

// leave gives one of each back.
func (w *workshop) leave() {
	w.taken--
	for _, l := range w.turns() {
		l.Leave(1)
	}
	synctest.Wait()
}

// over checks that nobody computes or waits for it when the test has given its turns back.
func (w *workshop) over() {
	w.t.Helper()
	for w.taken > 0 {
		w.leave()
	}
	if n := w.active(); n != 0 {
		w.t.Errorf("%d customers still compute", n)
	}
}

// inWorkshop runs a test for every request that computes.
func inWorkshop(t *testing.T, f func(t *testing.T, w *workshop, k work)) {
	for _, k := range works {
		t.Run(k.method+" "+k.target+" "+k.typ+" "+k.encoding, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorkshop(t)
				f(t, w, k)
				w.over()
			})
		})
	}
}

// TestComputingInTurns: a request that computes waits while its customer has no turn left, and goes on when there is one. One of
// another customer does not wait. None has a turn while its body is read or what it asks for is done.
func TestComputingInTurns(t *testing.T) {
	inWorkshop(t, func(t *testing.T, w *workshop, k work) {
		w.occupy()
		waits := w.begin(t.Context(), 1, k)
		if len(waits) != 0 {
			t.Fatalf("answered with %d although there is no turn", (<-waits).Code)
		}
		if other := w.begin(t.Context(), 2, k); len(other) != 1 {
			t.Error("another customer waits")
		} else if rec := <-other; rec.Code != k.status {
			t.Errorf("another customer is answered with %d, want %d: %s", rec.Code, k.status, rec.Body)
		}
		w.leave()
		if len(waits) != 1 {
			t.Fatal("it goes on waiting")
		}
		if rec := <-waits; rec.Code != k.status {
			t.Errorf("answered with %d, want %d: %s", rec.Code, k.status, rec.Body)
		}
	})
}

// TestComputingEnds: a request whose client goes away while it waits ends.
func TestComputingEnds(t *testing.T) {
	inWorkshop(t, func(t *testing.T, w *workshop, k work) {
		w.occupy()
		ctx, cancel := context.WithCancel(t.Context())
		waits := w.begin(ctx, 1, k)
		cancel()
		synctest.Wait()
		if len(waits) != 1 {
			t.Fatal("it goes on waiting")
		}
		if rec := <-waits; rec != nil {
			t.Errorf("answered with %d: %s", rec.Code, rec.Body)
		}
	})
}

// TestRightsWhileComputingWaits: a session that ended while its request waited may do nothing any more.
func TestRightsWhileComputingWaits(t *testing.T) {
	inWorkshop(t, func(t *testing.T, w *workshop, k work) {
		w.occupy()
		waits := w.begin(t.Context(), 1, k)
		w.must(w.accounts.LogOut(hashIn(w.users[1]), belfry.Origin{}))
		w.leave()
		if len(waits) != 1 {
			t.Fatal("it goes on waiting")
		}
		if rec := <-waits; rec.Code != 401 {
			t.Errorf("answered with %d: %s", rec.Code, rec.Body)
		}
	})
}
