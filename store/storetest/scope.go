package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store"
)

// scoped runs queries as users who see one resource each, which is in a view outside their scope. No part of a query
// may reveal that view, and store and Eval must agree.
func scoped(t *testing.T, open Open) {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	j := &comparison{catalog: cat, store: open(t, t.TempDir())}
	t.Cleanup(func() { j.store.Close() })
	text := func(s string) belfry.Value { return belfry.Value{Type: belfry.TextValue, Text: s} }
	rows := func(first int64, items ...[3]string) (list []querytest.Row) {
		for i, item := range items {
			r := querytest.Row{
				"id":        {Type: belfry.IDValue, Int: first + int64(i)},
				"timestamp": {Type: belfry.TimeValue, Int: int64(querytest.Now) - int64(i) - 1},
				"type":      text("alarm"), "info": text(fmt.Sprint("event ", i)),
			}
			for k, name := range []string{"resource", "view", "object"} {
				if item[k] != "" {
					r[name] = text(item[k])
				}
			}
			list = append(list, r)
		}
		return list
	}
	j.data = map[string][]querytest.Row{"events": rows(1,
		[3]string{"web01", "Vault", ""}, [3]string{"web01", "web01", "cpu"}, [3]string{"db01", "Vault", ""}, [3]string{"db01", "db01", "cpu"},
		[3]string{"", "Vault", ""}, [3]string{}, [3]string{"web01", "Vault", ""}, [3]string{"db02", "Cellar", ""})}
	batches, names := querytest.Batches(cat, j.data)
	for i, b := range batches {
		b.Pos = belfry.Position(i + 1)
	}
	if err := store.AppendAll(context.Background(), j.store, batches...); err != nil {
		t.Fatal(err)
	}
	j.names = names
	for _, q := range []string{
		"SELECT * FROM events LIMIT 20",
		"SELECT view, resource FROM events ORDER BY view, resource DESC LIMIT 20",
		"SELECT view, COUNT(*) AS n FROM events WHERE timestamp > 'NOW-1DAY' GROUP BY view",
		"SELECT view, object, COUNT(*) AS n, MAX(info) FROM events WHERE timestamp > 'NOW-1DAY' GROUP BY view, object ORDER BY view DESC",
		"SELECT MIN(view), MAX(view), COUNT(DISTINCT view), LAST(view), COUNT(view) FROM events WHERE timestamp > 'NOW-1DAY'",
		"SELECT info FROM events WHERE view = 'Vault' LIMIT 20",
		"SELECT info FROM events WHERE view = 'MAIN' LIMIT 20",
		"SELECT info FROM events WHERE view > 'N' OR view IS NULL LIMIT 20",
		"SELECT info FROM events WHERE _query_='view:V* OR NOT view:V*' LIMIT 20",
		"SELECT COUNT(*) FROM events WHERE NOT view = 'Vault' AND timestamp > 'NOW-1DAY'",
	} {
		for _, views := range [][]string{{"web01"}, {"db02", "gone"}, {"web01", "db01"}, {"gone"}, nil} {
			c := querytest.Case{Query: q, Options: query.Options{Customer: querytest.Customer, Views: views, Now: querytest.Now}}
			p, err := c.Plan(cat)
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			p.Resolve(t.Context(), names)
			want := j.eval(t, p, j.data["events"])
			if reveals := strings.Contains(want.text, "Vault") || strings.Contains(want.text, "Cellar"); reveals && views != nil {
				t.Errorf("%s within %v reveals what is outside:\n%s", q, views, want.text)
			}
			j.compare(t, fmt.Sprintf("%s within %v", q, views), p, want)
		}
	}
}
