package app

import (
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/config"
	"belfry/folder"

	"belfry/journal"
	"belfry/meta/sqlite"
	"belfry/store"
)

// instance is a data folder, made by a command, with a file in it as if rows had been stored.
type instance struct {
	*testing.T
	options Options
	dir, id string
}

func newInstanceFolder(t *testing.T) *instance {
	cfg := config.Default(testCatalog(t))
	cfg.Data = t.TempDir()
	in := &instance{T: t, dir: cfg.Data, options: Options{
		Config: cfg, Catalog: testCatalog(t), Log: slog.New(slog.DiscardHandler), Console: io.Discard, AdminPassword: adminPassword,
	}}
	if err := in.open(); err != nil {
		t.Fatal(err)
	}
	in.write("rows/events/2026-11.duckdb", "rows")
	in.id, _ = journal.ReadInstance(in.dir)
	return in
}

// open opens the folder and closes it again.
func (in *instance) open(accept ...string) error {
	o := in.options
	o.AcceptLoss = accept
	a, err := openOffline(in.Context(), o)
	if err != nil {
		return err
	}
	return a.close()
}

func (in *instance) path(name string) string { return filepath.Join(in.dir, filepath.FromSlash(name)) }

func (in *instance) write(name, text string) {
	in.Helper()
	in.must(os.MkdirAll(filepath.Dir(in.path(name)), 0o700))
	in.must(os.WriteFile(in.path(name), []byte(text), 0o600))
}

func (in *instance) must(err error) {
	in.Helper()
	if err != nil {
		in.Fatal(err)
	}
}

func (in *instance) copyFrom(other *instance, name string) {
	in.Helper()
	info, err := os.Stat(other.path(name))
	in.must(err)
	if info.IsDir() {
		in.must(os.CopyFS(in.path(name), os.DirFS(other.path(name))))
		return
	}
	text, err := os.ReadFile(other.path(name))
	in.must(err)
	in.write(name, string(text))
}

// Every part of a data folder, missing, emptied or of another instance, is noticed, and nothing is changed by it.
func TestPartsBelongTogether(t *testing.T) {
	other := newInstanceFolder(t)
	for _, part := range []string{"journal", "rows", "meta.db"} {
		for _, what := range []string{"missing", "emptied", "foreign"} {
			t.Run(part+" "+what, func(t *testing.T) {
				in := newInstanceFolder(t)
				aside := in.path("aside")
				in.must(os.Rename(in.path(part), aside))
				want := []string{in.path(part), "missing or empty"}
				switch what {
				case "emptied":
					if part == "meta.db" {
						in.write(part, "")
					} else {
						in.must(os.Mkdir(in.path(part), 0o700))
					}
				case "foreign":
					in.copyFrom(other, part)
					want = []string{in.path(part), in.id, other.id}
				}
				if part != "meta.db" {
					want = append(want, "--accept-loss="+part)
				}
				err := in.open()
				for _, words := range want {
					if err == nil || !strings.Contains(err.Error(), words) {
						t.Errorf("the error does not tell %q: %v", words, err)
					}
				}
				in.must(os.RemoveAll(in.path(part)))
				in.must(os.Rename(aside, in.path(part)))
				if err := in.open(); err != nil {
					t.Errorf("the part is back, and yet: %v", err)
				}
			})
		}
	}
}

// A loss can be accepted: what was found in the place of the part is kept aside.
func TestAcceptLoss(t *testing.T) {
	other := newInstanceFolder(t)
	for _, part := range []string{"journal", "rows"} {
		in := newInstanceFolder(t)
		in.must(os.RemoveAll(in.path(part)))
		in.copyFrom(other, part)
		if err := in.open(map[string]string{"journal": "rows", "rows": "journal"}[part]); err == nil {
			t.Errorf("the loss of another part than the %s was accepted", part)
		}
		in.must(in.open(part))
		in.must(in.open())
		found, err := filepath.Glob(in.path(part + ".unfit-*/instance"))
		if err != nil || len(found) != 1 {
			t.Errorf("%s of the other instance: %q, %v", part, found, err)
		}
		if id, err := journal.ReadInstance(in.path(part)); err != nil || id != in.id {
			t.Errorf("%s belongs to %q, %v", part, id, err)
		}
	}
	in := newInstanceFolder(t)
	in.must(os.Remove(in.path("meta.db")))
	if err := in.open("journal", "rows", "metadata"); err == nil {
		t.Error("a folder without metadata was opened")
	}
}

const noInstance = "no id of an instance"

// A first start that is ended at any moment is continued by the next. Metadata in use that have no id are refused.
func TestFirstStart(t *testing.T) {
	const id = "00112233445566778899aabbccddeeff"
	for n := range 4 {
		in := newInstanceFolder(t)
		in.must(os.RemoveAll(in.dir))
		for _, dir := range []string{"", "journal", "rows"}[:n] {
			in.must(journal.WriteInstance(in.path(dir), id))
		}
		if n == 3 { // with a database that has tables and nothing else
			db, err := sqlite.Open(t.Context(), in.path("meta.db"), in.options.Log)
			in.must(errors.Join(err, db.Close()))
		}
		in.must(in.open())
		in.must(in.open())
		if got, _ := journal.ReadInstance(in.path("rows")); n > 0 && got != id || got == "" {
			t.Errorf("after %d steps the rows belong to %q", n, got)
		}
	}
	in := newInstanceFolder(t)
	in.withoutIDs()
	if err := in.open(); err == nil || !strings.Contains(err.Error(), noInstance) || !strings.Contains(err.Error(), in.path("meta.db")) {
		t.Errorf("metadata without an id: %v", err)
	}
	found, err := Verify(t.Context(), in.options)
	in.must(err)
	if !slices.ContainsFunc(found.Problems, func(p store.Problem) bool {
		return p.File == in.path("meta.db") && strings.HasPrefix(p.Problem, noInstance)
	}) {
		t.Errorf("verify: %+v", found.Problems)
	}
	in.must(os.Remove(in.path("meta.db")))
	if err := in.open(); err == nil {
		t.Error("a folder without ids was opened without its metadata")
	}
}

// withoutIDs takes the ids out of all parts of a folder that is in use.
func (in *instance) withoutIDs() {
	in.Helper()
	for _, dir := range []string{"", "journal", "rows"} {
		in.must(os.Remove(in.path(dir + "/instance")))
	}
	meta, err := sqlite.Open(in.Context(), in.path("meta.db"), in.options.Log)
	in.must(err)
	in.must(errors.Join(meta.SkipTo(in.Context(), 1<<32|1, 1), meta.Close()))
	db, err := sql.Open("sqlite", in.path("meta.db"))
	in.must(err)
	_, err = db.Exec(`DELETE FROM instance`)
	in.must(errors.Join(err, db.Close()))
}

// A position or an id is not used a second time when a part is older than another.
func TestOlderParts(t *testing.T) {
	f := func(what string, stored belfry.Position, rows belfry.Position, accept []string, want string) *core {
		t.Helper()
		in := newInstanceFolder(t)
		o := in.options
		o.AcceptLoss = accept
		c, err := lockCore(o)
		in.must(err)
		in.must(c.Identify(t.Context(), rowsNoted(in.options.Config)))
		t.Cleanup(func() { c.Close() })
		in.must(c.DB.SkipTo(t.Context(), stored, 1000))
		err = c.Open(t.Context())
		if err == nil {
			err = c.CheckRows(t.Context(), rows)
		}
		if err == nil {
			err = c.Replay(t.Context(), func(*belfry.Record, bool) error { return nil })
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", what, err)
		}
		return c
	}
	f("as it should be", 0, 1<<32|1, nil, "")
	if c := f("the journal ends early", 7<<32|5, 0, nil, ""); !lost(c, "1·2") {
		t.Error("the loss is not found")
	} else if _, _, next := c.Journal.Bounds(); next != 8<<32 {
		t.Errorf("goes on at %x", next)
	}
	f("rows are ahead", 0, 9<<32|1, nil, "older than the rows")
	c := f("rows are ahead, accepted", 0, 9<<32|1, []string{folder.LossMetadata}, "")
	if _, _, next := c.Journal.Bounds(); next < 9<<32 || c.Tree.LastID() < 1<<32 {
		t.Errorf("goes on at %x with item %d", next, c.Tree.LastID())
	}
	if c := f("the last record is lost", 0, 1<<32|99, nil, ""); c.Tree.LastID() < 1<<20 || !lost(c, "1·2") {
		t.Errorf("goes on with item %d", c.Tree.LastID())
	}
}

// lost reports whether the only open loss begins at a position.
func lost(c *core, position string) bool {
	open, _ := c.OpenLosses()
	return len(open) == 1 && open[0].Position == position
}
