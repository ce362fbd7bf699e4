package duck

import (
	"context"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// The items that have rows in a file are kept beside it in one filter, so that the last rows of an item are found
// without opening the days without any. The filter is bound to the sizes and times of the file and its log, one of
// which changes whenever a row is stored, so an outdated filter is recognised without the engine. Once known to be
// valid it stays so until a row is stored, however often the file is checkpointed, and only its stamp is renewed.
const itemSuffix = ".items"

// itemIndex is the part of a file's item filter that is in memory. The mutex of files guards it.
type itemIndex struct {
	block  index.Block
	list   *index.List // the whole filter, if it is small
	known  bool
	writes int  // to the file when the filter was valid
	seen   int  // writes when the indexer last checked
	failed bool // could not be built; the indexer waits until it is requested
}

// buildItemFilter builds the item filter of a file, which the caller holds, unless someone writes to it meanwhile: rows
// may be in its log before they can be read.
func (s *Store) buildItemFilter(ctx context.Context, c *duckdb.Conn, f *file, set *index.Set) error {
	before := s.files.writeCount(f)
	if before%2 != 0 {
		return nil
	}
	set.Reset()
	text := "SELECT DISTINCT customer, item FROM " + f.ref() + " WHERE item IS NOT NULL"
	err := c.Stream(ctx, text, func(r *duckdb.Chunk) bool {
		for i := range r.Rows {
			set.AddItem(belfry.CustomerID(r.Columns[0].Small(i)), belfry.ID(r.Columns[1].Wide(i)))
		}
		return !set.Full()
	})
	if err != nil {
		return fmt.Errorf("list items: %w", err)
	}
	want, err := index.ListFormatOf(f.path)
	if err != nil || s.files.writeCount(f) != before {
		return err
	}
	blocks, err := index.Write(f.path+itemSuffix, want, nil, []index.Built{index.BuildList(set)})
	if err == nil {
		s.files.noteItems(f, blocks[0], before)
	}
	return err
}

// writeCount returns the number of starts and ends of transactions that write to the file.
func (fs *files) writeCount(f *file) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return f.writes
}

// countWrite counts a start or an end.
func (fs *files) countWrite(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.writes++
}

// noteItems records a filter that was valid at this write count.
func (fs *files) noteItems(f *file, b index.Block, writes int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.itemListBytes -= f.items.list.Size()
	f.items.block, f.items.list, f.items.known, f.items.writes = b, nil, true, writes
}

// Small lists are kept in memory, because opening a file takes longer than reading it. maxHeld bounds their total size.
const maxHeld = 1 << 20

// holdList keeps a list in memory that was valid at this write count.
func (fs *files) holdList(f *file, list *index.List, writes int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if list != nil && f.items.writes == writes && f.items.known && f.items.list == nil && fs.itemListBytes+list.Size() <= maxHeld && !f.doomed {
		f.items.list = list
		fs.itemListBytes += list.Size()
	}
}

// itemBlock returns the item filter of a file if it is valid, and the file's write count.
func (s *Store) itemBlock(f *file) (b index.Block, list *index.List, writes int, ok bool) {
	s.files.mu.Lock()
	have, writes := f.items, f.writes
	s.files.mu.Unlock()
	if have.known && have.writes == writes {
		return have.block, have.list, writes, true
	}
	want, err := index.ListFormatOf(f.path)
	if err != nil || writes%2 != 0 {
		return index.Block{}, nil, writes, false
	}
	blocks, err := index.Read(f.path+itemSuffix, want)
	if err != nil || len(blocks) == 0 {
		return index.Block{}, nil, writes, false
	}
	s.files.noteItems(f, blocks[0], writes)
	return blocks[0], nil, writes, true
}

// stampItems renews the stamp of a filter that is still valid after a checkpoint of its file. Only the next start needs
// it: if this fails, the filter is built again then. The caller holds the mutex of files.
func (f *file) stampItems() {
	if !f.items.known || f.items.writes != f.writes {
		return
	}
	want, err := index.ListFormatOf(f.path)
	if err != nil {
		return
	}
	data, err := os.OpenFile(f.path+itemSuffix, os.O_WRONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	_, _ = data.WriteAt(want[:], 0)
	_ = data.Close()
}

// mayHaveItem reports whether the file may have rows of one of the plan's items. It requests the filter if there is
// none.
func (s *Store) mayHaveItem(f *file, p *query.Plan) bool {
	b, list, writes, ok := s.itemBlock(f)
	if !ok {
		s.indexer.Add(indexJob{file: f, items: true})
		return true
	}
	if list != nil {
		return slices.ContainsFunc(p.Items, func(id belfry.ID) bool { return list.HasItem(p.Customer, id) })
	}
	r, err := index.Open(f.path+itemSuffix, []index.Block{b})
	if err != nil {
		s.indexer.Add(indexJob{file: f, items: true})
		return true
	}
	defer r.Close()
	if slices.ContainsFunc(p.Items, func(id belfry.ID) bool { return r.HasItem(p.Customer, id) }) {
		if _, damaged := r.Damaged(); damaged {
			s.indexer.Add(indexJob{file: f, items: true})
		}
		return true
	}
	if s.files.writeCount(f) != writes { // another filter may have been read
		return true
	}
	s.files.holdList(f, r.List(), writes)
	return false
}

// newPeriodFilter returns a filter of periods by the item filters of their files.
func (s *Store) newPeriodFilter(p *query.Plan, periods []belfry.Span) *index.PeriodFilter {
	return index.NewPeriodFilter(p, periods, func(day belfry.Span) bool {
		f := s.files.list(p.Collection, []belfry.Span{day})[0]
		return f == nil || s.mayHaveItem(f, p)
	})
}
