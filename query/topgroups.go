package query

import (
	"strconv"

	"belfry"
	"belfry/catalog"
)

// TopGroups says which groups of items the answer needs. An engine may leave out the others: of a hundred thousand groups the
// client often wants ten.
type TopGroups struct {
	Limit int // groups that are wanted

	// By is their order: wanted are the first, and all that are equal to the last of these. Without a column they are ordered
	// by name, and Items are those with the first names: their groups are enough if there are Limit of them.
	By    Order
	Items []belfry.ID
}

// spare is how many items are looked at for each that is wanted, where they are ordered by name: some may have no rows.
const spare = 4

// topGroups finds out which groups of items a plan needs; nil: all of them. What HAVING leaves is not known beforehand.
func (l WithNames) topGroups(p *Plan) *TopGroups {
	fields, first := p.Grouping.fields(), p.Order[0]
	if p.Having != nil || !l.Labels.AllNamesUnique(p.Customer, p.Collection, fields) {
		return nil
	}
	f := &TopGroups{Limit: p.Offset + p.Limit + 1}
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
	f.Items = l.Labels.FirstByName(p.Customer, spare*f.Limit)
	if len(f.Items) < f.Limit {
		return nil
	}
	return f
}

// topGroups writes which of the groups g are delivered.
func (w *writer) topGroups(f *TopGroups) string {
	if f.Items != nil {
		among := "g." + w.groupName(0, false) + " IN (" + w.ids(f.Items) + ")"
		return "\nCROSS JOIN (SELECT COUNT(*) AS n FROM g WHERE " + among + ") AS f\nWHERE " + among + " OR f.n < " + strconv.Itoa(f.Limit)
	}
	key, least, within, desc := "g."+w.groupName(f.By.Column.N, false), "MAX", " <= ", ""
	if f.By.Desc {
		least, within, desc = "MIN", " >= ", " DESC"
	}
	most := strconv.Itoa(f.Limit)
	first := "SELECT " + key + " AS k FROM g ORDER BY 1" + desc + " NULLS LAST LIMIT " + most
	last := "SELECT CASE WHEN COUNT(k) = " + most + " THEN " + least + "(k) END AS k FROM (" + first + ") AS g" // absent: every group is wanted
	return "\nCROSS JOIN (" + last + ") AS f\nWHERE COALESCE(" + key + within + "f.k, f.k IS NULL)"
}
