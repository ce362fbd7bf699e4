package meta

import (
	"math"
	"strings"

	"belfry"
)

// applyBatch updates the next row id and, from data rows, last data and last values from a batch of a record that was
// decided at the time arrival.
func (t *Tree) applyBatch(b *belfry.Batch, pos belfry.Position, arrival belfry.Time) {
	e := t.customers[b.Customer]
	if e == nil {
		return
	}
	e.NextRow = max(e.NextRow, b.FirstID+belfry.RowID(b.Len()))
	if b.Collection != belfry.ObjectData {
		return
	}
	items := b.Column(belfry.ItemColumn)
	cols := indicatorColumns(b)
	for row, at := range b.Times {
		n := t.Node(belfry.ID(items.Ints[row]))
		if n == nil || n.State.Pos > pos {
			continue
		}
		n.State.Pos = pos
		if !belfry.Late(at, n.State.LastSeen, arrival) {
			n.State.LastSeen = at
		}
		if belfry.Late(at, n.State.LastData, arrival) {
			continue // late: kept, but it is not the newest
		}
		n.State.LastData = at
		for i := range cols {
			if grown := cols[i].copyTo(&n.State, row); grown != 0 && n.Removed == 0 {
				t.addMemory(e, grown)
			}
		}
	}
}

// indicator is one indicator's column of a batch.
type indicator struct {
	at      int // i1 is 0
	width   int // how many indicators the batch has: what a state makes room for at once
	numbers []float64
	texts   []string
}

func indicatorColumns(b *belfry.Batch) []indicator {
	cols := make([]indicator, 0, len(b.Columns))
	for _, c := range b.Columns {
		if n, text, ok := belfry.ParseIndicatorColumn(c.Name); ok {
			if text {
				cols = append(cols, indicator{at: n - 1, texts: c.Texts})
			} else {
				cols = append(cols, indicator{at: n - 1, numbers: c.Numbers})
			}
		}
	}
	width := 0
	for i := range cols {
		width = max(width, cols[i].at+1)
	}
	for i := range cols {
		cols[i].width = width
	}
	return cols
}

// copyTo returns by how much the counted size of the state has grown.
func (c *indicator) copyTo(s *belfry.ItemState, row int) (grown int64) {
	if c.numbers != nil {
		v := c.numbers[row]
		if math.IsNaN(v) {
			return 0
		}
		if len(s.Numbers) <= c.at {
			grown = WidthSize(c.width-len(s.Numbers), 0)
			s.Numbers = widen(s.Numbers, c.width)
		}
		s.Numbers[c.at] = v
		return grown
	}
	if v := c.texts[row]; v != "" {
		if wide := c.at + 1; len(s.Texts) < wide {
			grown = WidthSize(0, wide-len(s.Texts))
			s.Texts = append(s.Texts, make([]string, wide-len(s.Texts))...)
		}
		grown += TextSize(len(v)) - TextSize(len(s.Texts[c.at]))
		s.Texts[c.at] = strings.Clone(v) // v may be a piece of a whole request
	}
	return grown
}

func widen(numbers []float64, width int) []float64 {
	wide := make([]float64, width)
	for i := copy(wide, numbers); i < width; i++ {
		wide[i] = belfry.AbsentNumber()
	}
	return wide
}
