package duck

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store"
)

// Groups of items that are named in memory equal those that the engine makes by names: for many items, with equal
// results, without a value, without an item, and if two items have the same name. If no two have, the engine delivers
// only the top groups.
func TestGroupsOfItems(t *testing.T) {
	t.Run("twins", func(t *testing.T) { testGroupsOfItems(t, true) })
	t.Run("names of their own", func(t *testing.T) { testGroupsOfItems(t, false) })
}

func testGroupsOfItems(t *testing.T, twins bool) {
	s := open(t, t.TempDir())
	defer s.Close()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	objects := 3000
	if testing.Short() {
		objects = 1000
	}
	names := make(querytest.Items, objects)
	items := &belfry.Batch{Collection: belfry.Dimension, Customer: 1, Pos: 1, Times: make([]belfry.Time, objects)}
	cols := []belfry.Column{{Name: belfry.ItemColumn}, {Name: "kind"}, {Name: "resource"}, {Name: "object"}}
	rows := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: 2, FirstID: 1}
	item, i1 := belfry.Column{Name: belfry.ItemColumn}, belfry.Column{Name: "i1"}
	for i := range objects {
		names[i] = querytest.Item{Resource: fmt.Sprint("r", i%7), Object: fmt.Sprint("o", i*7919%objects), Customer: 1}
		if twins && i == objects-1 {
			names[i].Object = names[0].Object // in another resource
		}
		cols[0].Ints, cols[1].Ints = append(cols[0].Ints, int64(i+1)), append(cols[1].Ints, int64(belfry.KindObject))
		cols[2].Texts, cols[3].Texts = append(cols[2].Texts, names[i].Resource), append(cols[3].Texts, names[i].Object)
		for n := range 1 + i%3 {
			rows.Times = append(rows.Times, crashDay0+belfry.Time(i+n))
			item.Ints, i1.Numbers = append(item.Ints, int64(i+1)), append(i1.Numbers, float64(i*31%97-40+n))
			if i%50 == 49 {
				i1.Numbers[len(i1.Numbers)-1] = belfry.AbsentNumber()
			}
		}
	}
	rows.Times = append(rows.Times, crashDay0, crashDay0+1)
	item.Ints, i1.Numbers = append(item.Ints, belfry.AbsentInt, 17), append(i1.Numbers, 5, belfry.AbsentNumber())
	items.Columns, rows.Columns = cols, []belfry.Column{item, i1}
	if err := store.AppendAll(t.Context(), s, items, rows); err != nil {
		t.Fatal(err)
	}
	answer := func(s store.Store, names query.ItemNames, p *query.Plan) (text string) {
		r, err := store.NewMover(s, store.MoverOptions{Names: names}).Select(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for {
			row, err := r.Next()
			if err == io.EOF {
				return text
			}
			if err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintf("%v\n", row)
		}
	}
	delivered := 0
	f := func(text string) {
		t.Helper()
		parsed, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := query.Check(parsed, cat, query.Options{Customer: 1, Now: crashDay0, From: crashDay0, To: crashDay0 + belfry.Day})
		if err != nil {
			t.Fatal(err)
		}
		want := answer(s, nil, p)
		delivered = 0
		for _, source := range []store.Store{s, oneByOne{s, &delivered}} {
			if got := answer(source, names, p); got != want || want == "" {
				t.Errorf("%s of %T\nby number:\n%sby name:\n%s", text, source, got, want)
			}
		}
	}
	few := func(text string, most int) { // how many groups the engine delivers
		t.Helper()
		f(text)
		if !twins && delivered > most {
			t.Errorf("%s: %d groups were delivered", text, delivered)
		}
	}
	for _, keys := range []string{"object", "resource, object", "object, resource", "resource"} {
		by := "SELECT " + keys + ", COUNT(*), MEAN(i1), MEDIAN(i1), LAST(i1) FROM objectdata GROUP BY " + keys
		first, _, _ := strings.Cut(keys, ",")
		f(by)
		if first != keys {
			f(by + " LIMIT 5 OFFSET 900")
		}
		f(by + " ORDER BY " + first + " DESC LIMIT 3")
		f(by + " ORDER BY COUNT(*) DESC LIMIT 20")
		f(by + " ORDER BY COUNT(*) LIMIT 20")
		f(by + " ORDER BY MEAN(i1) DESC LIMIT 20")
		f(by + " ORDER BY MEAN(i1), " + first + " DESC LIMIT 200")
		f(by + " HAVING COUNT(*) > 1 ORDER BY MEDIAN(i1) DESC LIMIT 7")
	}
	mean := "SELECT object, MEAN(i1) FROM objectdata "
	few(mean+"GROUP BY object", 44)
	few(mean+"GROUP BY object LIMIT 100 OFFSET 50", 4*151)
	few(mean+"GROUP BY object ORDER BY MEAN(i1) DESC", 100)
	few(mean+"GROUP BY object ORDER BY MEAN(i1) LIMIT 1", 100)
	few(mean+"WHERE object LIKE 'o1%' GROUP BY object ORDER BY MEAN(i1) LIMIT 1", 100)
	for _, where := range []string{"i1 > 55", "i1 > -10 AND i1 < 0", "i1 = 3"} { // so that objects with the first names have no group
		f(mean + "WHERE " + where + " GROUP BY object")
		f(mean + "WHERE " + where + " GROUP BY object ORDER BY MEAN(i1) LIMIT 1000")
		f(mean + "WHERE " + where + " GROUP BY object ORDER BY object LIMIT 1000")
	}
	f(mean + "GROUP BY object ORDER BY MEAN(i1) DESC LIMIT 1000")
	f("SELECT object, SUM(i1) FROM objectdata GROUP BY object ORDER BY SUM(i1) LIMIT 1000")
	f("SELECT object, MAX(i1), COUNT(*) FROM objectdata GROUP BY object ORDER BY MAX(i1) DESC, COUNT(*) LIMIT 30")
	f("SELECT object, resource, MAX(i1) FROM objectdata GROUP BY object, resource HAVING object LIKE '%9' ORDER BY MAX(i1) LIMIT 9")
}

// oneByOne is a source whose rows cannot be read by column.
type oneByOne struct {
	store.Store
	delivered *int
}

func (o oneByOne) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	rows, err := o.Store.Select(ctx, p)
	return counted{rows, o.delivered}, err
}

type counted struct {
	query.Rows
	n *int
}

func (c counted) Next() ([]belfry.Value, error) {
	row, err := c.Rows.Next()
	if err == nil {
		*c.n++
	}
	return row, err
}
