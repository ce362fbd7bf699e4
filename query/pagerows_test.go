package query

import (
	"iter"
	"math/rand/v2"
	"testing"

	"belfry"
	"belfry/catalog"
)

// TestPageRows: a page at any offset has the rows of Eval, in the same order.
func TestPageRows(t *testing.T) {
	name, id := Column{Name: "name", Type: catalog.Text}, Column{Name: "id", Type: catalog.ID}
	var rows []oneRow
	for n := range int64(500) {
		r := oneRow{"id": {Type: belfry.IDValue, Int: n}}
		if n%7 > 0 { // some have no name, many have the same
			r["name"] = belfry.Value{Type: belfry.TextValue, Text: string(rune('a' + rand.IntN(20)))}
		}
		rows = append(rows, r)
	}
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	f := func(where Pred, order []Order, offset, limit int) {
		t.Helper()
		p := &Plan{
			Customer: 1, Collection: &catalog.Collection{}, Outputs: []Output{{Name: "id", Column: id}},
			Where: where, Order: order, Limit: limit, Offset: offset,
		}
		want, err := Eval(p, func(yield func(Row) bool) {
			for _, r := range rows {
				if !yield(r) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		marked := iter.Seq2[int, Row](func(yield func(int, Row) bool) {
			for i, r := range rows {
				if !yield(i, r) {
					return
				}
			}
		})
		found, err := new(Evaluator).PageRows(p, marked)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range found {
			row, err := want.Next()
			if err != nil || row[0] != rows[at]["id"] {
				t.Fatalf("offset %d: got %v, want %v (%v)", offset, rows[at]["id"], row, err)
			}
		}
		if row, err := want.Next(); err == nil {
			t.Fatalf("offset %d: %v is missing", offset, row)
		}
	}
	up, down := []Order{{name, false}, {id, false}}, []Order{{name, true}, {id, true}}
	some := Like{Column: name, Pattern: "c"}
	for _, order := range [][]Order{up, down, {{id, false}}} {
		for _, offset := range []int{0, 1, 99, 250, 430, 499, 500, 501, 10_000} {
			for _, limit := range []int{0, 1, 10, 100_000} {
				f(nil, order, offset, limit)
				f(some, order, offset/20, limit)
			}
		}
	}
}
