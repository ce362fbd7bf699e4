package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestSessionsLast: who is logged in stays so over a restart and a crash; who has logged out does not come back.
func TestSessionsLast(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	p.user("default", "eve", "operator")
	p.user("default", "bob", "viewer")
	stays, leaves := p.logIn("", "eve", "pw of eve"), p.logIn("", "eve", "pw of eve")
	removed := p.logIn("default", "bob", "pw of bob")
	f := func(cookie string, want int) {
		t.Helper()
		if res := p.ask("GET", "/api/session", "", cookie); res.StatusCode != want {
			t.Errorf("%d %s, want %d", res.StatusCode, res.body, want)
		}
	}
	f(stays, 200)
	f(leaves, 200)
	f(removed, 200)
	if res := p.ask("DELETE", "/api/session", "", leaves); res.StatusCode != 204 {
		t.Errorf("log out: %d %s", res.StatusCode, res.body)
	}
	p.belfry("user", "remove", "--name", "bob")
	check := func() {
		t.Helper()
		f(stays, 200)
		f(leaves, 401)
		f(removed, 401)
	}
	check()
	p.crash()
	p.start()
	check()
	p.stop()
	p.start()
	check()
	if password := p.belfry("user", "password", "--name", "eve"); len(password) < 20 {
		t.Errorf("password %q", password)
	} else {
		f(stays, 401)
		f(p.logIn("", "eve", password), 200)
	}
	p.stop()
	if text := p.logged(); strings.Contains(text, "pw of") || strings.Contains(text, strings.TrimPrefix(stays, "Cookie: ")) {
		t.Error("the log holds a secret")
	}
}

// TestLoginEvents: logins are events of the customer; those that were refused are few, and counted.
func TestLoginEvents(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	key := "X-Api-Key: " + p.key("read", "read")
	cookie := p.logIn("", "admin", adminPassword)
	p.ask("DELETE", "/api/session", "", cookie)
	refused := 0
	for _, login := range []string{`"user":"admin","password":"wrong"`, `"user":"nobody","password":"wrong"`, `"user":"admin","password":"wrong","customer":"nowhere"`} {
		for range 5 {
			if res := p.ask("POST", "/api/session", "{"+login+"}"); res.StatusCode != 401 || res.code != "invalid_login" {
				t.Fatalf("%d %s", res.StatusCode, res.body)
			}
			refused++
		}
	}
	if text := p.ask("GET", "/metrics", "").body; !strings.Contains(text, fmt.Sprintf("\nbelfry_logins_refused_total %d\n", refused)) {
		t.Errorf("not counted: %d", refused)
	}
	p.belfry("customer", "create", "--name", "after") // the events before it are committed by then
	var events struct {
		Rows []struct{ Source, Type, Info, User string }
	}
	text := p.ask("GET", "/api/sql?rows=1000&q=SELECT+source,type,info,user+FROM+events+WHERE+type='login'", "", key).body
	if err := json.Unmarshal([]byte(text), &events); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range events.Rows {
		counts[e.Source+" "+e.User+" "+e.Info]++
	}
	n := counts["user admin login refused"]
	// The first refusal of a minute is told at once, the others with their number when it is over.
	if counts["user admin logged in"] != 1 || counts["user admin logged out"] != 1 || n < 1 || n > 2 {
		t.Errorf("%v in %s", counts, text)
	}
	p.stop()
}

// TestLastUse: when a key was last used is known after a restart.
func TestLastUse(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	used, idle := p.key("used", "read"), p.key("idle", "read")
	column := func(name string) string {
		t.Helper()
		for line := range strings.Lines(p.belfry("key", "list")) {
			if f := strings.Fields(line); f[0] == name {
				return f[5]
			}
		}
		t.Fatalf("no key %s", name)
		return ""
	}
	if res := p.ask("GET", "/api/session", "", "X-Api-Key: "+used); res.StatusCode != 200 {
		t.Fatal(res.body)
	}
	at := column("used")
	if at == "-" || column("idle") != "-" {
		t.Errorf("last use %s, of the other %s", at, column("idle"))
	}
	p.stop()
	if got := column("used"); got != at { // read from the folder
		t.Errorf("after the stop %s, before %s", got, at)
	}
	p.start()
	if got := column("used"); got != at || column("idle") != "-" {
		t.Errorf("after a restart %s, before %s", got, at)
	}
	list := p.ask("GET", "/api/keys", "", p.logIn("", "admin", adminPassword)).body
	if strings.Count(list, `"lastuse":"`) != 1 || !strings.Contains(list, `"lastuse":"`+strings.TrimSuffix(at, "Z")) {
		t.Errorf("GET /api/keys: %s", list)
	}
	if strings.Contains(list, used) || strings.Contains(list, idle) {
		t.Error("the list shows keys")
	}
	p.stop()
}
