package intake

import "belfry"

// undecidedRows are rows that only the sequencer can decide. A body that is applied as a whole may have millions of them, so
// they lie side by side: a slice for each cell would take many times what the cell does.
type undecidedRows struct {
	rows   []undecidedRow
	next   int      // the first that has not been decided
	text   []byte   // the cells of all rows, one after the other
	ends   []uint32 // of the cells, counted from where their row begins
	fields [][]byte // of the row at hand
}

// reuse returns the room of rows that have been decided, without the rows.
func (o *undecidedRows) reuse() undecidedRows {
	return undecidedRows{rows: o.rows[:0], text: o.text[:0], ends: o.ends[:0], fields: o.fields[:0]}
}

// undecidedRow is where a row came from and where its cells are.
type undecidedRow struct {
	row, line int32
	slot      int32 // its place in data or logs; -1 for rows that have none
	cells     uint32
	text      int // where it begins in text
	ends      int // the same in ends
	kind      rowKind
	refused   bool
}

func (o *undecidedRows) len() int { return len(o.rows) }

// memory is about what the rows take, without their texts.
func (o *undecidedRows) memory() int { return 48*len(o.rows) + 4*len(o.ends) }

// add copies a row: its fields belong to whoever has read them.
func (o *undecidedRows) add(row, line int, kind rowKind, slot int, fields [][]byte) {
	r := undecidedRow{
		row: int32(row), line: int32(line), slot: int32(slot), kind: kind,
		cells: uint32(len(fields)), text: len(o.text), ends: len(o.ends),
	}
	for _, f := range fields {
		o.text = append(o.text, f...)
		o.ends = append(o.ends, uint32(len(o.text)-r.text))
	}
	o.rows = append(o.rows, r)
}

// cells returns the fields of a row, until it is asked for another.
func (o *undecidedRows) cells(r *undecidedRow) [][]byte {
	o.fields = o.fields[:0]
	from := uint32(0)
	text := o.text[r.text:]
	for _, end := range o.ends[r.ends : r.ends+int(r.cells)] {
		o.fields = append(o.fields, text[from:end:end])
		from = end
	}
	return o.fields
}

// decideEach calls f for each row and adds those that it refuses to late. When f has not finished a row, that
// row is the first one the next time.
func (o *undecidedRows) decideEach(late *rejections, f func(r *undecidedRow, fields [][]byte) (bad *belfry.RowError, finished bool)) {
	for ; o.next < len(o.rows); o.next++ {
		r := &o.rows[o.next]
		bad, finished := f(r, o.cells(r))
		if !finished {
			return
		}
		if r.refused = bad != nil; r.refused {
			late.add(int(r.row), int(r.line), bad)
		}
	}
}

// shift says that so many data rows and log lines have been taken out, before the first row that has not been decided.
func (o *undecidedRows) shift(rows, lines int) {
	for i := o.next; i < len(o.rows); i++ {
		switch r := &o.rows[i]; r.kind {
		case dataRow:
			r.slot -= int32(rows)
		case logRow:
			r.slot -= int32(lines)
		}
	}
}

// left is how many have not been decided.
func (o *undecidedRows) left() int { return len(o.rows) - o.next }
