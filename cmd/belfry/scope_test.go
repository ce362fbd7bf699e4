package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/api"
)

// canary is in every name, note and line outside what the limited users of these tests may see.
const canary = "zecret"

// enclave is an inventory of which some users see Paris and lone alone:
//
//	MAIN ─ zecret-region ─┬ Paris ─┬ web01 ─┬ cpu
//	                      │        │        └ Disks ─ root
//	                      │        └ Floor ─ sw01 ─ port
//	                      ├ lone ─ cpu
//	                      └ zecret-city ─ zecret-db ─ cpu, zecret-object
type enclave struct {
	*process
	key   string
	boss  string            // the session of an administrator who sees everything
	users map[string]string // sessions of those who do not, by role, and their keys, by level
}

var (
	limitedRoles  = []string{belfry.Viewer, belfry.Operator, belfry.Administrator}
	limitedLevels = []string{"read", "readwrite", "readwritedelete"}
)

func newEnclave(t *testing.T) *enclave {
	l := &enclave{process: newProcess(t, nil), users: map[string]string{}}
	l.key = "X-Api-Key: " + l.process.key("feeder", "readwritedelete")
	l.must("PUT", "/api/classes/host", `{"indicators":[{"n":1,"name":"Load","thresholds":[{"when":">= 90","status":3}]}]}`, "application/json")
	l.must("POST", "/api/provisioning/view", "name,view\nzecret-region,MAIN\nParis,zecret-region\nFloor,Paris\nzecret-city,zecret-region\n", "text/csv")
	l.must("POST", "/api/provisioning/custom", "name,view\nweb01,Paris\nsw01,Floor\nlone,zecret-region\nzecret-db,zecret-city\nzecret|bar,zecret-city\nzecret-removed,Paris\n", "text/csv")
	l.must("POST", "/api/send", "type,resname,class,view,parentview\ncreateview,web01,folder,Disks,web01\n", "text/csv")
	l.must("POST", "/api/send", "type,resname,object,class,view,i1,log\n"+
		"data,web01,cpu,host,web01,50,\ndata,web01,root,host,Disks,10,\ndata,sw01,port,host,sw01,95,\ndata,lone,cpu,host,lone,20,\n"+
		"log,web01,cpu,,,,an open line\n"+
		"data,zecret-db,cpu,host,zecret-db,99,\ndata,zecret-db,zecret-object,host,zecret-db,20,\nlog,zecret-db,cpu,,,,a zecret line\n"+
		"data,zecret-removed,cpu,host,zecret-removed,20,\nlog,zecret-removed,cpu,,,,an old zecret line\n", "text/csv")
	l.must("DELETE", "/api/provisioning/custom", "name\nzecret-removed\n", "text/csv")
	l.must("POST", "/api/provisioning/label", "name,view,text\nzecret-label,MAIN,zecret text\nhall,Paris,open text\n", "text/csv")
	l.must("POST", "/api/provisioning/shortcut", "name,view,target\nexit,Paris,zecret-city\ndown,Paris,Floor\n", "text/csv")
	l.must("POST", "/api/provisioning/link", "name,view,from,to\ncable,Paris,web01,zecret-db\nwire,Paris,web01,sw01\n", "text/csv")
	l.must("POST", "/api/ackmanagenote/views", `{"items":"zecret-region|zecret-city","note":"a zecret note"}`, "application/json")
	l.must("POST", "/api/ackmanagenote/objects", `{"items":"cpu","resname":"zecret-db","ack":"a zecret ack","note":"a zecret note"}`, "application/json")
	l.must("POST", "/api/ackmanagenote/resources", `{"items":"web01","note":"an open note"}`, "application/json")
	l.user("default", canary+"-boss", belfry.Administrator)
	l.boss = l.logIn("default", canary+"-boss", "pw of "+canary+"-boss")
	res := l.ask("PUT", "/api/policies/zecret-policy", `{"kind":"view","item":"zecret-region","thresholds":[{"class":"host","n":1,"thresholds":[{"when":">= 40","status":1}]}]}`,
		l.boss, "Content-Type: application/json")
	if res.StatusCode/100 != 2 {
		t.Fatalf("%d %s", res.StatusCode, res.body)
	}
	for _, role := range limitedRoles {
		l.user("default", role, role, "--views", "Paris", "--views", "lone")
		l.users[role] = l.logIn("default", role, "pw of "+role)
	}
	for _, level := range limitedLevels {
		l.users[level] = "X-Api-Key: " + l.process.key(level, level, "--views", "Paris", "--views", "lone")
	}
	return l
}

func (l *enclave) must(method, target, body, typ string) {
	l.t.Helper()
	if res := l.ask(method, target, body, l.key, "Content-Type: "+typ); res.StatusCode != 200 && res.StatusCode != 201 {
		l.t.Fatalf("%s %s: %d %s", method, target, res.StatusCode, res.body)
	}
}

// quiet tells of an answer that says something of what is outside.
func (l *enclave) quiet(what string, res reply) {
	l.t.Helper()
	var text strings.Builder
	_ = res.Header.Write(&text)
	text.WriteString(res.body)
	if strings.Contains(strings.ToLower(text.String()), canary) {
		l.t.Errorf("%s: the answer tells what is outside: %d %s", what, res.StatusCode, text.String())
	}
	if res.StatusCode >= 500 {
		l.t.Errorf("%s: %d %s", what, res.StatusCode, res.body)
	}
}

// TestLimitedMatrix asks every route as users who see a part: those that are not made for them are closed, and the others
// tell nothing of the rest.
func TestLimitedMatrix(t *testing.T) {
	t.Parallel()
	l := newEnclave(t)
	routes := slices.Clone(api.Routes)
	slices.SortStableFunc(routes, func(a, b api.Route) int { return ends(a) - ends(b) })
	open, closed := 0, 0
	for _, rt := range routes {
		at := rt.Method + " " + rt.Path
		x := examples[at]
		if rt.Path == "/metrics" { // which is for the machine's owner
			continue
		}
		for i, role := range slices.Concat(limitedRoles, limitedLevels) {
			headers := []string{l.users[role], "Content-Type: " + x.typ}
			res := l.ask(rt.Method, x.target, strings.ReplaceAll(x.body, "%d", fmt.Sprint(i)), headers...)
			l.quiet(at+" by "+role, res)
			level, err := belfry.ParseLevel(role)
			isKey := err == nil
			if !isKey {
				level = (&belfry.User{Role: role}).Level()
			}
			switch {
			case rt.Level == belfry.LevelNone:
			case rt.KeyOnly() && !isKey:
				if res.StatusCode != 401 {
					t.Errorf("%s by %s: %d %s", at, role, res.StatusCode, res.body)
				}
			case level < rt.Level || !rt.Scoped():
				closed++
				if res.StatusCode != 403 || res.code != "insufficient_level" {
					t.Errorf("%s by %s: %d %s, want it refused", at, role, res.StatusCode, res.body)
				}
				if level >= rt.Level && !strings.Contains(res.body, "limited to some views") {
					t.Errorf("%s by %s: %s does not say why", at, role, res.body)
				}
			default:
				open++
				if res.StatusCode == 401 || res.StatusCode == 403 {
					t.Errorf("%s by %s: %d %s, want it admitted", at, role, res.StatusCode, res.body)
				}
			}
		}
	}
	if open < 60 || closed < 40 {
		t.Errorf("%d requests were let in, %d were not", open, closed)
	}
}

// TestLimitedReading asks everything that can be read, in many ways, and once more when an unmanaged view outside covers
// all that is inside.
func TestLimitedReading(t *testing.T) {
	t.Parallel()
	for _, who := range []string{belfry.Administrator, "readwritedelete"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			limitedReading(t, who)
		})
	}
}

func limitedReading(t *testing.T, who string) {
	l := newEnclave(t)
	l.read(l.users[who], true)
	l.must("POST", "/api/ackmanagenote/views", `{"items":"zecret-region","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true,"unmanagenote":"a zecret reason"}`, "application/json")
	l.read(l.users[who], false)
	for _, name := range []string{"web01", "lone"} {
		res := l.ask("GET", "/api/explain/resources/"+name, "", l.users[who])
		if !strings.Contains(res.body, `"hidden":"management"`) || strings.Contains(res.body, "inheritedfrom") {
			t.Errorf("%s: %s", name, res.body)
		}
	}
}

func (l *enclave) read(who string, managed bool) {
	l.t.Helper()
	get := func(target string) reply {
		l.t.Helper()
		res := l.ask("GET", target, "", who)
		l.quiet(target, res)
		return res
	}
	sql := func(q, params string) reply {
		l.t.Helper()
		res := get("/api/sql?rows=1000&q=" + url.QueryEscape(q) + params)
		if res.StatusCode != 200 {
			l.t.Errorf("%s: %d %s", q, res.StatusCode, res.body)
		}
		return res
	}
	for _, target := range []string{
		"/api/tree", "/api/tree?view=MAIN", "/api/tree?view=Paris", "/api/tree?view=web01", "/api/tree?resource=web01&view=Disks", "/api/tree?view=lone",
		"/api/tree?view=zcret-city", "/api/tree?resource=zcret-db", "/api/tree?view=Pari",
		"/api/explain/views/MAIN", "/api/explain/views/Paris", "/api/explain/resources/lone", "/api/explain/objects/cpu?resname=web01",
		"/api/explain/objects/cpu?resname=lone", "/api/explain/objects/port", "/api/explain/objects/cpu", "/api/explain/objects/zcret-object", "/api/explain/views/zcret-region",
		"/api/provisioning/view", "/api/provisioning/custom", "/api/provisioning/object", "/api/provisioning/label", "/api/provisioning/link",
		"/api/provisioning/shortcut", "/api/provisioning/picture", "/api/classes?limit=1000", "/api/classes/host", "/api/packages", "/api/session",
	} {
		get(target) // what is asked for is told again, so some are names that are nearly right
	}
	for _, c := range []string{
		"objectstatus", "objectdata", "objectlog", "events", "syslog", "trap", "nettrace", "apptrace", "apptracespan", "apptraceid", "voip",
		"objectsl", "objectml", "objectrca", "inventory", "replay", "keyvalue",
	} {
		for _, params := range []string{"", "&wt=csv", "&wt=ndjson", "&explain=true", "&span=1d"} {
			sql("SELECT * FROM "+c, params)
		}
	}
	for _, q := range []string{
		"SELECT view, COUNT(*) FROM objectstatus GROUP BY view ORDER BY view",
		"SELECT parentview, COUNT(*) FROM objectstatus GROUP BY parentview",
		"SELECT MAX(unmanagenote), MAX(note), MAX(name), MAX(view), MAX(parentview) FROM objectstatus",
		"SELECT * FROM objectstatus AS OF '" + belfry.At(time.Now()).String() + "'",
		"SELECT view, COUNT(*) FROM events WHERE timestamp > 'NOW-1DAY' GROUP BY view ORDER BY view",
		"SELECT resource, view, object, user, info FROM events WHERE resource IS NULL OR view <> 'x' ORDER BY view DESC",
		"SELECT MIN(view), MAX(view), MAX(info), MAX(user) FROM events WHERE timestamp > 'NOW-1DAY'",
		"SELECT resource, object, MAX(log) FROM objectlog WHERE timestamp > 'NOW-1DAY' GROUP BY resource, object",
	} {
		sql(q, "")
	}
	f := func(q string, want int) {
		l.t.Helper()
		var out struct{ Rows []map[string]int }
		if res := sql(q, ""); json.Unmarshal([]byte(res.body), &out) != nil || len(out.Rows) != 1 || out.Rows[0]["n"] != want {
			l.t.Errorf("%s: %s, want %d", q, res.body, want)
		}
	}
	// Whether and where there is something outside cannot be asked, either.
	f("SELECT COUNT(*) AS n FROM objectstatus", 10) // Paris Floor web01 Disks cpu root sw01 port lone cpu
	f("SELECT COUNT(*) AS n FROM objectdata WHERE timestamp > 'NOW-1DAY'", 4)
	f("SELECT COUNT(*) AS n FROM objectlog WHERE timestamp > 'NOW-1DAY'", 1)
	f("SELECT COUNT(*) AS n FROM objectstatus WHERE view LIKE 'ze%' OR parentview LIKE 'ze%' OR name LIKE 'ze%' OR note LIKE '%ze%'", 0)
	f("SELECT COUNT(*) AS n FROM events WHERE timestamp > 'NOW-1DAY' AND (view LIKE 'ze%' OR resource LIKE 'ze%' OR info LIKE '%zec%')", 0)
	f("SELECT COUNT(*) AS n FROM events WHERE timestamp > 'NOW-1DAY' AND type='login' OR type='configuration' AND timestamp > 'NOW-1DAY'", 0)
	f("SELECT COUNT(*) AS n FROM objectstatus WHERE kind='view' AND parentview='MAIN'", 1)
	f("SELECT COUNT(*) AS n FROM objectstatus WHERE kind='resource' AND view='MAIN'", 1)
	if managed {
		f("SELECT COUNT(*) AS n FROM events WHERE timestamp > 'NOW-1DAY' AND resource='lone' AND object IS NULL AND view='MAIN'", 1)
		l.tree(who)
	}
}

// tree looks at the root that a limited user sees.
func (l *enclave) tree(who string) {
	l.t.Helper()
	var out struct {
		View struct {
			Name, Status string
			Counts       map[string]int
		}
		Content  map[string]int
		Children []struct{ Name, ParentView string }
	}
	res := l.ask("GET", "/api/tree", "", who)
	if err := json.Unmarshal([]byte(res.body), &out); err != nil {
		l.t.Fatal(err)
	}
	// web01 is a warning by the policy from outside, sw01 too.
	if out.View.Name != "MAIN" || out.View.Status != "1" || out.View.Counts["1"] != 1 || out.View.Counts["0"] != 1 || out.View.Counts["3"] != 0 ||
		len(out.Children) != 2 || out.Children[0].ParentView != "MAIN" || out.Content["element"] != 0 {
		l.t.Errorf("MAIN is %s", res.body)
	}
	paris := l.ask("GET", "/api/tree?view=Paris", "", who)
	for _, name := range []string{"Floor", "web01", "hall", "wire", "down", "exit", "cable"} {
		if !strings.Contains(paris.body, `"name":"`+name+`"`) {
			l.t.Errorf("Paris lacks %s: %s", name, paris.body)
		}
	}
}

// TestLimitedChanges: what is outside cannot be touched, and whoever tries is told what they would be told of nothing.
func TestLimitedChanges(t *testing.T) {
	t.Parallel()
	for _, who := range []string{belfry.Administrator, "readwritedelete"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			l := newEnclave(t)
			limitedChanges(t, l, l.users[who])
		})
	}
}

func limitedChanges(t *testing.T, l *enclave, who string) {
	before := l.outside()
	post := func(method, target, body string) reply {
		typ := "text/csv"
		if strings.HasPrefix(body, "{") {
			typ = "application/json"
		}
		return l.ask(method, target, body, who, "Content-Type: "+typ)
	}
	// same asks for something outside and for something that nobody has.
	same := func(method, target, body, code string) {
		t.Helper()
		probe := func(name string) string {
			res := post(method, target, strings.ReplaceAll(body, "NAME", name))
			return fmt.Sprint(res.StatusCode) + strings.ReplaceAll(res.body, name, "NAME")
		}
		for _, name := range []string{"zecret-db", "zecret-city", "zecret-region", "zecret-object"} {
			if a, b := probe(name), probe("nobody-has"); a != b || !strings.Contains(a, code) {
				t.Errorf("%s %s %q: %s for %s, %s for nothing; want %s", method, target, body, a, name, b, code)
			}
		}
	}
	same("POST", "/api/send", "type,resname,object,i1\ndata,NAME,cpu,1\n", "unknown_resource")
	same("POST", "/api/send", "type,resname,object,class,view,i1\ndata,NAME,new,host,NAME,1\n", "unknown_resource")
	same("POST", "/api/send", "type,object,i1\ndata,NAME,1\n", "unknown_object")
	same("POST", "/api/send", "type,object,log\nlog,NAME,line\n", "unknown_object")
	same("POST", "/api/send", "type,resname,class,view,parentview\ncreateview,NAME,folder,x,NAME\n", "unknown_resource")
	same("POST", "/api/send", "type,resname,class,view,parentview\ncreateview,web01,folder,x,NAME\n", "unknown_view")
	same("POST", "/api/provisioning/view", "name,view\nnew,NAME\n", "unknown_view")
	same("POST", "/api/provisioning/view", "name,view\nFloor,NAME\n", "unknown_view") // a move out
	same("POST", "/api/provisioning/custom", "name,view\nnew,NAME\n", "unknown_view")
	same("POST", "/api/provisioning/custom", "name,view\nweb01,NAME\n", "unknown_view")
	same("POST", "/api/provisioning/object", "name,resname,view,class\nnew,NAME,NAME,host\n", "unknown_resource")
	same("POST", "/api/provisioning/label", "name,view,text\nnew,NAME,x\n", "unknown_view")
	same("POST", "/api/provisioning/shortcut", "name,view,target\nnew,Paris,NAME\n", "not_found")
	same("POST", "/api/provisioning/link", "name,view,from,to\nnew,Paris,web01,NAME\n", "not_found")
	same("DELETE", "/api/provisioning/view", "name\nNAME\n", "not_found")
	same("DELETE", "/api/provisioning/view?recursive=true", "name\nNAME\n", "not_found")
	same("DELETE", "/api/provisioning/custom", "name,view\n*,NAME\n", "unknown_view")
	same("DELETE", "/api/provisioning/custom", "name\nNAME\n", "not_found")
	same("DELETE", "/api/provisioning/custom", "name,view\nlone,NAME\n", "not_found") // it does stand in one of them
	same("DELETE", "/api/provisioning/object", "name\nNAME\n", "not_found")
	for _, kind := range []string{"objects", "resources", "views"} {
		same("POST", "/api/ackmanagenote/"+kind, `{"items":"NAME","note":"x"}`, "unknown_item")
		same("POST", "/api/ackmanagenote/"+kind, `{"items":"cpu","resname":"NAME","note":"x"}`, "unknown_item")
		same("POST", "/api/ackmanagenote/"+kind, `{"items":"NAME","ack":"x"}`, "unknown_item")
	}
	f := func(method, target, body string, status int, want string) {
		t.Helper()
		res := post(method, target, body)
		if res.StatusCode != status || !strings.Contains(res.body, want) {
			t.Errorf("%s %s %q: %d %s, want %d %s", method, target, body, res.StatusCode, res.body, status, want)
		}
		if !strings.Contains(body, canary) {
			l.quiet(target, res)
		}
	}
	// In MAIN nothing can be made, moved or removed, and the roots stay.
	f("POST", "/api/provisioning/view", "name,view\nnew,MAIN\n", 400, "not_allowed")
	f("POST", "/api/provisioning/custom", "name\nnew\n", 400, "not_allowed")
	f("POST", "/api/provisioning/custom", "name,view\nnew,MAIN\n", 400, "not_allowed")
	f("POST", "/api/provisioning/label", "name,text\nnew,x\n", 400, "not_allowed")
	f("POST", "/api/provisioning/custom", "name,view\nweb01,MAIN\n", 400, "not_allowed")
	f("POST", "/api/provisioning/custom", "name,view\nlone,Paris\n", 400, "not_allowed")
	f("POST", "/api/provisioning/view", "name,view\nParis,Floor\n", 400, "not_allowed")
	f("DELETE", "/api/provisioning/view?recursive=true", "name\nParis\n", 400, "not_allowed")
	f("DELETE", "/api/provisioning/custom", "name\nlone\n", 400, "not_allowed")
	f("DELETE", "/api/provisioning/custom", "name,view\n*,MAIN\n", 400, "not_allowed")
	f("POST", "/api/ackmanagenote/views", `{"items":"MAIN","note":"x"}`, 404, "unknown_item")
	// A name that is taken is taken, and that is all.
	for _, pkg := range []string{"view", "custom"} {
		f("POST", "/api/provisioning/"+pkg, "name,view\nzecret-city,Paris\n", 400, `the name \"zecret-city\" is taken; choose another`)
		f("POST", "/api/provisioning/"+pkg, "name,view\nzecret-db,Paris\n", 400, `the name \"zecret-db\" is taken; choose another`)
	}
	f("POST", "/api/provisioning/label", "name,view,text\nzecret-label,Paris,x\n", 400, "is taken; choose another")
	// What an element of theirs names outside is not told, and cannot be found out by trying.
	same("POST", "/api/provisioning/shortcut", "name,view,target\nexit,Paris,NAME\n", "not_found")
	f("GET", "/api/provisioning/shortcut", "", 200, "down,Paris")
	// Of objects with the same name, those inside alone are met.
	f("POST", "/api/send", "type,object,i1\ndata,cpu,1\n", 400, `object \"cpu\" exists in 2 resources (lone, web01)`)
	f("POST", "/api/ackmanagenote/objects", `{"items":"cpu","note":"x"}`, 409, `exists in 2 resources (lone, web01)`)

	// Inside, everything can be done.
	f("POST", "/api/send", "type,resname,object,class,view,i1\ndata,web01,cpu,,,60\ndata,web01,new,host,Disks,5\n", 200, `"accepted":2`)
	f("POST", "/api/provisioning/view", "name,view\nCellar,Paris\n", 200, `"views":1`)
	f("POST", "/api/provisioning/custom", "name,view\nweb02,Cellar\n", 200, `"resources":1`)
	f("POST", "/api/provisioning/custom", "name,view\nweb02,Floor\n", 200, `"updated":1`)
	f("POST", "/api/provisioning/shortcut", "name,view,target\nnew,Paris,Cellar\n", 200, `"elements":1`)
	f("POST", "/api/provisioning/shortcut", "name,view,target\nexit,Paris,Floor\n", 200, `"updated":1`)
	f("DELETE", "/api/provisioning/link", "name\ncable\n", 200, `"removed":1`)
	f("POST", "/api/ackmanagenote/objects", `{"items":"cpu","resname":"web01","ack":"seen"}`, 200, "acknowledged")
	f("POST", "/api/ackmanagenote/views", `{"items":"Paris","note":"x"}`, 200, "note_set")
	f("DELETE", "/api/provisioning/custom", "name,view\n*,Floor\n", 200, `"removed":2`)
	f("DELETE", "/api/provisioning/view?recursive=true", "name\nCellar\n", 200, `"removed":1`)
	// What is exported is taken back as it is.
	for _, pkg := range []string{"view", "custom", "object", "label", "link", "shortcut"} {
		text := l.ask("GET", "/api/provisioning/"+pkg, "", who).body
		rows := strings.Count(text, "\n") - 1
		f("POST", "/api/provisioning/"+pkg, text, 200, fmt.Sprintf(`"unchanged":%d`, rows))
	}
	if after := l.outside(); after != before {
		t.Errorf("outside is\n%s\nand was\n%s", after, before)
	}
}

// outside is all that is outside, as somebody sees it who may.
func (l *enclave) outside() string {
	l.t.Helper()
	text := ""
	for _, q := range []string{
		"SELECT name, kind, resource, view, parentview, status, note, ack, isunmanaged, i1 FROM objectstatus WHERE name <> 'MAIN' AND name LIKE 'ze%' OR resource LIKE 'ze%' ORDER BY name, kind",
		"SELECT resource, object, i1 FROM objectdata WHERE resource LIKE 'ze%'",
		"SELECT resource, object, log FROM objectlog WHERE resource LIKE 'ze%'",
	} {
		text += l.ask("GET", "/api/sql?rows=1000&wt=csv&q="+url.QueryEscape(q), "", l.boss).body
	}
	for _, pkg := range []string{"label", "shortcut", "link", "view", "custom"} {
		for line := range strings.Lines(l.ask("GET", "/api/provisioning/"+pkg, "", l.boss).body) {
			if strings.HasPrefix(line, canary) {
				text += line
			}
		}
	}
	if !strings.Contains(text, canary) {
		l.t.Fatalf("nothing is outside: %s", text)
	}
	return text
}

// TestLimitedKey: the paths for keys alone keep to the views of a key, and a view that is gone leaves nothing to see. What was answered under an
// Idempotency-Key is that of the key.
func TestLimitedKey(t *testing.T) {
	t.Parallel()
	l := newEnclave(t)
	who, before := l.users["readwrite"], l.outside()
	for _, target := range []string{
		"/d?resname=NAME&o=cpu&n=yes", "/d?resname=NAME&o=cpu&i1=1", "/d?resname=NAME&o=new&c=host&v=NAME&i1=1", "/l?resname=NAME&o=cpu&l=line",
		"/cv?resname=NAME&c=folder&v=x&p=NAME&posx=10&posy=10",
	} {
		probe := func(name string) string {
			res := l.ask("GET", strings.ReplaceAll(target, "NAME", name), "", who)
			return fmt.Sprint(res.StatusCode) + strings.ReplaceAll(res.body, name, "NAME")
		}
		if a, b := probe("zecret-db"), probe("nobody-has"); a != b || !strings.Contains(a, "unknown_resource") {
			t.Errorf("%s: %s outside, %s for nothing", target, a, b)
		}
		if a := probe("web01"); !strings.HasPrefix(a, "200") {
			t.Errorf("%s: %s", target, a)
		}
	}
	if after := l.outside(); after != before {
		t.Errorf("outside is\n%s\nand was\n%s", after, before)
	}
	send := func(who string) reply {
		return l.ask("POST", "/api/send", "type,resname,object,i1\ndata,zecret-db,cpu,7\n", who, "Content-Type: text/csv", "Idempotency-Key: same")
	}
	if res := send(l.key); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	for range 2 {
		if res := send(who); res.StatusCode != 400 || !strings.Contains(res.body, "unknown_resource") {
			t.Errorf("the answer of another key: %d %s", res.StatusCode, res.body)
		}
	}
	// What was sent with the old secret of a key is recognised with the new one, and is not stored again.
	first, stored := send(l.key), l.outside()
	rotated := "X-Api-Key: " + strings.TrimSpace(l.belfry("key", "rotate", "--name", "feeder"))
	if res := send(rotated); res.body != first.body || l.outside() != stored {
		t.Errorf("after a rotation: %d %s, want %s", res.StatusCode, res.body, first.body)
	}
	if res := l.ask("POST", "/api/send", "", rotated, "Content-Type: text/csv", "Idempotency-Key: same"); res.code != "idempotency_mismatch" {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	l.must("DELETE", "/api/provisioning/custom", "name\nweb01\n", "text/csv")
	l.must("POST", "/api/provisioning/view", "name,view\nMoved,zecret-region\nFloor,Moved\n", "text/csv")
	l.must("DELETE", "/api/provisioning/view?recursive=true", "name\nParis\n", "text/csv")
	l.must("DELETE", "/api/provisioning/custom", "name\nlone\n", "text/csv")
	res := l.ask("GET", "/api/tree", "", who)
	if !strings.Contains(res.body, `"children":[]`) {
		t.Errorf("views that are gone stand for %s", res.body)
	}
	l.quiet("/api/tree", res)
}

// TestLimitedUsers: who gets other views is logged out, and a view that goes leaves nothing to see.
func TestLimitedUsers(t *testing.T) {
	t.Parallel()
	l := newEnclave(t)
	ask := func(who string) reply { return l.ask("GET", "/api/tree", "", who) }
	old := l.users[belfry.Viewer]
	if res := l.ask("GET", "/api/session", "", old); !strings.Contains(res.body, `"views":["Paris","lone"]`) {
		t.Errorf("%s", res.body)
	}
	l.belfry("user", "change", "--name", "viewer", "--views", "Floor")
	if res := ask(old); res.StatusCode != 401 {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	now := l.logIn("default", "viewer", "pw of viewer")
	if res := ask(now); !strings.Contains(res.body, "Floor") || strings.Contains(res.body, "Paris") {
		t.Errorf("%s", res.body)
	}
	l.must("DELETE", "/api/provisioning/view?recursive=true", "name\nFloor\n", "text/csv")
	if res := ask(now); res.StatusCode != 200 || !strings.Contains(res.body, `"children":[]`) {
		t.Errorf("a view that is gone stands for %s", res.body)
	}
	if res := l.ask("GET", "/api/sql?rows=1000&q=SELECT+*+FROM+objectdata", "", now); !strings.Contains(res.body, `"rows":[]`) {
		t.Errorf("a view that is gone stands for %s", res.body)
	}
	l.belfry("user", "change", "--name", "viewer", "--all-views")
	if res := ask(l.logIn("default", "viewer", "pw of viewer")); !strings.Contains(res.body, canary) {
		t.Errorf("no limit: %s", res.body)
	}
}

// TestLimitedMoves: what is moved out, in and out again, and removed outside leaves no name of what is outside with those who see a part:
// neither in what they ask nor on their stream.
func TestLimitedMoves(t *testing.T) {
	t.Parallel()
	l := newEnclave(t)
	who := l.users["readwritedelete"]
	stream, _ := l.listen("", who)
	move := func(name, view string) {
		l.t.Helper()
		l.must("POST", "/api/provisioning/custom", "name,view\n"+name+","+view+"\n", "text/csv")
	}
	l.must("POST", "/api/send", "type,resname,object,i1\ndata,web01,cpu,99\n", "text/csv")
	move("sw01", "zecret-city")
	move("web01", "zecret-city") // both are warnings: Floor and Paris recover
	move("web01", "Floor")
	move("web01", "zecret-region")
	l.must("POST", "/api/provisioning/view", "name,view\nFloor,zecret-city\n", "text/csv")
	move("web01", "Floor")
	l.must("POST", "/api/provisioning/view", "name,view\nFloor,Paris\n", "text/csv") // brings what is a warning
	l.must("POST", "/api/provisioning/view", "name,view\nFloor,zecret-region\n", "text/csv")
	l.must("DELETE", "/api/provisioning/custom", "name\nweb01\n", "text/csv")
	l.must("DELETE", "/api/provisioning/custom", "name\nzecret-db\n", "text/csv")
	l.must("POST", "/api/send", "type,resname,object,i1\ndata,lone,cpu,99\n", "text/csv")

	var told strings.Builder
	for _, m := range stream.status("lone", "1") {
		fmt.Fprintln(&told, m.event, m.data)
	}
	if text := told.String(); !strings.Contains(text, "sw01") || strings.Contains(text, canary) {
		t.Errorf("the stream tells\n%s", text)
	}
	for role, who := range l.users {
		res := l.ask("GET", "/api/sql?rows=1000&q="+url.QueryEscape("SELECT * FROM events WHERE timestamp > 'NOW-1DAY'"), "", who)
		l.quiet("events of "+role, res)
		if !strings.Contains(res.body, "resource web01: moved out") {
			t.Errorf("%s is not told that something was moved out: %s", role, res.body)
		}
		l.quiet("tree of "+role, l.ask("GET", "/api/tree?view=Paris", "", who))
	}
}
