package meta

import "iter"

// Sparse is a table by number in which most numbers may be unused: ids only grow, while items come and go. It takes memory
// for pages that have an entry, and 8 bytes for every 65,536 numbers below the highest. A lookup costs three loads. The
// zero value of T means that there is no entry.
type SparseArray[T comparable] struct {
	blocks []*sparseBlock[T] // by number / 65,536
	count  int
	spare  []*sparsePage[T]  // empty pages to be used again
	empty  []*sparseBlock[T] // blocks, the same
}

const (
	sparsePageSize = 256
	sparseBlock0   = 256 * sparsePageSize // numbers in a block
	sparseSpares   = 4096                 // as many pages as a round of the sequencer touches among a million items
	sparseEmpty    = 16                   // and as many blocks
)

type sparseBlock[T comparable] struct {
	pages [256]*sparsePage[T]
	used  int // pages
}

type sparsePage[T comparable] struct {
	entries [sparsePageSize]T
	used    int // entries
}

// Len returns the number of entries.
func (s *SparseArray[T]) Len() int { return s.count }

// At returns the entry of a number.
func (s *SparseArray[T]) At(n uint64) (v T) {
	if b := n / sparseBlock0; b < uint64(len(s.blocks)) && s.blocks[b] != nil {
		if p := s.blocks[b].pages[n/sparsePageSize%256]; p != nil {
			return p.entries[n%sparsePageSize]
		}
	}
	return v
}

// Set sets the entry of a number; the zero value deletes it.
func (s *SparseArray[T]) Set(n uint64, v T) {
	var none T
	if v == none {
		s.delete(n)
		return
	}
	for uint64(len(s.blocks)) <= n/sparseBlock0 {
		s.blocks = append(s.blocks, nil)
	}
	b := s.blocks[n/sparseBlock0]
	if b == nil {
		b = takeLast(&s.empty)
		s.blocks[n/sparseBlock0] = b
	}
	p := b.pages[n/sparsePageSize%256]
	if p == nil {
		p = takeLast(&s.spare)
		b.pages[n/sparsePageSize%256] = p
		b.used++
	}
	if p.entries[n%sparsePageSize] == none {
		p.used++
		s.count++
	}
	p.entries[n%sparsePageSize] = v
}

// takeLast takes the last one off a list; from an empty list, a new one.
func takeLast[T any](list *[]*T) *T {
	last := len(*list) - 1
	if last < 0 {
		return new(T)
	}
	v := (*list)[last]
	*list = (*list)[:last]
	return v
}

func (s *SparseArray[T]) delete(n uint64) {
	var none T
	if s.At(n) == none {
		return
	}
	b := s.blocks[n/sparseBlock0]
	p := b.pages[n/sparsePageSize%256]
	p.entries[n%sparsePageSize] = none
	s.count--
	if p.used--; p.used > 0 {
		return
	}
	b.pages[n/sparsePageSize%256] = nil
	if len(s.spare) < sparseSpares {
		s.spare = append(s.spare, p)
	}
	if b.used--; b.used > 0 {
		return
	}
	s.blocks[n/sparseBlock0] = nil
	if len(s.empty) < sparseEmpty {
		s.empty = append(s.empty, b)
	}
}

// From yields the entries from a number on, in the order of their numbers.
func (s *SparseArray[T]) From(n uint64) iter.Seq2[uint64, T] {
	return func(yield func(uint64, T) bool) {
		var none T
		for ; n/sparseBlock0 < uint64(len(s.blocks)); n = (n/sparseBlock0 + 1) * sparseBlock0 {
			b := s.blocks[n/sparseBlock0]
			if b == nil {
				continue
			}
			for i := n / sparsePageSize % 256; i < 256; i++ {
				p := b.pages[i]
				if p == nil {
					continue
				}
				first := n/sparseBlock0*sparseBlock0 + i*sparsePageSize
				for j, v := range p.entries {
					if at := first + uint64(j); v != none && at >= n && !yield(at, v) {
						return
					}
				}
			}
		}
	}
}
