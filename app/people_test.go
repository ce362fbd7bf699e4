package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"

	"belfry"
)

// office is a running service with people who ask.
type office struct {
	*running
	who map[string]string // header by name
}

func newOffice(t *testing.T) *office {
	o := &office{startService(t, nil), map[string]string{"-": "X: y"}}
	o.who["instance"] = o.logIn("", "admin", adminPassword)
	o.want(201, "", "instance", "POST", "/api/users", `{"name":"boss","role":"administrator","password":"the boss's password"}`)
	o.who["boss"] = o.logIn("", "boss", "the boss's password")
	return o
}

// want asks and compares status and code; it gives back the body.
func (o *office) want(status int, code, who, method, path, body string) string {
	o.t.Helper()
	_, res, text := o.do(method, path, body, o.who[who], "Content-Type: application/json")
	if res.StatusCode != status || codeOf(text) != code {
		o.t.Errorf("%s: %s %s %s: %d %s, want %d %s", who, method, path, body, res.StatusCode, text, status, code)
	}
	return string(text)
}

// says asks like want, and looks for a text in the answer.
func (o *office) says(part string, status int, code, who, method, path, body string) {
	o.t.Helper()
	if text := o.want(status, code, who, method, path, body); !strings.Contains(text, part) {
		o.t.Errorf("%s %s %s: %s, want %s in it", method, path, body, text, part)
	}
}

// events lists the login events that somebody sees, oldest first.
func (o *office) events(who string) (list []string) {
	o.t.Helper()
	text := o.want(200, "", who, "GET", "/api/sql?rows=1000&q="+url.QueryEscape(
		"SELECT user, info FROM events WHERE type='login' AND source='user' ORDER BY timestamp ASC"), "")
	var answer struct{ Rows []struct{ User, Info string } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		o.t.Fatal(err)
	}
	for _, r := range answer.Rows {
		list = append(list, r.User+": "+r.Info)
	}
	return list
}

func TestUsersByHTTP(t *testing.T) {
	o := newOffice(t)
	text := o.want(201, "", "boss", "POST", "/api/users", `{"name":"eve","role":"operator"}`)
	var made struct{ Name, Role, Password, Created string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.Name != "eve" || made.Role != "operator" || made.Created == "" || len(made.Password) != 23 {
		t.Fatalf("%v %s", err, text)
	}
	o.who["eve"] = o.logIn("", "eve", made.Password)
	o.want(403, "insufficient_level", "eve", "GET", "/api/users", "")
	text = o.want(200, "", "boss", "GET", "/api/users?limit=2&after=admin", "")
	var list struct {
		Users []struct {
			Name, Role, Created, LastLogin, Password string
			Instance                                 bool
		}
		More bool
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Users) != 2 || list.More || list.Users[0].Name != "boss" ||
		list.Users[1].LastLogin < list.Users[1].Created || list.Users[0].Instance || strings.Contains(text, "password") || strings.Contains(text, "argon") {
		t.Errorf("%v %s", err, text)
	}

	f := o.want
	f(400, "bad_parameter", "boss", "POST", "/api/users", `{"name":"eve","role":"viewer"}`)
	f(400, "bad_parameter", "boss", "POST", "/api/users", `{"name":"x","role":"king"}`)
	f(400, "bad_parameter", "boss", "POST", "/api/users", `{"name":"x (instance)","role":"viewer"}`)
	f(400, "bad_parameter", "boss", "POST", "/api/users", `{"name":"x","role":"viewer","password":"too short"}`)
	f(400, "bad_parameter", "boss", "POST", "/api/users", `{"name":"x","role":"viewer","password":"Password1234"}`)
	f(400, "bad_parameter", "boss", "POST", "/api/users", `{"name":"my long name","role":"viewer","password":"My Long Name"}`)
	f(400, "bad_parameter", "boss", "POST", "/api/users", `{"name":"x","role":"viewer","password":"`+strings.Repeat("long ", 205)+`"}`)

	// Nobody rises above themselves, nor pulls down who is above.
	f(403, "insufficient_level", "boss", "POST", "/api/users", `{"name":"x","role":"instance administrator"}`)
	f(403, "insufficient_level", "boss", "PUT", "/api/users/boss", `{"role":"instance administrator"}`)
	f(403, "insufficient_level", "boss", "PUT", "/api/users/admin", `{"role":"viewer"}`)
	f(403, "insufficient_level", "boss", "PUT", "/api/users/admin", `{"password":"taken over by boss"}`)
	f(403, "insufficient_level", "boss", "DELETE", "/api/users/admin", "")
	o.says("only administrator of the instance", 400, "bad_parameter", "instance", "DELETE", "/api/users/admin", "")
	o.says("only administrator of the instance", 400, "bad_parameter", "instance", "PUT", "/api/users/admin", `{"role":"administrator"}`)

	// Another role or password ends the sessions.
	o.says(`"role":"viewer"`, 200, "", "boss", "PUT", "/api/users/eve", `{"role":"viewer"}`)
	f(401, "invalid_key", "eve", "GET", "/api/session", "")
	o.who["eve"] = o.logIn("", "eve", made.Password)
	f(200, "", "boss", "PUT", "/api/users/eve", `{"password":"a new password"}`)
	f(401, "invalid_key", "eve", "GET", "/api/session", "")
	o.who["eve"] = o.logIn("", "eve", "a new password")
	f(400, "bad_parameter", "boss", "PUT", "/api/users/boss", `{"password":"without the old one"}`)
	f(404, "unknown_item", "boss", "DELETE", "/api/users/nobody", "")
	f(200, "", "boss", "DELETE", "/api/users/eve", "")
	f(401, "invalid_key", "eve", "GET", "/api/session", "")

	events := strings.Join(o.events("instance"), "\n")
	for _, want := range []string{
		"admin: user boss created as administrator", "boss: user eve created as operator",
		"eve: logged in", "boss: user eve is viewer, was operator", "boss: user eve has another password", "boss: user eve removed",
	} {
		if !strings.Contains(events, want) {
			t.Errorf("no %q among\n%s", want, events)
		}
	}
	if strings.Contains(events, made.Password) || strings.Contains(events, "a new password") || strings.Contains(o.log.String(), made.Password) {
		t.Errorf("a password is told:\n%s", events)
	}
}

// TestLastAdministrator: somebody must be left who can administer a customer.
func TestLastAdministrator(t *testing.T) {
	o := newOffice(t)
	o.want(201, "", "instance", "POST", "/api/customers", `{"name":"acme","password":"the first password"}`)
	o.who["acme"] = o.logIn("acme", "admin", "the first password")
	for _, who := range []string{"acme", "instance"} {
		if who == "instance" {
			o.want(200, "", who, "POST", "/api/session/customer", `{"customer":"acme"}`)
		}
		o.says("last administrator", 400, "bad_parameter", who, "DELETE", "/api/users/admin", "")
		o.says("last administrator", 400, "bad_parameter", who, "PUT", "/api/users/admin", `{"role":"operator"}`)
	}
	o.want(201, "", "acme", "POST", "/api/users", `{"name":"second","role":"administrator"}`)
	o.want(200, "", "acme", "PUT", "/api/users/admin", `{"role":"operator"}`)
	o.says("last administrator", 400, "bad_parameter", "instance", "DELETE", "/api/users/second", "")
}

func TestOwnAccount(t *testing.T) {
	o := newOffice(t)
	o.who["other"] = o.logIn("", "boss", "the boss's password")
	f := o.want
	f(400, "bad_parameter", "boss", "PUT", "/api/session", `{"password":"the boss's password","new":"short"}`)
	f(400, "bad_parameter", "boss", "PUT", "/api/session", `{"new":"a longer password"}`)
	f(401, "invalid_login", "boss", "PUT", "/api/session", `{"password":"wrong","new":"a longer password"}`)
	f(200, "", "other", "GET", "/api/session", "")
	f(200, "", "boss", "PUT", "/api/session", `{"password":"the boss's password","new":"a longer password"}`)
	f(200, "", "boss", "GET", "/api/session", "")
	f(401, "invalid_key", "other", "GET", "/api/session", "")
	f(401, "invalid_login", "-", "POST", "/api/session", `{"user":"boss","password":"the boss's password"}`)
	o.who["other"] = o.logIn("", "boss", "a longer password")
	f(204, "", "other", "DELETE", "/api/session?everywhere=true", "")
	f(401, "invalid_key", "boss", "GET", "/api/session", "")
	f(401, "invalid_key", "other", "GET", "/api/session", "")
	f(200, "", "instance", "GET", "/api/session", "") // that of another user goes on

	o.who["boss"] = o.logIn("", "boss", "a longer password")
	for range 10 {
		o.do("PUT", "/api/session", `{"password":"guessed","new":"a longer password"}`, o.who["boss"], "Content-Type: application/json")
	}
	f(429, "rate_limited", "boss", "PUT", "/api/session", `{"password":"a longer password","new":"the longest password"}`)
	events := strings.Join(o.events("instance"), "\n")
	for _, want := range []string{"boss: password changed", "boss: logged out everywhere", "boss: login refused"} {
		if !strings.Contains(events, want) {
			t.Errorf("no %q among\n%s", want, events)
		}
	}
	if n := strings.Count(events, "login refused"); n != 1 {
		t.Errorf("%d events of refused logins in a minute:\n%s", n, events)
	}
}

func TestActingInACustomer(t *testing.T) {
	o := newOffice(t)
	o.want(201, "", "instance", "POST", "/api/customers", `{"name":"acme","password":"the first password"}`)
	o.who["acme"] = o.logIn("acme", "admin", "the first password")
	f := o.want
	f(403, "insufficient_level", "acme", "POST", "/api/session/customer", `{"customer":"default"}`)
	f(403, "insufficient_level", "boss", "POST", "/api/session/customer", `{"customer":"acme"}`)
	f(403, "insufficient_level", "boss", "GET", "/api/customers", "")
	f(404, "unknown_item", "instance", "POST", "/api/session/customer", `{"customer":"nowhere"}`)
	o.says(`"customer":"acme","expires"`, 200, "", "instance", "POST", "/api/session/customer", `{"customer":"acme"}`)
	o.says(`"home":"default"`, 200, "", "instance", "GET", "/api/session", "")
	o.says(`"user":"admin"`, 200, "", "instance", "GET", "/api/session", "")
	f(201, "", "instance", "POST", "/api/keys", `{"name":"theirs","level":"read"}`)
	o.says(`"theirs"`, 200, "", "acme", "GET", "/api/keys", "")
	o.says(`"creator":"admin (instance)"`, 200, "", "acme", "GET", "/api/keys", "")
	f(200, "", "instance", "POST", "/api/session/customer", `{"customer":"default"}`)
	o.says(`"keys":[]`, 200, "", "instance", "GET", "/api/keys", "")
	if text := o.want(200, "", "instance", "GET", "/api/session", ""); strings.Contains(text, "home") {
		t.Errorf("at home: %s", text)
	}
	want := []string{
		"admin (instance): user admin created as administrator", "admin: logged in",
		"admin (instance): instance administrator entered", "admin (instance): instance administrator left",
	}
	if got := o.events("acme"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events of acme: %q", got)
	}
	for _, e := range o.events("instance") {
		if strings.Contains(e, "entered") {
			t.Errorf("told at home: %s", e)
		}
	}
	// A session whose customer goes does not act in its own instead; one of the same name is another customer.
	f(200, "", "instance", "POST", "/api/session/customer", `{"customer":"acme"}`)
	o.says("act in another customer first", 400, "bad_parameter", "instance", "DELETE", "/api/customers/acme?confirm=acme", "")
	o.who["second"] = o.logIn("", "admin", adminPassword)
	f(200, "", "second", "DELETE", "/api/customers/acme?confirm=acme", "")
	f(401, "invalid_key", "acme", "GET", "/api/session", "")
	f(201, "", "second", "POST", "/api/customers", `{"name":"acme","password":"the first password"}`)
	o.says(`customer \"acme\", which was removed`, 403, "insufficient_level", "instance", "POST", "/api/users", `{"name":"eve","role":"viewer"}`)
	f(403, "insufficient_level", "instance", "DELETE", "/api/provisioning/custom", "")
	f(403, "insufficient_level", "instance", "GET", "/api/stream", "")
	o.says(`"customer":"acme"`, 200, "", "instance", "GET", "/api/session", "")
	o.says(`"home":"default"`, 200, "", "instance", "GET", "/api/session", "")
	o.says(`"customer":"default"`, 200, "", "instance", "POST", "/api/session/customer", `{"customer":"default"}`)
	f(200, "", "instance", "GET", "/api/users", "")
}

// TestRevokedWhileSending: a body under way when its key is revoked ends with 401, and what comes of it after that is not applied.
func TestRevokedWhileSending(t *testing.T) {
	o := newOffice(t)
	key := o.key("agent", belfry.LevelReadWriteDelete, "default")
	body, end := io.Pipe()
	begun := make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	req, err := http.NewRequestWithContext(ctx, "POST", o.base+"/api/provisioning/custom", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Expect", "100-continue")
	go func() {
		<-begun // the service reads the body, so the key was good
		_, err := io.WriteString(end, "name\n")
		o.want(200, "", "instance", "DELETE", "/api/keys/agent", "")
		if err == nil {
			_, err = io.WriteString(end, "web01\n")
		}
		end.CloseWithError(err)
	}()
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 401 || codeOf(text) != "invalid_key" {
		t.Errorf("%d %s, %v", res.StatusCode, text, err)
	}
	if text := o.want(200, "", "instance", "GET", "/api/provisioning/custom", ""); strings.Contains(text, "web01") {
		t.Errorf("stored: %s", text)
	}
}

// TestCustomerRemoved: nothing of a removed customer answers, and one of the same name begins with nothing.
func TestCustomerRemoved(t *testing.T) {
	o := newOffice(t)
	f := o.want
	fill := func() (key string) {
		t.Helper()
		f(201, "", "instance", "POST", "/api/customers", `{"name":"acme","password":"the first password"}`)
		key = o.key("agent", belfry.LevelReadWriteDelete, "acme")
		for path, body := range map[string]string{"/api/provisioning/custom": "name\nweb01\n"} {
			if _, res, text := o.do("POST", path, body, "X-Api-Key: "+key); res.StatusCode != 200 {
				t.Fatalf("%d %s", res.StatusCode, text)
			}
		}
		if _, res, text := o.do("POST", "/api/send", "type,resname,object,class,view,i1\ndata,web01,secret object,host,web01,1\n", "X-Api-Key: "+key); res.StatusCode != 200 {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
		return key
	}
	key := fill()
	o.who["acme"] = o.logIn("acme", "admin", "the first password")
	f(400, "bad_parameter", "instance", "DELETE", "/api/customers/acme", "")
	f(400, "bad_parameter", "instance", "DELETE", "/api/customers/acme?confirm=Acme", "")
	o.says("administrator of the instance", 400, "bad_parameter", "instance", "DELETE", "/api/customers/default?confirm=default", "")
	f(200, "", "instance", "DELETE", "/api/customers/acme?confirm=acme", "")
	if _, res, text := o.do("GET", "/api/session", "", "X-Api-Key: "+key); res.StatusCode != 401 || codeOf(text) != "invalid_key" {
		t.Errorf("the key of a removed customer: %d %s", res.StatusCode, text)
	}
	f(401, "invalid_key", "acme", "GET", "/api/session", "")
	f(401, "invalid_login", "-", "POST", "/api/session", `{"customer":"acme","user":"admin","password":"the first password"}`)
	o.await("msg=\"removed customers erased\"")

	again := o.want(201, "", "instance", "POST", "/api/customers", `{"name":"acme"}`)
	var made struct{ User, Password string }
	if err := json.Unmarshal([]byte(again), &made); err != nil || made.User != "admin" {
		t.Fatalf("%v %s", err, again)
	}
	o.who["acme"] = o.logIn("acme", made.User, made.Password)
	for _, q := range []string{"SELECT * FROM objectdata", "SELECT * FROM objectstatus WHERE name='web01'", "SELECT * FROM objectlog"} {
		o.says(`"rows":[]`, 200, "", "acme", "GET", "/api/sql?rows=10&q="+url.QueryEscape(q), "")
	}
	o.says(`"keys":[]`, 200, "", "acme", "GET", "/api/keys", "")
	if n := len(o.events("acme")); n != 2 { // its administrator was made, and logged in
		t.Errorf("%d events: %q", n, o.events("acme"))
	}
}
