package index

import "belfry/query"

// Ranges returns the ranges of rows that a query has to read: the blocks in match, and all rows after the last block. It joins ranges
// that are close to each other until there are at most limit.
func Ranges(match []int, blocks []Block, limit int) []query.RowRange {
	for gap := 0; ; gap = 2*gap + 1 {
		var list []query.RowRange
		for i := 0; i < len(match); {
			from := match[i]
			for i++; i < len(match) && match[i]-match[i-1] <= gap+1; i++ {
			}
			list = append(list, rangeOf(from, match[i-1]+1, blocks))
		}
		if len(list) < limit {
			return append(list, query.RowRange{From: uint64(len(blocks)) * BlockRows, To: query.LastRow, High: query.LastRow})
		}
	}
}

// rangeOf returns the range of the blocks from up to but not including to.
func rangeOf(from, to int, blocks []Block) query.RowRange {
	r := query.RowRange{From: uint64(from) * BlockRows, To: uint64(to) * BlockRows, Low: blocks[from].Low, High: blocks[from].High}
	for _, b := range blocks[from:to] {
		r.Low, r.High = min(r.Low, b.Low), max(r.High, b.High)
	}
	return r
}
