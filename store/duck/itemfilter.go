package duck

import (
	"context"
	"errors"
	"fmt"
	"os"

	"belfry"
	"belfry/query"
)

// Which items have rows in a file is kept beside it, as one filter, so that the last rows of an item are found without
// opening the days on which it was silent. It is bound to sizes and times of the file and its log, one of which changes
// whenever a row is stored: so a filter that has got old is known as such without asking the engine.
const itemSuffix = ".items"

// maxSought is how many items are looked for in filters. With more, hardly a file would be left out.
const maxSought = 64

// itemFormatOf is the format that the filter of the file must have.
func itemFormatOf(f *file) (format, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return format{}, err
	}
	log, err := os.Stat(f.path + ".wal")
	if errors.Is(err, os.ErrNotExist) {
		return formatOf("items", info.Size(), info.ModTime().UnixNano()), nil
	}
	if err != nil {
		return format{}, err
	}
	return formatOf("items", info.Size(), info.ModTime().UnixNano(), log.Size(), log.ModTime().UnixNano()), nil
}

// listItems makes the filter of the items of a file, which the caller holds, unless someone writes to it meanwhile: rows
// may be in its log before they can be read.
func (s *Store) listItems(ctx context.Context, c *conn, f *file, set *tokenSet) error {
	before := s.files.writesTo(f)
	want, err := itemFormatOf(f)
	if err != nil || before%2 != 0 {
		return err
	}
	set.reset()
	text := "SELECT DISTINCT customer, item FROM " + f.ref() + " WHERE item IS NOT NULL"
	err = c.stream(ctx, text, func(r *chunkReader) bool {
		for i := range r.rows {
			set.add(itemToken(belfry.CustomerID(r.cols[0].small(i)), belfry.ID(r.cols[1].wide(i))))
		}
		return !set.full()
	})
	if err != nil {
		return fmt.Errorf("list items: %w", err)
	}
	var b builtBlock
	if !set.full() {
		b.data, b.pages, b.size = buildPages(0, set.all)
	}
	if s.files.writesTo(f) != before {
		return nil
	}
	_, err = writeBlocks(f.path+itemSuffix, want, nil, []builtBlock{b})
	return err
}

// writesTo counts the beginnings and the ends of transactions that write to the file.
func (fs *files) writesTo(f *file) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return f.writes
}

// writing counts a beginning or an end.
func (fs *files) writing(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.writes++
}

// itemToken stands for an item of a customer.
func itemToken(c belfry.CustomerID, id belfry.ID) token {
	return max(token(mum(seedOf(c)^uint64(id), mix2)), 1)
}

// mayHaveItem tells whether the file may have rows of one of the items. It has the filter made when there is none.
func (s *Store) mayHaveItem(f *file, p *query.Plan) bool {
	want, err := itemFormatOf(f)
	if err != nil {
		return true
	}
	blocks, err := readBlocks(f.path+itemSuffix, want)
	if err != nil || len(blocks) == 0 {
		s.filler.add(fillJob{file: f, items: true})
		return true
	}
	data, err := os.Open(f.path + itemSuffix)
	if err != nil {
		return true
	}
	defer data.Close()
	r := &filterReader{data: data, blocks: blocks, bad: -1}
	for _, id := range p.Items {
		if r.mayHave(0, itemToken(p.Customer, id)) {
			return true
		}
	}
	return false
}

// withItems leaves out the periods that have no row of the items that the plan asks for. The newest is always asked: its
// filter would be old as soon as it is made.
func (s *Store) withItems(p *query.Plan, periods []period) []period {
	if !p.ItemsKnown || len(p.Items) == 0 || len(p.Items) > maxSought || len(periods) < 3 {
		return periods
	}
	var left []period
	for i, f := range s.files.list(p.Collection, periods) {
		if f == nil || i == len(periods)-1 || s.mayHaveItem(f, p) {
			left = append(left, periods[i])
		}
	}
	return left
}
