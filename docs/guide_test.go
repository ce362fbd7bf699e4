package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// call is a request that a page makes.
type call struct{ method, path string }

// examples stand for what varies in a path.
var examples = strings.NewReplacer("/api/explain/{kind}/{name...}", "/api/explain/views/MAIN", "{package}", "view", "{resource}", "Switches", "/api/backups/{id}", "/api/backups/1", "/api/sessions/{id}", "/api/sessions/", "/api/health/faults/{id}", "/api/health/faults/journal_loss", "{kind}", "objects", "{type}", "picture", "/api/classes/{name...}", "/api/classes/pump", "/api/keys/{name...}", "/api/keys/agents", "/api/keys/{name}/", "/api/keys/agents/", "/api/users/{name...}", "/api/users/bob", "/api/customers/{name...}", "/api/customers/acme", "/api/policies/{name...}", "/api/policies/night", "/api/pictures/{name...}", "/api/pictures/plan")

// TestGuideComplete finds for every endpoint an example in the pages that TestWalk runs, and for every package one that
// provisions it. Paths that are not of the API may do with a page that tells of them.
func TestGuideComplete(t *testing.T) {
	made, told := map[call]bool{}, ""
	for _, page := range guidePages(t) {
		for _, s := range readSteps(t, filepath.Join("guide", page), "") {
			for _, c := range calls(s.commands) {
				made[c] = true
			}
		}
	}
	for _, page := range unrunPages(t) {
		told += readPage(t, page)
	}
	routes := rows(t, "reference/routes.md", `^\| ([A-Z]+) \| `+"`([^`]+)`")
	if len(routes) < 10 {
		t.Fatalf("found only %v among the routes", routes)
	}
	for _, r := range routes {
		method, path := r[1], examples.Replace(r[2])
		if !made[call{method, path}] && (strings.HasPrefix(path, "/api/") || !tells(told, path)) {
			t.Errorf("no example in docs/guide calls %s %s", method, r[2])
		}
	}
	for _, p := range rows(t, "reference/packages.md", `^## (\S+)`) {
		if !made[call{"POST", "/api/provisioning/" + p[1]}] {
			t.Errorf("no example in docs/guide provisions the package %s", p[1])
		}
	}
}

// TestErrorsTold holds the advice of the guide to the list of codes that a row can be answered with.
func TestErrorsTold(t *testing.T) {
	_, list, _ := strings.Cut(readPage(t, "reference/errors.md"), "## Of single rows")
	codes := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(list, -1)
	if len(codes) < 15 {
		t.Fatalf("found only %v", codes)
	}
	_, advice, _ := strings.Cut(readPage(t, "guide/reading-the-report.md"), "## What to do about a row")
	for _, c := range codes {
		if !strings.Contains(advice, "`"+c[1]+"`") {
			t.Errorf("docs/guide/reading-the-report.md does not say what to do about %s", c[1])
		}
	}
}

var (
	target    = regexp.MustCompile(`\$(?:url|base)(/[A-Za-z0-9/._-]*)`)
	provision = regexp.MustCompile(`\bprovision ([a-z-]+)`)
)

// calls lists the requests in a block of commands, as far as they are written out. A page may define a function
// provision that stands for the POST of a package.
func calls(commands string) (list []call) {
	commands = strings.ReplaceAll(commands, "\\\n", " ")
	for line := range strings.Lines(commands) {
		for _, m := range provision.FindAllStringSubmatch(line, -1) {
			list = append(list, call{"POST", "/api/provisioning/" + m[1]})
		}
		if at := target.FindStringSubmatch(line); at != nil && strings.Contains(line, "curl ") {
			list = append(list, call{method(line), at[1]})
		}
	}
	return list
}

// method is the one that curl uses with these arguments.
func method(line string) string {
	switch {
	case strings.Contains(line, "-X DELETE"):
		return "DELETE"
	case strings.Contains(line, "-X PUT"):
		return "PUT"
	case strings.Contains(line, " -G "):
		return "GET"
	case strings.Contains(line, "-X POST") || strings.Contains(line, " --data") || strings.Contains(line, " -d "):
		return "POST"
	}
	return "GET"
}

func TestCalls(t *testing.T) {
	f := func(commands string, want ...call) {
		t.Helper()
		got := calls(commands)
		if len(got) != len(want) {
			t.Fatalf("calls %q: %v, want %v", commands, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("calls %q: %v, want %v", commands, got, want)
			}
		}
	}
	f("curl -s $url/healthz\n", call{"GET", "/healthz"})
	f("curl -s -G $url/api/sql \\\n  -d rows=1\n", call{"GET", "/api/sql"})
	f("curl -s $url/api/sql -d rows=1\n", call{"POST", "/api/sql"})
	f("curl -X DELETE --data-binary @- \\\n  \"$base/api/provisioning/view?dryrun=true\" <<CSV\n", call{"DELETE", "/api/provisioning/view"})
	f("provision log-trap-receiver <rows\n", call{"POST", "/api/provisioning/log-trap-receiver"})
	f("echo $url/healthz\n")
}

// tells finds a path in a text, with nothing before or behind it that would make it another one.
func tells(text, path string) bool {
	path, _, _ = strings.Cut(path, "{") // what follows varies
	return regexp.MustCompile(`(^|[\s"'` + "`" + `]|url|URL|8080)` + regexp.QuoteMeta(path) + `($|[\s"'?/` + "`" + `]|\b)`).MatchString(text)
}

func TestTells(t *testing.T) {
	f := func(text, path string, want bool) {
		t.Helper()
		if got := tells(text, path); got != want {
			t.Errorf("tells %q %s: %v", text, path, got)
		}
	}
	f("`POST /api/keys` makes", "/api/keys", true)
	f("curl $url/api/keys/x", "/api/keys/{name}", true)
	f("curl \"$BELFRY_URL/api/keys?x\"", "/api/keys", true)
	f("[d](../decisions/1.md)", "/d", false)
	f("see /data", "/d", false)
	f("see /etc/api/keys", "/api/keys", false)
}

// unrunPages lists the pages of the guide that TestWalk does not run, without the list of pages.
func unrunPages(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	run := append(guidePages(t), "README.md")
	for _, file := range files {
		if !slices.Contains(run, filepath.Base(file)) {
			list = append(list, file)
		}
	}
	return list
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rows finds the lines of a page that a pattern matches.
func rows(t *testing.T, file, pattern string) [][]string {
	t.Helper()
	return regexp.MustCompile("(?m)"+pattern).FindAllStringSubmatch(readPage(t, file), -1)
}
