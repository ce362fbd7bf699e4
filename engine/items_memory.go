package engine

import (
	"belfry"
	"belfry/meta"
)

// Items and the last values of their indicators are kept in memory, which is limited, see meta.Tree.ItemMemory. At the limit, rows
// that create items or add more or longer values are rejected. All others are accepted.

// itemGrowth is the memory that a round adds to items.
type itemGrowth struct {
	of   map[lastText]int64          // size of texts that the round has set
	wide map[*meta.Node]width        // of items whose number of values the round changes
	by   map[belfry.CustomerID]int64 // the growth of each customer
	all  int64
}

// lastText identifies a text value.
type lastText struct {
	item      *meta.Node
	indicator int
}

// width is the number of slots an item has for numbers and texts.
type width struct{ numbers, texts int }

func (g *itemGrowth) reset() {
	empty(&g.of)
	empty(&g.wide)
	empty(&g.by)
	g.all = 0
}

func (g *itemGrowth) add(c belfry.CustomerID, grow int64) {
	if grow != 0 {
		g.by[c] += grow
		g.all += grow
	}
}

func (g *itemGrowth) width(n *meta.Node) width {
	if w, ok := g.wide[n]; ok {
		return w
	}
	return width{len(n.State.Numbers), len(n.State.Texts)}
}

func (g *itemGrowth) text(at lastText) int64 {
	if had, ok := g.of[at]; ok {
		return had
	}
	if texts := at.item.State.Texts; at.indicator <= len(texts) {
		return meta.TextSize(len(texts[at.indicator-1]))
	}
	return 0
}

// If there are several customers, one may use three quarters of the limit. An eighth of a customer's share is reserved for
// existing items, so that their rows are accepted longer than those that create items. A customer that uses less than a 64th of
// the limit may exceed the limit of all together, so that a few large customers cannot shut out a small one.
const (
	littleItems = 64
	asideItems  = 8
)

// itemRoom returns the limit of a customer that uses own bytes, and that of all customers together.
func itemRoom(limit, own int64, alone, first bool) (most, all int64) {
	most, all = limit, limit
	if !alone {
		most -= limit / 4
	}
	if first {
		most, all = most-most/asideItems, all-all/asideItems
	}
	if own <= limit/littleItems {
		all = limit + limit/asideItems
	}
	return most, all
}

// itemMemory returns the memory of the items of the customer and of all customers, including the round.
func (t *Tx) itemMemory() (own, all int64) {
	return t.Tenant.ItemMemory() + t.s.growth.by[t.Tenant.ID], t.seq.cfg.Tree.ItemMemory() + t.s.growth.all
}

// roomForItems rejects growth of items by that many bytes if it exceeds the limit; first: an item is created.
func (t *Tx) roomForItems(column string, grow int64, first bool) *belfry.RowError {
	limit := t.seq.cfg.Limits().Items
	if limit == 0 || grow <= 0 {
		return nil
	}
	own, all := t.itemMemory()
	most, mostOfAll := itemRoom(limit, own+grow, t.seq.cfg.Tree.SingleCustomer(), first)
	switch {
	case own+grow <= most && all+grow <= mostOfAll:
		return nil
	case own+grow > most && !t.Limited: // a limited user must not learn how much others store
		return belfry.Rejectf(column, belfry.LimitReached, "the items of this customer and their last values take %s of memory and would grow by %s; %s are allowed. "+
			"Remove some, send fewer indicators or shorter texts, or ask an administrator to raise limits.memory_items", mebibytes(own), mebibytes(grow), mebibytes(most))
	}
	return belfry.Rejectf(column, belfry.LimitReached, "there is no room for %s more of items and their last values; remove some items, send fewer indicators or shorter texts, "+
		"or ask an administrator of the instance to raise limits.memory_items", mebibytes(grow))
}

// LastValue is the size of a last value of an object.
type LastValue struct {
	N    int // indicator
	Text int // bytes of a text; 0: a number
}

// ValuesSize returns the memory that the first values of an object take.
func ValuesSize(values []LastValue) (size int64) {
	w, size := width{}.with(values)
	return size + meta.WidthSize(w.numbers, w.texts)
}

// with returns the width after values have been set, and the memory of their texts.
func (w width) with(values []LastValue) (width, int64) {
	size := int64(0)
	for _, v := range values {
		if v.Text == 0 {
			w.numbers = max(w.numbers, v.N)
			continue
		}
		w.texts = max(w.texts, v.N)
		size += meta.TextSize(v.Text)
	}
	return w, size
}

func (g *itemGrowth) setTexts(n *meta.Node, values []LastValue) {
	for _, v := range values {
		if v.Text > 0 {
			g.of[lastText{n, v.N}] = meta.TextSize(v.Text)
		}
	}
}
