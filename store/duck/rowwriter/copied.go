package rowwriter

import (
	"maps"
	"math"
	"slices"

	"belfry"
	"belfry/store/duck/duckdb"
)

// ColumnsOf returns the columns of a file, first those that every file has.
func ColumnsOf(kinds map[string]duckdb.Kind) []duckdb.Column {
	cols := commonColumns()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if col := (duckdb.Column{Name: name, Kind: kinds[name]}); !slices.Contains(cols, col) {
			cols = append(cols, col)
		}
	}
	return cols
}

// PieceOf returns rows that were read from a file, with these columns of ColumnsOf.
func PieceOf(r *duckdb.Result, cols []duckdb.Column) Piece {
	p := Piece{Batch: &belfry.Batch{Times: make([]belfry.Time, r.Rows)}, Customers: intsOf(r, 0), IDs: intsOf(r, 1)}
	for i, t := range intsOf(r, 2) {
		p.Batch.Times[i] = belfry.Time(t)
	}
	for i := len(commonColumns()); i < len(cols); i++ {
		c := belfry.Column{Name: cols[i].Name}
		switch cols[i].Kind {
		case duckdb.Text:
			c.Texts = r.Texts(i)
		case duckdb.Number:
			c.Numbers = numbersOf(r, i)
		default:
			c.Ints = intsOf(r, i)
		}
		p.Batch.Columns = append(p.Batch.Columns, c)
	}
	return p
}

func intsOf(r *duckdb.Result, col int) []int64 {
	words, null := r.Words(col)
	list := make([]int64, len(words))
	for i, w := range words {
		if list[i] = int64(w); null[i] {
			list[i] = belfry.AbsentInt
		}
	}
	return list
}

func numbersOf(r *duckdb.Result, col int) []float64 {
	words, null := r.Words(col)
	list := make([]float64, len(words))
	for i, w := range words {
		if list[i] = math.Float64frombits(w); null[i] {
			list[i] = belfry.AbsentNumber()
		}
	}
	return list
}
