package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/api"
	datafolder "belfry/folder"
	"belfry/journal"
)

// example is a request that a route takes.
type example struct {
	target string // with its parameters
	body   string // %d becomes a number that is never the same
	typ    string
}

// examples has one request for every route. A new route is added here, or the test fails.
var examples = map[string]example{
	"GET /{$}":                           {"/", "", ""},
	"GET /ui/":                           {"/ui/", "", ""},
	"GET /healthz":                       {"/healthz", "", ""},
	"GET /readyz":                        {"/readyz", "", ""},
	"GET /metrics":                       {"/metrics", "", ""},
	"GET /api/version":                   {"/api/version", "", ""},
	"POST /api/session":                  {"/api/session", `{"user":"viewer","password":"pw of viewer"}`, "application/json"},
	"GET /api/session":                   {"/api/session", "", ""},
	"PUT /api/session":                   {"/api/session", `{"password":"half of it"}`, "application/json"},
	"DELETE /api/session":                {"/api/session", "", ""},
	"POST /api/session/customer":         {"/api/session/customer", `{"customer":"nowhere"}`, "application/json"},
	"GET /api/session/options":           {"/api/session/options", "", ""},
	"GET /api/session/oidc":              {"/api/session/oidc", "", ""},
	"GET /api/session/oidc/callback":     {"/api/session/oidc/callback?code=x&state=y", "", ""},
	"GET /api/sessions":                  {"/api/sessions", "", ""},
	"DELETE /api/sessions/{id}":          {"/api/sessions/nothing", "", ""},
	"GET /api/users":                     {"/api/users?limit=1000", "", ""},
	"POST /api/users":                    {"/api/users", `{"name":"made %d","role":"viewer"}`, "application/json"},
	"PUT /api/users/{name...}":           {"/api/users/nothing", `{"role":"viewer"}`, "application/json"},
	"DELETE /api/users/{name...}":        {"/api/users/nothing", "", ""},
	"GET /api/customers":                 {"/api/customers?limit=1000", "", ""},
	"POST /api/customers":                {"/api/customers", `{"name":"made %d"}`, "application/json"},
	"PUT /api/customers/{name...}":       {"/api/customers/nothing", `{"listen":[]}`, "application/json"},
	"DELETE /api/customers/{name...}":    {"/api/customers/nothing?confirm=nothing", "", ""},
	"GET /api/keys":                      {"/api/keys?limit=1000", "", ""},
	"POST /api/keys":                     {"/api/keys", `{"name":"made %d","level":"read"}`, "application/json"},
	"DELETE /api/keys/{name...}":         {"/api/keys/nothing", "", ""},
	"POST /api/keys/{name}/rotate":       {"/api/keys/nothing/rotate", "{}", "application/json"},
	"GET /api/audit":                     {"/api/audit?limit=1000", "", ""},
	"GET /api/backups":                   {"/api/backups", "", ""},
	"GET /api/backups/{id}":              {"/api/backups/99", "", ""},
	"POST /api/backups":                  {"/api/backups", "{}", "application/json"},
	"DELETE /api/backups":                {"/api/backups", "", ""},
	"POST /api/backups/days":             {"/api/backups/days", `{"backup":"/nowhere","collection":"objectdata"}`, "application/json"},
	"GET /api/backups/tar":               {"/api/backups/tar", "", ""},
	"GET /api/health":                    {"/api/health", "", ""},
	"POST /api/health/clock":             {"/api/health/clock", "", ""},
	"POST /api/health/faults/{id}":       {"/api/health/faults/nothing", "", ""},
	"GET /api/settings":                  {"/api/settings", "", ""},
	"PUT /api/settings":                  {"/api/settings", `{"customer.timezone":"UTC"}`, "application/json"},
	"GET /api/pictures":                  {"/api/pictures?limit=1000", "", ""},
	"GET /api/pictures/{name...}":        {"/api/pictures/nothing", "", ""},
	"PUT /api/pictures/{name...}":        {"/api/pictures/dot", "<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"},
	"DELETE /api/pictures/{name...}":     {"/api/pictures/nothing", "", ""},
	"GET /api/policies":                  {"/api/policies?limit=1000", "", ""},
	"GET /api/policies/{name...}":        {"/api/policies/nothing", "", ""},
	"PUT /api/policies/{name...}":        {"/api/policies/night", `{"kind":"view","item":"MAIN","rollup":"worst"}`, "application/json"},
	"DELETE /api/policies/{name...}":     {"/api/policies/nothing", "", ""},
	"POST /api/provisioning/{package}":   {"/api/provisioning/custom", "name\nshared\n", "text/csv"},
	"POST /api/send":                     {"/api/send", "type,resname,object,class,view,i1\ndata,shared,cpu,host,shared,1\ndata,nowhere,cpu,host,shared,1\n", "text/csv"},
	"POST /api/receivers/{resource}/try": {"/api/receivers/shared/try", `{"sample":"a line"}`, "application/json"},
	"GET /api/provisioning/{package}":    {"/api/provisioning/custom", "", ""},
	"DELETE /api/provisioning/{package}": {"/api/provisioning/custom?dryrun=true", "name\nshared\n", "text/csv"},
	"GET /api/openapi.json":              {"/api/openapi.json", "", ""},
	"GET /api/packages":                  {"/api/packages", "", ""},
	"GET /api/packages/{type}":           {"/api/packages/custom", "", ""},
	"GET /api/classes":                   {"/api/classes?limit=1000", "", ""},
	"GET /api/classes/{name...}":         {"/api/classes/host", "", ""},
	"PUT /api/classes/{name...}":         {"/api/classes/own", "{}", "application/json"},
	"DELETE /api/classes/{name...}":      {"/api/classes/nothing", "", ""},
	"GET /api/explain/{kind}/{name...}":  {"/api/explain/resources/shared", "", ""},
	"GET /api/windows":                   {"/api/windows?limit=1000", "", ""},
	"POST /api/ackmanagenote/{kind}":     {"/api/ackmanagenote/objects", `{"items":"cpu|nothing","note":"seen %d times"}`, "application/json"},
	"GET /d":                             {"/d?resname=shared&o=cpu&i1=1", "", ""},
	"GET /l":                             {"/l?resname=shared&o=cpu&l=line", "", ""},
	"GET /cv":                            {"/cv?resname=shared&c=folder&v=Inner&p=shared&posx=10&posy=10", "", ""},
	"GET /api/tree":                      {"/api/tree", "", ""},
	"GET /api/stream":                    {"/api/stream?for=0s&lasteventid=1.1", "", ""},
	"GET /api/sql":                       {"/api/sql?rows=1000&q=SELECT+*+FROM+objectstatus", "", ""},
	"POST /api/sql":                      {"/api/sql", "rows=1000&q=SELECT+*+FROM+events", "application/x-www-form-urlencoded"},
}

// visitor is somebody who asks.
type visitor struct {
	name    string
	headers []string
	param   string       // the key in the address
	level   belfry.Level // LevelNone: nobody we know
	cookie  bool
	foreign bool // a browser sends it for another site
	acme    bool // belongs to the other customer
	sends   bool // is a key that may only send
}

// expected is what follows from the route table alone; 0 means that the route itself answers.
func expected(rt api.Route, v visitor) (status int, code string) {
	safe := rt.Method == "GET"
	switch {
	case rt.Path == "/api/session" && rt.Level == belfry.LevelNone && v.foreign:
		return 403, "cross_site" // logging in and out is refused as well
	case rt.Level == belfry.LevelNone:
		return 0, ""
	case v.level == belfry.LevelNone, v.param != "" && !safe:
		return 401, "invalid_key"
	case v.cookie && rt.KeyOnly():
		return 401, "invalid_key"
	case v.foreign && !safe:
		return 403, "cross_site"
	case v.level < rt.Level, v.sends && !rt.Sends(), rt.Command != "":
		return 403, "insufficient_level"
	}
	return 0, ""
}

// theirs are names of the other customer, ours are those of the customer default; nobody may read the other's.
const theirs, ours = "theirs-alone", "ours-alone"

// TestMatrix asks every route as everybody.
func TestMatrix(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	routes := slices.Clone(api.Routes)
	slices.SortStableFunc(routes, func(a, b api.Route) int { return ends(a) - ends(b) })
	for _, rt := range routes {
		at := rt.Method + " " + rt.Path
		if _, ok := examples[at]; !ok {
			t.Errorf("%s has no example; add one", at)
			continue
		}
		m.unknown = ""
		for _, v := range m.visitors {
			m.visit(rt, v)
		}
	}
	if m.admitted == 0 || m.refused == 0 {
		t.Errorf("%d admitted, %d refused", m.admitted, m.refused)
	}
	t.Logf("%d routes, %d visitors: %d requests admitted, %d refused", len(routes), len(m.visitors), m.admitted, m.refused)
}

// ends sorts logging out behind everything that needs the session.
func ends(rt api.Route) int {
	if rt.Method == "DELETE" && rt.Path == "/api/session" {
		return 1
	}
	return 0
}

type matrix struct {
	*process
	visitors          []visitor
	secrets           []string
	unknown           string // what one whom we do not know is told
	number            int
	admitted, refused int
}

func newMatrix(t *testing.T) *matrix {
	m := &matrix{}
	expired := "expired-session-secret"
	m.process = newProcess(t, func(p *process) {
		p.belfry("customer", "create", "--name", "acme") // makes the folder, too
		p.oldSession(expired)
	})
	keys := map[string]string{
		"read": m.key("read", "read"), "readwrite": m.key("readwrite", "readwrite"), "all": m.key(ours+"-key", "readwritedelete"),
		"expired": m.key("expired", "readwritedelete", "--expires", "1ms"), "revoked": m.key("revoked", "readwritedelete"),
		"other": m.key(theirs+"-key", "readwritedelete", "--customer", "acme"),
		"send":  m.key("sender", "readwritedelete", "--only", "send"),
		"near":  m.key("near", "readwritedelete", "--addresses", "192.0.2.7,127.0.0.0/8", "--addresses", "::1"),
		"far":   m.key("far", "readwritedelete", "--addresses", "192.0.2.0/24"),
	}
	m.belfry("key", "revoke", "--name", "revoked")
	for _, role := range []string{"viewer", "operator", "administrator"} {
		m.user("default", role, role)
	}
	m.user("acme", "administrator", "administrator") // the same name
	m.user("acme", theirs+"-user", "viewer")
	m.fill(keys["all"], ours)
	m.fill(keys["other"], theirs)
	session := func(customer, user, password string) []string { return []string{m.logIn(customer, user, password)} }
	header := func(key string) []string { return []string{"X-Api-Key: " + key} }
	m.visitors = []visitor{
		{name: "nobody"},
		{name: "garbage", headers: header("garbage")},
		{name: "a UUID that is no key", headers: header("7b0c4f0e-1111-4aaa-8bbb-000000000004")},
		{name: "expired key", headers: header(keys["expired"])},
		{name: "revoked key", headers: header(keys["revoked"])},
		{name: "expired session", headers: []string{"Cookie: belfry_session=" + expired}, cookie: true},
		{name: "key as cookie", headers: []string{"Cookie: belfry_session=" + keys["all"]}, cookie: true},
		{name: "session as key", headers: header(strings.TrimPrefix(session("default", "admin", adminPassword)[0], "Cookie: belfry_session="))},
		{name: "read", headers: header(keys["read"]), level: belfry.LevelRead},
		{name: "readwrite", headers: header(keys["readwrite"]), level: belfry.LevelReadWrite},
		{name: "readwritedelete", headers: header(keys["all"]), level: belfry.LevelReadWriteDelete},
		{name: "send only", headers: header(keys["send"]), level: belfry.LevelReadWriteDelete, sends: true},
		{name: "from its address", headers: header(keys["near"]), level: belfry.LevelReadWriteDelete},
		{name: "from another address", headers: header(keys["far"])},
		{name: "key in the address", param: keys["all"], level: belfry.LevelReadWriteDelete},
		{name: "other customer", headers: header(keys["other"]), level: belfry.LevelReadWriteDelete, acme: true},
		{name: "viewer", headers: session("default", "viewer", "pw of viewer"), level: belfry.LevelRead, cookie: true},
		{name: "operator", headers: session("default", "operator", "pw of operator"), level: belfry.LevelReadWrite, cookie: true},
		{name: "administrator", headers: session("default", "administrator", "pw of administrator"), level: belfry.LevelAdministrator, cookie: true},
		{name: "instance administrator", headers: session("default", "admin", adminPassword), level: belfry.LevelInstance, cookie: true},
		{name: "other customer's administrator", headers: session("acme", "administrator", "pw of administrator"), level: belfry.LevelAdministrator, cookie: true, acme: true},
		{name: "other site", headers: append(session("default", "admin", adminPassword), "Sec-Fetch-Site: cross-site", "Origin: https://evil.example"), level: belfry.LevelInstance, cookie: true, foreign: true},
		{name: "header of the control socket", headers: []string{api.CustomerHeader + ": acme"}},
		{name: "key with that header", headers: append(header(keys["all"]), api.CustomerHeader+": acme"), level: belfry.LevelReadWriteDelete},
		{name: "bad key with a good session", headers: append(session("default", "admin", adminPassword), "X-Api-Key: "+keys["expired"])},
	}
	for _, k := range keys {
		m.secrets = append(m.secrets, k)
	}
	for _, v := range m.visitors {
		for _, h := range v.headers {
			if secret, ok := strings.CutPrefix(h, "Cookie: belfry_session="); ok {
				m.secrets = append(m.secrets, secret)
			}
		}
	}
	m.secrets = append(m.secrets, adminPassword, "pw of", "$argon2id$")
	return m
}

// user makes a user with a password made of its name.
func (p *process) user(customer, name, role string, flags ...string) {
	p.t.Helper()
	cmd := p.command(append([]string{"user", "create", "--customer", customer, "--name", name, "--role", role}, flags...)...)
	cmd.Env = append(cmd.Env, "BELFRY_USER_PASSWORD=pw of "+name)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		p.t.Fatalf("create user %s: %v: %s", name, err, out)
	}
}

// oldSession puts a user whose session is over into the journal of a service that does not run.
func (p *process) oldSession(secret string) {
	p.t.Helper()
	u := belfry.User{Name: "late", Password: accounts.HashPassword("x"), Role: belfry.Administrator, Created: 1}
	s := belfry.Session{User: "late", Fingerprint: u.Fingerprint(), Created: 1, Expires: belfry.At(time.Now().Add(-time.Second))}
	rec := belfry.Record{Time: belfry.At(time.Now()), Customer: 1}
	for _, d := range []struct {
		kind, name string
		v          any
	}{{belfry.DocUser, u.Name, u}, {belfry.DocSession, belfry.HashOf(secret).String(), s}} {
		body, err := json.Marshal(d.v)
		if err != nil {
			p.t.Fatal(err)
		}
		rec.Docs = append(rec.Docs, belfry.Doc{Kind: d.kind, Customer: 1, Name: d.name, Body: body})
	}
	j, err := journal.Open(filepath.Join(p.data, "journal"), journal.Options{Branches: p.branches(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := j.Append(rec.Append(nil)); err != nil {
		p.t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// fill gives a customer a resource of its own, and one whose name both have.
func (p *process) fill(key, mark string) {
	p.t.Helper()
	for _, req := range [][2]string{
		{"/api/provisioning/custom", "name\nshared\n" + mark + "\n"},
		{"/api/send", "type,resname,object,class,view,i1,log\n" +
			"data," + mark + "," + mark + "-object," + mark + "-class," + mark + ",1,\n" +
			"log," + mark + "," + mark + "-object,,,," + mark + "-text\n" +
			"data,shared,cpu,host,shared,1,\n"},
	} {
		if res := p.ask("POST", req[0], req[1], "X-Api-Key: "+key, "Content-Type: text/csv"); res.StatusCode != 200 {
			p.t.Fatalf("%s: %d %s", req[0], res.StatusCode, res.body)
		}
	}
}

func (m *matrix) visit(rt api.Route, v visitor) {
	m.t.Helper()
	m.number++
	at := rt.Method + " " + rt.Path
	x := examples[at]
	target, headers := x.target, slices.Clone(v.headers)
	if x.typ != "" {
		headers = append(headers, "Content-Type: "+x.typ)
	}
	if v.param != "" {
		sep := "?"
		if strings.Contains(target, "?") {
			sep = "&"
		}
		target += sep + "apikey=" + url.QueryEscape(v.param)
	}
	res := m.ask(rt.Method, target, strings.ReplaceAll(x.body, "%d", fmt.Sprint(m.number)), headers...)
	status, code := expected(rt, v)
	switch {
	case status != 0:
		m.refused++
		if res.StatusCode != status || res.code != code {
			m.t.Errorf("%s by %s: %d %s, want %d %s", at, v.name, res.StatusCode, res.code, status, code)
		}
	default:
		m.admitted++
		if res.StatusCode == 401 || res.StatusCode == 403 || res.StatusCode >= 500 {
			m.t.Errorf("%s by %s: %d %s, want it admitted", at, v.name, res.StatusCode, res.body)
		}
	}
	if status == 401 {
		if m.unknown == "" {
			m.unknown = res.body
		}
		if res.body != m.unknown {
			m.t.Errorf("%s by %s: told %s, others %s", at, v.name, res.body, m.unknown)
		}
	}
	m.leaks(at, v, res)
}

// leaks looks for what must not be in an answer: secrets, and names of the other customer.
func (m *matrix) leaks(at string, v visitor, res reply) {
	m.t.Helper()
	head := res.Header.Clone()
	if at == "POST /api/session" || v.cookie {
		head.Del("Set-Cookie")
	}
	var text strings.Builder
	head.Write(&text)
	text.WriteString(res.body)
	for _, s := range m.secrets {
		if strings.Contains(text.String(), s) {
			m.t.Errorf("%s by %s: the answer holds a secret: %s", at, v.name, text.String())
		}
	}
	hidden := []string{theirs, ours}
	switch {
	case v.level == belfry.LevelNone: // neither
	case v.acme:
		hidden = hidden[1:]
	default:
		hidden = hidden[:1]
	}
	for _, s := range hidden {
		if strings.Contains(text.String(), s) {
			m.t.Errorf("%s by %s: the answer names what belongs to another: %s", at, v.name, text.String())
		}
	}
}

// TestCustomersApart: two customers with the same names of everything see their own.
func TestCustomersApart(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	p.belfry("customer", "create", "--name", "acme")
	keys := map[string]string{}
	for customer, mark := range map[string]string{"default": ours, "acme": theirs} {
		keys[customer] = p.key("agent", "readwritedelete", "--customer", customer) // the same name for both
		p.key(mark+"-key", "read", "--customer", customer)
		p.user(customer, "boss", "administrator")
		p.fill(keys[customer], mark)
	}
	for customer, other := range map[string]string{"default": theirs, "acme": ours} {
		own := map[string]string{theirs: ours, ours: theirs}[other]
		key, boss := "X-Api-Key: "+keys[customer], p.logIn(customer, "boss", "pw of boss")
		f := func(want bool, method, target, body string, headers ...string) string {
			t.Helper()
			res := p.ask(method, target, body, headers...)
			if res.StatusCode >= 500 || strings.Contains(res.body, other) && !strings.Contains(target+body, url.QueryEscape(other)) {
				t.Errorf("%s: %s %s: %d %s", customer, method, target, res.StatusCode, res.body)
			}
			if want != strings.Contains(res.body, own) {
				t.Errorf("%s: %s %s: %d %s, own names expected: %t", customer, method, target, res.StatusCode, res.body, want)
			}
			return res.body
		}
		for _, who := range []string{key, boss} {
			for _, c := range []string{"objectstatus", "objectdata", "objectlog", "events", "audit"} {
				if c == "audit" && who == key { // keys do not read it
					continue
				}
				f(true, "GET", "/api/sql?rows=1000&q="+url.QueryEscape("SELECT * FROM "+c), "", who)
			}
			for _, item := range []string{"resource", "object", "class"} {
				suffix := map[string]string{"resource": "", "object": "-object", "class": "-class"}[item]
				q := "SELECT name FROM objectstatus WHERE " + item + "='" + other + suffix + "'"
				if body := f(false, "GET", "/api/sql?q="+url.QueryEscape(q), "", who); !strings.Contains(body, `"rows":[]`) {
					t.Errorf("%s: %s: %s", customer, q, body)
				}
			}
			// What the other has is as unknown as what nobody has, in the same words.
			probe := func(name string) string {
				res := p.ask("POST", "/api/send", "type,resname,object,i1\ndata,"+name+","+name+"-object,1\n", who, "Content-Type: text/csv")
				return strings.ReplaceAll(res.body, name, "NAME")
			}
			if a, b := probe(other), probe("nobody-has"); a != b || !strings.Contains(a, "unknown_resource") {
				t.Errorf("%s: asked for the other's object: %s, for none: %s", customer, a, b)
			}
		}
		f(true, "GET", "/api/keys", "", boss)
		if res := p.ask("DELETE", "/api/keys/"+other+"-key", "", boss); res.StatusCode != http.StatusNotFound || res.code != "unknown_item" {
			t.Errorf("%s revokes the other's key: %d %s", customer, res.StatusCode, res.body)
		}
		if res := p.ask("DELETE", "/api/keys/agent", "", boss); res.StatusCode != 200 {
			t.Errorf("%s: %d %s", customer, res.StatusCode, res.body)
		}
		if res := p.ask("GET", "/api/session", "", key); res.StatusCode != 401 {
			t.Errorf("%s: the key still works: %d", customer, res.StatusCode)
		}
		delete(keys, customer)
		for _, left := range keys { // the other's key of the same name lives on
			if res := p.ask("GET", "/api/session", "", "X-Api-Key: "+left); res.StatusCode != 200 {
				t.Errorf("the other's key went too: %d", res.StatusCode)
			}
		}
	}
}

// branches returns the starts of the service, for a test that writes into its folder.
func (p *process) branches() *belfry.Branches {
	p.t.Helper()
	list, err := datafolder.ReadBranches(filepath.Join(p.data, datafolder.BranchesFile))
	if err != nil {
		p.t.Fatal(err)
	}
	return belfry.NewBranches(list)
}
