package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"belfry/catalog"
)

var update = flag.Bool("update", false, "rewrite the reference pages")

func testCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func readConfig(t *testing.T, text string) (*Config, error) {
	t.Helper()
	c := Default(testCatalog(t))
	err := c.read(strings.NewReader(text))
	if err == nil {
		err = c.Check()
	}
	return c, err
}

func TestConfig(t *testing.T) {
	f := func(text string, want func(*Config)) {
		t.Helper()
		c := Default(testCatalog(t))
		want(c)
		got, err := readConfig(t, text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return
		}
		if diff := cmp.Diff(c, got, cmp.AllowUnexported(Config{}), cmpopts.IgnoreFields(Config{}, "sources", "lines")); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
	f("", func(*Config) {})
	f("# nothing but a comment\n", func(*Config) {})
	f("limits:\n  # body: 1MiB\nstorage:\n  duckdb:\n  reserve: 0\n", func(c *Config) { c.Storage.Reserve = 0 })
	f("limits: {body: 1MiB, query_time: 5s}", func(c *Config) { c.Limits.Body, c.Limits.QueryTime = 1<<20, Duration(5*time.Second) })
	f("retention: {syslog: 2d, objectdata: 0s}", func(c *Config) {
		c.Retention["syslog"], c.Retention["objectdata"] = Duration(2*day), 0
		c.Retention["objectdata.hour"], c.Retention["objectdata.day"] = 0, 0 // not shorter than the rows
	})
	f("retention: {objectdata: 2000d}", func(c *Config) {
		c.Retention["objectdata"], c.Retention["objectdata.hour"] = Duration(2000*day), Duration(2000*day)
	})
	f("retention: {objectdata.hour: 500d, objectdata.day: 0s}", func(c *Config) {
		c.Retention["objectdata.hour"], c.Retention["objectdata.day"] = Duration(500*day), 0
	})
	f("retention:\n", func(*Config) {})
	f("listen: 0.0.0.0:80\ninsecure_http: true", func(c *Config) { c.Listen, c.InsecureHTTP = "0.0.0.0:80", true })
}

func TestConfigErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := readConfig(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f("limits: {bodi: 1}", "line 1: limits.bodi: unknown setting; did you mean limits.body?")
	f("storage:\n  duckdb:\n    memory_limt: 1GB", "line 3: storage.duckdb.memory_limt: unknown setting; did you mean storage.duckdb.memory_limit?")
	f("log: {level: warn}", "did you mean log_level?")
	f("rows_held: 5", "did you mean limits.rows_held?")
	f("zzzzqqq: 4", `zzzzqqq: there is no such setting; "belfry check" without a file`)
	f("limits: [1]", "line 1: limits: this must be a section, not a list; write its settings below it")
	f("tls: on", `tls: this must be a section, not "on"; write its settings below it, one per line, such as cert: ...`)
	f("oidc: {roles: [a]}", "oidc.roles: this must be a section, not a list; write names and values below it")
	f("retention: 5d", `retention: this must be a section, not "5d"`)
	f("retention: {syslog: [1]}", "retention.syslog: a list is not a single value")
	f("x", `the file: this must be a section, not "x"`)
	f("listen: [1, 2]", "listen: a list is not a text")
	f("listen: 8080", `listen: "8080" is not HOST:PORT`)
	f("data: {a: b}", "data: a section is not a text")
	f("insecure_http: maybe", `insecure_http: "maybe" is not true or false`)
	f("limits: {queries: many}", `limits.queries: "many" is not a whole number`)
	f("limits: {queries: 1.5}", "limits.queries: 1.5 is not a whole number")
	f("limits:\n  queries: many\n  body: large\nlisten: 1:1", "line 2: limits.queries: \"many\" is not a whole number\nline 3: limits.body: \"large\" is not a size")
	f("listen: a\nlisten: b", "listen")
	f("limits: {body: many}", `"many" is not a size`)
	f("limits: {body: -1}", "not a size")
	f("limits: {body: 1e300GB}", "not a size")
	f("limits: {wait: soon}", `"soon" is not a duration`)
	f("limits: {idle: 0s}", "limits.idle: 0s is out of range; it may be 1s to 1d")
	f("limits: {indicators: 101}", "limits.indicators: 101 is out of range; it may be 1 to 100")
	f("# x\nlimits.body: 5MiB", "line 2: limits.body: a nested setting cannot be written with dots; write limits: {body: 5MiB}")
	f("storage:\n  duckdb.dir: x", "line 2: storage.duckdb.dir: a nested setting cannot be written with dots; write storage: {duckdb: {dir: x}}")
	f("retention.objectdata.hour: 5d", "line 1: retention.objectdata.hour: a nested setting cannot be written with dots; write retention: {objectdata.hour: 5d}")
	f("limits.bodi: 5MiB", "line 1: limits.bodi: unknown setting; did you mean limits.body?")
	f("retention:\n  sylog: 5d", `line 2: retention.sylog: there is no historical collection "sylog"; did you mean syslog? known are `)
	f("retention:\n  objectdata.huor: 5d", `line 2: retention.objectdata.huor: there is no historical collection "objectdata.huor"; did you mean objectdata.hour?`)
	f("data: x\nlog_level: verbose", `line 2: log_level: must be debug, info, warn or error, got "verbose"`)
	f("log_level: warning", `line 1: log_level: must be debug, info, warn or error, got "warning"; did you mean warn?`)
	f("listen: 127.0.0.1:99999", `listen: "127.0.0.1:99999" has no port from 0 to 65535`)
	f("admin_listen: 127.0.0.1:-1", `admin_listen: "127.0.0.1:-1" has no port from 0 to 65535`)
	f("oidc: {roles: {admins: root}}", `oidc.roles.admins: must be viewer, operator or administrator, got "root"`)
	f("oidc: {default_role: root}", `oidc.default_role: must be`)
	f("retention: {objectstatus: 1d}", `there is no historical collection "objectstatus"`)
	f("retention: {objectdata.hour: 30d}", "retention: objectdata.hour is 30d, but the rows of objectdata are kept for 400d")
	f("retention: {objectdata: 0s, objectdata.day: 30d}", "the rows of objectdata are kept for ever")
	f("retention: {syslog.hour: 30d}", `there is no historical collection "syslog.hour"`)
	f("listen: 192.0.2.1:80", "--insecure-http")
	f("listen: :80", "--insecure-http")
	f("tls: {cert: a}", "set both")
	f("tls: {cert: a, key: b, self_signed: true}", "not both")
	f("timezone: Nowhere", "unknown time zone")
	f("# x\nlimits:\n  # y\n  bulk_requests: -5", "line 4: limits.bulk_requests: -5 is out of range")
	f("data: x\nlisten: 8080", `line 2: listen: "8080" is not HOST:PORT`)
	f("log_level: info\n---\nlog_lvl: warn", "line 3: the file: a second document begins here")
	f("listen: 127.0.0.1:8080\nadmin_listen: 127.0.0.1:8080", "line 2: admin_listen: 127.0.0.1:8080 is already the address of listen")
}

// TestConfigRoundTrip: what check prints gives the same configuration again.
func TestConfigRoundTrip(t *testing.T) {
	c, err := readConfig(t, "limits: {body: 1000kB, wait: 1500ms}\nretention: {trap: 12h}")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := c.Write(&text); err != nil {
		t.Fatal(err)
	}
	again, err := readConfig(t, text.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again, cmp.AllowUnexported(Config{}), cmpopts.IgnoreFields(Config{}, "sources", "lines")); diff != "" {
		t.Error(diff)
	}
}

func TestDifferences(t *testing.T) {
	a, _ := readConfig(t, "")
	b, _ := readConfig(t, "limits: {queries: 9}\nretention: {trap: 1d}\ndata: elsewhere\nlog_level: debug")
	changed, frozen := Differences(a, b)
	if want := []string{"log_level: info -> debug", "retention.trap: 90d -> 1d", "limits.queries: 4 -> 9"}; !slices.Equal(changed, want) {
		t.Errorf("changed %q, want %q", changed, want)
	}
	if !slices.Equal(frozen, []string{"data"}) {
		t.Errorf("frozen %q", frozen)
	}
	b.Freeze(a)
	if b.Data != a.Data || b.Limits.Queries != 9 {
		t.Errorf("after freeze: %+v", b)
	}
}

func TestUnits(t *testing.T) {
	size := func(in string, want Size, out string) {
		t.Helper()
		var s Size
		if err := s.UnmarshalText([]byte(in)); err != nil || s != want || s.String() != out {
			t.Errorf("%q: %d %s %v", in, s, s, err)
		}
	}
	size("0", 0, "0B")
	size("64MiB", 64<<20, "64MiB")
	size("1 GB", 1e9, "1GB")
	size("1.5gib", 3<<29, "1536MiB")
	size("1023", 1023, "1023B")
	span := func(in string, want time.Duration, out string) {
		t.Helper()
		var d Duration
		if err := d.UnmarshalText([]byte(in)); err != nil || time.Duration(d) != want || d.String() != out {
			t.Errorf("%q: %v %s %v", in, time.Duration(d), d, err)
		}
	}
	span("0s", 0, "0s")
	span("400d", 400*day, "400d")
	span("36h", 36*time.Hour, "36h")
	span("48h", 48*time.Hour, "2d")
	span("1h30m", 90*time.Minute, "1h30m0s")
	span("90s", 90*time.Second, "1m30s")
}

func FuzzConfig(f *testing.F) {
	f.Add("limits: {body: 1MiB}")
	f.Add("retention:\n  syslog: 30d\n")
	f.Add("storage: {duckdb: {dir: rows, memory_limit: 1GB}, min_free: 5GB}")
	f.Add("a: &a [*a]")
	cat := testCatalog(f)
	f.Fuzz(func(t *testing.T, text string) {
		c := Default(cat)
		if c.read(strings.NewReader(text)) != nil || c.Check() != nil {
			return
		}
		var b bytes.Buffer
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		again := Default(cat)
		if err := again.read(&b); err != nil {
			t.Fatalf("cannot read what was written: %v", err)
		}
	})
}

func TestConfigPage(t *testing.T) {
	c := Default(testCatalog(t))
	var b strings.Builder
	b.WriteString("# Configuration\n\nGenerated from `config/config.go`. One YAML file, named by `--config`; whatever it leaves out has its default, and an empty\n" +
		"file is a good one. Unknown keys are errors. `belfry check` says whether a file is right and prints all settings as `serve`\n" +
		"would use them on this machine, without those that were stored [through the API](../guide/settings.md). Settings marked *reload*\n" +
		"follow the file when the process gets SIGHUP.\n\n" +
		"Some sizes follow from the machine's memory unless they are given: `storage.duckdb.memory_limit` and, of `limits`, `memory_held`, `body_held`,\n" +
		"`memory_items`, `texts`, `row`, `bulk_requests`, `script_workers`, `connections` and `all_streams`. The table and the file below have their values for a\n" +
		"machine whose memory is not known; [limits.md](../guide/limits.md) has more.\n\n" +
		"Sizes are written as `64MiB` or `1GB`, durations as `400d`, `12h` or `30s`.\n\n" +
		"| setting | default | reload | meaning |\n|---|---|---|---|\n")
	v := reflect.ValueOf(c).Elem()
	each(v, v, "", func(path string, value, _ reflect.Value, f reflect.StructField) {
		reload := ""
		if f.Tag.Get("reload") != "" {
			reload = "reload"
		}
		def := fmt.Sprintf("`%v`", value.Interface())
		if def == "``" {
			def = "–"
		}
		if _, ok := value.Interface().(Ages); ok {
			def = "see below"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", path, def, reload, f.Tag.Get("help"))
	})
	b.WriteString("\n## The defaults as a file\n\n```yaml\n")
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("```\n")
	path := filepath.Join("..", "docs", "reference", "config.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("%s is not up to date; run make gen:\n%s", path, diff)
	}
}
