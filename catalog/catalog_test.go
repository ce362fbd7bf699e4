package catalog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected output")

func loadCatalog(t testing.TB) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s is out of date; go test ./catalog -update rewrites it (- file, + program):\n%s", file, d)
	}
}

// TestGolden prints every kind in full, so that a reviewer sees the effect of a changed file.
func TestGolden(t *testing.T) {
	c := loadCatalog(t)
	var b strings.Builder
	for _, col := range c.Collections() {
		fmt.Fprintf(&b, "collection %s alias=%q historical=%t period=%q retention=%q text=%s item=%t\n  %s\n",
			col.Name, col.Alias, col.Historical, col.Period, col.Retention, col.Text, col.Item, col.Help)
		for i := range col.Fields {
			f := &col.Fields[i]
			fmt.Fprintf(&b, "  %-24s %-8s of=%q split=%q  %s\n", f, f.Type, f.Of, f.Split, f.Help)
		}
	}
	for _, cl := range c.Classes() {
		text, err := cl.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "class %s\n", text)
	}
	for _, pt := range c.Packages() {
		fmt.Fprintf(&b, "package %s kind=%s collector=%q parts=%v\n  %s\n", pt.Name, pt.Kind, pt.Collector, pt.Parts, pt.Help)
		for i := range pt.Questions {
			q := &pt.Questions[i]
			fmt.Fprintf(&b, "  %-18s %-8s required=%t default=%q secret=%t  %s (%s)\n", q.Name, q.Type, q.Required, q.Default, q.Secret, q.Help, q.Wants())
		}
	}
	golden(t, "testdata/catalog.golden", b.String())
}

func TestReference(t *testing.T) {
	for _, p := range loadCatalog(t).Reference() {
		golden(t, filepath.Join("..", "docs", "reference", p.File), p.Text)
	}
}

// TestComplete lists the promised kinds, independently of the files.
func TestComplete(t *testing.T) {
	c := loadCatalog(t)
	f := func(collection, kind, fields string) {
		t.Helper()
		col := c.Collection(collection)
		if col == nil {
			t.Errorf("collection %s is missing", collection)
			return
		}
		if col.kind() != kind {
			t.Errorf("%s is %s, want %s", collection, col.kind(), kind)
		}
		for _, name := range strings.Fields("id timestamp " + fields) {
			if r, ok := col.Field(name); !ok || r.Canonical != name {
				t.Errorf("%s: field %s is missing", collection, name)
			}
		}
	}
	f("objectstatus", "current", "name kind resource view parentview object class package status statusname info since lastdata i1 i100 acknowledged isunmanaged unmanageifred collectunmanage collectorunmanage ack ackby acktime unmanagefrom unmanageto unmanagenote note ip host object_1 object_5")
	f("audit", "historical", "user via address request action kind name resource view before after items info")
	f("events", "historical", "source type status previous resource view object class info user")
	f("objectdata", "historical", "resource view object class period i1 i100 i1_min i100_max i7_count ip host")
	f("objectlog", "historical", "resource view object class log c1 ip host")
	f("syslog", "historical", "resource ip host facility severity app procid msgid message category data devicetime")
	f("trap", "historical", "resource ip host version oid name generic specific category severity info p1 varbinds devicetime")
	f("nettrace", "historical", "resource clientip clientport serverip serverport proto application bytesin bytesout packetsin packetsout duration exporter")
	f("apptrace", "historical", "resource service operation kind requests errors duration duration_p50 duration_p95 duration_p99 duration_max period")
	f("apptracespan", "historical", "resource traceid spanid parentid service name kind duration status statusmessage host attributes events")
	f("apptraceid", "historical", "traceid service name spans services errors duration")
	f("voip", "historical", "resource callid caller callee duration status codec mos quality jitter latency loss ip host")
	f("objectsl", "historical", "kind resource view object class period availability performance downtime unmanagedtime incidents mttr target met")
	f("objectml", "historical", "resource view object class indicator kind value expected low high score horizon info")
	f("objectrca", "current", "problem rank kind resource view object status since affected score info")
	f("inventory", "current", "host ip os version arch cpus memory agent lastseen attributes")
	f("replay", "historical", "session page user browser duration errors events resource")
	f("keyvalue", "historical", "collection record key value")
	if n := len(c.Collections()); n != 18 {
		t.Errorf("%d collections, want 18", n)
	}

	p := func(name, columns string) {
		t.Helper()
		pt := c.Package(name)
		if pt == nil {
			t.Errorf("package %s is missing", name)
			return
		}
		for _, col := range strings.Fields(columns) {
			if pt.Question(col) == nil {
				t.Errorf("package %s: column %s is missing", name, col)
			}
		}
	}
	p("view", "name view autoarrange resname class posx posy width height bg")
	p("object", "name resname view class object_1 object_2 object_3 object_4 object_5 ip host")
	p("label", "name view text size colour posx posy")
	p("link", "name view from to text")
	p("picture", "name view picture posx posy")
	p("shortcut", "name view target posx posy")
	p("custom", "name view posx posy width height")
	p("network-ping", "name ip_address_fqdn view posx posy width height")
	p("log-syslog-receiver", "name view filter script")
	p("log-trap-receiver", "name view filter script")
	if got := c.Package("network-ping").Parts[0].ObjectName("Ping-1"); got != "Ping-1 - Ping" {
		t.Errorf("the object of network-ping is called %q", got)
	}
}

func TestLookup(t *testing.T) {
	c := loadCatalog(t)
	for _, name := range []string{"trap", "traps", "TRAP", "Traps"} {
		if col := c.Collection(name); col == nil || col.Name != "trap" {
			t.Errorf("Collection(%q) = %v", name, col)
		}
	}
	if c.Collection("nope") != nil || c.Class("nope") != nil || c.Package("nope") != nil {
		t.Error("an unknown name was found")
	}
	if !slices.IsSortedFunc(c.Collections(), func(a, b *Collection) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("collections are not sorted")
	}
}

// TestLinks: references between files are checked.
func TestLinks(t *testing.T) {
	f := func(want string, files map[string]string) {
		t.Helper()
		fsys := fstest.MapFS{}
		for name, text := range files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		_, err := load(fsys)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	col := "kind: current\ntext: a\nhelp: h\nfields: [{name: a, type: text, help: h}]\n"
	f("must agree", map[string]string{"class/a.yaml": "name: b"})
	f("catalog/class/a.yaml", map[string]string{"class/a.yaml": "nome: a"})
	f("has no file", map[string]string{"package/p.yaml": "name: p\nkind: resource\nhelp: h\nparts: [{name: A, class: b}]"})
	f("share the name", map[string]string{"collection/x.yaml": "name: x\n" + col, "collection/y.yaml": "name: y\nalias: x\n" + col})
}
