package duck

import (
	"context"
	"os"

	"belfry/query"
)

// maxRanges is how many ranges of rows of a file a statement names. Each is a branch of its own, which costs the engine a
// millisecond or two, as much as reading some ten blocks in a row.
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
	if err != nil {
		return nil, err
	}
	defer data.Close()
	r := &filterReader{data: data, blocks: blocks, bad: -1}
	var list []query.RowRange
	for i, b := range blocks {
		if b.last < p.From || b.first > p.To {
			continue
		}
		if n.met(func(t token) bool { return r.mayHave(i, t) }) {
			list = append(list, query.RowRange{From: uint64(i) * blockRows, To: uint64(i+1) * blockRows})
		}
	}
	list = append(list, query.RowRange{From: uint64(len(blocks)) * blockRows, To: query.LastRow})
	if r.bad >= 0 {
		f.filters.damaged(r.bad)
		s.filler.ask(f)
	}
	return join(list, maxRanges), nil
}

// join makes of the ranges, which are in order, no more than most, by taking in what is between those that are close.
func join(list []query.RowRange, most int) []query.RowRange {
	for gap := uint64(0); ; gap = max(2*gap, blockRows) {
		n := 0
		for _, r := range list[1:] {
			if r.From-list[n].To <= gap {
				list[n].To = r.To
				continue
			}
			n++
			list[n] = r
		}
		list = list[:n+1]
		if len(list) <= most {
			return list
		}
	}
}
