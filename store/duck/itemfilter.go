package duck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"belfry/store/duck/duckdb"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/query"
)

// Which items have rows in a file is kept beside it, as one filter, so that the last rows of an item are found without
// opening the days on which it was silent. It is bound to sizes and times of the file and its log, one of which changes
// whenever a row is stored: so a filter that has got old is known as such without asking the engine. Once it is known to
// be right it stays so until a row is stored, however often the file is checkpointed, and is only stamped anew.
const (
	itemSuffix = ".items"
	itemFormat = "items, twice"
)

// maxSought is how many items are looked for in filters. With more, hardly a file would be left out.
const maxSought = 64

// leastFiltered is of how many files the filters are worth looking at.
const leastFiltered = 3

// itemFormatOf is the format that the filter of the file must have.
func itemFormatOf(f *file) (format, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return format{}, err
	}
	log, err := os.Stat(f.path + ".wal")
	if errors.Is(err, os.ErrNotExist) {
		return formatOf(itemFormat, info.Size(), info.ModTime().UnixNano()), nil
	}
	if err != nil {
		return format{}, err
	}
	return formatOf(itemFormat, info.Size(), info.ModTime().UnixNano(), log.Size(), log.ModTime().UnixNano()), nil
}

// listed is what is held in memory of the filter of the items of a file. Its fields belong to the mutex of files.
type listed struct {
	block  block
	page   heldPage // all of the filter, if it is small
	known  bool
	writes int  // to the file when the filter was right
	swept  int  // writes when the filler last came by
	failed bool // to be made then; the filler waits until someone asks for it
}

// listItems makes the filter of the items of a file, which the caller holds, unless someone writes to it meanwhile: rows
// may be in its log before they can be read.
func (s *Store) listItems(ctx context.Context, c *duckdb.Conn, f *file, set *tokenSet) error {
	before := s.files.writesTo(f)
	if before%2 != 0 {
		return nil
	}
	set.reset()
	text := "SELECT DISTINCT customer, item FROM " + f.ref() + " WHERE item IS NOT NULL"
	err := c.Stream(ctx, text, func(r *duckdb.Chunk) bool {
		for i := range r.Rows {
			set.add(itemToken(belfry.CustomerID(r.Columns[0].Small(i)), belfry.ID(r.Columns[1].Wide(i))))
		}
		return !set.full()
	})
	if err != nil {
		return fmt.Errorf("list items: %w", err)
	}
	var b builtBlock
	if !set.full() {
		b.data, b.pages, b.size = buildPages(0, b.sure(set.all))
	}
	want, err := itemFormatOf(f)
	if err != nil || s.files.writesTo(f) != before {
		return err
	}
	blocks, err := writeBlocks(f.path+itemSuffix, want, nil, []builtBlock{b})
	if err == nil {
		s.files.noteItems(f, blocks[0], before)
	}
	return err
}

// A filter errs once in three hundred times. Of hundreds of days that is one or two, each of which would be opened in
// vain. So an item has a second token, unless there are too many items; the block says so where a block of words has the
// number of its last row.
const twoTokens = 2

func secondToken(t token) token { return max(token(mum(uint64(t), mix1)), 1) }

// sure adds the second tokens.
func (b *builtBlock) sure(tokens []token) []token {
	if 2*len(tokens) > maxTokens {
		return tokens
	}
	b.lastID = twoTokens
	all := make([]token, 0, 2*len(tokens))
	for _, t := range tokens {
		all = append(all, t, secondToken(t))
	}
	return all
}

// mayHaveBoth tells whether the list may have the item of the token.
func (r *filterReader) mayHaveBoth(t token) bool {
	return r.mayHave(0, t) && (r.blocks[0].lastID != twoTokens || r.mayHave(0, secondToken(t)))
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

// noteItems takes note of a filter that was right after so many writes.
func (fs *files) noteItems(f *file, b block, writes int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.held -= len(f.items.page)
	f.items.block, f.items.page, f.items.known, f.items.writes = b, nil, true, writes
}

// Of an estate with few items the filters themselves are kept, as to open a file takes longer than all the rest. There
// is a limit to what they may take together.
const (
	smallList = 1 << 10
	maxHeld   = 1 << 20
)

// heldPage is the one page of a filter, which was whole.
type heldPage []byte

// mayHave tells whether one of the items of the plan may be in it.
func (h heldPage) mayHave(b block, p *query.Plan) bool {
	return slices.ContainsFunc(p.Items, func(id belfry.ID) bool {
		t := itemToken(p.Customer, id)
		return h.has(t) && (b.lastID != twoTokens || h.has(secondToken(t)))
	})
}

func (h heldPage) has(t token) bool { return pageHas(h, t.in(0)) }

// holdPage keeps the page of a filter that was right after so many writes.
func (fs *files) holdPage(f *file, page []byte, writes int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.items.writes == writes && f.items.known && f.items.page == nil && len(page) <= smallList && fs.held+len(page) <= maxHeld && !f.doomed {
		f.items.page = bytes.Clone(page)
		fs.held += len(page)
	}
}

// itemBlock gives the filter of the items of a file if it is right, and after how many writes it is.
func (s *Store) itemBlock(f *file) (b block, page heldPage, writes int, ok bool) {
	s.files.mu.Lock()
	have, writes := f.items, f.writes
	s.files.mu.Unlock()
	if have.known && have.writes == writes {
		return have.block, have.page, writes, true
	}
	want, err := itemFormatOf(f)
	if err != nil || writes%2 != 0 {
		return block{}, nil, writes, false
	}
	blocks, err := readBlocks(f.path+itemSuffix, want)
	if err != nil || len(blocks) == 0 {
		return block{}, nil, writes, false
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
	b, page, writes, ok := s.itemBlock(f)
	if !ok {
		s.filler.add(fillJob{file: f, items: true})
		return true
	}
	if page != nil {
		return page.mayHave(b, p)
	}
	data, err := os.Open(f.path + itemSuffix)
	if err != nil {
		s.filler.add(fillJob{file: f, items: true})
		return true
	}
	defer data.Close()
	if s.anyListed(f, data, b, p) {
		return true
	}
	if s.files.writesTo(f) != writes { // then it may have been another filter that was read
		return true
	}
	if b.pages == 1 && b.size <= smallList {
		if whole := make([]byte, b.size); readPage(data, b, whole) {
			s.files.holdPage(f, whole, writes)
		}
	}
	return false
}

// readPage reads the only page of a filter.
func readPage(data *os.File, b block, page []byte) bool {
	_, err := data.ReadAt(page, b.offset)
	return err == nil && pageWhole(0, 0, page)
}

// anyListed tells whether one of the items of the plan may be in a filter.
func (s *Store) anyListed(f *file, data *os.File, b block, p *query.Plan) bool {
	r := &filterReader{data: data, blocks: []block{b}, bad: -1}
	for _, id := range p.Items {
		if r.mayHaveBoth(itemToken(p.Customer, id)) {
			if r.bad >= 0 {
				s.filler.add(fillJob{file: f, items: true})
			}
			return true
		}
	}
	return false
}
