package duck

import (
	"context"
	"os"

	"belfry/store/duck/duckdb"

	"belfry/query"
)

// maxRanges is how many ranges of rows a statement names. Each is a branch of its own, which takes the engine half a
// millisecond to plan, on one thread, where it reads a block in one. fewRanges is how many each file may have nevertheless.
const (
	maxRanges = 256
	fewRanges = 8
)

// narrow leaves out of the tables the rows that cannot be in the answer, as far as the token filters tell.
func (s *Store) narrow(ctx context.Context, c *duckdb.Conn, p *query.Plan, used []*file, tables []query.Table) error {
	n := needOf(p)
	if n == nil {
		return nil
	}
	most := max(maxRanges/max(len(used), 1), fewRanges)
	for i, f := range used {
		blocks, err := s.blocksOf(ctx, c, f)
		if err != nil {
			return err
		}
		if match, ok := s.matching(f, blocks, p, n); ok {
			tables[i].Ranges = spans(match, blocks, most)
		}
	}
	return nil
}

// matching gives the blocks that may have rows of the answer; not ok when nothing is known.
func (s *Store) matching(f *file, blocks []block, p *query.Plan, n need) (match []int, ok bool) {
	if len(blocks) == 0 {
		s.filler.ask(f) // it may just be small
		return nil, false
	}
	data, err := os.Open(f.path + tokenSuffix)
	if err != nil { // whatever it is, the rows themselves can be read
		s.cfg.Log.Warn("a token filter cannot be read, all rows are", "file", f.path+tokenSuffix, "err", err)
		s.filler.ask(f)
		return nil, false
	}
	defer data.Close()
	r := &filterReader{data: data, blocks: blocks, bad: -1}
	for i, b := range blocks {
		if b.last >= p.From && b.first <= p.To && n.met(func(t token) bool { return r.mayHave(i, t) }) {
			match = append(match, i)
		}
	}
	if r.bad >= 0 {
		f.filters.damaged(r.bad)
		s.filler.ask(f)
	}
	return match, true
}

// spans makes ranges of the blocks that may match and of all rows behind the blocks; no more than most, by taking in
// what is between those that are close.
func spans(match []int, blocks []block, most int) []query.RowRange {
	for gap := 0; ; gap = 2*gap + 1 {
		var list []query.RowRange
		for i := 0; i < len(match); {
			from := match[i]
			for i++; i < len(match) && match[i]-match[i-1] <= gap+1; i++ {
			}
			list = append(list, spanOf(from, match[i-1]+1, blocks))
		}
		if len(list) < most {
			return append(list, query.RowRange{From: uint64(len(blocks)) * blockRows, To: query.LastRow, High: query.LastRow})
		}
	}
}

// spanOf is the range of blocks from to to.
func spanOf(from, to int, blocks []block) query.RowRange {
	r := query.RowRange{From: uint64(from) * blockRows, To: uint64(to) * blockRows, Low: blocks[from].low, High: blocks[from].high}
	for _, b := range blocks[from:to] {
		r.Low, r.High = min(r.Low, b.low), max(r.High, b.high)
	}
	return r
}
