package ingest

import (
	"cmp"

	"belfry"
	"belfry/meta"
)

// The last text of each indicator stays in memory with its object, see meta.ValueSize. A customer that sends long ones for many
// objects is refused when they take too much: rows with short texts, and with numbers, never are.

// valueGrowth is by how much a round lets last texts grow.
type valueGrowth struct {
	of   map[lastValue]int64         // what a text counts for that the round replaces
	by   map[belfry.CustomerID]int64 // the growth of each customer
	grew int64                       // of all of them
}

// lastValue is the place of a text.
type lastValue struct {
	item      *meta.Node
	indicator int
}

func (g *valueGrowth) reset() {
	empty(&g.of)
	empty(&g.by)
	g.grew = 0
}

// growth is by how much a text of so many bytes is longer than the last one of its place.
func (g *valueGrowth) growth(at lastValue, bytes int) int64 {
	had, changed := g.of[at]
	if texts := at.item.State.Texts; !changed && at.indicator <= len(texts) {
		had = meta.ValueSize(len(texts[at.indicator-1]))
	}
	return meta.ValueSize(bytes) - had
}

// add notes a text that was taken.
func (t *tx) addValue(n *meta.Node, indicator, bytes int) {
	g, at := &t.s.values, lastValue{n, indicator}
	grow := g.growth(at, bytes)
	g.of[at] = meta.ValueSize(bytes)
	g.by[t.estate.ID] += grow
	g.grew += grow
}

// roomForValues tells whether last texts of the customer may grow by so many bytes.
func (t *tx) roomForValues(column string, grow int64) *belfry.RowError {
	limit := t.seq.cfg.Limits().Texts
	if limit == 0 || grow <= 0 {
		return nil
	}
	own, all := t.estate.Values()+t.s.values.by[t.estate.ID], t.seq.cfg.Tree.Values()+t.s.values.grew
	switch {
	case own+grow > limit/2:
		return rejectf(column, belfry.LimitReached, "the last texts of all objects of this customer take %s and would grow by %s; %s are allowed. "+
			"Send shorter texts, or long ones as log rows, or ask an administrator to raise limits.texts, half of which is for one customer", mebibytes(own), mebibytes(grow), mebibytes(limit/2))
	case all+grow > mostTexts(limit, own+grow):
		return rejectf(column, belfry.LimitReached, "there is no room for %s more of last texts of objects; send shorter texts, or long ones as log rows, "+
			"or ask an administrator of the instance to raise limits.texts", mebibytes(grow))
	}
	return nil
}

// takeValues refuses data rows whose texts would take too much memory as the last ones of their objects. Few rows have such
// texts, and a chunk without texts costs nothing.
func (t *tx) takeValues(c *chunk, late *rejections) {
	for i := range c.data.columns {
		if col := &c.data.columns[i]; col.texts != nil {
			t.takeColumn(c, col, late)
		}
	}
}

func (t *tx) takeColumn(c *chunk, col *valueColumn, late *rejections) {
	g := &t.s.values
	for row, v := range col.texts {
		n := c.data.nodes[row]
		if n == nil || v == "" || belfry.Late(cmp.Or(c.data.times[row], t.now), n.State.LastData, t.now) { // a late one is not kept
			continue
		}
		grow := g.growth(lastValue{n, col.n}, len(v))
		if grow == 0 {
			continue
		}
		bad := t.roomForValues(belfry.IndicatorColumn(col.n), grow)
		if bad == nil {
			t.addValue(n, col.n, len(v))
			continue
		}
		c.data.nodes[row] = nil
		late.add(int(c.data.origins[row].row), int(c.data.origins[row].line), bad)
	}
}

// roomForFirst tells whether there is room for the texts of a row whose object it makes.
func (t *tx) roomForFirst(l *layout, fields [][]byte) *belfry.RowError {
	grow, column := int64(0), ""
	for _, col := range l.indicators {
		if size := meta.ValueSize(len(cell(fields, col.at))); size > 0 {
			grow, column = grow+size, l.names[col.at]
		}
	}
	return t.roomForValues(column, grow)
}

// addFirst notes the same texts once the object is there.
func (t *tx) addFirst(n *meta.Node, l *layout, fields [][]byte) {
	for _, col := range l.indicators {
		if raw := cell(fields, col.at); meta.ValueSize(len(raw)) > 0 {
			t.addValue(n, col.n, len(raw))
		}
	}
}
