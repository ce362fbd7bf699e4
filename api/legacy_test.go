package api

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"belfry"
)

// get asks with any query string at all; what a real server refuses before it comes to us is not asked.
func (r *rig) get(path, query string) *httptest.ResponseRecorder {
	q := httptest.NewRequest("GET", path, nil)
	q.URL.RawQuery = query
	q.Header.Set("X-Api-Key", writeKey)
	rec := httptest.NewRecorder()
	r.ServeHTTP(rec, q)
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
		r := newRig(t)
		r.get("/d", "resname=r&o=known&c=K&v=r&i1=1")
		before := r.Intake.Counters().Received.Load()
		res := r.get(paths[int(path)%3], query)
		rows := r.Intake.Counters().Received.Load() - before
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
