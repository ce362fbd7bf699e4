package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belfry"
)

const testKey = "0b0f3a52-5a7c-4c53-9a1c-64c1de2e3b11"

// inventory is a server of packages as far as export, provision and remove need one: it keeps the body that was posted
// last for each package and gives it back.
type inventory struct {
	packages string
	csv      map[string]string
	log      []string // method, path, query, and for requests with rows how many
	classes  string   // what the list of classes has
	put      map[string]string
}

func (s *inventory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Api-Key") != testKey {
		w.WriteHeader(401)
		io.WriteString(w, `{"error":{"code":"invalid_key","message":"the key is missing, unknown, expired or revoked"}}`)
		return
	}
	pkg := strings.TrimPrefix(r.URL.Path, "/api/provisioning/")
	body, _ := io.ReadAll(r.Body)
	entry := r.Method + " " + r.URL.RequestURI()
	if r.Method != "GET" {
		entry += fmt.Sprintf(" %d", bytes.Count(body, []byte("\n"))-1)
	}
	s.log = append(s.log, entry)
	switch {
	case r.URL.Path == "/api/packages":
		io.WriteString(w, s.packages)
	case r.URL.Path == "/api/classes":
		fmt.Fprintf(w, `{"classes":[%s],"more":false}`, s.classes)
	case r.URL.Path == "/api/pictures":
		io.WriteString(w, `{"pictures":[],"more":false}`)
	case r.Method == "PUT":
		s.put[r.URL.Path] = string(body)
		io.WriteString(w, `{"result":"created"}`)
	case r.URL.Query().Has("broken"):
		io.WriteString(w, "name,view\n")
	case pkg != r.URL.Path && r.Method == "GET":
		text, ok := s.csv[pkg]
		if !ok {
			w.WriteHeader(404)
			fmt.Fprintf(w, `{"error":{"code":"unknown_package","message":"there is no package %s"}}`, pkg)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		io.WriteString(w, text)
	default:
		s.applyBody(w, pkg, string(body))
	}
}

// applyBody rejects rows that hold the word wrong.
func (s *inventory) applyBody(w http.ResponseWriter, pkg, body string) {
	var rep belfry.Report
	for i, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		if i == 0 {
			continue
		}
		rep.Rows++
		if strings.Contains(line, "wrong") {
			rep.Reject(belfry.RowError{Row: i, Line: i + 1, Code: belfry.NotFound, Message: "there is no such \x1b[31mitem"})
			continue
		}
		rep.Accepted++
		rep.Removed++
	}
	s.csv[pkg] += body
	status, text := rep.Answer()
	w.WriteHeader(status)
	w.Write(text)
}

// shell runs commands against a server, in a folder of their own.
type shell struct {
	*testing.T
	inventory *inventory
	out       string
	err       string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{T: t, inventory: &inventory{csv: map[string]string{}, put: map[string]string{}}}
	srv := httptest.NewServer(s.inventory)
	t.Cleanup(srv.Close)
	t.Chdir(t.TempDir())
	t.Setenv("BELFRY_URL", srv.URL)
	t.Setenv("BELFRY_KEY", testKey)
	t.Setenv("BELFRY_KEY_FILE", "")
	return s
}

// run runs a command line, and checks its exit status and that the key is not shown.
func (s *shell) run(want int, args ...string) {
	s.Helper()
	var out, errs bytes.Buffer
	got := run(args, &out, &errs)
	s.out, s.err = out.String(), errs.String()
	if got != want {
		s.Errorf("belfry %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), got, want, s.out, s.err)
	}
	if strings.Contains(s.out+s.err, testKey) {
		s.Errorf("belfry %s shows the key:\n%s%s", strings.Join(args, " "), s.out, s.err)
	}
}

func (s *shell) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

func (s *shell) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		s.Error(err)
	}
	return string(text)
}

func (s *shell) shows(where, want string) {
	s.Helper()
	if !strings.Contains(where, want) {
		s.Errorf("%q is not in:\n%s", want, where)
	}
}

func TestExitStatus(t *testing.T) {
	s := newShell(t)
	s.write("good.csv", "name\na\n")
	s.write("mixed.csv", "name\na\nwrong\n")
	s.write("all.csv", "name\nwrong\n")
	s.run(0, "provision", "custom", "good.csv")
	s.run(0, "provision", "--no-compress", "--retry", "0s", "-q", "custom", "good.csv")
	s.run(3, "provision", "custom", "mixed.csv")
	s.run(3, "provision", "custom", "all.csv")
	s.run(0, "remove", "custom", "good.csv")
	s.run(3, "remove", "custom", "mixed.csv")
	s.run(1, "send", "missing.csv")
	s.run(1, "send", ".")
	s.run(1, "export", "nothing")
	s.run(2, "send")
	s.run(2, "send", "--rows", "0", "good.csv")
	s.run(2, "send", "--rejected", "good.csv", "good.csv")
	s.run(2, "send", "--atomic", "--rejected", "x.csv", "good.csv")
	s.run(2, "send", "--url", "localhost", "good.csv")
	s.run(2, "provision", "custom")
	s.run(2, "provision", "../send", "good.csv")
	s.run(2, "provision", "--dir", ".", "custom", "good.csv")
	s.run(1, "provision", "--dir", ".")
	s.run(2, "export")
	s.run(2, "export", "custom", "--dir", "x")
	s.run(2, "export", "-o", "x")
	s.run(2, "completion", "tcsh")
	s.run(2, "manual", "nothing")
	t.Setenv("BELFRY_KEY", "")
	s.run(2, "send", "good.csv")
	t.Setenv("BELFRY_KEY", "wrong")
	s.run(1, "send", "good.csv")
	s.shows(s.err, "unknown, expired or revoked (status 401 invalid_key)")
}

// TestKey: what is typed wins over the environment.
func TestKey(t *testing.T) {
	s := newShell(t)
	s.write("good.csv", "name\na\n")
	s.write("right.key", testKey+"\n")
	s.write("wrong.key", "other\n")
	s.write("empty.key", "\n")
	f := func(want int, env, envFile string, flags ...string) {
		t.Helper()
		t.Setenv("BELFRY_KEY", env)
		t.Setenv("BELFRY_KEY_FILE", envFile)
		s.run(want, append([]string{"send", "good.csv"}, flags...)...)
	}
	f(0, testKey, "")
	f(0, "", "right.key")
	f(0, "other", "", "--key-file", "right.key")
	f(0, "", "wrong.key", "--key", testKey)
	f(0, "other", "wrong.key", "--key", testKey)
	f(0, "other", "wrong.key", "--key-file", "right.key")
	f(1, testKey, "", "--key-file", "wrong.key")
	f(2, "", "", "--key", testKey, "--key-file", "right.key")
	f(2, testKey, "right.key")
	f(2, "", "empty.key")
	f(1, "", "missing.key")
}

func TestTotals(t *testing.T) {
	s := newShell(t)
	var b strings.Builder
	b.WriteString("name\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d%s\n", i, map[bool]string{true: "wrong"}[i%2 == 1])
	}
	s.write("rows.csv", b.String())
	s.run(3, "provision", "--rows", "7", "custom", "rows.csv")
	want := "60 rows: 30 accepted, 30 rejected, 0 discarded; created 0 resources, 0 views, 0 objects; updated 0, unchanged 0\n"
	if s.out != want {
		t.Errorf("got %q, want %q", s.out, want)
	}
	s.shows(s.err, "line 3: there is no such ?[31mitem\nline 5: ")
	s.shows(s.err, "\nline 41: ")
	s.shows(s.err, "\nand 10 more; all rejected rows are in rows.csv.rejected.csv\n")
	s.shows(s.err, "belfry: 30 of 60 rows rejected; correct them in rows.csv.rejected.csv")
	if strings.Contains(s.err, "line 43") {
		t.Errorf("more than twenty problems are shown:\n%s", s.err)
	}
	if got := strings.Count(s.read("rows.csv.rejected.csv"), "wrong"); got != 30 {
		t.Errorf("%d rejected rows are kept", got)
	}
	s.run(3, "provision", "--json", "--rejected", "other.csv", "custom", "rows.csv")
	var rep belfry.Report
	if err := json.Unmarshal([]byte(s.out), &rep); err != nil || rep.Rows != 60 || rep.Rejected != 30 || len(rep.Errors) != 30 || rep.Errors[29].Line != 61 {
		t.Errorf("%v: %s", err, s.out)
	}
	s.read("other.csv")
	s.run(3, "provision", "--dryrun", "custom", "rows.csv")
	s.shows(s.out, "dry run: 60 rows: 30 accepted, 30 rejected")
	s.shows(s.inventory.log[len(s.inventory.log)-1], "POST /api/provisioning/custom?dryrun=true 60")
	s.run(3, "remove", "--recursive", "custom", "rows.csv")
	s.shows(s.out, "; removed 30 items\n")
	s.shows(s.inventory.log[len(s.inventory.log)-1], "DELETE /api/provisioning/custom?recursive=true 60")
}

// TestRemoveParts: every error of a removal is listed, since no request has more rows than errors are listed.
func TestRemoveParts(t *testing.T) {
	s := newShell(t)
	s.write("rows.csv", "name\n"+strings.Repeat("wrong\n", 250))
	s.run(3, "remove", "custom", "rows.csv")
	want := []string{"DELETE /api/provisioning/custom 100", "DELETE /api/provisioning/custom 100", "DELETE /api/provisioning/custom 50"}
	if diff := cmp.Diff(want, s.inventory.log); diff != "" {
		t.Error(diff)
	}
	if got := strings.Count(s.read("rows.csv.rejected.csv"), "wrong"); got != 250 {
		t.Errorf("%d rejected rows are kept", got)
	}
}

const somePackages = `{"packages":[{"name":"custom","kind":"resource"},{"name":"label","kind":"element"},
	{"name":"network-ping","kind":"resource"},{"name":"object","kind":"object"},{"name":"view","kind":"view","columns":[]}]}`

func TestExport(t *testing.T) {
	s := newShell(t)
	s.inventory.packages = somePackages
	s.inventory.csv = map[string]string{
		"custom":       "name,view,token\nweb01,MAIN,***\n\"a \"\"b\"\"\",Rack,\n",
		"view":         "name,view,resname\nRack,MAIN,\nInner,web01,web01\n",
		"object":       "name,resname,view,class\ncpu,web01,web01,c\n",
		"label":        "name,view,text\nl,MAIN,\"two\nlines\"\n",
		"network-ping": "name,view,ip_address_fqdn\n",
	}
	before := map[string]string{}
	for k, v := range s.inventory.csv {
		before[k] = v
	}
	s.run(0, "export", "custom")
	if s.out != before["custom"] {
		t.Errorf("got %q", s.out)
	}
	s.shows(s.err, "custom: the server shows *** instead of the secrets in token")
	s.run(0, "export", "label", "-o", "label.csv")
	if got := s.read("label.csv"); got != before["label"] || s.err != "" {
		t.Errorf("got %q, %q", got, s.err)
	}
	s.run(0, "export", "--list")
	if s.out != "custom\nlabel\nnetwork-ping\nobject\nview\n" {
		t.Errorf("got %q", s.out)
	}

	if err := os.Mkdir("inventory", 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("inventory/20-network-ping.csv", "name\ngone\n") // of an earlier export
	s.write("inventory/notes.txt", "mine")
	s.run(0, "export", "--dir", "inventory")
	want := []string{"10-view.csv", "20-custom.csv", "30-view.csv", "40-object.csv", "50-label.csv", "notes.txt"}
	if diff := cmp.Diff(want, names(t, "inventory")); diff != "" {
		t.Error(diff)
	}
	if got := s.read("inventory/10-view.csv"); got != "name,view,resname\nRack,MAIN,\n" {
		t.Errorf("views of the customer: %q", got)
	}
	if got := s.read("inventory/30-view.csv"); got != "name,view,resname\nInner,web01,web01\n" {
		t.Errorf("views inside resources: %q", got)
	}
	if got := s.read("inventory/50-label.csv"); got != before["label"] {
		t.Errorf("labels: %q", got)
	}

	// And back, in order.
	s.inventory.csv, s.inventory.log = map[string]string{}, nil
	s.run(0, "provision", "--dir", "inventory")
	wantLog := []string{
		"GET /api/packages", // to find out which *** are secrets
		"POST /api/provisioning/view 1", "POST /api/provisioning/custom 2", "POST /api/provisioning/view 1",
		"POST /api/provisioning/object 1", "POST /api/provisioning/label 2",
	}
	if diff := cmp.Diff(wantLog, s.inventory.log); diff != "" {
		t.Error(diff)
	}
	s.shows(s.out, "20-custom.csv: 2 rows: 2 accepted")
	// A file with wrong rows does not keep the others from being sent.
	s.write("inventory/20-custom.csv", "name\nwrong\nright\n")
	s.inventory.log = nil
	s.run(3, "provision", "--dir", "inventory")
	if len(s.inventory.log) != 5 { // no *** any more
		t.Errorf("requests: %q", s.inventory.log)
	}
	s.shows(s.err, "20-custom.csv: line 2: there is no such")
	// The rejected rows are no file of the inventory.
	s.run(3, "provision", "--dir", "inventory")
	if len(s.inventory.log) != 10 || slices.ContainsFunc(s.inventory.log, func(l string) bool { return strings.Contains(l, "rejected") }) {
		t.Errorf("requests: %q", s.inventory.log)
	}
}

// TestBrokenExport: a file is whole or not there.
func TestBrokenExport(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "name\nweb01\nwe")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer srv.Close()
	s := newShell(t)
	s.write("old.csv", "as it was")
	s.run(1, "export", "--url", srv.URL, "custom", "-o", "old.csv")
	if got := s.read("old.csv"); got != "as it was" {
		t.Errorf("got %q", got)
	}
	if got := names(t, "."); !slices.Equal(got, []string{"old.csv"}) {
		t.Errorf("files: %q", got)
	}
}

// TestHostilePackages: a server cannot choose where files are written.
func TestHostilePackages(t *testing.T) {
	s := newShell(t)
	s.inventory.packages = `{"packages":[{"name":"../x","kind":"resource"}]}`
	s.run(1, "export", "--dir", "inventory")
	s.shows(s.err, "cannot be the name of a package")
	if got := names(t, "."); len(got) != 0 {
		t.Errorf("files: %q", got)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, filepath.Base(e.Name()))
	}
	return list
}
