package query_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	_ "time/tzdata" // the zones, where the machine has none

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store/duck/dialect"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected plans, statements, rows and errors in testdata")

func load(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tables are two files of a collection: an early one with few columns, and a later one with all columns of the data.
func tables(c *catalog.Collection) []query.Table {
	early := query.Table{Ref: "f1.rows", Columns: map[string]bool{}}
	late := query.Table{Ref: "f2.rows", Columns: map[string]bool{}}
	for _, f := range c.Fields {
		if f.Of != "" || f.Split != "" || f.Numbered > 0 {
			continue
		}
		late.Columns[f.Name] = true
	}
	for _, name := range []string{"item", "i1", "log"} {
		early.Columns[name], late.Columns[name] = true, true
	}
	for _, name := range []string{"i2", "s2", "i3", "sep"} {
		late.Columns[name] = true
	}
	return []query.Table{early, late}
}

func rowsOf(rows []querytest.Row) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	}
}

// TestGolden runs every query of testdata: text to plan, plan to SQL, plan to rows.
func TestGolden(t *testing.T) {
	cat := load(t)
	data, err := querytest.Data(os.DirFS("testdata"), cat)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, file := range files {
		if filepath.Base(file) == "data.txtar" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) { total += golden(t, file, cat, data) })
	}
	if total < 200 {
		t.Errorf("%d golden queries, want at least 200", total)
	}
}

func golden(t *testing.T, file string, cat *catalog.Catalog, data map[string][]querytest.Row) int {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := querytest.Cases(text)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := bytes.Cut(text, []byte("-- "))
	out := bytes.NewBuffer(head)
	for _, c := range cases {
		got := answer(t, c, cat, data)
		if !*update {
			for _, part := range []string{"plan", "duckdb", "rows", "error"} {
				if diff := cmp.Diff(c.Parts[part], got[part]); diff != "" {
					t.Errorf("%s: %s\n%s (-want +got):\n%s", c.Name, c.Query, part, diff)
				}
			}
		}
		fmt.Fprintf(out, "-- %s.query --\n%s\n", c.Name, c.Query)
		for _, part := range []string{"options", "plan", "duckdb", "rows", "error"} {
			if got[part] != "" {
				fmt.Fprintf(out, "-- %s.%s --\n%s", c.Name, part, got[part])
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return len(cases)
}

// answer runs one query from text to rows.
func answer(t *testing.T, c *querytest.Case, cat *catalog.Catalog, data map[string][]querytest.Row) map[string]string {
	got := map[string]string{"options": c.Parts["options"]}
	plan, err := c.Plan(cat)
	if err != nil {
		client, ok := errors.AsType[*belfry.Error](err)
		if !ok {
			t.Fatalf("%s: %v is not an error for clients", c.Name, err)
		}
		got["error"] = client.Error() + "\n"
		return got
	}
	if plan.Within != nil {
		_, names := querytest.Batches(cat, data)
		plan.Resolve(t.Context(), names)
	}
	got["plan"] = plan.Explain()
	if plan.Collection.Historical {
		s, err := query.SQL(plan, dialect.New("item"), tables(plan.Collection))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		got["duckdb"] = s.Text + "\n" + arguments(s.Args)
	}
	rows, err := query.Eval(plan, rowsOf(data[plan.Collection.Name]))
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	if got["rows"], err = querytest.Format(plan, rows); err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return got
}

// wordRanges is the long character class of words in a regular expression.
var wordRanges = regexp.MustCompile(`(\[\^?0-9A-Z_a-z)[^\]]{500,}\]`)

func arguments(args []any) string {
	var b strings.Builder
	for i, a := range args {
		if s, ok := a.(string); ok {
			a = wordRanges.ReplaceAllString(s, "$1…]")
		}
		fmt.Fprintf(&b, "$%d = %T %v\n", i+1, a, a)
	}
	return b.String()
}
