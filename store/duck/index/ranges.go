package index

import (
	"fmt"
	"math"

	"belfry"
)

// RowRange is a range of the rows of a file by row number, From inclusive, To exclusive, whose ids are from Low to High, both
// inclusive.
type RowRange struct {
	From, To  uint64
	Low, High belfry.RowID
}

// LastRow is after the last row of any file, and after the last id.
const LastRow = math.MaxInt64

// Condition returns the SQL condition for the range. Several ranges joined by OR would make the engine read all rows;
// in separate branches it seeks to each. The condition on ids, for which the engine has zone maps, keeps it from
// reading other texts before it checks row numbers.
func (r RowRange) Condition() string {
	s := fmt.Sprintf("rowid >= %d", r.From)
	if r.To < LastRow {
		s += fmt.Sprintf(" AND rowid < %d", r.To)
	}
	if r.High < LastRow {
		s += fmt.Sprintf(" AND id BETWEEN %d AND %d", r.Low, r.High)
	}
	return s
}

// Ranges returns the ranges of rows that a query has to read: the blocks in match, and all rows after the last block. It joins ranges
// that are close to each other until there are at most limit.
func Ranges(match []int, blocks []Block, limit int) []RowRange {
	for gap := 0; ; gap = 2*gap + 1 {
		var list []RowRange
		for i := 0; i < len(match); {
			from := match[i]
			for i++; i < len(match) && match[i]-match[i-1] <= gap+1; i++ {
			}
			list = append(list, rangeOf(from, match[i-1]+1, blocks))
		}
		if len(list) < limit {
			return append(list, RowRange{From: uint64(len(blocks)) * BlockRows, To: LastRow, High: LastRow})
		}
	}
}

// rangeOf returns the range of the blocks from up to but not including to.
func rangeOf(from, to int, blocks []Block) RowRange {
	r := RowRange{From: uint64(from) * BlockRows, To: uint64(to) * BlockRows, Low: blocks[from].Low, High: blocks[from].High}
	for _, b := range blocks[from:to] {
		r.Low, r.High = min(r.Low, b.Low), max(r.High, b.High)
	}
	return r
}

// LatestFrom returns the time from which on all rows are in the last n of the blocks with these ends; 0 if n is half of
// them or more.
func LatestFrom(ends []belfry.Time, n int) (from belfry.Time) {
	if len(ends) <= 2*n {
		return 0
	}
	for _, end := range ends[:len(ends)-n] {
		from = max(from, end+1)
	}
	return from
}
