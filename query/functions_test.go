package query_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store/duck/dialect"
)

// calls writes every function in each valid way, with a field that it accepts.
func calls() map[query.Func][]string {
	all := map[query.Func][]string{}
	for i, f := range query.Functions() {
		field := map[query.Operand]string{query.AnyValue: "i1", query.AnyField: "i1", query.Numbers: "i1", query.Times: "timestamp"}[f.Takes]
		if f.Distinct {
			field = "DISTINCT " + field
		}
		fn := query.Func(i + 1)
		for _, name := range f.Names {
			if f.Rows {
				all[fn] = append(all[fn], name+"(*)")
			}
			if f.Second == "" {
				all[fn] = append(all[fn], name+"("+field+")")
			}
			for _, second := range f.Examples {
				all[fn] = append(all[fn], name+"("+field+", "+second+")", strings.ToLower(name)+"("+field+", "+second+")")
			}
		}
	}
	return all
}

// used adds the functions of a plan to the set.
func used(seen map[query.Func]bool, p *query.Plan) {
	if p.Grouping != nil {
		for _, c := range slices.Concat(p.Grouping.Keys, p.Grouping.Calls) {
			seen[c.Func] = true
		}
	}
}

// TestFunctions: each function of the table can be parsed, checked, evaluated and written as SQL, and its text reads as the same call.
func TestFunctions(t *testing.T) {
	cat := load(t)
	rows := []querytest.Row{
		{"id": {Type: belfry.IDValue, Int: 1}, "timestamp": {Type: belfry.TimeValue, Int: 1e15}, "i1": {Type: belfry.NumberValue, Num: 3}},
		{"id": {Type: belfry.IDValue, Int: 2}, "timestamp": {Type: belfry.TimeValue, Int: 2e15}, "i1": {Type: belfry.NumberValue, Num: 5}},
	}
	all := calls()
	for i, f := range query.Functions() {
		fn := query.Func(i + 1)
		if len(all[fn]) == 0 {
			t.Errorf("%s: no way to write it; a function with a second argument needs Examples", fn)
		}
		for _, text := range all[fn] {
			p := functionPlan(t, cat, text, f.Key)
			c := slices.Concat(p.Grouping.Keys, p.Grouping.Calls)[0]
			if want := f.Gives; c.Func != fn || want != "" && c.Type() != want || want == "" && c.Type() != c.Column.Type {
				t.Errorf("%s: function %d of type %s, want %d of type %s", text, c.Func, c.Type(), fn, want)
			}
			if again := functionPlan(t, cat, c.String(), f.Key); again.Outputs[0].Column != p.Outputs[0].Column {
				t.Errorf("%s: printed as %s, which is something else", text, c)
			}
			answer, err := query.Eval(p, rowsOf(rows))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if row, err := answer.Next(); err != nil || row[0].Type == belfry.AbsentValue {
				t.Errorf("%s: %v, %v of two rows", text, row, err)
			}
			if s, err := query.SQL(p, dialect.New("item"), tables(p.Collection)); err != nil || !strings.Contains(s.Text, `AS "g0"`) {
				t.Errorf("%s: %v, %v", text, s, err)
			}
		}
	}
}

func functionPlan(t *testing.T, cat *catalog.Catalog, call string, key bool) *query.Plan {
	t.Helper()
	text := "SELECT " + call + " AS f FROM objectdata WHERE timestamp >= '1970-01-02'"
	if key {
		text += " GROUP BY f"
	}
	return plan(t, cat, text)
}

// TestFunctionsAreTested: each function is in the golden queries, in random plans of both kinds, and in the guide.
func TestFunctionsAreTested(t *testing.T) {
	cat := load(t)
	guide, err := os.ReadFile("../docs/guide/query.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[query.Func]bool{
		"no golden query":     goldenFunctions(t, cat),
		"no plan of Random":   randomFunctions(cat, querytest.Random),
		"no plan of RandomOf": randomFunctions(cat, func(r *rand.Rand) string { return querytest.RandomOf(r, cat, nil) }),
	}
	for i, f := range query.Functions() {
		fn := query.Func(i + 1)
		for where, seen := range seen {
			if !seen[fn] {
				t.Errorf("%s has %s", where, calls()[fn][0])
			}
		}
		for _, name := range f.Names {
			if text := "`" + name; !strings.Contains(string(guide), text) || f.Distinct && !strings.Contains(string(guide), text+"(DISTINCT ") {
				t.Errorf("docs/guide/query.md does not say what %s is", name)
			}
		}
	}
}

// goldenFunctions are those of golden queries that have SQL and rows.
func goldenFunctions(t *testing.T, cat *catalog.Catalog) map[query.Func]bool {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[query.Func]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := querytest.Cases(text)
		if err != nil && filepath.Base(file) != "data.txtar" {
			t.Fatal(err)
		}
		for _, c := range cases {
			if p, err := c.Plan(cat); err == nil && c.Parts["duckdb"] != "" && c.Parts["rows"] != "" {
				used(seen, p)
			}
		}
	}
	return seen
}

// randomFunctions are those of 2,000 random queries that Check takes.
func randomFunctions(cat *catalog.Catalog, random func(*rand.Rand) string) map[query.Func]bool {
	seen := map[query.Func]bool{}
	for seed := range uint64(2000) {
		c := querytest.Case{Query: random(rand.New(rand.NewPCG(seed, 16))), Options: query.Options{Customer: querytest.Customer, Now: querytest.Now}}
		if p, err := c.Plan(cat); err == nil {
			used(seen, p)
		}
	}
	return seen
}
