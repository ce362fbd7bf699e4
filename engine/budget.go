package engine

import (
	"encoding/json"

	"belfry"
	"belfry/meta"
)

// Budget checks the limits of a customer: items, memory and receivers. What a transaction reserves counts for the later
// commands of the round.
type Budget struct{ t *Tx }

// Budget returns the limits of the transaction's customer.
func (t *Tx) Budget() Budget { return Budget{t} }

// CheckObjects rejects that many more objects if they exceed the limit.
func (b Budget) CheckObjects(objects int) *belfry.RowError {
	most := b.t.seq.cfg.Limits().Objects
	if objects == 0 || b.t.Tenant.Count(belfry.KindObject)+b.t.s.objectN[b.t.Tenant.ID]+objects <= most {
		return nil
	}
	if b.t.Limited { // how many there are is not for them to know
		return belfry.Rejectf("name", belfry.LimitReached, "there are as many objects as are allowed; remove some, or ask an administrator for more")
	}
	return belfry.Rejectf("name", belfry.LimitReached, "there are %d objects already, and %d are allowed; remove some or raise limits.objects",
		b.t.Tenant.Count(belfry.KindObject)+b.t.s.objectN[b.t.Tenant.ID], most)
}

// CheckPlace rejects another resource, view or element if it exceeds the limit on items or memory. Together there may be as
// many of them as objects.
func (b Budget) CheckPlace(column, name string) *belfry.RowError {
	most := b.t.seq.cfg.Limits().Objects
	have := b.t.Tenant.Count(belfry.KindResource) + b.t.Tenant.Count(belfry.KindView) + b.t.Tenant.Count(belfry.KindElement) + b.t.s.placeN[b.t.Tenant.ID]
	switch {
	case have < most:
		return b.t.roomForItems(column, meta.ItemSize(belfry.KindView, name, ""), true)
	case b.t.Limited:
		return belfry.Rejectf(column, belfry.LimitReached, "there are as many resources, views and graphical elements as are allowed; remove some, or ask an administrator for more")
	}
	return belfry.Rejectf(column, belfry.LimitReached, "there are %d resources, views and graphical elements already, and %d are allowed; remove some or raise limits.objects", have, most)
}

// CheckItem rejects a new item of that many bytes if it exceeds the limit on memory.
func (b Budget) CheckItem(column string, size int64) *belfry.RowError {
	return b.t.roomForItems(column, size, true)
}

// AddReceiver counts a receiver created by the transaction. It returns false if the customer, who had this many before the
// round, is at the limit.
func (b Budget) AddReceiver(had, most int) bool {
	if had+b.t.s.listenN[b.t.Tenant.ID] >= most {
		return false
	}
	b.t.s.listenN[b.t.Tenant.ID]++
	return true
}

// ReserveText reserves memory for texts of a row that grow by that many bytes.
func (b Budget) ReserveText(column string, grow int64) *belfry.RowError {
	if err := b.t.reserveTexts(grow); err != nil {
		return belfry.Rejectf(column, err.Code, "%s", err.Message)
	}
	return nil
}

// ReserveDetails reserves memory for the details of an item, which replace those before; nil: there were none.
func (b Budget) ReserveDetails(column string, before, after *belfry.Details) *belfry.RowError {
	return b.ReserveText(column, meta.DetailsSize(after)-meta.DetailsSize(before))
}

// ReserveDocument reserves memory for the document that Tx.Put makes of v.
func (b Budget) ReserveDocument(kind, name string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // configuration holds nothing that JSON cannot express
	}
	return b.t.reserveDoc(kind, name, body)
}

// ReserveValues reserves memory for the last values of an object.
func (b Budget) ReserveValues(n *meta.Node, values []LastValue) *belfry.RowError {
	g := &b.t.s.growth
	before := g.width(n)
	after, grow := before.with(values)
	column := 0
	for _, v := range values {
		more := int64(0)
		if v.Text > 0 {
			had := g.text(lastText{n, v.N})
			more = meta.TextSize(v.Text) - had
			grow -= had
		}
		if more > 0 || column == 0 {
			column = v.N
		}
	}
	grow += meta.WidthSize(after.numbers-before.numbers, after.texts-before.texts)
	if bad := b.t.roomForItems(belfry.IndicatorColumn(column), grow, false); bad != nil {
		return bad
	}
	g.add(b.t.Tenant.ID, grow)
	if after != before {
		g.wide[n] = after
	}
	g.setTexts(n, values)
	return nil
}

// AddValues counts the memory of the first values of an object that the transaction has created.
func (b Budget) AddValues(n *meta.Node, values []LastValue) {
	b.t.s.growth.add(b.t.Tenant.ID, ValuesSize(values))
	b.t.s.growth.wide[n], _ = width{}.with(values)
	b.t.s.growth.setTexts(n, values)
}

// ReserveAmple reserves an upper bound for the last values of many rows at once. It returns false unless little of the limit is
// used; then they are to be reserved one by one.
func (b Budget) ReserveAmple(most int64) bool {
	limit := b.t.seq.cfg.Limits().Items
	own, all := b.t.itemMemory()
	if limit > 0 && (own+most > limit/4 || all+most > limit/2) {
		return false
	}
	b.t.s.growth.add(b.t.Tenant.ID, most)
	return true
}
