package duck

import (
	"context"
	"os"

	"belfry/query"
)

// maxRanges is how many ranges of rows of a file a statement names. Each is a branch of its own, which costs the engine
// two to three milliseconds, so that many of them take longer than reading all rows. The number is an estimate.
const maxRanges = 48

// narrow leaves out of the tables the rows that cannot be in the answer, as far as the token filters tell.
func (s *Store) narrow(ctx context.Context, c *conn, p *query.Plan, used []*file, tables []query.Table) error {
	n := needOf(p)
	if n == nil {
		return nil
	}
	for i, f := range used {
		blocks, err := s.blocksOf(ctx, c, f)
		if err != nil {
			return err
		}
		if tables[i].Ranges, err = s.rangesOf(f, blocks, p, n); err != nil {
			return err
		}
	}
	return nil
}

// rangesOf gives the rows of a file that may be in the answer; nil is all.
func (s *Store) rangesOf(f *file, blocks []block, p *query.Plan, n need) ([]query.RowRange, error) {
	if len(blocks) == 0 {
		s.filler.ask(f) // it may just be small
		return nil, nil
	}
	data, err := os.Open(f.path + tokenSuffix)
	if err != nil { // whatever it is, the rows themselves can be read
		s.cfg.Log.Warn("a token filter cannot be read, all rows are", "file", f.path+tokenSuffix, "err", err)
		s.filler.ask(f)
		return nil, nil
	}
	defer data.Close()
	r := &filterReader{data: data, blocks: blocks, bad: -1}
	var match []int
	for i, b := range blocks {
		if b.last >= p.From && b.first <= p.To && n.met(func(t token) bool { return r.mayHave(i, t) }) {
			match = append(match, i)
		}
	}
	if r.bad >= 0 {
		f.filters.damaged(r.bad)
		s.filler.ask(f)
	}
	return spans(match, blocks, maxRanges), nil
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
