package crash

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// twins are a service and one that was restored from a backup of it. Both went on: they have given the same positions and ids to
// different rows.
type twins struct {
	own, other string   // folders, of services that have ended
	ownRows    []string // what a query finds in them
	otherRows  []string
	key        string
}

// mixedParts are what a folder can have of either twin. The days that are over are one part.
var mixedParts = []func(name string) bool{
	func(name string) bool { return name == "branches" },
	func(name string) bool { return strings.HasPrefix(name, "meta.db") },
	func(name string) bool { return strings.HasPrefix(name, "journal/") },
	func(name string) bool { return name == "rows/manifest" || name == "rows/branches" },
	func(name string) bool {
		return strings.HasPrefix(name, "rows/events/") || strings.HasPrefix(name, "rows/audit/")
	},
	func(name string) bool { return strings.HasPrefix(name, "rows/objectdata/") && !today(name) },
	func(name string) bool { return strings.HasPrefix(name, "rows/objectdata/") && today(name) },
}

func today(name string) bool { return strings.Contains(name, time.Now().UTC().Format(time.DateOnly)) }

// TestMixedParts puts every selection of parts of a twin into the folder of the other, with and without the list of starts. The start
// refuses it, or a query is refused, or the answer is exactly that of one of the two: never rows of both, and never less than what was
// acknowledged.
func TestMixedParts(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak; branches.txtar has the cases that matter")
	}
	for _, killed := range []bool{false, true} {
		tw := makeTwins(t, killed)
		results := map[string]int{}
		for mask := range 1 << len(mixedParts) {
			for _, listed := range []bool{true, false} {
				what := fmt.Sprintf("killed %t, parts %07b, list %t", killed, mask, listed)
				results[tw.mix(t, what, mask, listed)]++
			}
		}
		t.Logf("killed %t: %v", killed, results)
		for _, r := range []string{"refused", "own", "other"} {
			if results[r] == 0 {
				t.Errorf("killed %t: nothing was %q", killed, r)
			}
		}
	}
}

func makeTwins(t *testing.T, killed bool) *twins {
	t.Helper()
	dir := t.TempDir()
	tw := &twins{own: filepath.Join(dir, "own"), other: filepath.Join(dir, "other")}
	own, other := newServer(t, tw.own, wreckConfig), newServer(t, tw.other, wreckConfig)
	own.start()
	tw.key = own.key("default", "crash")
	c := &client{s: own, key: tw.key}
	mustSend(t, c, "/api/provisioning/custom", "name\nr\n")
	mustSend(t, c, "/api/send", twinRows("base", 1))
	backups := filepath.Join(dir, "backups")
	if out, err := own.cli("backup", "--quiet", backups); err != nil {
		t.Fatal(out, err)
	}
	own.stop()
	own.start() // so both have had as many starts
	own.stop()
	if out, err := other.cli("restore", "--quiet", backups); err != nil {
		t.Fatal(out, err)
	}
	goOn := func(s *server, name string, value int) (rows []string) {
		s.start()
		c := &client{s: s, key: tw.key}
		mustSend(t, c, "/api/send", twinRows(name, value))
		mustSend(t, c, "/api/send", twinRows(name+"late", value+5))
		rows, err := twinContent(c)
		if err != nil {
			t.Fatal(err)
		}
		if killed {
			s.kill()
		} else {
			s.stop()
		}
		os.Remove(filepath.Join(s.data, "control.sock")) // cannot be copied; a stop has removed it
		return rows
	}
	tw.ownRows, tw.otherRows = goOn(own, "ours", 20), goOn(other, "theirs", 30)
	return tw
}

// twinRows are rows of yesterday and of today.
func twinRows(name string, value int) string {
	at := time.Now().UTC()
	text := "type,timestamp,resname,object,class,view,i1\n"
	for i, t := range []time.Time{at.AddDate(0, 0, -1), at, at} {
		text += fmt.Sprintf("data,%s,r,%s%d,crash,r,%d\n", t.Format(time.RFC3339), name, i, value)
	}
	return text
}

// twinContent returns all rows.
func twinContent(c *client) (list []string, err error) {
	rows, err := c.sql("SELECT object, i1 FROM objectdata", "span=3d")
	for _, r := range rows {
		list = append(list, fmt.Sprint(r.Object, " ", *r.I1))
	}
	slices.Sort(list)
	return list, err
}

// mix starts a folder with some parts of the other twin, and returns what became of it.
func (tw *twins) mix(t *testing.T, what string, mask int, listed bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(tw.own)); err != nil {
		t.Fatal(err)
	}
	chosen := func(name string) bool {
		i := slices.IndexFunc(mixedParts, func(part func(string) bool) bool { return part(name) })
		return i >= 0 && mask>>i&1 == 1
	}
	for _, from := range []string{tw.own, tw.other} { // what only the own one has goes first
		err := fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() || !chosen(name):
				return err
			case from == tw.own:
				return os.Remove(filepath.Join(dir, name))
			}
			text, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, name), text, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !listed {
		os.Remove(filepath.Join(dir, "branches"))
	}
	s := newServer(t, dir, wreckConfig)
	defer s.kill()
	s.launch()
	c := &client{s: s, key: tw.key}
	select {
	case <-s.ended:
		return "refused"
	case s.base = <-s.addr:
	}
	for limit := time.Now().Add(hangTimeout); time.Now().Before(limit); time.Sleep(2 * time.Millisecond) {
		rows, err := twinContent(c)
		switch {
		case err == nil && slices.Equal(rows, tw.ownRows):
			return "own"
		case err == nil && slices.Equal(rows, tw.otherRows):
			return "other"
		case err == nil:
			t.Errorf("%s: %v, want %v or %v\n%s", what, rows, tw.ownRows, tw.otherRows, s.text())
			return "wrong"
		case strings.Contains(err.Error(), "rows of objectdata"):
			return "query refused"
		}
		select { // it starts, or has ended
		case <-s.ended:
			return "refused"
		default:
		}
	}
	t.Errorf("%s: no answer\n%s", what, s.text())
	return "no answer"
}
