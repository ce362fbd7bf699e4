package index

import (
	"errors"
	"os"

	"belfry"
)

// An item list is a filter with one block that holds the items of a file.

// listFormat is the version of the layout.
const listFormat = "items, twice"

// ListFormatOf returns the format that a valid item list of a database file has now.
func ListFormatOf(path string) (Format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Format{}, err
	}
	log, err := os.Stat(path + ".wal")
	if errors.Is(err, os.ErrNotExist) {
		return formatOf(listFormat, info.Size(), info.ModTime().UnixNano()), nil
	}
	if err != nil {
		return Format{}, err
	}
	return formatOf(listFormat, info.Size(), info.ModTime().UnixNano(), log.Size(), log.ModTime().UnixNano()), nil
}

// AddItem adds an item to the set.
func (s *Set) AddItem(c belfry.CustomerID, id belfry.ID) { s.add(itemToken(c, id)) }

func itemToken(c belfry.CustomerID, id belfry.ID) token {
	return max(token(mum(seedOf(c)^uint64(id), mix2)), 1)
}

// A filter has one false positive in three hundred. A query over hundreds of days would open one or two files for nothing. So each item
// gets a second token, unless there are too many items. The block marks this in lastID, which it does not need for anything else.
const twoTokens = 2

func secondToken(t token) token { return max(token(mum(uint64(t), mix1)), 1) }

// BuildList builds the list of the items in the set. A list of too many items has no pages and contains every item.
func BuildList(s *Set) Built {
	var b Built
	if s.Full() {
		return b
	}
	tokens := s.all
	if 2*len(tokens) <= MaxTokens {
		b.LastID = twoTokens
		tokens = make([]token, 0, 2*len(s.all))
		for _, t := range s.all {
			tokens = append(tokens, t, secondToken(t))
		}
	}
	b.data, b.pages, b.size = buildPages(0, tokens)
	return b
}

// HasItem reports whether the list may contain the item.
func (r *Reader) HasItem(c belfry.CustomerID, id belfry.ID) bool {
	t := itemToken(c, id)
	return r.mayHave(0, t) && (r.blocks[0].LastID != twoTokens || r.mayHave(0, secondToken(t)))
}

// List is a whole item list in memory.
type List struct {
	page []byte
	two  bool // tokens for each item
}

// maxList is the size up to which List reads a list.
const maxList = 1 << 10

// List reads the whole item list; nil if it is large or damaged.
func (r *Reader) List() *List {
	b := r.blocks[0]
	if b.pages != 1 || b.size > maxList {
		return nil
	}
	page := make([]byte, b.size)
	if _, err := r.data.ReadAt(page, b.offset); err != nil || !pageWhole(0, 0, page) {
		return nil
	}
	return &List{page: page, two: b.LastID == twoTokens}
}

// Size is the number of bytes of memory that the list takes.
func (l *List) Size() int {
	if l == nil {
		return 0
	}
	return len(l.page)
}

// HasItem reports whether the list may contain the item.
func (l *List) HasItem(c belfry.CustomerID, id belfry.ID) bool {
	t := itemToken(c, id)
	return pageHas(l.page, t.in(0)) && (!l.two || pageHas(l.page, secondToken(t).in(0)))
}
