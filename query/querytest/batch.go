package querytest

import (
	"context"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Items are the items of the rows. It implements query.ItemNames.
type Items []Item

// Item has the names of an item and its customer. Its ID is its index in Items, from 1.
type Item struct {
	Resource, View, Object, Class, IP, Host string
	Customer                                belfry.CustomerID
}

// Items implements query.ItemNames.
func (l Items) Items(_ context.Context, s belfry.Scope, m query.ItemMatch) (ids []belfry.ID, known bool, err error) {
	is := func(want *string, have string) bool { return want == nil || *want == have && have != "" } // an empty name is absent
	for i, item := range l {
		view := item.View
		if !l.inside(s, item) {
			continue
		}
		if s.Limited() && item.Object == "" {
			view = belfry.Main
		}
		if is(m.Resource, item.Resource) && is(m.View, view) && is(m.Object, item.Object) && is(m.Class, item.Class) {
			ids = append(ids, belfry.ID(i+1))
		}
	}
	return ids, true, nil
}

// inside reports whether an item is in a scope, whose views are resources here: the rows have no views above these.
func (l Items) inside(s belfry.Scope, item Item) bool {
	return item.Customer == s.Customer && (!s.Limited() || item.Resource != "" && slices.Contains(s.Views, item.Resource))
}

// Places implements query.ItemNames. The place of an item is the first item of its resource.
func (l Items) Places(s belfry.Scope) (places, tops []belfry.ID) {
	for i, item := range l {
		if !l.inside(s, item) {
			continue
		}
		if place := belfry.ID(l.place(int64(i + 1))); !slices.Contains(places, place) {
			places = append(places, place)
		}
		if item.Object == "" {
			tops = append(tops, belfry.ID(i+1))
		}
	}
	return places, tops
}

// place returns the id of an item's place; an item without a resource is its own.
func (l Items) place(id int64) int64 {
	if id == belfry.AbsentInt || l[id-1].Resource == "" {
		return id
	}
	return 1 + int64(slices.IndexFunc(l, func(i Item) bool { return i.Resource == l[id-1].Resource && i.Customer == l[id-1].Customer }))
}

// set sets the item of a row.
func (l Items) set(r Row, id int64) {
	r[belfry.ItemColumn] = belfry.Value{Type: belfry.IDValue, Int: id}
	if id != belfry.AbsentInt {
		r[belfry.PlaceColumn] = belfry.Value{Type: belfry.IDValue, Int: l.place(id)}
	}
}

// Label implements query.ItemNames.
func (l Items) Label(_ context.Context, customer belfry.CustomerID, id belfry.ID) (query.Label, error) {
	return l.label(customer, id), nil
}

func (l Items) label(customer belfry.CustomerID, id belfry.ID) query.Label {
	if id < 1 || int(id) > len(l) || l[id-1].Customer != customer {
		return query.Label{}
	}
	i := l[id-1]
	return query.Label{Resource: i.Resource, View: i.View, Object: i.Object, Class: i.Class, IP: i.IP, Host: i.Host}
}

// Names implements query.ItemNames.
func (l Items) Names(_ context.Context, customer belfry.CustomerID, field string, items []belfry.ID, names []string) error {
	for i, id := range items {
		label := l.label(customer, id)
		names[i] = label.Of(field)
	}
	return nil
}

// NamesUnique implements query.ItemNames, for any fields.
func (l Items) NamesUnique(_ context.Context, customer belfry.CustomerID, fields []string, items []belfry.ID) (bool, error) {
	return l.namesUnique(customer, fields, items), nil
}

func (l Items) namesUnique(customer belfry.CustomerID, fields []string, items []belfry.ID) bool {
	seen := map[string]bool{}
	for _, id := range items {
		label, key, any := l.label(customer, id), "", false
		for _, field := range fields {
			key += label.Of(field) + "\x00"
			any = any || label.Of(field) != ""
		}
		if !any || seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

// AllNamesUnique implements query.ItemNames: it checks all items, because it does not know which have rows.
func (l Items) AllNamesUnique(customer belfry.CustomerID, _ *catalog.Collection, fields []string) bool {
	return l.namesUnique(customer, fields, l.of(customer))
}

// FirstByName implements query.ItemNames.
func (l Items) FirstByName(customer belfry.CustomerID, n int) []belfry.ID {
	ids := slices.DeleteFunc(l.of(customer), func(id belfry.ID) bool { return l[id-1].Object == "" })
	slices.SortFunc(ids, func(a, b belfry.ID) int { return strings.Compare(l[a-1].Object, l[b-1].Object) })
	return ids[:min(n, len(ids))]
}

// of returns the items of a customer.
func (l Items) of(customer belfry.CustomerID) (ids []belfry.ID) {
	for i, item := range l {
		if item.Customer == customer {
			ids = append(ids, belfry.ID(i+1))
		}
	}
	return ids
}

// id finds the item of a row and adds it if it is new.
func (l *Items) id(c *catalog.Collection, customer belfry.CustomerID, r Row) int64 {
	of := func(field string) string {
		if f, ok := c.Field(field); !ok || f.Of == "" { // in syslog the address is the row's own
			return ""
		}
		return r.Value(query.OfItem + field).Text
	}
	item := Item{of("resource"), of("view"), of("object"), of("class"), of("ip"), of("host"), customer}
	if item == (Item{Customer: customer}) {
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

// number sets the item id of each row, as a store will have it.
func number(cat *catalog.Catalog, data map[string][]Row) {
	var items Items
	for _, c := range cat.Collections() {
		for _, r := range data[c.Name] {
			if c.Historical {
				id := items.id(c, Customer, r)
				items.set(r, id)
			}
		}
	}
}

// Batches returns the rows as input of a store: the items first, then a batch for each historical collection.
func Batches(cat *catalog.Catalog, data map[string][]Row) ([]*belfry.Batch, Items) {
	var items Items
	return items.Batches(cat, Customer, data), items
}

// Batches returns rows of a customer as input of a store, items first, and adds their items.
func (l *Items) Batches(cat *catalog.Catalog, customer belfry.CustomerID, data map[string][]Row) []*belfry.Batch {
	batches := []*belfry.Batch{nil}
	for _, c := range cat.Collections() {
		if rows := data[c.Name]; c.Historical && len(rows) > 0 {
			batches = append(batches, batch(c, customer, rows, l))
		}
	}
	batches[0] = l.batch(customer)
	return batches
}

// batch returns the batch of the items of a customer.
func (l Items) batch(customer belfry.CustomerID) *belfry.Batch {
	var ids, kinds, places []int64
	var resources, views, objects, classes, ips, hosts, names []string
	for i, item := range l {
		if item.Customer != customer {
			continue
		}
		kind := belfry.KindObject
		if item.Object == "" {
			kind = belfry.KindResource
		}
		ids, kinds = append(ids, int64(i+1)), append(kinds, int64(kind))
		places = append(places, l.place(int64(i+1)))
		resources, views = append(resources, item.Resource), append(views, item.View)
		objects, classes = append(objects, item.Object), append(classes, item.Class)
		ips, hosts, names = append(ips, item.IP), append(hosts, item.Host), append(names, item.Resource+item.Object)
	}
	return &belfry.Batch{
		Collection: belfry.Dimension, Customer: customer, Times: make([]belfry.Time, len(ids)), Columns: []belfry.Column{
			{Name: belfry.ItemColumn, Ints: ids},
			{Name: "kind", Ints: kinds},
			{Name: belfry.PlaceColumn, Ints: places},
			{Name: "resource", Texts: resources},
			{Name: "view", Texts: views},
			{Name: "object", Texts: objects},
			{Name: "class", Texts: classes},
			{Name: "ip", Texts: ips},
			{Name: "host", Texts: hosts},
			{Name: "name", Texts: names},
		},
	}
}

func batch(c *catalog.Collection, customer belfry.CustomerID, rows []Row, items *Items) *belfry.Batch {
	b := &belfry.Batch{Collection: c.Name, Customer: customer, FirstID: belfry.RowID(rows[0]["id"].Int)}
	item := belfry.Column{Name: belfry.ItemColumn}
	for _, r := range rows {
		b.Times = append(b.Times, belfry.Time(r[timestamp].Int))
		id := items.id(c, customer, r)
		item.Ints = append(item.Ints, id)
		items.set(r, id) // by which Eval distinguishes summaries
	}
	b.Columns = []belfry.Column{item}
	add := func(name, field string, t catalog.Type) {
		if col := column(name, field, t, rows); col != nil {
			b.Columns = append(b.Columns, *col)
		}
	}
	for _, name := range c.Names() {
		f, _ := c.Field(name)
		if col := ownColumn(name, rows); f.Own && col != nil {
			b.Columns = append(b.Columns, *col)
		}
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

// ownColumn returns the column of a field with the values of those rows that have it themselves.
func ownColumn(name string, rows []Row) *belfry.Column {
	own := make([]Row, len(rows))
	for i, r := range rows {
		if r.own(name) {
			own[i] = r
		}
	}
	return column(name, name, catalog.Text, own)
}

// column returns a field of all rows as a column of the type; nil if no row has it.
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
