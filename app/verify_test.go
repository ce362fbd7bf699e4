package app

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/folder"
	"belfry/meta/sqlite"
)

// files are the names of all files below the folder with their content. The lock is no part of the data.
func (in *instance) files() map[string]string {
	in.Helper()
	all := map[string]string{}
	in.must(fs.WalkDir(os.DirFS(in.dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && path != "lock" {
			var text []byte
			text, err = os.ReadFile(in.path(path))
			all[path] = string(text)
		}
		return err
	}))
	return all
}

func (in *instance) verify() (list []string) {
	in.Helper()
	before := in.files()
	v, err := Verify(in.Context(), in.options)
	in.must(err)
	for _, p := range v.Problems {
		if p.Remedy == "" {
			in.Errorf("no remedy: %+v", p)
		}
		list = append(list, p.File+": "+p.Problem)
	}
	if after := in.files(); !maps.Equal(before, after) {
		in.Errorf("verify has changed files: had %q, has %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	return list
}

// Every kind of damage to metadata, journal and the files named instance is found.
func TestVerifyParts(t *testing.T) {
	healthy := newInstanceFolder(t)
	healthy.must(os.RemoveAll(healthy.path("rows/events")))
	db, err := sqlite.Open(t.Context(), healthy.path("meta.db"), healthy.options.Log)
	healthy.must(err)
	healthy.must(db.SkipTo(t.Context(), 1<<32|1, 100))
	healthy.must(db.Close())
	other := newInstanceFolder(t)
	segment := "journal/0000000000000001.journal"
	if found := healthy.verify(); len(found) != 0 {
		t.Fatalf("a healthy folder: %q", found)
	}
	for _, c := range []struct {
		name string
		do   func(in *instance)
		want string
	}{
		{"metadata missing", func(in *instance) { in.must(os.Remove(in.path("meta.db"))) }, "meta.db: missing"},
		{"metadata cut", func(in *instance) { in.must(os.Truncate(in.path("meta.db"), 9000)) }, "meta.db: "},
		{"metadata zeroed", func(in *instance) { in.write("meta.db", strings.Repeat("\x00", 10000)) }, "meta.db: "},
		{"metadata damaged", func(in *instance) {
			text := []byte(in.read("meta.db"))
			copy(text[4096:], bytes.Repeat([]byte{0xa5}, 4096))
			in.write("meta.db", string(text))
		}, "meta.db: "},
		{"metadata foreign", func(in *instance) { in.copyFrom(other, "meta.db") }, "instance: names instance"},
		{"journal missing", func(in *instance) { in.must(os.RemoveAll(in.path("journal"))) }, "journal: missing"},
		{"segment missing", func(in *instance) { in.must(os.Remove(in.path(segment))) }, "journal: missing"},
		{"journal flipped", func(in *instance) {
			text := []byte(in.read(segment))
			text[112+30] ^= 0xff
			in.write(segment, string(text))
		}, "payload does not match its checksum, lost 1·1 to 1·1"},
		{"journal cut", func(in *instance) { in.must(os.Truncate(in.path(segment), 112)) }, "segment ends too early, lost 1·1 to 1·1"},
		{"journal cut, no note of its end", func(in *instance) {
			in.must(os.Truncate(in.path(segment), 112))
			in.must(os.Remove(in.path("journal/end")))
		}, "journal: the journal ends at 0·0, before what the metadata have"},
		{"segment emptied", func(in *instance) { in.must(os.Truncate(in.path(segment), 0)) }, "segment ends too early, lost 1·1 to 1·1"},
		{"segment emptied, no note of its end", func(in *instance) {
			in.must(os.Truncate(in.path(segment), 0))
			in.must(os.Remove(in.path("journal/end")))
		}, "all of the segment is damaged"},
		{"note of the end damaged", func(in *instance) { in.must(os.Truncate(in.path("journal/end"), 7)) }, "journal/end: the file with the journal's end cannot be used: it does not have 64 bytes"},
		{"instance missing", func(in *instance) { in.must(os.Remove(in.path("instance"))) }, "instance: missing"},
		{"instance of the journal missing", func(in *instance) { in.must(os.Remove(in.path("journal/instance"))) }, "journal/instance: missing"},
		{"instance of the rows differs", func(in *instance) { in.write("rows/instance", other.id) }, "rows/instance: names instance " + other.id},
		{"instance is nonsense", func(in *instance) { in.write("journal/instance", "x") }, "should hold 32 hexadecimal digits"},
		{"format empty", func(in *instance) { in.write("format", "") }, "format: "},
		{"format is junk", func(in *instance) { in.write("format", "\x00\x01junk") }, "format: "},
		{"format newer", func(in *instance) { in.write("format", "99\n") }, "format: "},
		{"format is a folder", func(in *instance) {
			in.must(os.Remove(in.path("format")))
			in.must(os.Mkdir(in.path("format"), 0o700))
		}, "format: "},
		{"format missing", func(in *instance) { in.must(os.Remove(in.path("format"))) }, ""}, // the start writes it
		{"a loss is open", func(in *instance) { in.write("journal_loss", `[{"position":"7·3","why":"middle"}]`) }, "may be missing: middle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &instance{T: t, options: healthy.options, dir: t.TempDir()}
			in.options.Existing = true
			cfg := *healthy.options.Config
			cfg.Data = in.dir
			in.options.Config = &cfg
			in.must(os.CopyFS(in.dir, os.DirFS(healthy.dir)))
			c.do(in)
			found := strings.Join(in.verify(), "\n")
			if !strings.Contains(found, c.want) || (found == "") != (c.want == "") {
				t.Errorf("found %q, want %q", found, c.want)
			}
			// The start agrees about the format.
			lock, err := lockCore(in.options)
			if err == nil {
				in.must(lock.Close())
			}
			if (err != nil) != strings.HasPrefix(c.want, "format: ") {
				t.Errorf("the start: %v", err)
			}
		})
	}
}

// A start that fails because of damaged metadata names the file and says what to do.
func TestDamagedMetadataAreNamed(t *testing.T) {
	in := newInstanceFolder(t)
	in.must(os.RemoveAll(in.path("rows/events")))
	whole := in.read("meta.db")
	failed := 0
	f := func(name, text string) {
		t.Helper()
		in.write("meta.db", text)
		err := in.open()
		if err == nil {
			return
		}
		failed++
		for _, want := range []string{in.path("meta.db") + " are damaged: ", "Restore the file from a backup", "belfry verify --data " + in.dir, "docs/guide/damage.md"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	const page = 4096
	for at := 0; at < len(whole); at += page {
		f(fmt.Sprintf("page %d is zeroed", at/page), whole[:at]+strings.Repeat("\x00", page)+whole[at+page:])
	}
	f("cut in half", whole[:len(whole)/2])
	if failed < 3 {
		t.Errorf("%d kinds of damage kept it from starting: nothing was shown", failed)
	}
}

func (in *instance) read(name string) string {
	in.Helper()
	text, err := os.ReadFile(in.path(name))
	in.must(err)
	return string(text)
}

// TestVerifyClock: verify tells of a note of the clock that cannot be right, and takes no offence at one of a folder that was
// idle for long.
func TestVerifyClock(t *testing.T) {
	c := newClockedCore(t)
	c.must(os.RemoveAll(c.path("rows/events")))
	const week = 7 * 24 * time.Hour
	c.run(-week)
	f := func(text, want string) {
		t.Helper()
		c.write(folder.ClockFile, text)
		found := strings.Join(c.verify(), "\n")
		if !strings.Contains(found, want) || (found == "") != (want == "") {
			t.Errorf("%q: verify says %q, want %q", text, found, want)
		}
	}
	f(c.now().UTC().Format(time.RFC3339), "")
	f(time.Now().UTC().Format(time.RFC3339), "")
	f("1970-01-01T00:00:00Z\n", "clock: it says 1970-01-01T00:00:00Z, which is about ")
	f("9999-12-31T00:00:00Z\n", "clock: it says 9999-12-31T00:00:00Z, which is about ")
	f("\x00\x00", "clock: it cannot be used: ")
}
