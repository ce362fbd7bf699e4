package query

import (
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// branches writes a SELECT for each table that can have rows of the answer.
func (w *writer) branches(tables []Table, needed []stored) []string {
	var list []string
	for _, t := range tables {
		w.table = t
		where := conjunction(w.where...)
		if where != nil {
			where = narrow(where, t)
		}
		if where == Always(false) || w.items != nil && !t.Has(belfry.ItemColumn) {
			continue
		}
		branch := "SELECT " + w.selected(t, needed) + " FROM " + w.source(t) + " WHERE " + w.conditions(where)
		if t.Parts == nil {
			list = append(list, branch)
		}
		for _, part := range t.Parts {
			list = append(list, branch+" AND "+part)
		}
	}
	return list
}

// source returns the table or, of a collection with a key, its rows that are the latest of their key. All rows of a key have the same
// timestamp.
func (w *writer) source(t Table) string {
	if len(w.plan.Collection.Key) == 0 || w.summaries {
		return t.Ref
	}
	var key []string
	for _, c := range w.plan.Collection.KeyColumns() {
		if t.Has(c) {
			key = append(key, w.name(c))
		}
	}
	where := w.within()
	if w.plan.LastID != 0 {
		where = append(where, w.name("id")+" <= "+strconv.FormatUint(uint64(w.plan.LastID), 10))
	}
	return "(SELECT * FROM " + t.Ref + " WHERE " + w.name("id") + " IN (SELECT max(" + w.name("id") + ") FROM " + t.Ref +
		" WHERE " + strings.Join(where, " AND ") + " GROUP BY " + strings.Join(key, ", ") + ")) AS latest"
}

func (w *writer) selected(t Table, needed []stored) string {
	if len(needed) == 0 {
		return "1"
	}
	return w.list(len(needed), func(i int) string {
		if t.Has(needed[i].name) {
			return w.name(needed[i].name)
		}
		return w.null(needed[i].as) + " AS " + w.name(needed[i].name)
	})
}

// within returns the conditions on the customer and, where the table goes beyond it, on the span.
func (w *writer) within() []string {
	all := []string{w.name("customer") + " = " + w.customer()}
	if w.plan.From > w.table.From {
		all = append(all, w.name(timestamp)+" >= "+strconv.FormatInt(int64(w.plan.From), 10))
	}
	if w.table.To == 0 && w.plan.To < Forever || w.plan.To < w.table.To {
		all = append(all, w.name(timestamp)+" <= "+strconv.FormatInt(int64(w.plan.To), 10))
	}
	return all
}

// conditions are the customer, the span, the items, and what else the plan asks for.
func (w *writer) conditions(where Pred) string {
	all := w.within()
	if len(w.items) > 0 {
		all = append(all, w.name(belfry.ItemColumn)+" IN ("+w.ids(w.items)+")")
	}
	for _, p := range conjuncts(where) {
		if p == Always(true) {
			continue
		}
		text := w.pred(p)
		if searches(p) && w.dialect.SlowCondition != nil {
			text = w.dialect.SlowCondition(text)
		}
		all = append(all, text)
	}
	return strings.Join(all, " AND ")
}

// narrow replaces what is known about a table: a column that it lacks is absent in all its rows.
func narrow(p Pred, t Table) Pred {
	switch p := p.(type) {
	case And:
		of := narrowAll(p, t)
		if slices.Contains(of, Pred(Always(false))) {
			return Always(false)
		}
		return allOf(of...)
	case Or:
		return disjunction(narrowAll(p, t))
	case Not:
		of := narrow(p.Of, t)
		if a, ok := of.(Always); ok {
			return !a
		}
		return Not{of}
	case Compare, Like, Match:
		if c, _ := testedColumn(p); !t.holds(c) {
			return Always(false)
		}
	case Null:
		if !t.holds(p.Column) {
			return Always(!p.Not)
		}
	case Inside:
		if !t.Has(belfry.ItemColumn) || len(p.Places) == 0 {
			return Always(false)
		}
	}
	return p
}

func narrowAll(of []Pred, t Table) []Pred {
	list := make([]Pred, len(of))
	for i, p := range of {
		list[i] = narrow(p, t)
	}
	return list
}

// holds tells whether the table can have a value of the column. For a split text its separator may be missing.
func (t Table) holds(c Column) bool { return t.Has(c.stored()[0].name) }

// pred writes a condition on the rows of one table. It may be NULL where it is false: a NOT, which alone could tell
// the difference, makes false of it.
func (w *writer) pred(p Pred) string {
	switch p := p.(type) {
	case And:
		return w.preds(p, " AND ")
	case Or:
		return w.preds(p, " OR ")
	case Not:
		return "NOT COALESCE(" + w.pred(p.Of) + ", FALSE)"
	case Compare:
		return w.test(p.Column, func(e string) string { return e + " " + p.Op.String() + " " + w.value(p.Value) })
	case Like:
		return w.test(p.Column, func(e string) string { return w.dialect.Like(e, w.argText, p.Pattern) })
	case Match:
		return w.test(p.Column, func(e string) string { return w.dialect.Match(e, w.argText, p) })
	case Null:
		if p.Not || p.Column.ofItem() { // a row may have no item at all
			is := w.test(p.Column, func(e string) string { return e + " IS NOT NULL" })
			if p.Not {
				return is
			}
			return "NOT COALESCE(" + is + ", FALSE)"
		}
		return w.test(p.Column, func(e string) string { return e + " IS NULL" })
	case Inside:
		return w.inside(p)
	}
	if p.(Always) {
		return "TRUE"
	}
	return "FALSE"
}

// value is the placeholder of a value. An id must be told its type, or it would be compared as a number of another.
func (w *writer) value(v belfry.Value) string {
	param := w.arg(argument(v))
	if v.Type == belfry.IDValue {
		return w.dialect.Cast(param, StoredID)
	}
	return param
}

func (w *writer) preds(of []Pred, by string) string {
	texts := make([]string, len(of))
	for i, p := range of {
		texts[i] = w.pred(p)
	}
	return "(" + strings.Join(texts, by) + ")"
}

// test applies a condition to a column. The names of items are not in the rows: there it asks for the items to which
// the condition applies.
func (w *writer) test(c Column, is func(expression string) string) string {
	switch c.From {
	case Grouped:
		return is(w.groupExpressions(c)[0])
	case FromItem:
		return w.name(belfry.ItemColumn) + " IN (SELECT " + w.name("id") + " FROM " + w.dialect.Items + " WHERE " +
			w.name("customer") + " = " + w.customer() + " AND " + is(w.itemName("", c.Of)) + ")"
	case RowOrItem:
		item := c
		item.From = FromItem
		if !w.table.Has(c.Name) {
			return w.test(item, is)
		}
		own := w.name(c.Name)
		return "CASE WHEN " + own + " IS NULL THEN " + w.test(item, is) + " ELSE " + is(own) + " END"
	case FromSplit:
		sep := w.null(StoredText)
		if w.table.Has(SeparatorColumn) {
			sep = w.name(SeparatorColumn)
		}
		return is(w.dialect.Part(w.name(c.Of), sep, c.N))
	}
	return is(w.name(c.Name))
}

// searches reports whether a condition looks into texts, which is slow.
func searches(p Pred) bool {
	return anyOf(p, func(p Pred) bool {
		switch p.(type) {
		case Like, Match:
			c, _ := testedColumn(p)
			return c.From != FromItem // those are looked up among the items
		}
		return false
	})
}

// Conditions on the names of items are looked up in the table of items. Written into the branch of each table they would be looked
// up once for each, and an engine sets memory aside for every look-up: a year has hundreds of tables. So they are applied once, to
// what the branches give:
//
//	(SELECT * FROM (branches) AS q WHERE …) AS q
//
// Everything else stays in the branches, where the engine uses it to skip what it need not read.

// lift takes these conditions out of the branches.
func (w *writer) lift(tables []Table) {
	if len(tables) < 2 {
		return
	}
	w.where, w.lifted = slices.Clone(w.where), nil
	w.where = slices.DeleteFunc(w.where, func(p Pred) bool {
		if !asksItems(p) {
			return false
		}
		w.lifted = append(w.lifted, p)
		return true
	})
}

// asksItems reports whether a condition, or a part of it, is looked up in the table of items.
func asksItems(p Pred) bool {
	return anyOf(p, func(p Pred) bool {
		c, ok := testedColumn(p)
		if _, inside := p.(Inside); inside {
			return true
		}
		return ok && c.ofItem()
	})
}

// liftedNeeds adds the stored columns that the lifted conditions read.
func (w *writer) liftedNeeds(needed []stored) []stored {
	add := func(c Column) bool {
		for _, s := range c.stored() {
			if !slices.Contains(needed, s) {
				needed = append(needed, s)
			}
		}
		return false // to see all of them
	}
	for _, p := range w.lifted {
		add(Column{From: ItemNumber})
		mentions(p, add)
	}
	return needed
}

// union is what the branches give, as the table q. They have the needed columns.
func (w *writer) union(branches []string, needed []stored) string {
	rows := "(\n" + strings.Join(branches, "\nUNION ALL\n") + "\n) AS q"
	if len(w.lifted) == 0 {
		return rows
	}
	w.table = Table{Columns: map[string]bool{}}
	for _, s := range needed {
		w.table.Columns[s.name] = true
	}
	conditions := make([]string, len(w.lifted))
	for i, p := range w.lifted {
		conditions[i] = w.pred(p)
	}
	return "(SELECT * FROM " + rows + "\nWHERE " + strings.Join(conditions, " AND ") + ") AS q"
}
