package intake

import (
	"cmp"
	"math"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake/rowfmt"
	"belfry/meta"
)

// reserveValues refuses data rows whose values would take too much memory as the last ones of their objects. As long as there
// is plenty of room no row is looked at.
func (t decision) reserveValues(c *chunk, late *rejections) {
	if t.Budget().ReserveAmple(c.data.mostMemory()) {
		return
	}
	for row, n := range c.data.nodes {
		if n == nil || belfry.Late(cmp.Or(c.data.times[row], t.Now), n.State.LastData, t.Now) { // a late one is not kept
			continue
		}
		if bad := t.Budget().ReserveValues(n, c.data.lastValues(row)); bad != nil {
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

// lastValues are the sizes of the values of a row.
func (d *dataRows) lastValues(row int) (list []engine.LastValue) {
	for i := range d.columns {
		c := &d.columns[i]
		if !math.IsNaN(c.numbers[row]) {
			list = append(list, engine.LastValue{N: c.n})
		}
		if c.texts != nil && c.texts[row] != "" {
			list = append(list, engine.LastValue{N: c.n, Text: len(c.texts[row])})
		}
	}
	return list
}

// lastValues are the sizes of the values in the fields of a row.
func (l *layout) lastValues(fields [][]byte) (list []engine.LastValue) {
	for _, col := range l.indicators {
		raw := cell(fields, col.at)
		if len(raw) == 0 {
			continue
		}
		if _, number := rowfmt.ParseNumber(raw); number {
			list = append(list, engine.LastValue{N: col.n})
		} else {
			list = append(list, engine.LastValue{N: col.n, Text: len(raw)})
		}
	}
	return list
}

// inferredIndicator is about what an indicator adds to the text of an inferred class, and an empty class.
const (
	inferredIndicator = 32
	inferredClass     = 64
)

// reserveInferred reserves memory for what a row adds to the class of its object, if the class is inferred. isNew: the row
// creates the class.
func (t decision) reserveInferred(l *layout, fields [][]byte, def *catalog.Class, isNew bool) *belfry.RowError {
	if !def.Inferred {
		return nil
	}
	added := 0
	if isNew {
		added = inferredClass + len(def.Name)
	}
	for _, col := range l.indicators {
		if len(cell(fields, col.at)) > 0 && def.Indicator(col.n) == nil {
			added += inferredIndicator
		}
	}
	if added == 0 {
		return nil
	}
	return t.Budget().ReserveText("class", meta.DocSize(belfry.DocClass, "", added))
}
