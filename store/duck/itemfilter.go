package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// Which items have rows in a file is kept beside it, as one filter, so that the last rows of an item are found without
// opening the days on which it was silent. It is bound to sizes and times of the file and its log, one of which changes
// whenever a row is stored: so a filter that has got old is known as such without asking the engine. Once it is known to
// be right it stays so until a row is stored, however often the file is checkpointed, and is only stamped anew.
const itemSuffix = ".items"

// maxSought is how many items are looked for in filters. With more, hardly a file would be left out.
const maxSought = 64

// leastFiltered is of how many files the filters are worth looking at.
const leastFiltered = 3

// itemFormatOf is the format that the filter of the file must have.
func itemFormatOf(f *file) (index.Format, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return index.Format{}, err
	}
	log, err := os.Stat(f.path + ".wal")
	if errors.Is(err, os.ErrNotExist) {
		return index.ListFormat(info.Size(), info.ModTime().UnixNano()), nil
	}
	if err != nil {
		return index.Format{}, err
	}
	return index.ListFormat(info.Size(), info.ModTime().UnixNano(), log.Size(), log.ModTime().UnixNano()), nil
}

// itemIndex is the part in memory of the filter of the items of a file. The mutex of files guards it.
type itemIndex struct {
	block  index.Block
	list   *index.List // all of the filter, if it is small
	known  bool
	writes int  // to the file when the filter was right
	seen   int  // writes when the indexer last looked
	failed bool // to be made then; the indexer waits until it is requested
}

// buildItemFilter makes the filter of the items of a file, which the caller holds, unless someone writes to it meanwhile: rows
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
	want, err := itemFormatOf(f)
	if err != nil || s.files.writeCount(f) != before {
		return err
	}
	blocks, err := index.Write(f.path+itemSuffix, want, nil, []index.Built{index.BuildList(set)})
	if err == nil {
		s.files.noteItems(f, blocks[0], before)
	}
	return err
}

// writeCount counts the beginnings and the ends of transactions that write to the file.
func (fs *files) writeCount(f *file) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return f.writes
}

// countWrite counts a beginning or an end.
func (fs *files) countWrite(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.writes++
}

// noteItems takes note of a filter that was right after so many writes.
func (fs *files) noteItems(f *file, b index.Block, writes int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.itemListBytes -= f.items.list.Size()
	f.items.block, f.items.list, f.items.known, f.items.writes = b, nil, true, writes
}

// Small lists are kept in memory, because opening a file takes longer than reading it. maxHeld bounds what they take together.
const maxHeld = 1 << 20

// holdList keeps the list of a file that was right after so many writes.
func (fs *files) holdList(f *file, list *index.List, writes int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if list != nil && f.items.writes == writes && f.items.known && f.items.list == nil && fs.itemListBytes+list.Size() <= maxHeld && !f.doomed {
		f.items.list = list
		fs.itemListBytes += list.Size()
	}
}

// itemBlock gives the filter of the items of a file if it is right, and after how many writes it is.
func (s *Store) itemBlock(f *file) (b index.Block, list *index.List, writes int, ok bool) {
	s.files.mu.Lock()
	have, writes := f.items, f.writes
	s.files.mu.Unlock()
	if have.known && have.writes == writes {
		return have.block, have.list, writes, true
	}
	want, err := itemFormatOf(f)
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

// stampItems says that the filter of a file, which has just been checkpointed, is still right. It is for the next start
// alone: should it fail, the filter is made anew then. The caller holds the mutex of files.
func (f *file) stampItems() {
	if !f.items.known || f.items.writes != f.writes {
		return
	}
	want, err := itemFormatOf(f)
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

// mayHaveItem tells whether the file may have rows of one of the items. It has the filter made when there is none.
func (s *Store) mayHaveItem(f *file, p *query.Plan) bool {
	b, list, writes, ok := s.itemBlock(f)
	if !ok {
		s.indexer.add(indexJob{file: f, items: true})
		return true
	}
	if list != nil {
		return slices.ContainsFunc(p.Items, func(id belfry.ID) bool { return list.HasItem(p.Customer, id) })
	}
	r, err := index.Open(f.path+itemSuffix, []index.Block{b})
	if err != nil {
		s.indexer.add(indexJob{file: f, items: true})
		return true
	}
	defer r.Close()
	if slices.ContainsFunc(p.Items, func(id belfry.ID) bool { return r.HasItem(p.Customer, id) }) {
		if _, damaged := r.Damaged(); damaged {
			s.indexer.add(indexJob{file: f, items: true})
		}
		return true
	}
	if s.files.writeCount(f) != writes { // then it may have been another filter that was read
		return true
	}
	s.files.holdList(f, r.List(), writes)
	return false
}
