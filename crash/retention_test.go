package crash

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRetention sends rows of many days into two collections that are kept for different times. Each row lands in the
// file of its day, each collection loses its own old days, and what a kill leaves in the journal does not bring them
// back.
func TestRetention(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), retention("400d", "400d"))
	s.start()
	c := &client{s: s, key: s.key("default", "crash")}
	mustSend(t, c, "/api/provisioning/custom", "name\nr\n")
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour) // yesterday's
	var b strings.Builder
	b.WriteString("type,resname,object,class,view,timestamp,i1,log\n")
	const days = 12
	for d := range days { // the oldest last: all of it is late
		at := noon.AddDate(0, 0, -d).Format(time.RFC3339)
		fmt.Fprintf(&b, "data,r,o,crash,r,%s,%d,\nlog,r,o,crash,r,%s,,line %d\n", at, d, at, d)
	}
	mustSend(t, c, "/api/send", b.String())
	names := func(newest, n int) (list []string) {
		for d := newest; d < n; d++ {
			list = append(list, noon.AddDate(0, 0, -d).Format(time.DateOnly))
		}
		slices.Sort(list)
		return list
	}
	days0 := map[string]int{"objectdata": days, "objectlog": days}
	f := func(what string, want map[string]int) {
		t.Helper()
		for collection, n := range want {
			rows, err := c.sql("SELECT timestamp FROM " + collection + " WHERE resource='r'")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, row := range rows {
				got[row.Timestamp.Format(time.DateOnly)] = true
			}
			if days := slices.Sorted(maps.Keys(got)); len(rows) != n || !slices.Equal(days, names(0, n)) {
				t.Errorf("%s: %s has %d rows of %v, want one of each day of %v", what, collection, len(rows), days, names(0, n))
			}
			if files := dayFiles(t, s.data, collection); !slices.Equal(files, names(0, n)) {
				t.Errorf("%s: %s has the files %v, want %v", what, collection, files, names(0, n))
			}
		}
	}
	f("sent", days0)

	// Retention is shortened while the program runs. A row of yesterday's noon is between half a day and one and a half
	// days old, so ages of whole days leave the days that begin within them.
	s.configure(retention("6d", "3d"))
	hup := time.Now().UTC()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{}
	for collection, age := range map[string]int{"objectdata": 6, "objectlog": 3} {
		oldest := hup.AddDate(0, 0, -age).Format(time.DateOnly) // its day goes when it has passed whole
		kept[collection] = len(slices.DeleteFunc(names(0, days), func(day string) bool { return day < oldest }))
		s.await("old files to go", func() bool { return len(dayFiles(t, s.data, collection)) <= kept[collection] })
	}
	if kept["objectdata"] == kept["objectlog"] || kept["objectlog"] == 0 {
		t.Fatalf("the test compares nothing: %v", kept)
	}
	f("after retention", kept)

	// The journal still has the rows; neither the shorter nor the longer age brings them back.
	s.kill()
	s.start()
	f("after a kill", kept)
	s.kill()
	s.configure(retention("400d", "400d"))
	s.start()
	f("after a kill, with a longer retention", kept)

	// What is acknowledged is there: a row of a day that is gone is either refused or stored.
	gone := noon.AddDate(0, 0, -kept["objectdata"]-1)
	a, err := c.do("POST", "/api/send", "", fmt.Appendf(nil, "type,object,timestamp,i1\ndata,o,%s,77\n", gone.Format(time.RFC3339)))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.sql("SELECT i1 FROM objectdata WHERE resource='r' AND timestamp <= '" + gone.Format(time.RFC3339) + "'")
	if err != nil {
		t.Fatal(err)
	}
	if taken := a.status == 200; taken != (len(rows) == 1) {
		t.Errorf("a row of %v, a day that was removed, is answered %s and there %d times", gone, a, len(rows))
	}
	s.stop()
	s.innocent()
}

func retention(data, log string) string {
	return fmt.Sprintf("storage: {reserve: 1MiB, min_free: 1MiB}\nretention: {objectdata: %s, objectlog: %s}\n", data, log)
}

// dayFiles lists the days of which a collection has a file.
func dayFiles(t *testing.T, data, collection string) (days []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(data, "rows", collection))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if day, ok := strings.CutSuffix(e.Name(), ".duckdb"); ok {
			days = append(days, day)
		}
	}
	return days
}
