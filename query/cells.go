package query

import (
	"fmt"
	"io"
	"math"

	"belfry"
	"belfry/catalog"
)

// Cells is the result of a statement, in memory.
type Cells struct {
	Rows    int
	Columns []CellColumn
}

// CellColumn is a column of a result, with an entry for each row: in Texts for texts, in Words for everything else.
type CellColumn struct {
	Words  []uint64 // the bits of a float, the integer of every other type
	Texts  []string
	Null   []bool
	IsText bool
	Float  bool
}

// HeldRows are the rows of an engine's result.
type HeldRows struct {
	Statement *Statement
	Cells     Cells
	Release   func() // called by Close; may be nil

	next int
	row  []belfry.Value
}

// Columns implements Rows.
func (h *HeldRows) Columns() []Output { return h.Statement.Columns }

// Next implements Rows.
func (h *HeldRows) Next() ([]belfry.Value, error) {
	if h.next == h.Cells.Rows {
		return nil, io.EOF
	}
	h.next++
	return h.at(h.next - 1)
}

// Close implements Rows.
func (h *HeldRows) Close() error {
	if h.Release != nil {
		h.Release()
	}
	return nil
}

// at returns a row by its index. The slice is valid until the next call.
func (h *HeldRows) at(row int) ([]belfry.Value, error) {
	if h.row == nil {
		h.row = make([]belfry.Value, len(h.Statement.Columns))
	}
	return h.row, h.Statement.read(&h.Cells, row, h.row)
}

// words returns the values of an output, as in CellColumn, and which of them are absent; ok is false for a text.
func (h *HeldRows) words(output int) (words []uint64, null []bool, ok bool) {
	cell := 0
	for _, out := range h.Statement.Columns[:output] {
		cell += out.Width()
	}
	c := &h.Cells.Columns[cell]
	if h.Statement.Columns[output].Width() > 1 || c.IsText {
		return nil, nil, false
	}
	return c.Words, c.Null, true
}

// read reads a row of the engine's result into values, one for each output.
func (s *Statement) read(cells *Cells, row int, values []belfry.Value) error {
	cell := 0
	for i, out := range s.Columns {
		width := out.Width()
		if cell+width > len(cells.Columns) {
			return fmt.Errorf("read row: %d columns for %d outputs", len(cells.Columns), len(s.Columns))
		}
		v, ok := cells.Columns[cell].value(out.Type(), row)
		if width == 2 && ok && v.Type == belfry.AbsentValue {
			v, ok = cells.Columns[cell+1].value(catalog.Text, row)
		}
		if !ok {
			return fmt.Errorf("read row: %s: the engine gave another type than %s", out.Name, out.Type())
		}
		values[i] = v
		cell += width
	}
	return nil
}

// value returns a cell; ok is false if the engine gave another type.
func (c *CellColumn) value(t catalog.Type, row int) (v belfry.Value, ok bool) {
	if c.Null[row] {
		return v, true
	}
	if storage(t) == StoredText {
		if !c.IsText {
			return v, false
		}
		return belfry.Value{Type: belfry.TextValue, Text: c.Texts[row]}, true
	}
	if c.IsText || c.Float != (storage(t) == StoredNumber) {
		return v, false
	}
	return wordValue(t, c.Words[row]), true
}

// wordValue returns the value of an entry of CellColumn.Words.
func wordValue(t catalog.Type, w uint64) belfry.Value {
	if storage(t) == StoredNumber {
		return belfry.Value{Type: belfry.NumberValue, Num: math.Float64frombits(w)}
	}
	return belfry.Value{Type: valueTypes(t), Int: int64(w)}
}

// valueTypes returns the value type of a type that is stored as an integer.
func valueTypes(t catalog.Type) belfry.ValueType {
	switch t {
	case catalog.Bool:
		return belfry.BoolValue
	case catalog.Time:
		return belfry.TimeValue
	case catalog.Status:
		return belfry.StatusValue
	case catalog.ID:
		return belfry.IDValue
	}
	return belfry.IntValue
}
