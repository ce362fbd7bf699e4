package api

import (
	"slices"
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
	f(doc.Components.Schemas["ErrorDetail"].Value.Properties["code"].Value, all)
}
