package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestVerifyAgrees: belfry verify and the start tell the same about the end of the journal, whatever became of journal/end.
func TestVerifyAgrees(t *testing.T) {
	t.Parallel()
	d := newParts(t)
	some := func() {
		t.Helper()
		for range 3 {
			d.awaitCreate()
		}
		d.sql("SELECT COUNT(*) FROM objectdata", "span=1d") // the row store has them
		d.crash()
	}
	agree := func(when string, lost bool, words ...string) {
		t.Helper()
		out, status := d.verify()
		if (status == 4) != lost || status != 4 && status != 0 {
			t.Errorf("%s: verify ended with %d, loss %t: %s", when, status, lost, out)
		}
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("%s: verify does not say %q: %s", when, w, out)
			}
		}
		d.start()
		if text, open := d.fault("journal_loss"); open != lost {
			t.Errorf("%s: the start found a loss: %t, want %t: %s", when, open, lost, text)
		}
	}
	confirm := func() {
		t.Helper()
		d.belfry("fault", "confirm", "journal_loss")
		d.crash()
	}
	told := func(path string) []string { // of a segment, unless all of it has been stored since and it was removed
		if _, err := os.Stat(path); err != nil {
			return nil
		}
		return []string{path, "was confirmed"}
	}
	end := d.file("journal/end")
	old, err := os.ReadFile(end)
	if err != nil {
		t.Fatal(err)
	}

	some()
	path, at := d.records()
	if err := os.Truncate(path, at[len(at)-3]); err != nil {
		t.Fatal(err)
	}
	remove(t, end)
	agree("without the note, records cut off that the row store has", true, "journal: ", "before what")
	confirm()
	agree("the same, confirmed", false)

	some()
	path, at = d.records()
	d.flip(path, at[len(at)-3]+30)
	agree("a damaged record", true, path)
	confirm()
	agree("the same, confirmed", false, told(path)...)

	if testing.Short() {
		d.stop()
		return // the rest is part of make soak
	}

	some()
	remove(t, end)
	agree("without the note, the journal whole", false)

	some()
	if err := os.WriteFile(end, old, 0o600); err != nil {
		t.Fatal(err)
	}
	agree("an old note, the journal whole", false)

	some()
	path, at = d.records()
	if err := os.Truncate(path, at[len(at)-3]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(end, old, 0o600); err != nil {
		t.Fatal(err)
	}
	agree("an old note, records cut off that the row store has", true, "journal: ", "before what")
	confirm()
	agree("the same, confirmed", false)

	some()
	path, _ = d.records()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	agree("an empty segment", true, path)
	confirm()
	agree("the same, confirmed", false, told(path)...)
	d.stop()
}

// TestEndInTheWay puts something else in the place of journal/end. The service works without the note, says so with the words of
// belfry verify, and writes the note when its place is free.
func TestEndInTheWay(t *testing.T) {
	t.Parallel()
	d := newParts(t)
	end, aside := d.file("journal/end"), d.file("aside")
	d.stop()
	for _, c := range []struct {
		put  func() error
		says string
	}{
		{func() error { return os.Mkdir(end, 0o700) }, "it is a folder, not a file"},
		{func() error { return os.Symlink(aside, end) }, "it is a symbolic link, not a file"},
	} {
		remove(t, end)
		if err := c.put(); err != nil {
			t.Fatal(err)
		}
		out, status := d.verify()
		d.start()
		text, open := d.fault("journal_end")
		for _, words := range []string{end, c.says, "Move it away"} {
			if status != 4 || !strings.Contains(out, words) {
				t.Errorf("verify: %d %s, want %q", status, out, words)
			}
			if !open || !strings.Contains(text, words) {
				t.Errorf("the fault: %t %q, want %q", open, text, words)
			}
		}
		if _, lost := d.fault("journal_loss"); lost {
			t.Error("a loss was told")
		}
		d.awaitCreate()
		if res := d.ask("GET", "/readyz", ""); res.StatusCode != 200 {
			t.Errorf("readyz: %s", res.body)
		}
		remove(t, end)
		d.awaitCreate()
		for deadline := time.Now().Add(hang); open; time.Sleep(20 * time.Millisecond) {
			if _, open = d.fault("journal_end"); open && time.Now().After(deadline) {
				t.Fatal("the fault continues although the place is free")
			}
		}
		d.crash()
		if info, err := os.Lstat(end); err != nil || !info.Mode().IsRegular() {
			t.Errorf("the note was not written: %v", err)
		}
		if _, err := os.Lstat(aside); err == nil {
			t.Error("the link was followed")
		}
		if out, status := d.verify(); status != 0 {
			t.Errorf("verify afterwards: %d %s", status, out)
		}
	}
}

// settled creates rows until the metadata have noted that they are in the row store. The list of files says so right before they do,
// each time in the same order, so at its second change they have noted the first.
func (d *parts) settled() {
	d.t.Helper()
	for range 2 {
		before, err := os.ReadFile(d.file("rows/manifest"))
		if err != nil {
			d.t.Fatal(err)
		}
		d.awaitCreate()
		d.sql("SELECT COUNT(*) FROM objectdata", "span=1d")
		d.until("it is noted how far the rows have come", func() bool {
			now, err := os.ReadFile(d.file("rows/manifest"))
			return err == nil && strings.Count(string(now), "\nmoved ") > strings.Count(string(before), "\nmoved ")
		})
	}
}

// TestOlderRows puts back a folder of rows that is older than the metadata. What the journal has is stored again, and what it does
// not have any more is told as a loss.
func TestOlderRows(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	t.Parallel()
	d := newParts(t)
	d.awaitCreate()
	d.stop()
	old := t.TempDir()
	if err := os.CopyFS(old, os.DirFS(d.data)); err != nil {
		t.Fatal(err)
	}
	putBack := func(part string) {
		t.Helper()
		if err := os.RemoveAll(d.file(part)); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(d.file(part), os.DirFS(filepath.Join(old, part))); err != nil {
			t.Fatal(err)
		}
	}
	d.start()
	d.settled()
	d.crash()
	putBack("rows")
	if out, status := d.verify(); status != 0 {
		t.Errorf("verify: %d %s", status, out)
	}
	d.start()
	d.whole()
	d.settled()
	d.crash()
	putBack("rows")
	putBack("journal")
	if out, status := d.verify(); status != 4 || !strings.Contains(out, "before what the metadata have") {
		t.Errorf("verify: %d %s", status, out)
	}
	d.start()
	if _, open := d.fault("journal_loss"); !open {
		t.Error("no loss is told")
	}
	if res := d.ask("GET", "/api/sql?span=1d&q=SELECT+COUNT(*)+FROM+objectdata", "", "x-api-key: "+d.key); res.StatusCode != 503 {
		t.Errorf("a query over the lost rows: %d %s", res.StatusCode, res.body)
	}
	d.stop()
}
