package syslog

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leodido/go-syslog/v4/rfc5424"
)

var update = flag.Bool("update", false, "write the expected output again")

var testLines = &Parser{Zone: time.FixedZone("there", 3600), Now: func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) }}

// TestSyslogLines reads lines as families of devices write them, each with the expected result.
func TestSyslogLines(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) < 10 {
		t.Fatalf("%d families of devices", len(files))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var want, got strings.Builder
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "{") || line == "" {
				want.WriteString(line + "\n")
				continue
			}
			want.WriteString(line + "\n")
			got.WriteString(line + "\n" + shown(testLines.Parse(line)) + "\n\n")
		}
		if *update {
			if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got.String() != want.String() {
			t.Errorf("%s:\n%s", name, got.String())
		}
	}
}

// TestSyslogOddLines reads lines of a table: real shapes of headers, each in many variations, and what a person reads from them. They
// were not written by the reader, and -update leaves them alone.
func TestSyslogOddLines(t *testing.T) {
	text, err := os.ReadFile("testdata/odd.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for row := range strings.Lines(string(text)) {
		var want struct {
			Line string `json:"line"`
			Message
		}
		if err := json.Unmarshal([]byte(row), &want); err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		got := testLines.Parse(want.Line)
		if !got.DeviceTime.Equal(want.DeviceTime) {
			t.Errorf("%q: the time is %v, want %v", want.Line, got.DeviceTime, want.DeviceTime)
		}
		got.DeviceTime = want.DeviceTime
		if got != want.Message {
			t.Errorf("%q:\ngot  %s\nwant %s", want.Line, shown(got), shown(want.Message))
		}
		n++
	}
	if n < 600 {
		t.Errorf("there are %d lines", n)
	}
}

// TestSyslogBytes reads lines that are not UTF-8: each invalid byte is replaced by a replacement character.
func TestSyslogBytes(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		if got := testLines.Parse(line).Message; got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	f("<13>gr\xfc\xdfe", "gr\uFFFD\uFFFDe")
	f("<13>gr\xfc\xdfe gr\u00fc\u00dfe", "gr\uFFFD\uFFFDe gr\u00fc\u00dfe")
	f("<13>cut \xe6\x97", "cut \uFFFD\uFFFD")
	f("<13>a mark \uFFFD\xff", "a mark \uFFFD\uFFFD")
}

// shown returns a message as in the golden files: empty fields are left out.
func shown(m Message) string {
	all := map[string]any{}
	text, _ := json.Marshal(m)
	json.Unmarshal(text, &all)
	for k, v := range all {
		if v == "" {
			delete(all, k)
		}
	}
	out := &strings.Builder{}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.Encode(all)
	return strings.TrimSuffix(out.String(), "\n")
}

// FuzzSyslogLine: no line is lost, and where a strict reader of RFC 5424 understands one, both understand the same.
func FuzzSyslogLine(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
	odd, _ := os.ReadFile("testdata/odd.jsonl")
	for i, row := range slices.Collect(strings.Lines(string(odd))) {
		var seed struct{ Line string }
		if i%10 == 0 && json.Unmarshal([]byte(row), &seed) == nil { // more take long to run through
			f.Add(seed.Line)
		}
	}
	judge := rfc5424.NewParser()
	f.Fuzz(func(t *testing.T, line string) {
		m := testLines.Parse(line)
		kept := m.Message + m.App + m.ProcID + m.MsgID + m.Host + m.Data
		if strings.TrimLeft(sanitize(line), " ") != "" && kept == "" && m.DeviceTime.IsZero() && !strings.HasPrefix(line, "<") {
			t.Errorf("nothing is left of %q", line)
		}
		if m.Facility < 0 || m.Facility > 23 || m.Severity < 0 || m.Severity > 7 {
			t.Errorf("%q: %+v", line, m)
		}
		if strings.ContainsAny(line, "\r\n\x00\uFEFF\uFFFD") {
			return
		}
		parsed, err := judge.Parse([]byte(line))
		if err != nil || parsed == nil {
			return
		}
		want, ok := parsed.(*rfc5424.SyslogMessage)
		if !ok || want.Version != 1 || want.Facility == nil {
			return
		}
		if want.StructuredData != nil {
			for id, values := range *want.StructuredData {
				if len(values) == 0 && !strings.Contains(id, "@") { // "[ERROR] disk full": see element
					return
				}
			}
		}
		text := func(s *string) string {
			if s == nil {
				return ""
			}
			return *s
		}
		if int(*want.Facility) != m.Facility || int(*want.Severity) != m.Severity || text(want.Hostname) != m.Host || text(want.Appname) != m.App ||
			text(want.ProcID) != m.ProcID || text(want.MsgID) != m.MsgID || text(want.Message) != m.Message {
			t.Errorf("%q: got %+v, want %+v", line, m, want)
		}
		if want.Timestamp != nil && !want.Timestamp.Equal(m.DeviceTime) {
			t.Errorf("%q: time %v, want %v", line, m.DeviceTime, want.Timestamp)
		}
	})
}
