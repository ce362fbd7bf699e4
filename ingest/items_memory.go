package ingest

import (
	"cmp"
	"math"

	"belfry/intake/rowfmt"

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
		return rejectf(column, belfry.LimitReached, "the items of this customer and their last values take %s of memory and would grow by %s; %s are allowed. "+
			"Remove some, send fewer indicators or shorter texts, or ask an administrator to raise limits.memory_items", mebibytes(own), mebibytes(grow), mebibytes(most))
	}
	return rejectf(column, belfry.LimitReached, "there is no room for %s more of items and their last values; remove some items, send fewer indicators or shorter texts, "+
		"or ask an administrator of the instance to raise limits.memory_items", mebibytes(grow))
}

// plentyForItems takes room for more than items will grow, as long as there is so much that nobody will miss it.
func (t *Tx) plentyForItems(most int64) bool {
	limit := t.seq.cfg.Limits().Items
	own, all := t.itemMemory()
	if limit > 0 && (own+most > limit/4 || all+most > limit/2) {
		return false
	}
	t.s.growth.add(t.Tenant.ID, most)
	return true
}

// takeValues refuses data rows whose values would take too much memory as the last ones of their objects. As long as there
// is plenty of room no row is looked at.
func (t *Tx) takeValues(c *chunk, late *rejections) {
	if t.plentyForItems(c.data.mostMemory()) {
		return
	}
	for row, n := range c.data.nodes {
		if n == nil || belfry.Late(cmp.Or(c.data.times[row], t.Now), n.State.LastData, t.Now) { // a late one is not kept
			continue
		}
		if bad := t.takeRowValues(n, c.data.columns, row); bad != nil {
			c.data.nodes[row] = nil
			late.add(int(c.data.origins[row].row), int(c.data.origins[row].line), bad)
		}
	}
}

// mostMemory is more than what the values take as the last ones of their objects.
func (d *dataRows) mostMemory() (n int64) {
	numbers, texts := 0, 0
	for i := range d.columns {
		c := &d.columns[i]
		if c.present {
			numbers = max(numbers, c.n)
		}
		if c.texts == nil {
			continue
		}
		texts = max(texts, c.n)
		for _, v := range c.texts {
			n += meta.TextSize(len(v))
		}
	}
	return n + int64(len(d.nodes))*meta.WidthSize(numbers, texts)
}

// takeRowValues reserves memory for the values of a row.
func (t *Tx) takeRowValues(n *meta.Node, columns []valueColumn, row int) *belfry.RowError {
	g := &t.s.growth
	before := g.width(n)
	after, grow, column := before, int64(0), 0
	for i := range columns {
		c := &columns[i]
		had := grow
		if !math.IsNaN(c.numbers[row]) {
			after.numbers = max(after.numbers, c.n)
		}
		if c.texts != nil && c.texts[row] != "" {
			after.texts = max(after.texts, c.n)
			grow += meta.TextSize(len(c.texts[row])) - g.text(lastText{n, c.n})
		}
		if grow > had || column == 0 {
			column = c.n
		}
	}
	grow += meta.WidthSize(after.numbers-before.numbers, after.texts-before.texts)
	if bad := t.roomForItems(belfry.IndicatorColumn(column), grow, false); bad != nil {
		return bad
	}
	g.add(t.Tenant.ID, grow)
	if after != before {
		g.wide[n] = after
	}
	for i := range columns {
		if c := &columns[i]; c.texts != nil && c.texts[row] != "" {
			g.of[lastText{n, c.n}] = meta.TextSize(len(c.texts[row]))
		}
	}
	return nil
}

// firstValues is what the values of a row take whose object it makes. With a growth they are noted there as those that the object has.
func firstValues(l *layout, fields [][]byte, g *itemGrowth, n *meta.Node) (size int64) {
	var w width
	for _, col := range l.indicators {
		raw := cell(fields, col.at)
		if len(raw) == 0 {
			continue
		}
		if _, number := rowfmt.ParseNumber(raw); number {
			w.numbers = max(w.numbers, col.n)
			continue
		}
		w.texts = max(w.texts, col.n)
		size += meta.TextSize(len(raw))
		if g != nil {
			g.of[lastText{n, col.n}] = meta.TextSize(len(raw))
		}
	}
	if g != nil {
		g.wide[n] = w
	}
	return size + meta.WidthSize(w.numbers, w.texts)
}
