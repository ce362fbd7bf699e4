package collect

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"belfry/accounts"

	"belfry"
	"belfry/collect/syslog"
)

// TestTry tries filters and scripts on samples, as those who write them do.
func TestTry(t *testing.T) {
	kinds := map[string]Kind{} // that can be tried and do not run
	for name, k := range Kinds {
		k.New = func(*Env, Task) (Collector, error) { return nil, errors.New("not here") }
		kinds[name] = k
	}
	e := newFixture(t, kinds)
	e.provision("log-syslog-receiver", "name,listen,timezone,filter,script",
		`Lines,127.0.0.1:5514,UTC,severity <= 4,"function message(m) { m.category = m.app; return m }"`)
	e.provision("log-trap-receiver", "name,listen,filter\n"+`Traps,127.0.0.1:5162,"name == ""linkDown"""`)
	e.provision("custom", "name\nPlain\n")

	f := func(resource, body string, want ...string) {
		t.Helper()
		out, err := e.sup.Try(context.Background(), e.who.Scope, resource, []byte(body))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			out.Time = 0
			text, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			got = string(text)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %s in\n%s", body, w, got)
			}
		}
	}
	// As it is provisioned.
	f("Lines", `{"sample": "<27>1 2026-11-15T10:00:00Z sw1 sshd 7 - - failed", "from": "192.0.2.9"}`,
		`"received":{"ip":"192.0.2.9","host":"sw1","facility":3,"severity":3,"app":"sshd","procid":"7","msgid":"","message":"failed","category":""`,
		`"devicetime":"2026-11-15T10:00:00Z"`, `"result":"kept"`, `"stored":{"ip":"192.0.2.9"`, `"category":"sshd"`, `"feeds":[]`)
	f("Lines", `{"sample": "a line"}`, `"severity":5`, `"ip":"127.0.0.1"`, `"result":"filtered","by":"filter","feeds"`)
	f("Traps", `{"sample": {"name": "linkUp"}}`, `"by":"filter"`, `"severity":-1`)
	f("Traps", `{"sample": {"name": "linkDown", "p": ["2"], "ip": "192.0.2.7"}}`, `"result":"kept"`, `"ip":"192.0.2.7"`)
	// With others.
	f("Lines", `{"sample": "`+strings.Repeat("a", 60000)+`", "filter": "message matches \"[ab]*a[ab]{900}c\"", "script": ""}`, `"result":"kept"`, `"error":"filter: it takes more than 300000 steps for this message, which has 60`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { return null }"}`, `"result":"filtered","by":"script"`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { m.severity = []; return m }"}`, `"error":"script: result of message(m): severity is a list, and must be a whole number"`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { m.devicetime = 'noon'; return m }"}`, `message(m): devicetime must be a time such as 2026-11-15T10:00:00Z"`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { data('web', {i1: 3, i2: 'on'}, {view: 'Lines', class: 'c'}); log('web', 'y'); log('x', 'y', {view: 'Plain', class: 'c', resource: 'Plain'}); return m }"}`,
		`"feeds":[{"type":"data","resource":"Lines","object":"web","class":"c","view":"Lines","values":{"i1":"3","i2":"on"}},{"type":"log","resource":"Lines","object":"web","log":"y"},`+
			`{"type":"log","resource":"Plain","object":"x","class":"c","view":"Plain","log":"y"}],"milliseconds"`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { m.catgory = 1; m.own = 2; return m }"}`, `"ignored":["catgory (category?)","own"]`)
	f("Lines", `{"sample": {"message": "x", "severity": 2}, "script": ""}`, `"facility":1,"severity":2`, `"category":""`)
	// That fail: the message is kept unchanged.
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) {\n m.message = 'changed'; return m.nothing.at }"}`,
		`"result":"kept","stored":{"ip":"127.0.0.1"`, `"message":"a"`, `"error":"script: TypeError: cannot read property 'at' of undefined (line 2)"`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { for (;;); }"}`, `"result":"kept"`, `"error":"script: the script ran for too long"`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { m.severity = 9; return m }"}`, `"error":"script: result of message(m): severity is 9`)
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { data('o', {load: 1}); return m }"}`, `there is no indicator`, `"result":"kept"`)
	// That feed rows that would be refused.
	for _, end := range []string{"m.message = 'changed'; return m", "return null"} {
		f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { log('x', 'y', {view: 'Lines', class: 'c'}); data('o', {i1: 1}, {resource: 'None'}); `+end+` }"}`,
			`"result":"kept","stored":{`, `"message":"a","category":"","data":""},"feeds":[],"error":"script: unknown_resource: resource \"None\" does not exist`)
	}
	f("Lines", `{"sample": "a", "filter": "", "script": "function message(m) { data('o', {i1: 1}); return m }"}`, `"feeds":[],"error":"script: unknown_object: object \"o\" does not exist in \"Lines\"; give class and view to create it"`)
	if got := e.stored("objectlog", "item"); len(got) > 0 {
		t.Errorf("a trial has stored %v", got)
	}
	// That are wrong.
	f("Lines", `{"sample": "a", "filter": "sevrity < 3"}`, "bad_parameter: filter: the filter is wrong: line 1, column 1: unknown name sevrity")
	f("Lines", `{"sample": "a", "script": "function message(m) {"}`, "bad_parameter: script: the script is wrong: SyntaxError")
	f("Lines", `{"sample": "a", "script": "for (;;);"}`, "bad_parameter: script: the script is wrong: the script ran for too long")
	f("Lines", `{"sampl": "a"}`, `bad_parameter: unknown field "sampl"; known are sample, from, filter and script`)
	f("Lines", `{}`, "bad_parameter: the field sample is missing")
	f("Lines", `[]`, "bad_json: the body must be one JSON object")
	f("Lines", `{"sample": "a"} {}`, "bad_json: the body must be one JSON object and nothing behind it")
	f("Lines", `{"sample": "a", "from": "sw1"}`, `bad_parameter: from is "sw1"`)
	f("Lines", `{"sample": {"text": "a"}}`, `bad_parameter: sample: unknown field "text"; give a text, or an object with the fields app, category, data, `)
	f("Lines", `{"sample": {"severity": 8}}`, "bad_parameter: sample: severity is 8; it is a number from 0 to 7")
	f("Lines", `{"sample": 3}`, "bad_parameter: sample: it is a number, and must be an object; give a text, or")
	f("Lines", `{"sample": {"severity": "high"}}`, "bad_parameter: sample: severity is a text, and must be a whole number; ")
	f("Traps", `{"sample": "linkDown"}`, "bad_parameter: sample must be the fields of a trap")
	f("Plain", `{"sample": "a"}`, `bad_parameter: the resource "Plain" is no receiver`)
	f("Line", `{"sample": "a"}`, `unknown_item: there is no resource "Line"`)

	// For a user who may not see the resource, there is none.
	limited := belfry.Scope{Customer: e.who.Customer, Views: []string{"Plain"}}
	if _, err := e.sup.Try(context.Background(), limited, "Lines", []byte(`{"sample": "a"}`)); belfry.CodeOf(err) != belfry.UnknownItem {
		t.Errorf("out of scope: %v", err)
	}
	if _, err := e.sup.Try(context.Background(), belfry.Whole(e.who.Customer+1), "Lines", []byte(`{"sample": "a"}`)); belfry.CodeOf(err) != belfry.UnknownItem {
		t.Errorf("another customer: %v", err)
	}
}

func FuzzTrial(f *testing.F) {
	f.Add([]byte(`{"sample": {"message": "x", "severity": 2}, "script": ""}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		trial, err := readTrial(body)
		if err == nil {
			_, err = parseSample(&Env{Now: time.Now}, Task{}, trial, messageFormat[syslog.Message](syslogFormat{}))
		}
		if err != nil && belfry.CodeOf(err) == "" {
			t.Errorf("not for a client: %v", err)
		}
	})
}

// A user limited to views sees only what a trial would write inside of them.
func TestTryWithin(t *testing.T) {
	h := newFixture(t, map[string]Kind{"log-syslog-receiver": Kinds["log-syslog-receiver"]})
	limited := h.limitedTo("V")
	h.provision("custom", "name,view", "Inside,V", "Outside,MAIN")
	const script = `function message(m) { for (const r of ['Inside', 'Outside', 'Recv']) data('a', {i1: 1}, {resource: r, view: r, class: 'c'}); if (m.message == 'wrong') data('b', {i1: 1}); return m }`
	h.provision("log-syslog-receiver", "name,view,listen,script", "Recv,V,127.0.0.1:5514,"+cell(script))
	f := func(who belfry.Scope, body, want string) {
		t.Helper()
		out, err := h.sup.Try(t.Context(), who, "Recv", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range out.Feeds {
			got = append(got, row.Resource)
		}
		if text := strings.Join(got, " ") + "|" + out.Error; text != want {
			t.Errorf("%s: %s", body, text)
		}
	}
	own, _ := json.Marshal(map[string]string{"sample": "x", "script": script})
	f(h.who.Scope, `{"sample": "x"}`, "Inside Outside Recv|")
	f(limited.Scope, `{"sample": "x"}`, "Inside Recv|") // another user's script may write there
	f(h.who.Scope, string(own), "Inside Outside Recv|")
	f(limited.Scope, string(own), `|script: unknown_resource: resource "Outside" does not exist; provision it first`)
	f(h.who.Scope, `{"sample": "wrong"}`, `|script: unknown_object: object "b" does not exist in "Recv"; give class and view to create it`)
	f(limited.Scope, `{"sample": "wrong"}`, "|script: a row that it feeds is refused") // and why is not for them to know
}

// TestTryInRemovedCustomer: a customer that is removed during a trial sees nothing of it.
func TestTryInRemovedCustomer(t *testing.T) {
	e := newFixture(t, nil)
	c, err := e.accounts.AddCustomer("other", "", &belfry.Actor{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	admin, scope := e.who, belfry.Whole(c.ID)
	e.who.Scope = scope
	e.provision("custom", "name", "Lines")
	f := func(want int) {
		t.Helper()
		out := &Tried{Tried: belfry.Tried{Feeds: []belfry.TriedRow{{Resource: "Lines"}}}}
		if e.sup.hideOutside(out, scope); len(out.Feeds) != want {
			t.Errorf("it sees %v", out.Feeds)
		}
	}
	f(1)
	if err := e.accounts.RemoveCustomer(accounts.Caller{Sender: admin, Level: belfry.LevelInstance}, "other"); err != nil {
		t.Fatal(err)
	}
	f(0)
}
