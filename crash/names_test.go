package crash

import (
	encoding "encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"belfry"
	"belfry/meta/sqlite"
)

// TestNames kills the program when the rows of a new object have reached their file and the object itself has not
// reached the database, and notes in the database what the program notes every second: how far the rows have come. After
// the start the rows must be known by name all the same.
func TestNames(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), "storage: {reserve: 1MiB, min_free: 1MiB}\n")
	s.start()
	c := &client{s: s, key: s.key("default", "crash")}
	mustSend(t, c, "/api/provisioning/custom", "name\nr\n")
	for _, object := range []string{"one", "two", "three"} {
		mustSend(t, c, "/api/send", "type,resname,object,class,view,i1\ndata,r,"+object+",crash,r,1\n")
		if n, err := c.count("objectdata", " AND object='"+object+"'"); err != nil || n != 1 { // asking makes the row move
			t.Fatalf("%s has %d rows, %v", object, n, err)
		}
		s.kill()
		noteRows(t, s.data)
		s.start()
		var names []string
		err := c.each("SELECT object, resource FROM objectdata WHERE object='"+object+"'", func(f []string) { names = append(names, f...) })
		if err != nil || !slices.Equal(names, []string{object, "r"}) {
			t.Errorf("after the kill the row of %s is named %q, %v", object, names, err)
		}
	}
}

// noteRows says in the database that all rows up to the end of the journal are stored.
func noteRows(t *testing.T, data string) {
	t.Helper()
	end, err := os.ReadFile(filepath.Join(data, "journal", "end"))
	if err != nil || len(end) < 20 {
		t.Fatalf("the end of the journal: %d bytes, %v", len(end), err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "meta.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.MarkRows(t.Context(), belfry.Position(encoding.LittleEndian.Uint64(end[12:]))); err != nil {
		t.Fatal(err)
	}
}
