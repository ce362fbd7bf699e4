package backup

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"belfry"
)

func testManifest() *Manifest {
	at := time.Date(2026, 11, 19, 1, 30, 0, 123456000, time.UTC)
	return &Manifest{
		Format: manifestFormat, Program: "belfry 1.2.3", Instance: testInstance, Position: belfry.PositionOf(7, 3), Begin: at, End: at.Add(time.Minute),
		Files: []Entry{
			{Name: "rows/objectdata/2026-11-15.duckdb", Source: 5, State: "a <b> & c", Size: 5, SHA256: sumOf([]byte("hello"))},
			{Name: "data/mibs/ä.mib", Size: 0, SHA256: sumOf(nil)},
		},
		Missing: []Missing{{"rows/x", "input/output error"}},
	}
}

// sealed adds the last line to the text of a manifest.
func sealed(text string) []byte { return []byte(text + sumOf([]byte(text)) + "\n") }

// TestManifest: what is written reads back the same; any other text is refused with its place and a remedy.
func TestManifest(t *testing.T) {
	text, err := testManifest().encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodeManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	want := testManifest()
	want.sum = m.sum
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v, want %+v", m, want)
	}
	for i := range text {
		flipped := bytes.Clone(text)
		flipped[i] ^= 1
		if _, err := decodeManifest(flipped); err == nil {
			t.Fatalf("byte %d changed is not noticed", i)
		}
		if _, err := decodeManifest(text[:i]); err == nil {
			t.Fatalf("cut after %d bytes is not noticed", i)
		}
	}
	body := string(text[:len(text)-sumLine])
	f := func(old, changed string, words ...string) {
		t.Helper()
		if !strings.Contains(body, old) {
			t.Fatalf("the manifest has no %q:\n%s", old, body)
		}
		_, err := decodeManifest(sealed(strings.Replace(body, old, changed, 1)))
		wantError(t, err, words...)
	}
	f(`"format": 1`, `"format": 2`, "format 2", "newer one")
	f(`"format": 1`, `"format": 0`, "format 0")
	f(`"format": 1,`, `"format": 1, "other": 2,`, "other", "another backup")
	f(`"format": 1,`, `"format": 1,,`, "line 2")
	f(`"size": 5`, `"size": "5"`, "line ")
	f(`"source": 5`, `"source": 6`, "file 1", "2026-11-15.duckdb", "6 and 5")
	f(`"size": 5`, `"size": -5`, "file 1")
	f(testInstance, "xyz", "instance", "32 hexadecimal")
	f(sumOf(nil), "abc", "file 2", "SHA-256")
	f("data/mibs/ä.mib", "../../etc/passwd", "file 2", "../../etc/passwd", "..")
	f("data/mibs/ä.mib", "/etc/passwd", "file 2", "/etc/passwd")
	f("data/mibs/ä.mib", "rows/objectdata/2026-11-15.duckdb", "file 2", "twice")
	f("data/mibs/ä.mib", "rows/objectdata/2026-11-15.duckdb/x", "file 2", "file and of a folder")
	f("data/mibs/ä.mib", "rows/objectdata", "file 2", "twice")
	f(`"rows/x"`, `"rows/../x"`, "missing file 1")
	f(`"instance": "`, `"instance": "x", "instance": "`, "line 4")
	f(`"format": 1,`, `"format":  1,`, "line 2")
	f(`"files": [`, `"encrypted": ["age1x"], "files": [`, "public key")
	f(`"a <b> & c"`, `"a\u0000b"`, "file 1", "state")
	if _, err := decodeManifest(sealed("")); err == nil {
		t.Error("an empty manifest is accepted")
	}
	wantError(t, func() error { _, err := decodeManifest(sealed("{}\n")); return err }(), "format 0")
	wantError(t, func() error { _, err := readManifest(strings.NewReader("x"), "/b/backup.json"); return err }(), "/b/backup.json", "damaged", "another backup")
}

// TestNames: which names may be in a backup.
func TestNames(t *testing.T) {
	f := func(ok bool, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := checkName(name); (err == nil) != ok {
				t.Errorf("%.60q: %v", name, err)
			}
		}
	}
	f(true, "data/format", "data/instance", "data/arrivals", "data/clock", "data/faults", "data/journal_loss", "data/classes/a.yaml", "data/mibs/a/b.mib", "data/collect/engine",
		"rows/manifest", "rows/objectdata/2026-11-15.duckdb", "rows/a b/ü", "meta/meta.db", "meta/meta.db-wal", "journal/0000000000000007.journal", "journal/end", "journal/instance",
		"rows/"+strings.Repeat("a", maxElement))
	f(false, "", ".", "..", "/", "rows", "rows/", "/rows/a", "rows//a", "rows/./a", "rows/../a", "../rows/a", "rows/a/", `rows/a\..`+"\x00", "rows/a\nb", "rows/\xff",
		"other/a", "data/secret.key", "data/lock", "data/restoring", "data/running", "data/control.sock", "data/tls/key", "data/rows/a", "data/journal/end", "data/format/x", "data/meta.db",
		"meta/meta.db-shm", "meta/other", "meta/meta.db/x", "journal/a/b.journal", "journal/.journal", "journal/x.tmp", "rows/belfry.reserve", "rows/tmp/x", "backup.json",
		"rows/"+strings.Repeat("a", maxElement+1), strings.Repeat("rows/", 1000)+"a")
}

// FuzzManifest: the decoder accepts only what encode writes.
func FuzzManifest(f *testing.F) {
	text, err := testManifest().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text[:len(text)-sumLine])
	f.Add([]byte("{}"))
	f.Add([]byte(`{"format": 1, "files": [{"name": "../x"}]}`))
	f.Add([]byte(`{"format": 1, "files": null, "begin": "x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decodeManifest(sealed(string(text)))
		if err != nil {
			if fmt.Sprint(err) == "" {
				t.Error("an error without a text")
			}
			return
		}
		for _, e := range m.Files {
			if err := checkName(e.Name); err != nil {
				t.Error(err)
			}
		}
		if again, err := m.encode(); err != nil || !bytes.Equal(again, sealed(string(text))) {
			t.Errorf("%q is written again as %q", text, again)
		}
	})
}
