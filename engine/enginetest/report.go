package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
)

// ClassOf reads a class.
func ClassOf(t testing.TB, text string) *catalog.Class {
	t.Helper()
	c, err := catalog.ParseClass([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Report reads the answer to a body.
func Report(t testing.TB, answer []byte) (r belfry.Report) {
	t.Helper()
	if err := json.Unmarshal(answer, &r); err != nil {
		t.Fatal(err)
	}
	if r.Accepted+r.Rejected+r.Discarded != r.Rows {
		t.Errorf("%d accepted + %d rejected + %d discarded is not %d rows", r.Accepted, r.Rejected, r.Discarded, r.Rows)
	}
	return r
}

// Brief summarizes a report: "3 created, 1 updated; 2 column code".
func Brief(r belfry.Report) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{
		{r.Created.Resources, "r"},
		{r.Created.Views, "v"},
		{r.Created.Objects, "o"},
		{r.Created.Elements, "e"},
		{r.Updated, "updated"},
		{r.Unchanged, "unchanged"},
		{r.Removed, "removed"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprint(c.n, " ", c.what))
		}
	}
	for _, e := range r.Errors {
		parts = append(parts, fmt.Sprint(e.Row, " ", e.Column, " ", e.Code))
	}
	return strings.Join(parts, ", ")
}

// BriefOne summarizes the answer to a single row: "200 o1", "400 c unknown_object".
func BriefOne(t testing.TB, code int, answer []byte) string {
	t.Helper()
	var r struct {
		belfry.Report
		Error *struct{ Code belfry.Code }
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		t.Fatal(err)
	}
	if r.Rows != 1 || r.Accepted+r.Rejected != 1 {
		t.Errorf("the report is not that of one row: %s", answer)
	}
	if code == 200 {
		return strings.TrimSpace("200 " + Brief(r.Report))
	}
	if r.Error == nil || len(r.Errors) != 1 || r.Error.Code != r.Errors[0].Code || r.Errors[0].Row != 1 {
		t.Errorf("the error is not that of the row: %s", answer)
	}
	return fmt.Sprint(code, " ", r.Errors[0].Column, " ", r.Errors[0].Code)
}
