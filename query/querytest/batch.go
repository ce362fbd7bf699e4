package querytest

import (
	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Items are the items that the rows are about, found by their names. It implements query.Names.
type Items []Item

// Item is what a row says about its item. Its ID is its place in Items, from 1.
type Item struct{ Resource, View, Object, Class string }

// Items implements query.Names.
func (l Items) Items(_ belfry.CustomerID, m query.ItemMatch) (ids []belfry.ID) {
	is := func(want *string, have string) bool { return want == nil || *want == have }
	for i, item := range l {
		if is(m.Resource, item.Resource) && is(m.View, item.View) && is(m.Object, item.Object) && is(m.Class, item.Class) {
			ids = append(ids, belfry.ID(i+1))
		}
	}
	return ids
}

// id finds the item of a row and adds it when it is new.
func (l *Items) id(r Row) int64 {
	item := Item{r["resource"].Text, r["view"].Text, r["object"].Text, r["class"].Text}
	if item == (Item{}) {
		return belfry.AbsentInt
	}
	for i, known := range *l {
		if known == item {
			return int64(i + 1)
		}
	}
	*l = append(*l, item)
	return int64(len(*l))
}

// number gives each row the id of its item, as a store will know it.
func number(cat *catalog.Catalog, data map[string][]Row) {
	var items Items
	for _, c := range cat.Collections() {
		for _, r := range data[c.Name] {
			if c.Historical {
				r[belfry.ItemColumn] = belfry.Value{Type: belfry.IDValue, Int: items.id(r)}
			}
		}
	}
}

// Batches gives the rows as a store takes them: the items first, then a batch for each historical collection.
func Batches(cat *catalog.Catalog, data map[string][]Row) ([]*belfry.Batch, Items) {
	var items Items
	batches := []*belfry.Batch{nil}
	for _, c := range cat.Collections() {
		if rows := data[c.Name]; c.Historical && len(rows) > 0 {
			batches = append(batches, batch(c, rows, &items))
		}
	}
	batches[0] = items.batch()
	return batches, items
}

func (l Items) batch() *belfry.Batch {
	b := &belfry.Batch{Collection: belfry.Dimension, Customer: Customer, Times: make([]belfry.Time, len(l))}
	ints := func(name string, of func(i int) int64) {
		c := belfry.Column{Name: name}
		for i := range l {
			c.Ints = append(c.Ints, of(i))
		}
		b.Columns = append(b.Columns, c)
	}
	texts := func(name string, of func(Item) string) {
		c := belfry.Column{Name: name}
		for _, item := range l {
			c.Texts = append(c.Texts, of(item))
		}
		b.Columns = append(b.Columns, c)
	}
	ints(belfry.ItemColumn, func(i int) int64 { return int64(i + 1) })
	ints("kind", func(i int) int64 {
		if l[i].Object == "" {
			return int64(belfry.KindResource)
		}
		return int64(belfry.KindObject)
	})
	texts("resource", func(i Item) string { return i.Resource })
	texts("view", func(i Item) string { return i.View })
	texts("object", func(i Item) string { return i.Object })
	texts("class", func(i Item) string { return i.Class })
	texts("name", func(i Item) string { return i.Resource + i.Object })
	return b
}

func batch(c *catalog.Collection, rows []Row, items *Items) *belfry.Batch {
	b := &belfry.Batch{Collection: c.Name, Customer: Customer, FirstID: belfry.RowID(rows[0]["id"].Int)}
	item := belfry.Column{Name: belfry.ItemColumn}
	for _, r := range rows {
		b.Times = append(b.Times, belfry.Time(r[timestamp].Int))
		item.Ints = append(item.Ints, items.id(r))
	}
	b.Columns = []belfry.Column{item}
	add := func(name, field string, t catalog.Type) {
		if col := column(name, field, t, rows); col != nil {
			b.Columns = append(b.Columns, *col)
		}
	}
	for _, name := range c.Names() {
		f, _ := c.Field(name)
		if f.Of != "" || f.Split != "" || name == "id" || name == timestamp {
			continue
		}
		add(name, name, f.Type)
		if f.Type == catalog.Value {
			add(belfry.IndicatorTextColumn(f.N), name, catalog.Text)
		}
	}
	add(query.SeparatorColumn, query.SeparatorColumn, catalog.Text)
	return b
}

const timestamp = "timestamp"

// column reads a field of all rows into a column of the type; nil when no row has it.
func column(name, field string, t catalog.Type, rows []Row) *belfry.Column {
	c, some := &belfry.Column{Name: name}, false
	for _, r := range rows {
		v := r[field]
		switch t {
		case catalog.Number, catalog.Value:
			if v.Type != belfry.NumberValue {
				v.Num = belfry.AbsentNumber()
			}
			c.Numbers = append(c.Numbers, v.Num)
			some = some || v.Type == belfry.NumberValue
		case catalog.Text, catalog.FullText:
			c.Texts = append(c.Texts, v.Text)
			some = some || v.Text != ""
		default:
			if v.Type == belfry.AbsentValue {
				v.Int = belfry.AbsentInt
			}
			c.Ints = append(c.Ints, v.Int)
			some = some || v.Type != belfry.AbsentValue
		}
	}
	if !some {
		return nil
	}
	return c
}
