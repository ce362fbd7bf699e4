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
			where = simplify(where, t)
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

// source returns the table or, for a collection with a key, its latest row of each key. All rows of a key have the same
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
	where := w.baseConditions()
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

// baseConditions returns the conditions on the customer and, if the table exceeds it, on the span.
func (w *writer) baseConditions() []string {
	all := []string{w.name("customer") + " = " + w.customer()}
	if w.plan.From > w.table.From {
		all = append(all, w.name(timestamp)+" >= "+strconv.FormatInt(int64(w.plan.From), 10))
	}
	if w.table.To == 0 && w.plan.To < Forever || w.plan.To < w.table.To {
		all = append(all, w.name(timestamp)+" <= "+strconv.FormatInt(int64(w.plan.To), 10))
	}
	return all
}

// conditions writes all conditions: customer, span, items, and those of the plan.
func (w *writer) conditions(where Pred) string {
	all := w.baseConditions()
	if len(w.items) > 0 {
		all = append(all, w.name(belfry.ItemColumn)+" IN ("+w.ids(w.items)+")")
	}
	for _, p := range w.joinLookups(conjuncts(where), false) {
		if p == Always(true) {
			continue
		}
		text := w.pred(p)
		if isTextSearch(p) && w.dialect.SlowCondition != nil {
			text = w.dialect.SlowCondition(text)
		}
		all = append(all, text)
	}
	return strings.Join(all, " AND ")
}

// simplify replaces conditions whose result is known for a table: a column that the table lacks is absent in all its
// rows.
func simplify(p Pred, t Table) Pred {
	switch p := p.(type) {
	case And:
		of := simplifyAll(p, t)
		if slices.Contains(of, Pred(Always(false))) {
			return Always(false)
		}
		return allOf(of...)
	case Or:
		return disjunction(simplifyAll(p, t))
	case Not:
		of := simplify(p.Of, t)
		if a, ok := of.(Always); ok {
			return !a
		}
		return Not{of}
	case Compare, Like, Match:
		if c, _ := testedColumn(p); !t.canHave(c) {
			return Always(false)
		}
	case Null:
		if !t.canHave(p.Column) {
			return Always(!p.Not)
		}
	case Inside:
		if !t.Has(belfry.ItemColumn) || len(p.Places) == 0 {
			return Always(false)
		}
	}
	return p
}

func simplifyAll(of []Pred, t Table) []Pred {
	list := make([]Pred, len(of))
	for i, p := range of {
		list[i] = simplify(p, t)
	}
	return list
}

// canHave reports whether the table can have a value of the column. For a split text its separator may be missing.
func (t Table) canHave(c Column) bool { return t.Has(c.stored()[0].name) }

// pred writes a condition on the rows of one table. It may be NULL instead of false; only NOT would see the difference,
// so it converts NULL to false.
func (w *writer) pred(p Pred) string {
	switch p := p.(type) {
	case And:
		return w.preds(w.joinLookups(p, false), " AND ")
	case Or:
		return w.preds(w.joinLookups(p, true), " OR ")
	case Not:
		return "NOT COALESCE(" + w.pred(p.Of) + ", FALSE)"
	case lookup:
		return w.lookup(func() string { return w.pred(p.Pred) })
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

// value returns the placeholder of a value. An id needs a cast, or it would be compared as another numeric type.
func (w *writer) value(v belfry.Value) string {
	param := w.arg(argument(v))
	if v.Type == belfry.IDValue {
		return w.dialect.Cast(param, StoredID)
	}
	return param
}

func (w *writer) preds(of []Pred, by string) string { return "(" + w.texts(of, by) + ")" }

func (w *writer) texts(of []Pred, by string) string {
	texts := make([]string, len(of))
	for i, p := range of {
		texts[i] = w.pred(p)
	}
	return strings.Join(texts, by)
}

// test applies a condition to a column. Names of items are not in the rows, so there it selects the items that meet the
// condition.
func (w *writer) test(c Column, is func(expression string) string) string {
	switch c.From {
	case Grouped:
		return is(w.groupExpressions(c)[0])
	case FromItem:
		return w.lookup(func() string { return is(w.itemName("", c.Of)) })
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

// isTextSearch reports whether a condition looks into texts, which is slow.
func isTextSearch(p Pred) bool {
	return anyOf(p, func(p Pred) bool {
		switch p.(type) {
		case Like, Match:
			c, _ := testedColumn(p)
			return c.From != FromItem // looked up in the table of items
		}
		return false
	})
}

// Conditions on the names of items are looked up in the table of items. Written into the branch of each table they would be looked
// up once for each, and an engine reserves memory for every lookup: a year has hundreds of tables. So they are applied once, to
// the union of the branches:
//
//	(SELECT * FROM (branches) AS q WHERE …) AS q
//
// Everything else stays in the branches, where the engine uses it to skip data.

// lift moves these conditions out of the branches.
func (w *writer) lift(tables []Table) {
	if len(tables) < 2 {
		return
	}
	w.where, w.lifted = slices.Clone(w.where), nil
	w.where = slices.DeleteFunc(w.where, func(p Pred) bool {
		if !needsItems(p) {
			return false
		}
		w.lifted = append(w.lifted, p)
		return true
	})
}

// needsItems reports whether a condition, or a part of it, is looked up in the table of items.
func needsItems(p Pred) bool {
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
		return false // continue with the next
	}
	for _, p := range w.lifted {
		add(Column{From: ItemNumber})
		mentions(p, add)
	}
	return needed
}

// union writes the union of the branches as the table q, which has the needed columns.
func (w *writer) union(branches []string, needed []stored) string {
	rows := "(\n" + strings.Join(branches, "\nUNION ALL\n") + "\n) AS q"
	if len(w.lifted) == 0 {
		return rows
	}
	w.table = Table{Columns: map[string]bool{}}
	for _, s := range needed {
		w.table.Columns[s.name] = true
	}
	return "(SELECT * FROM " + rows + "\nWHERE " + w.texts(w.joinLookups(w.lifted, false), " AND ") + ") AS q"
}
