package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// dayFiles is a service of which a test damages files of rows.
type dayFiles struct {
	*process
	key string
	now time.Time
}

func (d *dayFiles) day(ago int) string { return d.now.AddDate(0, 0, -ago).Format(time.DateOnly) }

func (d *dayFiles) path(ago int) string {
	return filepath.Join(d.data, "rows", "objectdata", d.day(ago)+".duckdb")
}

// send sends a row of some days ago.
func (d *dayFiles) send(ago int, value int) {
	d.t.Helper()
	at := d.now.AddDate(0, 0, -ago).Format(time.RFC3339)
	res := d.ask("POST", "/api/send", fmt.Sprintf("type,resname,object,class,view,timestamp,i1\ndata,web01,a,host,web01,%s,%d\n", at, value), "x-api-key: "+d.key, "Content-Type: text/csv")
	if res.StatusCode != 200 {
		d.t.Fatalf("send: %d %s", res.StatusCode, res.body)
	}
}

// sql asks, with parameters beside the query.
func (d *dayFiles) sql(q string, params ...string) reply {
	d.t.Helper()
	v := url.Values{"q": {q}}
	for _, p := range params {
		name, value, _ := strings.Cut(p, "=")
		v.Set(name, value)
	}
	return d.ask("GET", "/api/sql?"+v.Encode(), "", "x-api-key: "+d.key)
}

// wantMissing checks every form of a query of all days.
func (d *dayFiles) wantMissing(days ...string) {
	d.t.Helper()
	for _, q := range []string{
		"SELECT timestamp, i1 FROM objectdata",
		"SELECT COUNT(*) AS n FROM objectdata",
		"SELECT object, MEAN(i1) FROM objectdata GROUP BY object",
		"SELECT timestamp, i1 FROM objectdata WHERE period='hour'",
		"SELECT timestamp, i1 FROM objectdata WHERE period='day'",
	} {
		for _, explain := range []string{"false", "true"} {
			res := d.sql(q, "span=9d", "rows=100", "explain="+explain)
			if res.StatusCode != 503 || res.code != "storage_unavailable" || !strings.Contains(res.body, "objectdata") || !strings.Contains(res.body, days[0]) || !strings.Contains(res.body, "partial=true") || res.Header.Get("Retry-After") == "" {
				d.t.Errorf("%s, explain %s: %d %s", q, explain, res.StatusCode, res.body)
			}
			res = d.sql(q, "span=9d", "rows=100", "explain="+explain, "partial=true")
			var answer struct{ Missing []string }
			if json.Unmarshal([]byte(res.body), &answer); res.StatusCode != 200 || !slices.Equal(answer.Missing, days) {
				d.t.Errorf("%s, explain %s, partial: %d %s; want %v as missing", q, explain, res.StatusCode, res.body, days)
			}
			for _, wt := range []string{"csv", "ndjson"} {
				res = d.sql(q, "span=9d", "rows=100", "explain="+explain, "partial=true", "wt="+wt)
				if res.StatusCode != 200 || res.Header.Get("X-Missing") != strings.Join(days, ", ") {
					d.t.Errorf("%s, explain %s, %s: %d, X-Missing %q; want %v", q, explain, wt, res.StatusCode, res.Header.Get("X-Missing"), days)
				}
			}
		}
	}
	if res := d.ask("GET", "/readyz", ""); res.StatusCode != 200 {
		d.t.Errorf("readyz: %d %s", res.StatusCode, res.body)
	}
}

// faults lists the ids of the open faults of day files.
func (d *dayFiles) faults() []string {
	d.t.Helper()
	res := d.ask("GET", "/api/health", "", d.logIn("default", "admin", adminPassword))
	var h struct{ Faults []struct{ ID string } }
	if err := json.Unmarshal([]byte(res.body), &h); err != nil {
		d.t.Fatalf("health: %s", res.body)
	}
	ids := []string{}
	for _, f := range h.Faults {
		if strings.HasPrefix(f.ID, "day_file") {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// awaitFaults waits until these are the open faults.
func (d *dayFiles) awaitFaults(want ...string) {
	d.t.Helper()
	slices.Sort(want)
	var got []string
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		got = d.faults()
		if slices.Sort(got); slices.Equal(got, want) {
			return
		}
	}
	d.t.Fatalf("faults: %q, want %q", got, want)
}

// verify runs belfry verify.
func (d *dayFiles) verify(args ...string) (out string, status int) {
	d.t.Helper()
	var b bytes.Buffer
	cmd := d.command(append([]string{"verify"}, args...)...)
	cmd.Stdout, cmd.Stderr = &b, os.Stderr
	err := cmd.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return b.String(), e.ExitCode()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return b.String(), 0
}

// TestDayFiles damages the file of an old day, then deletes others, with the real program: everything else goes on, and
// every answer and report names the days, until the operator ends it.
func TestDayFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	t.Parallel()
	d := &dayFiles{now: time.Now().UTC().Add(-time.Minute)}
	d.process = newProcess(t, func(p *process) { d.key = p.key("test", "readwrite") })
	if res := d.ask("POST", "/api/provisioning/custom", "name\nweb01\n", "x-api-key: "+d.key, "Content-Type: text/csv"); res.StatusCode != 200 {
		t.Fatal(res.body)
	}
	for _, ago := range []int{3, 2, 1, 0} {
		d.send(ago, ago)
	}
	if _, status := d.verify(); status != 1 {
		t.Errorf("verify of a running service: status %d, want 1", status)
	}
	d.stop()
	if out, status := d.verify(); status != 0 || !strings.Contains(out, "no problems") {
		t.Errorf("verify of a healthy folder: %d %s", status, out)
	}

	f, err := os.OpenFile(d.path(3), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), 4096)
	f.Close()
	out, status := d.verify("--json")
	var found struct {
		Problems []struct{ Collection, Day, Problem, Remedy string }
	}
	if json.Unmarshal([]byte(out), &found); status != 4 || len(found.Problems) != 1 || found.Problems[0].Day != d.day(3) || found.Problems[0].Collection != "objectdata" || found.Problems[0].Remedy == "" {
		t.Errorf("verify of a damaged file: %d %s", status, out)
	}

	d.start()
	d.send(3, 33) // a late row
	d.send(0, 5)
	d.wantMissing(d.day(3))
	first := "day_file objectdata " + d.day(3)
	d.awaitFaults(first)
	if res := d.sql("SELECT i1 FROM objectdata WHERE i1=33", "span=9d", "partial=true"); !strings.Contains(res.body, `"i1":33`) {
		t.Errorf("the late row: %s", res.body)
	}
	if res := d.sql("SELECT COUNT(*) AS n FROM objectdata", "span=2d"); res.StatusCode != 200 || !strings.Contains(res.body, `"n":3`) {
		t.Errorf("the days since: %d %s", res.StatusCode, res.body)
	}
	if res := d.sql("SELECT i1 FROM objectdata", "rows=2"); res.StatusCode != 200 {
		t.Errorf("the latest rows: %d %s", res.StatusCode, res.body)
	}
	if res := d.sql("SELECT info FROM events WHERE type='internal'", "span=1h"); !strings.Contains(res.body, d.day(3)) {
		t.Errorf("events: %s", res.body)
	}
	for range 2 { // and today's file, killed
		d.crash()
		d.start()
		d.wantMissing(d.day(3))
		d.awaitFaults(first)
	}

	d.stop()
	remove(t, d.path(1))
	d.start()
	d.wantMissing(d.day(3), d.day(1))
	second := "day_file objectdata " + d.day(1)
	d.awaitFaults(first, second)

	remove(t, d.path(2)) // under the running service
	third := "day_file objectdata " + d.day(2)
	d.awaitFaults(first, second, third)
	d.wantMissing(d.day(3), d.day(2), d.day(1))

	marks, _ := filepath.Glob(filepath.Join(d.data, "rows", "objectdata", "*Z"))
	for _, path := range marks {
		remove(t, path)
	}
	d.awaitFaults()
	if res := d.sql("SELECT i1 FROM objectdata", "span=9d", "rows=100"); res.StatusCode != 200 || !strings.Contains(res.body, `"i1":33`) {
		t.Errorf("after the operator: %d %s", res.StatusCode, res.body)
	}
	d.stop()
	if out, status := d.verify(); status != 0 {
		t.Errorf("verify after the operator: %d %s", status, out)
	}
}

// TestDamagedToday damages the file of the day and kills the service twice, at once after each start.
func TestDamagedToday(t *testing.T) {
	t.Parallel()
	d := &dayFiles{now: time.Now().UTC().Add(-time.Second)}
	d.process = newProcess(t, func(p *process) { d.key = p.key("test", "readwrite") })
	d.ask("POST", "/api/provisioning/custom", "name\nweb01\n", "x-api-key: "+d.key, "Content-Type: text/csv")
	d.send(0, 1)
	d.stop()
	if err := os.Truncate(d.path(0), 5000); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		d.start()
		d.send(0, 2+n)
		d.crash()
	}
	d.start()
	d.awaitFaults("day_file objectdata " + d.day(0))
	// The journal had all rows, but nobody can know that it was all there was.
	res := d.sql("SELECT COUNT(*) AS n FROM objectdata", "span=2d", "partial=true")
	if res.StatusCode != 200 || !strings.Contains(res.body, `"n":3`) || !strings.Contains(res.body, `"missing":["`+d.day(0)+`"]`) {
		t.Errorf("rows of the day: %d %s", res.StatusCode, res.body)
	}
	d.stop()
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
