package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const clockDay = 24 * time.Hour

// clockRun sends rows without timestamps while the clock is set, and knows what must be there.
type clockRun struct {
	t     *testing.T
	s     *server
	c     *client
	clock *clock
	sent  int // acknowledged data rows, and as many log rows; i1 counts them
	acked map[string]string
	last  string // body that was sent last, under an Idempotency-Key of its own
}

// send sends rows to a few objects, some bad and some good, and checks the status of each after every answer.
func (r *clockRun) send(bodies int) {
	r.t.Helper()
	if r.last != "" { // a repeat changes nothing, whatever the clock said at the first time
		r.post()
	}
	for range bodies {
		var b strings.Builder
		b.WriteString("type,resname,object,class,view,i1,i2,log\n")
		for o := range 5 {
			bad := (r.sent/5+o)%2 == 1
			name, value, status := fmt.Sprintf("o%d", o), 1, "0"
			if bad {
				value, status = 97, "3"
			}
			r.sent++
			fmt.Fprintf(&b, "data,r,%s,clock,r,%d,%d,\nlog,r,%s,clock,r,,,line %d\n", name, value, r.sent, name, r.sent)
			r.acked[name] = status
		}
		r.last = b.String()
		r.post()
		rows, err := r.c.sql("SELECT object, status FROM objectstatus WHERE kind='object' AND resource='r'")
		if err != nil {
			r.t.Fatal(err)
		}
		for _, row := range rows {
			if want := r.acked[row.Object]; row.Status != want {
				r.t.Fatalf("clock off by %s, after %d rows: %s has status %s, want that of the row acknowledged last, %s", r.clock.by, r.sent, row.Object, row.Status, want)
			}
		}
	}
}

// post sends the last body.
func (r *clockRun) post() {
	r.t.Helper()
	if a, err := r.c.do("POST", "/api/send", fmt.Sprint("rows up to ", r.sent), []byte(r.last)); err != nil || a.status != 200 {
		r.t.Fatalf("clock off by %s: %v %v\n%s", r.clock.by, a, err, r.s.text())
	}
}

// count checks that every acknowledged row is there once.
func (r *clockRun) count() {
	r.t.Helper()
	for _, collection := range []string{"objectdata", "objectlog"} {
		seen := map[string]int{}
		column := map[string]string{"objectdata": "i2", "objectlog": "log"}[collection]
		if err := r.c.each("SELECT "+column+" FROM "+collection+" WHERE timestamp >= '1970-01-02'", func(f []string) { seen[f[0]]++ }); err != nil {
			r.t.Fatal(err)
		}
		for v, n := range seen {
			if n != 1 {
				r.t.Errorf("clock off by %s: %s has %s %d times", r.clock.by, collection, v, n)
			}
		}
		if len(seen) != r.sent {
			r.t.Errorf("clock off by %s: %s has %d rows, %d were acknowledged", r.clock.by, collection, len(seen), r.sent)
		}
	}
}

// fault tells whether health shows the fault clock, and checks that the service is ready all the same.
func (r *clockRun) fault() bool {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: hangTimeout}
	res, err := browser.Post(r.s.base+"/api/session", "application/json", bytes.NewReader([]byte(`{"user":"admin","password":"crash-test-password"}`)))
	if err != nil {
		r.t.Fatal(err)
	}
	res.Body.Close()
	res, err = browser.Get(r.s.base + "/api/health")
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var h struct {
		Ready  bool
		Faults []struct{ ID string }
	}
	if err := json.Unmarshal(text, &h); err != nil || !h.Ready {
		r.t.Fatalf("health: %v %s", err, text)
	}
	return len(h.Faults) > 0 && h.Faults[0].ID == "clock"
}

// restart kills the program and starts it with another clock.
func (r *clockRun) restart(by time.Duration) {
	r.t.Helper()
	r.s.kill()
	r.clock.set(by)
	r.s.start()
}

// TestClock sets the clock of the real program by seconds, hours, a year and 150 years, and boots it in 2015 and 500 days
// ahead. Rows without timestamps come all the time: each is there once, and statuses follow the last one acknowledged.
func TestClock(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), "")
	r := &clockRun{t: t, s: s, clock: newClock(t, s), acked: map[string]string{}}
	if err := os.MkdirAll(filepath.Join(s.data, "classes"), 0o700); err != nil {
		t.Fatal(err)
	}
	class := "name: clock\nindicators: [{n: 1, thresholds: [{when: '>= 90', status: 3}]}, {n: 2}]\n"
	if err := os.WriteFile(filepath.Join(s.data, "classes", "clock.yaml"), []byte(class), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	r.c = &client{s: s, key: s.key("default", "clock")}
	mustSend(t, r.c, "/api/provisioning/custom", "name\nr\n")
	r.send(3)
	for _, by := range []time.Duration{-2 * time.Second, 0, 2 * time.Second, 0, -2 * time.Hour, 0, 2 * time.Hour, 0, -25 * time.Hour, 0, -365 * clockDay, 0, 365 * clockDay, 0, 150 * 365 * clockDay, 0} {
		before := r.clock.by
		r.clock.set(by)
		r.send(5)
		info := fmt.Sprintf("the clock was set forward by %s", (by - before).Abs())
		if by < before {
			info = fmt.Sprintf("the clock was set back by %s", (by - before).Abs())
		}
		s.await("an event about the step", func() bool {
			rows, err := r.c.sql("SELECT info FROM events WHERE type='internal' AND timestamp >= '1970-01-02'")
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				if strings.HasPrefix(row.Info, info[:len(info)-len("0s")]) {
					return true
				}
			}
			return false
		})
	}
	r.count()
	for _, by := range []time.Duration{-11 * 365 * clockDay, 0, 500 * clockDay, 0} {
		r.restart(by)
		r.send(5)
		if got := r.fault(); got != (by != 0) {
			t.Errorf("clock off by %s: the fault clock is shown: %t", by, got)
		}
		r.count()
	}
	// An administrator's word lets deletion go on.
	r.restart(500 * clockDay)
	if _, err := s.cli("clock", "confirm"); err != nil {
		t.Fatal(err)
	}
	if r.fault() {
		t.Error("the clock was confirmed, and the fault is still shown")
	}
	s.await("retention to go on", func() bool {
		n, err := r.c.count("objectdata", "")
		if err != nil {
			t.Fatal(err)
		}
		return n < r.sent
	})
}
