package crash

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Layout of a journal segment, as far as the damage has to hit certain parts of it.
const (
	segmentHeader = 112
	recordHeader  = 24
	recordMarker  = "\xff\xfe\xf5\xc0"
)

// wreck is a data folder as a kill left it, with acknowledged requests that are only in the journal.
type wreck struct {
	dir     string
	key     string
	segment string // the newest, relative to dir
	text    []byte // of the segment
	starts  []int  // of its records; the end of the last one is at the end of the list
}

const wrecked = 6 // requests; the k-th makes the object ok

// TestDamagedJournal damages the journal and starts the program: at most the record that was hit is lost, the others are
// there, and it is told, in the log and as an event that a query finds.
func TestDamagedJournal(t *testing.T) {
	w := makeWreck(t)
	lost := 0
	var cases []func(t *testing.T)
	f := func(name string, mayLose []int, tell bool, damage func([]byte) []byte) {
		cases = append(cases, func(t *testing.T) {
			t.Run(name, func(t *testing.T) { lost += w.start(t, mayLose, tell, damage(slices.Clone(w.text))) })
		})
	}
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 0x5a; return b }
	}
	for _, at := range []int{0, 8, 29, 35, 36, 55, 56, 111} {
		f(fmt.Sprintf("segment header, byte %d", at), nil, true, flip(at))
	}
	for k := range wrecked {
		from, to := w.starts[k], w.starts[k+1]
		rest := make([]int, 0, wrecked)
		for i := k; i < wrecked; i++ {
			rest = append(rest, i)
		}
		for what, at := range map[string]int{
			"marker": 0, "length": 4, "position": 8, "checksum": 16, "checksum of the header": 20,
			"first byte": recordHeader, "middle": recordHeader + (to-from-recordHeader)/2, "last byte": to - from - 1,
		} {
			f(fmt.Sprintf("record %d, %s", k, what), []int{k}, true, flip(from+at))
		}
		middle := (from + to) / 2
		// A byte that is missing moves all that follows, so the record behind is not where it should be either.
		f(fmt.Sprintf("record %d, a byte less", k), []int{k, k + 1}, true, func(b []byte) []byte { return slices.Delete(b, middle, middle+1) })
		f(fmt.Sprintf("record %d, cut in its middle", k), rest, true, func(b []byte) []byte { return b[:middle] })
		f(fmt.Sprintf("record %d, cut in its header", k), rest, true, func(b []byte) []byte { return b[:from+recordHeader/2] })
		f(fmt.Sprintf("record %d, cut before it", k), rest, true, func(b []byte) []byte { return b[:from] })
		f(fmt.Sprintf("record %d, zeros from it on", k), rest, true, func(b []byte) []byte { clear(b[from:]); return b })
		f(fmt.Sprintf("record %d, zeros from its middle on", k), rest, true, func(b []byte) []byte { clear(b[middle:]); return b })
	}
	end := w.starts[wrecked]
	f("zeros over the last two records", []int{wrecked - 2, wrecked - 1}, true, func(b []byte) []byte { clear(b[max(end-512, w.starts[wrecked-2]):end]); return b })
	f("behind the last record", nil, true, flip(end+100))
	f("nothing at all", nil, false, func(b []byte) []byte { return b })
	for i, run := range cases {
		if !testing.Short() || i%25 == 0 || i >= len(cases)-3 {
			run(t)
		}
	}
	if lost == 0 {
		t.Error("no damage cost anything: the rows were not in the journal alone, so nothing was shown")
	}
	t.Logf("%d kinds of damage to a journal of %d records, %d of them cost something", len(cases), wrecked, lost)
}

// makeWreck kills the program right after it has acknowledged requests.
func makeWreck(t *testing.T) *wreck {
	t.Helper()
	w := &wreck{dir: filepath.Join(t.TempDir(), "data")}
	s := newServer(t, w.dir, wreckConfig)
	s.start()
	w.key = s.key("default", "crash")
	c := &client{s: s, key: w.key}
	mustSend(t, c, "/api/provisioning/custom", "name\nr\n")
	mustSend(t, c, "/api/send", "type,resname,object,class,view,i1\ndata,r,base,crash,r,1\n")
	s.stop()
	s.start()
	for k := range wrecked {
		mustSend(t, c, "/api/send", fmt.Sprintf("type,resname,object,class,view,i1\ndata,r,o%d,crash,r,%d\n", k, k))
	}
	s.kill()
	if err := os.Remove(filepath.Join(w.dir, "control.sock")); err != nil { // a socket cannot be copied
		t.Fatal(err)
	}
	w.read(t)
	return w
}

const wreckConfig = "storage: {reserve: 0B, min_free: 1MiB}\n"

func mustSend(t *testing.T, c *client, path, body string) {
	t.Helper()
	if a, err := c.do("POST", path, "", []byte(body)); err != nil || a.status != 200 {
		t.Fatalf("%s: %v %v\n%s", body, a, err, c.s.text())
	}
}

// read finds the records of the newest segment, and keeps of the zeros behind them only a few. The first record is the event of the start.
func (w *wreck) read(t *testing.T) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(w.dir, "journal", "*.journal"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no journal: %v", err)
	}
	path := slices.Max(list)
	w.segment = filepath.Join("journal", filepath.Base(path))
	if w.text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	at := segmentHeader
	for bytes.HasPrefix(w.text[at:], []byte(recordMarker)) {
		w.starts = append(w.starts, at)
		at += recordHeader + int(w.text[at+4]) + int(w.text[at+5])<<8
	}
	if len(w.starts) != 1+wrecked {
		t.Fatalf("%s has records at %v, want %d of them", path, w.starts, 1+wrecked)
	}
	w.starts, w.text = append(w.starts[1:], at), w.text[:at+1000]
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

var journalWarning = regexp.MustCompile(`level=(WARN|ERROR) .*journal`)

// start starts the program on a copy with the segment as given, and tells whether something was lost.
func (w *wreck) start(t *testing.T, mayLose []int, tell bool, segment []byte) int {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, w.segment), segment, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, dir, wreckConfig)
	s.start()
	c := &client{s: s, key: w.key}
	have := w.objects(t, c)
	lost := 0
	for k := range wrecked {
		if n := have[fmt.Sprintf("o%d", k)]; n > 1 || n == 0 && !slices.Contains(mayLose, k) {
			t.Errorf("the row of request %d is there %d times; only %v may be lost", k, n, mayLose)
		} else if n == 0 {
			lost = 1
		}
	}
	if have["base"] != 1 {
		t.Errorf("what was in the stores: %v", have)
	}
	// A loss is no 200 without a word, and what cannot be a loss is no fault. In between is what the kill decides: a row may
	// be in the store whose position was not noted yet, and then the loss of its record is told although it cost nothing.
	if _, err := c.sql("SELECT object, i1 FROM objectdata WHERE resource='r'"); lost > 0 && err == nil || err != nil && (len(mayLose) == 0 || !strings.Contains(err.Error(), `"storage_unavailable"`)) {
		t.Errorf("a query with %d rows lost: %v", lost, err)
	}
	events, err := c.sql("SELECT info FROM events WHERE type='internal' AND NOT info LIKE 'the service %'", "partial=true")
	if err != nil {
		t.Fatal(err)
	}
	warned := journalWarning.MatchString(s.text())
	if tell && (len(events) == 0 || !warned) || !tell && lost == 0 && len(events)+len(mayLose) == 0 && warned {
		t.Errorf("%d events %v, warned %t", len(events), events, warned)
	}
	mustSend(t, c, "/api/send", "type,resname,object,class,view,i1\ndata,r,after,crash,r,1\n")
	if have := w.objects(t, c); have["after"] != 1 {
		t.Errorf("what was sent afterwards: %v", have)
	}
	if t.Failed() {
		t.Logf("log:\n%s", s.text())
	}
	s.kill()
	return lost
}

// objects counts the data rows of each object, and compares them with the state.
func (w *wreck) objects(t *testing.T, c *client) map[string]int {
	t.Helper()
	rows, err := c.sql("SELECT object, i1 FROM objectdata WHERE resource='r'", "partial=true")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, f := range rows {
		have[f.Object]++
	}
	states, err := c.sql("SELECT name, kind, status FROM objectstatus")
	if err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(have)
	for _, f := range states {
		if f.Kind != "object" && f.Status != "0" {
			t.Errorf("%s %s has the status %s", f.Kind, f.Name, f.Status)
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("objects %v have rows and do not exist", want)
	}
	return have
}
