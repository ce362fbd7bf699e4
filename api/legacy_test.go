package api

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
)

// memoryJournal forgets what it is given: a disk would make a fuzzer a thousand times slower.
type memoryJournal struct{ end belfry.Position }

func (j *memoryJournal) Append(payloads ...[]byte) (first belfry.Position, err error) {
	first = j.end + 1
	j.end += belfry.Position(len(payloads))
	return first, nil
}

var loadCatalog = sync.OnceValues(catalog.Load)

// agent is a server with a real sequencer behind its legacy paths, and a key that may write.
type agent struct {
	*Server
	seq    *engine.Sequencer
	intake *intake.Intake
	key    string
}

func newAgent(tb testing.TB) *agent {
	tb.Helper()
	cat, err := loadCatalog()
	if err != nil {
		tb.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	tree := meta.NewTree(cat)
	a := &agent{seq: engine.New(engine.Config{
		Tree: tree, Journal: &memoryJournal{}, Log: log, Now: time.Now,
		Room:  func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready: func() error { return nil },
		Count: func(belfry.CustomerID) int { return 0 },
		Limits: func() engine.Limits {
			return engine.Limits{
				Row: 1 << 20, Columns: 1000, Indicators: 100, Objects: 10_000, Answers: 10,
				Retention: func(string) time.Duration { return time.Hour },
			}
		},
	})}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.seq.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	a.intake = intake.New(intake.Config{Engine: a.seq})
	people := accounts.New(accounts.Config{Engine: a.seq, Log: log})
	if err := people.Bootstrap("hash"); err != nil {
		tb.Fatal(err)
	}
	c, _ := tree.CustomerNamed(belfry.DefaultCustomer)
	if a.key, err = people.CreateKey(in(c.ID), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWrite}); err != nil {
		tb.Fatal(err)
	}
	if _, _, err := a.intake.Provision(ctx, engine.Sender{Scope: belfry.Whole(c.ID)}, "custom", strings.NewReader("name\nr\n"), intake.Options{}); err != nil {
		tb.Fatal(err)
	}
	a.Server = New(Config{
		Log: log, Now: time.Now, Keys: tree, Catalog: func() *catalog.Catalog { return cat }, Names: noNames{},
		SendOne: a.intake.SendOne, CreateView: a.intake.CreateView,
		Ready:  func() error { return nil },
		UI:     http.NotFoundHandler(),
		Limits: Limits{Body: 1 << 20, BodyHeld: 1 << 20, BulkRequests: 2, Queries: 1, QueryTime: time.Minute, Wait: time.Second, Idle: time.Minute},
	})
	return a
}

// get asks with any query string at all; what a real server refuses before it comes to us is not asked.
func (a *agent) get(path, query string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.URL.RawQuery = query
	r.Header.Set("X-Api-Key", a.key)
	rec := httptest.NewRecorder()
	a.ServeHTTP(rec, r)
	return rec
}

// FuzzLegacy asks the legacy paths with any parameters: each request is one row or none, and the answer has its one shape.
func FuzzLegacy(f *testing.F) {
	for _, query := range []string{
		"resname=r&o=known&i1=1", "resname=r&o=x&c=C&v=r&i1=1&i2=text&ip=192.0.2.1&h=host&o1=a&o5=e", "resname=r&o=y&c=C&v=V&p=r&n=yes",
		"resname=r&o=known&n=yes&i1=", "resname=r&o=known&l=a%09b+c%2B", "resname=r&o=new&c=D&v=W&p=V&l=%00", "resname=r&c=folder&v=V&p=r&posx=10&posy=20&width=40&bg=b&ar=linear",
		"resname=r&c=folder&v=V&p=V", "resname=r&c=f&v=r&p=r&posx=15&posy=-0", "resname=MAIN&o=*&i1=NaN", "resname=%ff&o=%c3&i1=%a9",
		"i101=1&i0=1", "resname=r&o=known&i1=1e309&i100=x", "a;b=%zz", "&&==", "apikey=7b0c4f0e-1111-4aaa-8bbb-000000000001&o=a&o=b", "timestamp=1",
	} {
		for path := range uint8(3) {
			f.Add(path, query)
		}
	}
	paths := []string{"/d", "/l", "/cv"}
	f.Fuzz(func(t *testing.T, path uint8, query string) {
		a := newAgent(t)
		a.get("/d", "resname=r&o=known&c=K&v=r&i1=1")
		before := a.intake.Counters().Received.Load()
		res := a.get(paths[int(path)%3], query)
		rows := a.intake.Counters().Received.Load() - before
		checkLegacy(t, res, rows)
	})
}

// checkLegacy holds an answer to the shape of a report on one row, or to that of an error.
func checkLegacy(t *testing.T, res *httptest.ResponseRecorder, rows int64) {
	t.Helper()
	var body struct {
		Error *struct{ Code, Message string }
		belfry.Report
	}
	text, _ := io.ReadAll(res.Result().Body)
	if err := json.Unmarshal(text, &body); err != nil || res.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %q: %v\n%s", res.Code, res.Header().Get("Content-Type"), err, text)
	}
	switch {
	case res.Code == 200 && body.Error == nil:
		if rows != 1 || body.Rows != 1 || body.Accepted != 1 || len(body.Errors) != 0 {
			t.Fatalf("%d rows were read: %s", rows, text)
		}
	case res.Code == 400 && body.Error != nil && body.Rows == 1: // the row is wrong, and the error is the row's own
		if rows != 1 || body.Rejected != 1 || len(body.Errors) != 1 || string(body.Errors[0].Code) != body.Error.Code || body.Errors[0].Row != 1 || body.Errors[0].Line != 1 || body.Created != (belfry.Created{}) {
			t.Fatalf("%d rows were read: %s", rows, text)
		}
	case res.Code == 400 && body.Error != nil && body.Error.Code == string(belfry.BadParameter) && body.Error.Message != "":
		if rows != 0 || strings.Contains(string(text), `"rows"`) {
			t.Fatalf("%d rows were read: %s", rows, text)
		}
	default:
		t.Fatalf("not an answer of these paths: %d %s", res.Code, text)
	}
}
