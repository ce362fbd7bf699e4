package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/api"
)

// unaudited are the routes that change nothing although their method is one of those that do.
var unaudited = map[string]string{
	"POST /api/sql":                      "it reads",
	"POST /api/receivers/{resource}/try": "it tries, and keeps nothing",
	"POST /api/backups":                  "no folder is configured here; the script of backups reads the row of another",
	"POST /api/backups/days":             "only the local administrator may; the script of backups reads its row",
	"DELETE /api/backups":                "nothing is running here; TestBackupStopAudited stops one",
	"POST /api/health/clock":             "the clock is right here, so there is nothing to confirm",
	"POST /api/health/faults/{id}":       "no fault is open here; the test of lost records reads the row of one",
}

// auditRow is a row of the audit trail as /api/audit answers it.
type auditRow struct {
	User, Via, Address, Request, Action, Kind, Name, Resource, View, Before, After, Items, Info string
}

// String gives what a test compares.
func (r auditRow) String() string {
	name := r.Name
	if r.Resource != "" {
		name = r.Resource + "/" + name
	}
	line := strings.Join([]string{r.User, r.Via, r.Action, r.Kind, name}, " ")
	for _, v := range []string{r.Before, r.After, r.Items} {
		line += " | " + v
	}
	return strings.TrimRight(line, " |")
}

// trail asks for the audit trail, the oldest row first.
func (p *process) trail(cookie, params string) (rows []auditRow) {
	p.t.Helper()
	res := p.ask("GET", "/api/audit?limit=1000&"+params, "", cookie)
	var page struct{ Rows []auditRow }
	if err := json.Unmarshal([]byte(res.body), &page); err != nil || res.StatusCode != 200 {
		p.t.Fatalf("audit trail: %d %s", res.StatusCode, res.body)
	}
	slices.Reverse(page.Rows)
	return page.Rows
}

// TestAudit makes every kind of change and reads what the audit trail has of it. A route that changes something and has no case here
// makes it fail.
func TestAudit(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	secret := p.key("agent", "readwritedelete")
	key := "X-Api-Key: " + secret
	p.user("default", "boss", "administrator")
	boss := p.logIn("default", "boss", "pw of boss")
	admin := p.logIn("default", "admin", adminPassword)
	secrets := []string{secret, "pw of boss", adminPassword, "$argon2id$", "a secret community"}
	seen := map[string]bool{}
	all := ""
	f := func(route, headers, target, typ, body string, want ...string) (res reply) {
		t.Helper()
		method, _, _ := strings.Cut(route, " ")
		list := []string{"Content-Type: " + typ}
		if headers != "" {
			list = append(list, headers)
		}
		res = p.ask(method, target, body, list...)
		if res.StatusCode/100 != 2 && len(want) > 0 && !strings.Contains(want[0], "refused") {
			t.Errorf("%s %s: %d %s", method, target, res.StatusCode, res.body)
			return res
		}
		seen[route] = true
		var got []string
		for _, r := range p.trail(admin, "from=NOW-1HOUR") {
			if r.Request != res.Header.Get("X-Request-Id") {
				continue
			}
			if r.Address != "127.0.0.1" {
				t.Errorf("%s %s: the address is %q", method, target, r.Address)
			}
			if r.Info == "" {
				t.Errorf("%s %s: %s says nothing in words", method, target, r)
			}
			got = append(got, r.String())
			all += r.String() + r.Info + "\n"
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || !matches(got[i], want[i]) {
				t.Errorf("%s %s: the trail has\n\t%s\nwant\n\t%s", method, target, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
				break
			}
		}
		return res
	}
	const csv, jsn = "text/csv", "application/json"

	f("POST /api/provisioning/{package}", key, "/api/provisioning/view", csv, "name,view\nParis,MAIN\n", "agent key created view Paris |  | {*}")
	f("POST /api/provisioning/{package}", key, "/api/provisioning/custom", csv, "name\nweb01\n", `agent key created resource web01 |  | {"package":"custom"*}`)
	f("POST /api/provisioning/{package}", key, "/api/provisioning/custom", csv, "name,view\nweb01,Paris\n", `agent key changed resource web01 | {"view":"MAIN"} | {"view":"Paris"}`)
	f("POST /api/provisioning/{package}", key, "/api/provisioning/custom", csv, "name\nweb01\n") // nothing changes
	f("POST /api/provisioning/{package}", key, "/api/provisioning/object?dryrun=true", csv, "name,resname,class\ntrial,web01,host\n")
	f("POST /api/provisioning/{package}", key, "/api/provisioning/label", csv, "name,view,text\nhall,Paris,open\n", `agent key created element hall |  | {"package":"label"*"text":"open"*}`)
	f("POST /api/send", key, "/api/send", csv, "type,resname,object,class,view,ip,i1\ndata,web01,cpu,host,web01,192.0.2.1,99\n",
		`agent key created object web01/cpu |  | {"class":"host","ip":"192.0.2.1"}`, `agent key created class host |  | {"inferred":true}`)
	f("POST /api/send", key, "/api/send", csv, "type,resname,object,ip,i1,i2\ndata,web01,cpu,192.0.2.2,1,2\n",
		`agent key changed object web01/cpu | {"ip":"192.0.2.1"} | {"ip":"192.0.2.2"}`, `agent key changed class host |  | {"added":"i2"}`)
	f("POST /api/send", key, "/api/send", csv, "type,resname,object,i1\ndata,web01,cpu,2\n") // data alone
	f("GET /d", key, "/d?resname=web01&o=mem&c=host&v=web01&i1=1", csv, "", `agent key created object web01/mem |  | {"class":"host"}`)
	f("GET /l", key, "/l?resname=web01&o=log&c=host&v=web01&l=line", csv, "", `agent key created object web01/log |  | {"class":"host"}`)
	f("GET /cv", key, "/cv?resname=web01&c=folder&v=Disks&p=web01&posx=10&posy=10", csv, "", "agent key created view web01/Disks |  | {*}")
	f("PUT /api/classes/{name...}", key, "/api/classes/host", jsn, `{"indicators":[{"n":1,"thresholds":[{"when":">= 90","status":3}]},{"n":2}]}`,
		`agent key changed class host | * | {*"i1.thresholds.1.when":">= 90"*}`)
	f("PUT /api/classes/{name...}", key, "/api/classes/own", jsn, `{"indicators":[{"n":1}]}`, `agent key created class own |  | {*}`)
	f("DELETE /api/classes/{name...}", key, "/api/classes/own", jsn, "", "agent key removed class own | {*}")
	f("POST /api/send", key, "/api/send", csv, "type,resname,object,i1\ndata,web01,cpu,99\n")
	f("POST /api/ackmanagenote/{kind}", key, "/api/ackmanagenote/objects", jsn, `{"items":"cpu","resname":"web01","ack":"known","note":"see wiki"}`,
		`agent key acknowledged object web01/cpu | {"acknowledged":"false","ack":"","ackby":""} | {"acknowledged":"true","ack":"known","ackby":"agent"}`,
		`agent key note_set object web01/cpu | {"note":""} | {"note":"see wiki"}`)
	f("POST /api/ackmanagenote/{kind}", boss, "/api/ackmanagenote/objects", jsn, `{"items":"cpu","resname":"web01","unack":true}`,
		`boss session unacknowledged object web01/cpu | {"acknowledged":"true"*} | {"acknowledged":"false"*}`)
	f("POST /api/ackmanagenote/{kind}", boss, "/api/ackmanagenote/resources", jsn, `{"items":"web01","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true}`,
		`boss session unmanaged resource web01 | {"mode":"managed"*} | {"mode":"unmanaged, data stored"*}`)
	f("POST /api/ackmanagenote/{kind}", boss, "/api/ackmanagenote/resources", jsn, `{"items":"web01","isunmanaged":false}`, `boss session managed resource web01 | {*} | {"mode":"managed"*}`)
	f("PUT /api/policies/{name...}", boss, "/api/policies/night", jsn, `{"kind":"view","item":"Paris","rollup":"worst"}`, `boss session created policy night |  | {*"rollup*}`)
	f("DELETE /api/policies/{name...}", boss, "/api/policies/night", jsn, "", "boss session removed policy night | {*}")
	f("PUT /api/pictures/{name...}", key, "/api/pictures/dot", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>", "agent key created picture dot |  | {*}")
	f("DELETE /api/pictures/{name...}", key, "/api/pictures/dot", jsn, "", "agent key removed picture dot | {*}")
	f("PUT /api/settings", boss, "/api/settings", jsn, `{"customer.timezone":"Europe/Paris"}`, `boss session changed setting customer.timezone | {"value":""} | {"value":"Europe/Paris"}`)
	f("POST /api/keys", boss, "/api/keys", jsn, `{"name":"new","level":"read"}`, `boss session created key new |  | {*"hash":"***"*"level":"read"*}`)
	f("POST /api/keys/{name}/rotate", boss, "/api/keys/new/rotate", jsn, `{}`, `boss session rotated key new | {"hash":"***"*} | {*"hash":"***"*}`)
	f("DELETE /api/keys/{name...}", boss, "/api/keys/new", jsn, "", "boss session revoked key new | {*}")
	f("POST /api/users", boss, "/api/users", jsn, `{"name":"eve","role":"viewer","password":"long enough for eve"}`, `boss session created user eve |  | {*"password":"***","role":"viewer"}`)
	res := f("POST /api/session", "", "/api/session", jsn, `{"user":"eve","password":"long enough for eve"}`, "eve session logged_in session eve")
	eve := "Cookie: belfry_session=" + res.Cookies()[0].Value
	f("PUT /api/session", eve, "/api/session", jsn, `{"password":"long enough for eve","new":"another one for eve"}`, `eve session changed user eve | {"password":"***"} | {"password":"***"}`)
	f("DELETE /api/session", eve, "/api/session", jsn, "", "eve session logged_out session eve")
	p.logIn("default", "eve", "another one for eve")
	f("PUT /api/users/{name...}", boss, "/api/users/eve", jsn, `{"role":"operator"}`,
		`boss session changed user eve | {"role":"viewer"} | {"role":"operator"}`, "boss session ended session eve")
	f("DELETE /api/users/{name...}", boss, "/api/users/eve", jsn, "", `boss session removed user eve | {*"role":"operator"}`)
	secrets = append(secrets, "for eve")
	other := p.logIn("default", "boss", "pw of boss")
	var sessions struct {
		Sessions []struct {
			ID      string
			Current bool
		}
	}
	json.Unmarshal([]byte(p.ask("GET", "/api/sessions", "", other).body), &sessions)
	for _, s := range sessions.Sessions {
		if s.Current {
			f("DELETE /api/sessions/{id}", boss, "/api/sessions/"+s.ID, jsn, "", "boss session ended session boss")
		}
	}
	f("POST /api/customers", admin, "/api/customers", jsn, `{"name":"acme"}`, "admin (instance) session created customer acme")
	f("PUT /api/customers/{name...}", admin, "/api/customers/acme", jsn, `{"listen":["127.0.0.1:15140"]}`) // in the trail of acme, see below
	f("POST /api/session/customer", admin, "/api/session/customer", jsn, `{"customer":"acme"}`,
		"admin (instance) session entered session admin (instance)")
	theirs := p.trail(admin, "from=NOW-1HOUR") // the session acts in acme
	for i, want := range []string{
		"admin (instance) session created customer acme", "admin (instance) session created user admin |  | {*}",
		`admin (instance) session changed customer acme |  | {"listen.1":"127.0.0.1:15140"}`, "admin (instance) session entered session admin (instance)",
	} {
		if len(theirs) != 4 || !matches(theirs[i].String(), want) {
			t.Fatalf("acme has the trail %v, want row %d to be %s", theirs, i, want)
		}
	}
	f("POST /api/session/customer", admin, "/api/session/customer", jsn, `{"customer":"default"}`)
	f("DELETE /api/customers/{name...}", admin, "/api/customers/acme?confirm=acme", jsn, "", "admin session removed customer acme")
	f("DELETE /api/provisioning/{package}", key, "/api/provisioning/label", csv, "name\nhall\n", `agent key removed element hall | {"package":"label"*}`)
	f("DELETE /api/provisioning/{package}", key, "/api/provisioning/custom", csv, "name\nweb01\n",
		"agent key removed resource web01 | {*}", `agent key removed object  |  |  | [{"resource":"web01","names":["cpu","mem","log"]}]`, `agent key removed view  |  |  | [{"resource":"web01","names":["Disks"]}]`)

	for _, rt := range api.Routes {
		at := rt.Method + " " + rt.Path
		_, exempt := unaudited[at]
		if changes := rt.Method != "GET" || rt.KeyOnly(); changes && !exempt && !seen[at] {
			t.Errorf("%s changes something and has no case in this test", at)
		}
	}

	// What does not come over HTTP: commands at the shell, files, and a login that is refused.
	if err := os.MkdirAll(filepath.Join(p.data, "classes"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.ask("POST", "/api/session", `{"user":"boss","password":"wrong"}`, "Content-Type: "+jsn)
	p.belfry("key", "create", "--name", "shelled", "--level", "read")
	p.belfry("key", "revoke", "--name", "shelled")
	p.belfry("customer", "grant", "--name", "default", "--listen", "127.0.0.1:15141")
	p.stop()
	if err := os.WriteFile(filepath.Join(p.data, "classes", "filed.yaml"), []byte("name: filed\nindicators: [{n: 1}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.start()
	var lines []string
	rows := p.trail(admin, "from=NOW-1HOUR")
	for _, r := range rows {
		lines = append(lines, r.String())
		if r.Via == "socket" && r.Address != "" {
			t.Errorf("%s has the address %s", r, r.Address)
		}
	}
	for _, want := range []string{
		"boss session refused session boss", "shell socket created key shelled |  | {*}", "shell socket revoked key shelled | {*}",
		`shell socket changed customer default |  | {"listen.1":"127.0.0.1:15141"}`, "system service imported class filed |  | {*}",
		"shell socket created user boss |  | {*}", "admin session logged_in session admin", "system service created user admin |  | {*}",
	} {
		if !slices.ContainsFunc(lines, func(line string) bool { return matches(line, want) }) {
			t.Errorf("the trail has no row %s:\n%s", want, strings.Join(lines, "\n"))
		}
	}
	text := all + strings.Join(lines, "\n") + p.ask("GET", "/api/audit?wt=csv&limit=1000", "", admin).body
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("the trail has the secret %q", s)
		}
	}
}

// matches compares a line with a pattern in which * stands for any text.
func matches(line, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return line == pattern
	}
	if !strings.HasPrefix(line, parts[0]) {
		return false
	}
	line = line[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(line, part)
		if i < 0 {
			return false
		}
		line = line[i+len(part):]
	}
	return strings.HasSuffix(line, parts[len(parts)-1])
}

// TestAuditOfMany: a body that creates very many items names each of them in few rows.
func TestAuditOfMany(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	key := "X-Api-Key: " + p.key("agent", "readwritedelete")
	admin := p.logIn("default", "admin", adminPassword)
	const many = 3000
	body := strings.Builder{}
	body.WriteString("type,resname,object,class,view,i1\n")
	longest := strings.Repeat("😀", 255)
	for i := range many - 1 {
		fmt.Fprintf(&body, "data,web01,disk %d%%,host,web01,1\n", i)
	}
	fmt.Fprintf(&body, "data,web01,%s,host,web01,1\n", longest)
	p.ask("POST", "/api/provisioning/custom", "name\nweb01\n", key, "Content-Type: text/csv")
	if res := p.ask("POST", "/api/send", body.String(), key, "Content-Type: text/csv"); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, res.body)
	}
	rows := p.trail(admin, "kind=object&action=created&user=agent")
	names := map[string]bool{}
	for _, r := range rows {
		var items []struct {
			Names    []string
			Resource string
			After    struct{ Class string }
		}
		if err := json.Unmarshal([]byte(r.Items), &items); err != nil || r.Request == "" {
			t.Fatalf("%s: %v", r, err)
		}
		for _, it := range items {
			if it.Resource != "web01" || it.After.Class != "host" {
				t.Errorf("%+v", it)
			}
			for _, name := range it.Names {
				names[name] = true
			}
		}
	}
	if len(names) != many || len(rows) > many/20 {
		t.Errorf("%d rows name %d items", len(rows), len(names))
	}
	f := func(name string, want int) {
		t.Helper()
		if rows := p.trail(admin, "kind=object&name="+url.QueryEscape(name)); len(rows) != want {
			t.Errorf("%d rows name %s, want %d", len(rows), name, want)
		}
	}
	f("disk 1234%", 1)
	f("web01", len(rows))
	f("disk 123", 0)
	f("names", 0)
	f("disk 999999%", 0)
	f(longest, 1)
}

// TestAuditIsForAdministrators: nobody else reads the trail, in any way.
func TestAuditIsForAdministrators(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	m.user("default", "partial", "administrator", "--views", "shared")
	m.visitors = append(m.visitors, visitor{name: "limited administrator", headers: []string{m.logIn("default", "partial", "pw of partial")}, cookie: true})
	for _, v := range m.visitors {
		may := v.level >= belfry.LevelAdministrator // a GET of another site is answered; the browser keeps it from the page
		for _, q := range []string{"SELECT * FROM audit", "select name from AUDIT", "SELECT COUNT(*) FROM audit", "SELECT name, before FROM audit WHERE kind='key'"} {
			for _, explain := range []string{"", "&explain=true"} {
				res := m.ask("GET", "/api/sql?rows=1000"+explain+"&q="+url.QueryEscape(q), "", v.headers...)
				switch {
				case may && res.StatusCode != 200, !may && res.StatusCode != 401 && res.code != "insufficient_level":
					t.Errorf("%s by %s: %d %s", q, v.name, res.StatusCode, res.body)
				case res.StatusCode == 200:
					m.leaks(q, v, res)
				}
			}
		}
	}
}

// TestBackupStopAudited: who stops a backup is in the audit trail.
func TestBackupStopAudited(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "backups")
	p := newProcess(t, func(p *process) {
		text := fmt.Sprintf("limits: {stop: 5m}\nbackup: {target: %q, rate: 1kB}\n", target)
		if err := os.WriteFile(p.config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	admin := p.logIn("default", "admin", adminPassword)
	for end := time.Now().Add(hang); !strings.Contains(p.ask("GET", "/api/backups", "", admin).body, `"running":{`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no backup begins")
		}
	}
	if res := p.ask("DELETE", "/api/backups", "", admin); res.StatusCode != 204 {
		t.Fatalf("%d %s", res.StatusCode, res.body)
	}
	rows := p.trail(admin, "kind=backup")
	if len(rows) != 1 || rows[0].Action != "stopped" || rows[0].User != "admin" || rows[0].Name != target {
		t.Errorf("the trail has %v", rows)
	}
}
