package api

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"belfry"
)

func loadOpenAPI(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openapiText)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPIIsValid(t *testing.T) {
	if err := loadOpenAPI(t).Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

// TestOpenAPIRoutes holds the document to the table of routes, in both directions.
func TestOpenAPIRoutes(t *testing.T) {
	documented := map[string]string{}
	for path, item := range loadOpenAPI(t).Paths.Map() {
		for method, op := range item.Operations() {
			documented[method+" "+path] = operation(op)
		}
	}
	routed := map[string]string{}
	for _, rt := range Routes {
		if isAPI := regexp.MustCompile(`^/(api/|d$|l$|cv$)`).MatchString(rt.Path); isAPI {
			routed[rt.Method+" "+strings.Replace(rt.Path, "...}", "}", 1)] = routeLine(rt)
		}
	}
	if diff := cmp.Diff(routed, documented); diff != "" {
		t.Errorf("routes (-) and openapi.json (+) differ:\n%s", diff)
	}
}

// routeLine is what the table of routes says about a route, as far as both say it.
func routeLine(rt Route) string {
	var params []string
	for _, p := range rt.Params {
		if p == anyIndicator {
			p = "indicators" // one parameter stands for them all
		}
		if !slices.Contains(params, p) && p != anyParams[0] {
			params = append(params, p)
		}
	}
	slices.Sort(params)
	level := rt.Level.String()
	if rt.Level == belfry.LevelNone {
		level = ""
	}
	byQuery := rt.Method == "GET" && rt.Level > belfry.LevelNone && rt.Level <= belfry.LevelReadWriteDelete
	return fmt.Sprintf("level=%s query=%v %s path=%v", level, byQuery, params, wildcards(rt.Path))
}

func wildcards(path string) (names []string) {
	for _, m := range regexp.MustCompile(`\{(\w+)`).FindAllStringSubmatch(path, -1) {
		names = append(names, m[1])
	}
	return names
}

// operation is what the document says about the same.
func operation(op *openapi3.Operation) string {
	var params, path []string
	for _, p := range op.Parameters {
		switch p.Value.In {
		case "query":
			params = append(params, p.Value.Name)
		case "path":
			path = append(path, p.Value.Name)
		}
	}
	slices.Sort(params)
	level, _ := op.Extensions["x-level"].(string)
	byQuery := slices.ContainsFunc(*op.Security, func(s openapi3.SecurityRequirement) bool { _, ok := s["query"]; return ok })
	return fmt.Sprintf("level=%s query=%v %s path=%v", level, byQuery, params, path)
}

// TestOpenAPICodes: the document names exactly the codes there are, and answers with the statuses they have.
func TestOpenAPICodes(t *testing.T) {
	doc := loadOpenAPI(t)
	f := func(schema *openapi3.Schema, want []belfry.Code) {
		t.Helper()
		var got []belfry.Code
		for _, v := range schema.Enum {
			got = append(got, belfry.Code(v.(string)))
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Errorf("codes of the program (-) and of openapi.json (+) differ:\n%s", diff)
		}
	}
	var rows []belfry.Code
	for _, c := range rowCodes {
		rows = append(rows, c.code)
	}
	all := slices.Clone(rows)
	for _, c := range Codes {
		all = append(all, c.Code)
	}
	f(doc.Components.Schemas["RowError"].Value.Properties["code"].Value, rows)
	f(doc.Components.Schemas["Error"].Value.Properties["error"].Value.Properties["code"].Value, all)
}
