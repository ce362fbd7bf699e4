package input

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"belfry"
	"belfry/engine"
)

func TestReadAction(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	f := func(body, want string) {
		t.Helper()
		a, err := ReadAction([]byte(body), zone)
		got := summary(a)
		if err != nil {
			got = messageOf(err)
		}
		if !strings.Contains(got, want) || want == "" {
			t.Errorf("%s:\n%s, want\n%s", body, got, want)
		}
	}
	f(`{"items":"a"}`, `a [] ack ""`)
	f(`{"items":"a|b","resname":"r"}`, `a|b [] in r ack ""`)
	f(`{"items":["a|b","c"],"ack":""}`, ` [a|b c] ack ""`)
	f(`{"items":[{"name":"a","resname":"r"},"b",{"name":"c","kind":"view","resname":""}],"resname":"q"}`, ` [r/a b view:c] in q ack ""`)
	f(`{"items":[{"name":"a","kind":"views"}]}`, `there is no kind of item "views"; the kinds are object, view and resource`)
	f(`{"items":[{"resname":"r"}]}`, "an item of the list has no name")
	f(`{"items":[{"name":"a","resource":"r"}]}`, `unknown field "resource" of an item; known are name, resname, kind`)
	f(`{"items":[{"name":7}]}`, "items must be a text with bars")
	f(`{"items":["a",null]}`, "items must be a text with bars")
	f(`{"items":[["a"]]}`, "items must be a text with bars")
	f(`{"items":"a","note":""}`, `a [] note ""`)
	f(`{"items":"a","note":"n","ackuntilworse":true}`, `a [] ack "" note "n"`)
	f(`{"items":"a","isunmanaged":false}`, `a [] managed`)
	f(`{"items":"a","isunmanaged":true,"unmanageifred":false,"collectunmanage":false,"collectorunmanage":true,"note":"n","ack":"x"}`, `a [] unmanaged, data not stored ack "x" note "n"`)
	f(`{"items":"a","isunmanaged":false,"fromdatetime":"2098-01-01T00:00"}`, `a [] managed (from 2098-01-01T00:00, Europe/Vienna)`)
	f(`{"items":"a","isunmanaged":false,"fromdatetime":"2098-01-01T00:00","timezone":"UTC"}`, `a [] managed (from 2098-01-01T00:00, UTC)`)
	f(`{"items":"a","isunmanaged":false,"window":"backup"}`, `a [] managed window backup`)
	f(`{"items":"a","window":"backup"}`, "window is valid only together with isunmanaged")
	f(`{"items":"a","isunmanaged":false,"window":""}`, `a [] managed window without a name`)
	f(`{"items":"a","isunmanaged":false,"window":null}`, `a [] managed`)
	f(`{"items":"a","window":null}`, "window is empty, and nothing else is requested")
	f(`{"items":"a","isunmanaged":false,"window":7}`, "window must be a text in quotes, got 7")
	f(`{"items":"a","isunmanaged":false,"window":"`+strings.Repeat("x", 256)+`"}`, "is longer than 255 characters")
	f(`{"items":"a","ackuntil":"2098-01-01T00:00"}`, `a [] ack "" until 2097-12-31T23:00:00.000000Z`)
	f(`{"items":"a","ackuntil":"2098-01-01T00:00","timezone":"Asia/Tokyo"}`, `a [] ack "" until 2097-12-31T15:00:00.000000Z`)
	f(`{"items":"a","unack":true}`, `a [] unack`)
	f(`{"items":"a","unack":true,"isunmanaged":false,"note":"n"}`, `a [] managed unack note "n"`)
	f(`{"items":"a","unack":true,"ack":""}`, "unack removes acknowledgments, and ack is for a new one")
	f(`{"items":"a","unack":true,"ackuntil":"2098-01-01T00:00"}`, "and ackuntil is for a new one")
	f(`{"items":"a","unack":false}`, "unack false does nothing; leave it out")
	f(`{"items":"a","unack":"yes"}`, "unack must be true or false")
	f(`{"items":"a","resname":null,"isunmanaged":false,"unmanagenote":null,"fromdatetime":"","todatetime":null,"rrule":"","timezone":"","note":null}`, `a [] managed`)
	f(`{"items":"a","ack":null,"ackuntil":"","acksticky":null}`, "ack is empty, and nothing else is requested")
	f(`{"items":"a","ackuntil":""}`, "ackuntil is empty, and nothing else is requested")
	f(`{"items":"a","unmanageifred":null}`, "unmanageifred is empty, and nothing else is requested")
	f(`{"items":"a","ack":null,"acksticky":"10m"}`, `a [] ack ""`)
	f(`{"items":"a","ack":"x","note":null,"isunmanaged":null}`, `a [] ack "x"`)
	f(`{"items":"a","resname":null,"timezone":""}`, `a [] ack ""`)
	f(`{"Items":"a","RESNAME":"r","Note":"n"}`, `a [] in r note "n"`)
	f(`{"items":"a","IsUnmanaged":false}`, `a [] managed`)
	f(`{"items":"a","Items":"b"}`, "the field items is given twice")
	f(`{"items":"a","Itens":"b"}`, `unknown field "Itens"; known are items, `)
	f(`{"items":"a","NOTES":"b"}`, `do you mean note?`)
	f(`{"items":"a","isunmanaged":null}`, "isunmanaged is empty, and nothing else is requested")
	f(`{"items":"a","note":null}`, "note is empty, and nothing else is requested")
	f(`{"items":"a","note":null,"note":"n"}`, "the field note is given twice")
	f(`{"items":"a","isunmanaged":""}`, "isunmanaged must be true or false")
	f(`{"items":"a","unack":null}`, "unack is empty, and nothing else is requested")
	f(`{"items":null}`, "items must be a text")
	f("\ufeff"+`{"items":"a"}`, "the body must be one JSON object")
	f(`{"items":"a","items":"b"}`, "the field items is given twice")
	f(`{"\u0069tems":"a"}`, `a [] ack ""`)
	f(`{"items":{"a":1}}`, "items must be a text with bars")
	f(`{"items":`+strings.Repeat("[", 20_000)+`}`, "the body is not JSON")
	f(`{"items":"a","7b0c4f0e-1111-4aaa-8bbb-000000000001":1}`, `unknown field "***"`)
	f(`{"items":"a","isunmanaged":"7b0c4f0e-1111-4aaa-8bbb-000000000001"}`, `got "***"`)
	f(`{"items":"a","note":"\u001b[31m"}`, "control character U+001B")
	f(`{"items":"a","note":"\u007f"}`, "control character U+007F")
	f(`{"items":"a","note":"tab\tand\nline"}`, `note "tab\tand\nline"`)
}

// summary writes an action in a line.
func summary(a engine.Action) string {
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	var b strings.Builder
	var list []string
	for _, i := range a.List {
		name := i.Name
		if i.Resource != "" {
			name = i.Resource + "/" + name
		}
		if i.Kind != 0 {
			name = i.Kind.String() + ":" + name
		}
		list = append(list, name)
	}
	b.WriteString(a.Items + " [" + strings.Join(list, " ") + "]")
	if a.Resource != "" {
		b.WriteString(" in " + a.Resource)
	}
	if a.Manage != nil {
		b.WriteString(" " + a.Manage.Mode.String())
		if a.Manage.Name != "" {
			b.WriteString(" window " + a.Manage.Name)
		}
		if a.Manage.Unnamed {
			b.WriteString(" window without a name")
		}
	}
	if a.Window != nil {
		b.WriteString(" (" + a.Window.String() + ")")
	}
	if a.Unack {
		b.WriteString(" unack")
	}
	if a.Ack != nil {
		b.WriteString(" ack " + quote(a.Ack.Text))
		if a.Ack.Until != 0 {
			b.WriteString(" until " + a.Ack.Until.String())
		}
	}
	if a.Note != nil {
		b.WriteString(" note " + quote(*a.Note))
	}
	return b.String()
}

// FuzzAction: whatever comes, it is an action with something to do, or an error that a client may read.
func FuzzAction(f *testing.F) {
	f.Add(`{"items":"a|b","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true,"fromdatetime":"2098-01-01T00:00","todatetime":"2098-01-02T00:00","rrule":"FREQ=DAILY","timezone":"UTC"}`)
	f.Add(`{"items":["a","b"],"ack":"x","ackuntil":"2098-01-01T00:00","acksticky":"10m","ackuntilworse":true,"note":"\n"}`)
	f.Add(`{"items":"a","isunmanaged":false,"unmanagenote":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		a, err := ReadAction([]byte(body), time.UTC)
		if err != nil {
			if c := belfry.CodeOf(err); c != belfry.BadParameter && c != belfry.BadJSON || !utf8.ValidString(messageOf(err)) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		if a.Manage == nil && a.Ack == nil && a.Note == nil || a.Items == "" && len(a.List) == 0 {
			t.Errorf("%q: nothing to do: %s", body, summary(a))
		}
		for _, text := range []*string{a.Note, &a.Resource} {
			if text != nil && (utf8.RuneCountInString(*text) > maxActionText || strings.ContainsAny(*text, "\x00\x1b\r\x7f")) {
				t.Errorf("%q: took %q", body, *text)
			}
		}
		if a.Window != nil && a.Manage == nil {
			t.Errorf("%q: a window without management", body)
		}
	})
}
