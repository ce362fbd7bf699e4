package index

import (
	"os"

	"golang.org/x/sys/unix"

	"belfry"
)

// Reader looks up tokens in the filters of one file.
type Reader struct {
	data   *os.File
	blocks []Block
	page   [pageSize]byte
	bad    int // the first block with a damaged page; -1 if none
}

// Open opens the filters at path. The blocks are those that Read returned.
func Open(path string, blocks []Block) (*Reader, error) {
	data, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return &Reader{data: data, blocks: blocks, bad: -1}, nil
}

func (r *Reader) Close() { _ = r.data.Close() }

// Damaged returns the first block with a damaged page, of those that were read.
func (r *Reader) Damaged() (block int, ok bool) { return r.bad, r.bad >= 0 }

// Matching returns the blocks that may have rows between two times that meet n.
func (r *Reader) Matching(n *TokenQuery, from, to belfry.Time) []int {
	var list []int
	for i, b := range r.blocks {
		if b.Last >= from && b.First <= to && n.met(func(t token) bool { return r.mayHave(i, t) }) {
			list = append(list, i)
		}
	}
	return list
}

// mayHave reports whether block n may contain the token. A page that cannot be read may contain everything.
func (r *Reader) mayHave(n int, t token) bool {
	b := r.blocks[n]
	if b.pages == 0 {
		return true
	}
	t = t.in(n)
	at := pageOf(t, b.pages)
	page := r.page[:b.size]
	_, err := r.data.ReadAt(page, b.offset+int64(at)*int64(b.size))
	if err != nil || !pageWhole(n, at, page) {
		if r.bad < 0 || n < r.bad {
			r.bad = n
		}
		return true
	}
	return pageHas(page, t)
}
