package query

import (
	"strconv"

	"belfry"
	"belfry/catalog"
)

// Foremost says which groups of items an answer is made of. An engine may leave out the others, so that of a hundred
// thousand groups it need not deliver every one for the ten that come first.
type Foremost struct {
	Most int // groups that are wanted

	// By is what they come by: the first of them, and all that are equal to the last of these. Without a column they come
	// by name, and Items are those with the first names: their groups are enough if there are Most of them.
	By    Order
	Items []belfry.ID
}

// spare is how many times the wanted items are looked at where items come by name: some may have no rows.
const spare = 4

// foremost finds out which groups of items a plan needs; nil: all of them. What HAVING leaves is not known before.
func (l Labelled) foremost(p *Plan) *Foremost {
	fields, first := p.Grouping.fields(), p.Order[0]
	if p.Having != nil || !l.Labels.Own(p.Customer, p.Collection, fields) {
		return nil
	}
	f := &Foremost{Most: p.Offset + p.Limit + 1}
	if n := first.Column.N - len(fields); n >= 0 {
		f.By = Order{p.byNumberColumn(n), first.Desc}
		if t := f.By.Column.Type; t != catalog.Number && t != catalog.Integer {
			return nil
		}
		return f
	}
	if fields[first.Column.N] != "object" || first.Desc {
		return nil
	}
	f.Items = l.Labels.First(p.Customer, spare*f.Most)
	if len(f.Items) < f.Most {
		return nil
	}
	return f
}

// foremost writes which of the groups g are delivered.
func (w *writer) foremost(f *Foremost) string {
	if f.Items != nil {
		among := "g." + w.groupName(0, false) + " IN (" + w.ids(f.Items) + ")"
		return "\nCROSS JOIN (SELECT COUNT(*) AS n FROM g WHERE " + among + ") AS f\nWHERE " + among + " OR f.n < " + strconv.Itoa(f.Most)
	}
	key, least, within, desc := "g."+w.groupName(f.By.Column.N, false), "MAX", " <= ", ""
	if f.By.Desc {
		least, within, desc = "MIN", " >= ", " DESC"
	}
	most := strconv.Itoa(f.Most)
	first := "SELECT " + key + " AS k FROM g ORDER BY 1" + desc + " NULLS LAST LIMIT " + most
	last := "SELECT CASE WHEN COUNT(k) = " + most + " THEN " + least + "(k) END AS k FROM (" + first + ") AS g" // absent: every group is wanted
	return "\nCROSS JOIN (" + last + ") AS f\nWHERE COALESCE(" + key + within + "f.k, f.k IS NULL)"
}
