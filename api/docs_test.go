package api

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belfry"
)

var update = flag.Bool("update", false, "rewrite the reference pages")

// page compares a reference page with what it should say, or writes it.
func page(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "docs", "reference", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not up to date; run make gen:\n%s", path, diff)
	}
}

func TestRoutesPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Routes\n\nGenerated from `api/routes.go`. Every path answers in JSON unless it says otherwise; the key goes into the header\n" +
		"`x-api-key`, on GET also into the parameter `apikey`. HEAD works wherever GET does, except on `/d`, `/l` and\n" +
		"`/cv`: these GETs change something, and HEAD never does, so it gets 405. A session counts like a key: of a\n" +
		"viewer read, of an operator readwrite, of an administrator readwritedelete and administrator; but never on a GET that\n" +
		"needs readwrite. Users and keys that are limited to some views may use the paths that say so under *views*. A key with\n`only: send` may use `POST /api/send`, `/d`, `/l` and `/cv`.\n\n" +
		"| method | path | level | views | parameters | what it does |\n|---|---|---|---|---|---|\n")
	for _, r := range Routes {
		level := r.Level.String()
		if r.Level == belfry.LevelNone {
			level = "–"
		}
		var names []string
		for _, p := range r.Params {
			names = append(names, "`"+p.Name+"`")
		}
		params := strings.Join(names, " ")
		if params == "" || params == "`*`" {
			params = "–"
		}
		views := "–"
		if r.Scoped() {
			views = "yes"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", r.Method, strings.TrimSuffix(r.Path, "{$}"), level, views, params, r.Help)
	}
	page(t, "routes.md", b.String())
}

// rowCodes are the codes that stand inside reports.
var rowCodes = []struct {
	code belfry.Code
	help string
}{
	{belfry.UnknownResource, "There is no resource of that name."},
	{belfry.UnknownView, "There is no view of that name where the row needs one."},
	{belfry.UnknownObject, "There is no object of that name, and the row does not say enough to create it."},
	{belfry.UnknownClass, "There is no class of that name, and `strict_classes` forbids making one."},
	{belfry.UnknownType, "The column `type` holds something else than a kind of row."},
	{belfry.MissingValue, "A cell that the row needs is empty."},
	{belfry.BadValue, "A cell holds something that its column does not take."},
	{belfry.BadName, "A name is empty, too long, reserved, or holds control characters or blanks at an end."},
	{belfry.BadRow, "The row cannot be read: quotes, encoding, or more fields than the header has."},
	{belfry.AmbiguousName, "Several objects have this name; give `resname`."},
	{belfry.NameInUse, "The name belongs to something else already."},
	{belfry.ClassMismatch, "The object exists and has another class."},
	{belfry.Cycle, "A view would end up inside itself."},
	{belfry.NotEmpty, "The view has something in it."},
	{belfry.NotFound, "There is nothing of that name to remove."},
	{belfry.NotAllowed, "The row asks for something that cannot be done to this item."},
	{belfry.TooLate, "The timestamp is older than the collection keeps rows."},
	{belfry.TooEarly, "The timestamp is more than five minutes ahead."},
	{belfry.LimitReached, "The customer has as many objects, resources, views and elements as it may, or no room for more texts; the message says which."},
}

func TestErrorsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Errors\n\nGenerated from `api/errors.go`. An error is always JSON of this shape, and branching on `code` is safe: codes keep\n" +
		"their meaning, messages are for people.\n\n" +
		"```json\n{\"error\":{\"code\":\"unknown_path\",\"message\":\"there is nothing at \\\"/api/sned\\\"; …\"}}\n```\n\n" +
		"Every answer carries the request's id in the header `X-Request-Id`.\n\n## Of whole requests\n\n" +
		"| status | code | try again after | meaning |\n|---|---|---|---|\n")
	for _, c := range Codes {
		retry := "–"
		if c.Retry > 0 {
			retry = fmt.Sprintf("%d s", c.Retry)
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", c.Status, c.Code, retry, c.Help)
	}
	b.WriteString("\n## Of single rows\n\nThey are in the list `errors` of a report.\n\n| code | meaning |\n|---|---|\n")
	for _, c := range rowCodes {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.code, c.help)
	}
	page(t, "errors.md", b.String())
}
