package query

import (
	"fmt"
	"math"

	"belfry"
	"belfry/catalog"
)

// Cells is one row of an engine's result.
type Cells interface {
	Len() int
	Null(i int) bool
	// Word returns a cell of fixed size: the bits of a float, the integer of every other type. ok is false for a text.
	Word(i int) (w uint64, isFloat, ok bool)
	// Text returns a text cell; ok is false for every other type.
	Text(i int) (s string, ok bool)
}

// Row reads one row of the engine's result into row, a value for each output.
func (s *Statement) Row(cells Cells, row []belfry.Value) error {
	cell := 0
	for i, out := range s.Columns {
		width := out.Width()
		if cell+width > cells.Len() || i >= len(row) {
			return fmt.Errorf("read row: %d columns for %d outputs", cells.Len(), len(s.Columns))
		}
		v, ok := readCell(out.Type(), cells, cell)
		if width == 2 && ok && v.Type == belfry.AbsentValue {
			v, ok = readCell(catalog.Text, cells, cell+1)
		}
		if !ok {
			return fmt.Errorf("read row: %s: the engine gave another type than %s", out.Name, out.Type())
		}
		row[i] = v
		cell += width
	}
	return nil
}

func readCell(t catalog.Type, cells Cells, i int) (v belfry.Value, ok bool) {
	if cells.Null(i) {
		return v, true
	}
	if storage(t) == StoredText {
		v.Type = belfry.TextValue
		v.Text, ok = cells.Text(i)
		return v, ok
	}
	w, isFloat, ok := cells.Word(i)
	return wordValue(t, w), ok && isFloat == (storage(t) == StoredNumber)
}

// wordValue returns the value of a cell returned by Cells.Word.
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
