package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// parts is a service whose files a test removes, replaces and damages.
type parts struct {
	dayFiles
	sent int
}

func newParts(t *testing.T, prepare ...func(p *process)) *parts {
	d := &parts{dayFiles: dayFiles{now: time.Now().UTC()}}
	d.process = newProcess(t, func(p *process) {
		for _, f := range prepare {
			f(p)
		}
		d.key = p.key("test", "readwrite")
	})
	if res := d.ask("POST", "/api/provisioning/custom", "name\nweb01\n", "x-api-key: "+d.key, "Content-Type: text/csv"); res.StatusCode != 200 {
		t.Fatal(res.body)
	}
	return d
}

func (d *parts) file(name string) string { return filepath.Join(d.data, filepath.FromSlash(name)) }

// create sends a row about a new object; false when it is refused.
func (d *parts) create() bool {
	d.t.Helper()
	res := d.ask("POST", "/api/send", fmt.Sprintf("type,resname,object,class,view,i1\ndata,web01,o%d,host,web01,%d\n", d.sent+1, d.sent+1), "x-api-key: "+d.key, "Content-Type: text/csv")
	switch res.StatusCode {
	case 200:
		d.sent++
		return true
	case 503:
		return false
	}
	d.t.Fatalf("send: %d %s", res.StatusCode, res.body)
	return false
}

// awaitCreate sends until the service takes a row.
func (d *parts) awaitCreate() {
	d.t.Helper()
	for end := time.Now().Add(hang); !d.create(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("nothing is taken any more:\n%s", d.ask("GET", "/readyz", "").body)
		}
	}
}

// awaitEvents waits until the texts of the events of faults have each of the words.
func (d *parts) awaitEvents(words ...string) {
	d.t.Helper()
	text := ""
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		text = d.sql("SELECT info FROM events WHERE type='internal'", "span=1h", "rows=100").body
		all := true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			return
		}
	}
	d.t.Fatalf("the events do not have %q: %s", words, text)
}

// whole checks that every object is there with its row.
func (d *parts) whole() {
	d.t.Helper()
	for _, q := range []string{"SELECT COUNT(*) AS n FROM objectdata", "SELECT COUNT(*) AS n FROM objectstatus WHERE kind='object'"} {
		res := d.sql(q, "span=1d")
		if strings.Contains(q, "objectstatus") {
			res = d.sql(q)
		}
		if res.StatusCode != 200 || !strings.Contains(res.body, fmt.Sprintf(`"n":%d}`, d.sent)) {
			d.t.Errorf("%s: %d %s, want %d", q, res.StatusCode, res.body, d.sent)
		}
	}
}

// fault returns the open fault with that id; nil when there is none.
func (d *parts) fault(id string) (message string, open bool) {
	d.t.Helper()
	res := d.ask("GET", "/api/health", "", d.logIn("default", "admin", adminPassword))
	var h struct {
		Faults []struct{ ID, Message string }
	}
	if err := json.Unmarshal([]byte(res.body), &h); err != nil {
		d.t.Fatalf("health: %s", res.body)
	}
	for _, f := range h.Faults {
		if f.ID == id {
			return f.Message, true
		}
	}
	return "", false
}

// TestMetadataTaken takes the metadata away under the running service, which notices, writes them again and loses nothing.
func TestMetadataTaken(t *testing.T) {
	t.Parallel()
	d := newParts(t)
	d.awaitCreate()
	meta := d.file("meta.db")
	other, err := os.ReadFile(meta) // a database, but another file
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		do   func() error
		says string
	}{
		{func() error { return os.Remove(meta) }, "meta.db was removed"},
		{func() error { return errors.Join(os.Remove(meta), os.WriteFile(meta, other, 0o600)) }, "meta.db was replaced"},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		d.create() // taken or refused
		d.awaitEvents(c.says)
		d.awaitCreate()
	}
	d.crash()
	d.start()
	d.whole()
	if aside, _ := filepath.Glob(meta + ".unfit-*"); len(aside) == 0 {
		t.Error("the file that was found in the place of the metadata is gone")
	}

	// What cannot be rewritten blocks, until somebody has put it back.
	away := d.file("away")
	if err := errors.Join(os.Rename(meta, away), os.Mkdir(meta+".saved.new", 0o700), os.WriteFile(meta+".saved.new/x", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(hang); ; time.Sleep(20 * time.Millisecond) {
		if res := d.ask("GET", "/readyz", ""); res.StatusCode == 503 && strings.Contains(res.body, "cannot be rewritten") && strings.Contains(res.body, meta) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("ready without metadata")
		}
	}
	if d.create() {
		t.Error("a row was taken that the next start would not know")
	}
	if err := os.Rename(away, meta); err != nil {
		t.Fatal(err)
	}
	d.awaitCreate()
	d.whole()
	d.stop()
}

// TestInstanceTaken removes and changes the files that say to which instance a folder belongs.
func TestInstanceTaken(t *testing.T) {
	t.Parallel()
	d := newParts(t)
	id, err := os.ReadFile(d.file("instance"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"instance", "journal/instance", "rows/instance"} {
		remove(t, d.file(name))
	}
	d.awaitEvents(d.file("instance")+" was removed", d.file("journal/instance"), d.file("rows/instance"), "over after")
	if err := os.WriteFile(d.file("journal/instance"), []byte(strings.Repeat("f", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(hang); ; time.Sleep(20 * time.Millisecond) {
		if text, open := d.fault("instance"); open && strings.Contains(text, "write "+strings.TrimSpace(string(id))) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a changed file is not noticed")
		}
	}
	if err := os.WriteFile(d.file("journal/instance"), id, 0o600); err != nil {
		t.Fatal(err)
	}
	d.stop()
}
