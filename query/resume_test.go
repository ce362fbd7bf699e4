package query_test

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/query"
	"belfry/query/querytest"
)

// TestResume: the pages of an answer, each after the last row of the one before, have every row once and in order, even
// with equal timestamps and while new rows arrive.
func TestResume(t *testing.T) {
	cat := load(t)
	data, err := querytest.Data(os.DirFS("testdata"), cat)
	if err != nil {
		t.Fatal(err)
	}
	plan := func(text string, rows int) *query.Plan {
		t.Helper()
		c := querytest.Case{Query: text, Options: query.Options{Customer: querytest.Customer, Now: querytest.Now, Rows: rows, Pages: true}}
		p, err := c.Plan(cat)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return p
	}
	read := func(p *query.Plan, from []querytest.Row) (ids []string, mark []string) {
		t.Helper()
		rows, err := query.Eval(p.Marked(), rowsOf(from))
		if err != nil {
			t.Fatal(err)
		}
		for len(ids) < p.Limit {
			row, err := rows.Next()
			if err == io.EOF {
				break
			}
			if row, mark = p.Mark(row); len(row) != 1 {
				t.Fatalf("a row of %d values", len(row))
			}
			ids = append(ids, row[0].String())
		}
		return ids, mark
	}
	f := func(text string) {
		t.Helper()
		whole := plan(text, query.MaxRows)
		want, _ := read(whole, data[whole.Collection.Name])
		for _, size := range []int{1, 2, 3} {
			from := slices.Clone(data[whole.Collection.Name])
			p := plan(text, size)
			got, mark := read(p, from)
			for len(mark) > 0 && len(got) <= len(want) {
				if whole.Collection.Historical {
					from = append(from, querytest.Row{
						"id":        {Type: belfry.IDValue, Int: int64(len(from)) + 1<<40},
						"timestamp": {Type: belfry.TimeValue, Int: int64(querytest.Now) + 3600e6},
						"i1":        {Type: belfry.NumberValue, Num: 40},
					})
				}
				next, err := p.Resume(mark)
				if err != nil {
					t.Fatal(err)
				}
				var some []string
				some, mark = read(next, from)
				got = append(got, some...)
			}
			if !slices.Equal(got, want) || len(want) < 4 {
				t.Errorf("%s in pages of %d:\n%v, want\n%v", text, size, got, want)
			}
		}
	}
	f("SELECT id FROM objectdata")
	f("SELECT id FROM objectdata ORDER BY timestamp")
	f("SELECT id FROM objectdata WHERE timestamp >= 'NOW-1HOUR' ORDER BY timestamp ASC, id DESC")
	f("SELECT id FROM objectdata WHERE i1 > 0 OR object = 'it''s'")
	f("SELECT id FROM objectdata WHERE period = 'hour'")
	f("SELECT id FROM events ORDER BY timestamp DESC, id ASC")
	f("SELECT name FROM objectstatus")
	f("SELECT id FROM objectstatus ORDER BY kind DESC, name, id DESC")
	f("SELECT id FROM objectstatus ORDER BY id")
}

// TestResumeRefused: an invalid mark, or an order without marks, is an error.
func TestResumeRefused(t *testing.T) {
	cat := load(t)
	f := func(text string, mark []string, code belfry.Code, want string) {
		t.Helper()
		c := querytest.Case{Query: text, Options: query.Options{Customer: querytest.Customer, Now: querytest.Now, Rows: 2, Pages: true}}
		p, err := c.Plan(cat)
		if err == nil {
			_, err = p.Resume(mark)
		}
		if belfry.CodeOf(err) != code || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %q: %v, want %s %q", text, mark, err, code, want)
		}
	}
	at, id := "2026-11-15T11:30:00.000000Z", "0000000000000007"
	f("SELECT id FROM events", []string{at}, belfry.BadParameter, "timestamp and the id")
	f("SELECT id FROM events", []string{at, id, id}, belfry.BadParameter, "timestamp and the id")
	f("SELECT id FROM events", []string{at, "7"}, belfry.BadParameter, "timestamp and the id")
	f("SELECT id FROM events", []string{"yesterday", id}, belfry.BadParameter, "timestamp and the id")
	f("SELECT name FROM objectstatus", []string{"object", "", id}, belfry.BadParameter, "timestamp and the id")
	f("SELECT id FROM events ORDER BY status", []string{"3", id}, belfry.BadParameter, "ORDER BY timestamp")
	f("SELECT name FROM objectstatus ORDER BY status", []string{"3", id}, belfry.BadParameter, "LIMIT and OFFSET")
	f("SELECT status, COUNT(*) FROM objectstatus GROUP BY status", []string{"3"}, belfry.BadParameter, "LIMIT and OFFSET")
	f("SELECT id FROM events LIMIT 5", nil, belfry.BadQuery, "line 1, column 29: LIMIT does not go with pages")
	f("SELECT COUNT(*) FROM events", nil, belfry.TimeSpanRequired, "groups need a time span")
}
