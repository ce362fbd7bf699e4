package engine

import (
	"belfry"
	"belfry/meta"
)

// Items stay in memory with the last values of their indicators, see meta.Tree.Memory, and what they take is limited. Rows
// that make items, or that give an item more or longer values than it had, are refused when they find no room. All others
// are taken, also above the limit.

// itemGrowth is by how much a round lets items grow.
type itemGrowth struct {
	of   map[lastText]int64          // what a text counts for that the round replaces
	wide map[*meta.Node]width        // of items to which the round adds values
	by   map[belfry.CustomerID]int64 // the growth of each customer
	all  int64
}

// lastText is the place of a text.
type lastText struct {
	item      *meta.Node
	indicator int
}

// width is for how many numbers and texts an item has places.
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

// One customer may have three quarters of the limit when there are others. An eighth of what somebody may have is for items
// that exist: their rows are taken for longer than those that make new ones. Those who have little, a 64th part of the
// limit, may go beyond what all may have, so that a few large customers cannot shut out a small one.
const (
	littleItems = 64
	asideItems  = 8
)

// itemRoom is how much a customer may have that has own by now, and how much all may have.
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

// itemMemory is what the items of the customer take, and those of all, with what the round adds.
func (t *Tx) itemMemory() (own, all int64) {
	return t.Tenant.Memory() + t.s.growth.by[t.Tenant.ID], t.seq.cfg.Tree.Memory() + t.s.growth.all
}

// roomForItems tells whether items of the customer may grow by so many bytes; first says that a new one is made.
func (t *Tx) roomForItems(column string, grow int64, first bool) *belfry.RowError {
	limit := t.seq.cfg.Limits().Items
	if limit == 0 || grow <= 0 {
		return nil
	}
	own, all := t.itemMemory()
	most, mostOfAll := itemRoom(limit, own+grow, t.seq.cfg.Tree.Alone(), first)
	switch {
	case own+grow <= most && all+grow <= mostOfAll:
		return nil
	case own+grow > most && !t.Limited: // how much others have stored is not for those to know who see only a part
		return belfry.Rejectf(column, belfry.LimitReached, "the items of this customer and their last values take %s of memory and would grow by %s; %s are allowed. "+
			"Remove some, send fewer indicators or shorter texts, or ask an administrator to raise limits.memory_items", mebibytes(own), mebibytes(grow), mebibytes(most))
	}
	return belfry.Rejectf(column, belfry.LimitReached, "there is no room for %s more of items and their last values; remove some items, send fewer indicators or shorter texts, "+
		"or ask an administrator of the instance to raise limits.memory_items", mebibytes(grow))
}

// LastValue is the size of a value that an object keeps as its last one.
type LastValue struct {
	N    int // indicator
	Text int // bytes of a text; 0: it is a number
}

// ValuesSize is how much memory the first values of an object take.
func ValuesSize(values []LastValue) (size int64) {
	w, size := width{}.with(values)
	return size + meta.WidthSize(w.numbers, w.texts)
}

// with is the width after values have been set, and the memory that their texts take.
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
