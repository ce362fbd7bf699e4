package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// records returns the newest segment of the journal, and where each of its records begins and the last one ends.
func (d *parts) records() (path string, offsets []int64) {
	d.t.Helper()
	list, err := filepath.Glob(d.file("journal/*.journal"))
	if err != nil || len(list) == 0 {
		d.t.Fatal("no journal", err)
	}
	path = slices.Max(list)
	text, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	at := 112 // behind the header
	for ; at+24 < len(text) && text[at] == 0xff; at += 24 + int(binary.LittleEndian.Uint32(text[at+4:])) {
		offsets = append(offsets, int64(at))
	}
	return path, append(offsets, int64(at))
}

// lossy checks what the service says while the loss of rows is not confirmed.
func (d *parts) lossy() {
	d.t.Helper()
	today := time.Now().UTC().Format(time.DateOnly)
	if text, open := d.fault("journal_loss"); !open || !strings.Contains(text, "belfry fault confirm journal_loss") || !strings.Contains(text, today+"T") {
		d.t.Errorf("the fault: %t %s", open, text)
	}
	for _, q := range []string{"SELECT i1 FROM objectdata", "SELECT COUNT(*) FROM events", "SELECT i1 FROM objectdata WHERE period='hour'"} {
		for _, explain := range []string{"false", "true"} {
			res := d.sql(q, "span=1d", "explain="+explain)
			if res.StatusCode != 503 || res.code != "storage_unavailable" || !strings.Contains(res.body, "arrived between "+today) || res.Header.Get("Retry-After") == "" {
				d.t.Errorf("%s: %d %s", q, res.StatusCode, res.body)
			}
			res = d.sql(q, "span=1d", "partial=true", "explain="+explain)
			var answer struct{ Missing []string }
			if json.Unmarshal([]byte(res.body), &answer); res.StatusCode != 200 || !slices.Contains(answer.Missing, today) {
				d.t.Errorf("%s, partial: %d %s", q, res.StatusCode, res.body)
			}
		}
	}
	if res := d.sql("SELECT name, status FROM objectstatus"); res.StatusCode != 200 {
		d.t.Errorf("status: %d %s", res.StatusCode, res.body)
	}
	if res := d.sql("SELECT i1 FROM objectdata", "from=2026-01-01", "to=2026-01-02"); res.StatusCode != 200 {
		d.t.Errorf("rows of another time: %d %s", res.StatusCode, res.body)
	}
	if res := d.ask("GET", "/readyz", ""); res.StatusCode != 200 {
		d.t.Errorf("readyz: %s", res.body)
	}
}

// complete checks that the loss is not told any more.
func (d *parts) complete() {
	d.t.Helper()
	if text, open := d.fault("journal_loss"); open {
		d.t.Errorf("still open: %s", text)
	}
	if res := d.sql("SELECT i1 FROM objectdata", "span=1d"); res.StatusCode != 200 {
		d.t.Errorf("query: %d %s", res.StatusCode, res.body)
	}
}

// TestJournalLoss damages the journal of a service that was killed, in the middle and at its end: what is lost is told until
// it is confirmed, and never again then.
func TestJournalLoss(t *testing.T) {
	t.Parallel()
	d := newParts(t)
	some := func() {
		for range 3 {
			d.awaitCreate()
		}
		d.sql("SELECT COUNT(*) FROM objectdata", "span=1d") // they are in the row store
		d.crash()
	}
	some()
	if out, status := d.verify(); status != 0 {
		t.Errorf("verify of a folder whose service was killed: %d %s", status, out)
	}
	path, at := d.records()
	d.flip(path, at[len(at)-3]+30) // inside the last record but one
	if out, status := d.verify(); status != 4 || !strings.Contains(out, path+": ") {
		t.Errorf("verify of a damaged journal: %d %s", status, out)
	}
	d.start()
	d.lossy()
	d.crash()
	d.start()
	d.lossy()
	d.belfry("fault", "confirm", "journal_loss")
	d.complete()

	// Cut where a record begins: the journal itself looks whole.
	some()
	path, at = d.records()
	if err := os.Truncate(path, at[len(at)-2]); err != nil {
		t.Fatal(err)
	}
	if out, status := d.verify(); status != 4 || !strings.Contains(out, path+": ") || strings.Contains(out, "before what") {
		t.Errorf("verify of a journal without its end: %d %s", status, out)
	}
	d.start()
	d.lossy()
	d.stop()
	d.belfry("fault", "confirm", "journal_loss")
	d.start()
	d.complete()

	// All of the segment.
	some()
	path, _ = d.records()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	d.key = d.process.key("offline", "readwrite") // a command writes to the journal before the service starts
	d.start()
	d.lossy()
	admin := d.logIn("default", "admin", adminPassword)
	if res := d.ask("POST", "/api/health/faults/journal_loss", "", admin); res.StatusCode != 204 {
		t.Errorf("confirm: %d %s", res.StatusCode, res.body)
	}
	if rows := d.trail(admin, "action=confirmed"); fmt.Sprint(rows) != "[shell socket confirmed fault journal_loss shell socket confirmed fault journal_loss admin session confirmed fault journal_loss]" {
		t.Errorf("the audit trail has %v", rows)
	}
	d.complete()

	// What both stores have is not lost with the journal's end.
	d.awaitCreate()
	d.stop()
	path, at = d.records()
	if err := os.Truncate(path, at[len(at)-1]-7); err != nil {
		t.Fatal(err)
	}
	if out, status := d.verify(); status != 4 || !strings.Contains(out, "Nothing is lost: the metadata and the rows") {
		t.Errorf("verify of a journal whose records are in both stores: %d %s", status, out)
	}
	d.start()
	d.complete()
	d.awaitEvents("which the metadata and the rows have")
	d.uniqueIDs("objectdata")
	d.uniqueIDs("events")
	d.stop()
}

// uniqueIDs checks that no id was given to two rows.
func (d *parts) uniqueIDs(collection string) {
	d.t.Helper()
	res := d.sql("SELECT id FROM "+collection, "span=1d", "rows=10000", "wt=csv")
	ids := strings.Fields(res.body)
	slices.Sort(ids)
	if n := len(ids); res.StatusCode != 200 || n < 5 || len(slices.Compact(ids)) != n {
		d.t.Errorf("%s: %d, %d ids, of which %d differ", collection, res.StatusCode, n, len(slices.Compact(ids)))
	}
}

// flip changes a byte of a file.
func (d *parts) flip(path string, at int64) {
	d.t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		d.t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{^b[0]}, at); err != nil {
		d.t.Fatal(err)
	}
}

// TestLostRemoval damages the record that removed an object. The object stays removed over the next kills, and made again it is
// there once; when its resource goes, so does everything in it.
func TestLostRemoval(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	t.Parallel()
	d := newParts(t)
	d.key = d.process.key("cleaner", "readwritedelete")
	d.crash() // else the key, which the command has written, would share the fate of the segment
	d.start()
	count := func(want int, when string) {
		t.Helper()
		if res := d.sql("SELECT name FROM objectstatus WHERE name='o1'"); strings.Count(res.body, `"o1"`) != want {
			t.Errorf("%s: want %d of o1: %d %s", when, want, res.StatusCode, res.body)
		}
	}
	d.awaitCreate()
	d.awaitCreate()
	path, at := d.records()
	if res := d.ask("DELETE", "/api/provisioning/object", "name\no1\n", "x-api-key: "+d.key, "Content-Type: text/csv"); res.StatusCode != 200 {
		t.Fatal(res.body)
	}
	d.sql("SELECT COUNT(*) FROM objectdata", "span=1d") // the row store has it, and perhaps the metadata
	d.awaitCreate()
	d.crash()
	d.flip(path, at[len(at)-1]+30)
	for _, when := range []string{"the start after the loss", "the second", "the third"} {
		d.start()
		count(0, when)
		d.awaitCreate()
		d.sql("SELECT COUNT(*) FROM objectdata", "span=1d", "partial=true")
		d.crash()
	}
	d.start()
	d.belfry("fault", "confirm", "journal_loss")
	d.crash()
	if out, status := d.verify(); status != 0 && strings.Contains(out, "until you confirm it") {
		t.Errorf("verify after the confirmation: %d %s", status, out)
	}
	d.start()
	if res := d.ask("POST", "/api/send", "type,resname,object,class,view,i1\ndata,web01,o1,host,web01,1\n", "x-api-key: "+d.key, "Content-Type: text/csv"); res.StatusCode != 200 {
		t.Fatal(res.body)
	}
	count(1, "made again")
	d.crash()
	d.start()
	count(1, "made again, and killed")
	if res := d.ask("DELETE", "/api/provisioning/custom", "name\nweb01\n", "x-api-key: "+d.key, "Content-Type: text/csv"); res.StatusCode != 200 {
		t.Fatal(res.body)
	}
	d.crash()
	d.start()
	count(0, "without its resource")
	d.stop()
	if out, status := d.verify(); status == 1 {
		t.Errorf("verify: %d %s", status, out)
	}
}
