package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
	"belfry/store"
	"belfry/store/duck"
)

// keepOldDay stores two rows of a day below the watermark, as a service does whose clock is years behind.
func (d *dayFiles) keepOldDay(ago int) {
	d.t.Helper()
	must := func(err error) {
		d.t.Helper()
		if err != nil {
			d.t.Fatal(err)
		}
	}
	dir := filepath.Join(d.data, "rows")
	id, err := journal.ReadInstance(dir)
	must(err)
	cat, err := catalog.Load()
	must(err)
	s, err := duck.Open(d.t.Context(), store.Config{Dir: dir, Instance: id, Branches: d.branches(), Catalog: cat})
	must(err)
	at := belfry.At(d.now.AddDate(0, 0, -ago))
	if added, err := s.Keep(cat.Collection(belfry.ObjectData), at, belfry.At(d.now)); !added || err != nil {
		d.t.Fatal(added, err)
	}
	must(store.AppendAll(d.t.Context(), s, &belfry.Batch{
		Collection: belfry.ObjectData, Customer: 1, Pos: 1, FirstID: 1, Times: []belfry.Time{at, at + 1},
		Columns: []belfry.Column{{Name: belfry.ItemColumn, Ints: []int64{1, 1}}, {Name: "i1", Numbers: []float64{7, 8}}},
	}))
	must(s.Close())
}

// TestKeptList takes the list away of the days that retention has to keep: no row goes, verify and a fault tell it, and
// the service writes a new list as soon as it can.
func TestKeptList(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	t.Parallel()
	const ago = 5 * 365
	d := &dayFiles{now: time.Now().UTC().Add(-time.Minute)}
	d.process = newProcess(t, func(p *process) { d.key = p.key("test", "readwrite") })
	if res := d.ask("POST", "/api/provisioning/custom", "name\nweb01\n", "x-api-key: "+d.key, "Content-Type: text/csv"); res.StatusCode != 200 {
		t.Fatal(res.body)
	}
	d.send(0, 1)
	list := filepath.Join(d.data, "rows", "objectdata", "kept")
	there := func(path string) func() bool {
		return func() bool { _, err := os.Stat(path); return err == nil }
	}
	d.until("the watermark", there(filepath.Join(filepath.Dir(list), "watermark")))
	d.stop()
	d.keepOldDay(ago)
	if out, status := d.verify(); status != 0 {
		t.Fatalf("verify: %d %s", status, out)
	}
	count := func() {
		t.Helper()
		res := d.sql("SELECT COUNT(*) AS n FROM objectdata", "from=2010-01-01T00:00:00Z", "to=2100-01-01T00:00:00Z")
		if res.StatusCode != 200 || !strings.Contains(res.body, `"n":3`) {
			t.Errorf("rows: %d %s", res.StatusCode, res.body)
		}
	}
	damaged := func() {
		t.Helper()
		out, status := d.verify()
		if status != 4 || !strings.Contains(out, filepath.Join("objectdata", "kept")) || !strings.Contains(out, "Start the service") {
			t.Errorf("verify: %d %s", status, out)
		}
		d.start()
		count()
	}
	tells := func() bool {
		return strings.Contains(d.ask("GET", "/api/health", "", d.logIn("default", "admin", adminPassword)).body, `"kept objectdata"`)
	}

	remove(t, list)
	if err := os.Mkdir(list, 0o700); err != nil { // which stays until it is moved away
		t.Fatal(err)
	}
	damaged()
	if !tells() {
		t.Error("the fault is not open")
	}
	d.stop()

	remove(t, list)
	damaged()
	d.until("the end of the fault", func() bool { return !tells() })
	d.until("the new list", there(list))
	if res := d.sql("SELECT info FROM events WHERE type='internal'", "span=1h", "rows=100"); !strings.Contains(res.body, "that retention has to keep") {
		t.Errorf("events: %s", res.body)
	}
	d.stop()
	if out, status := d.verify(); status != 0 {
		t.Errorf("verify of the new list: %d %s", status, out)
	}
	d.start()
	count()
}
