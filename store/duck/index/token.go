package index

import (
	"math/bits"
	"unicode/utf8"

	"belfry"
	"belfry/query"
)

// A token is the hash of a word and a customer. Customers have different tokens for one word, so a search does not read blocks in which
// only others have it.
type token uint64

// MaxTokens is the number of different tokens a block may have. A block with more, which ordinary text never has, gets no filter and is
// always read.
const MaxTokens = 1 << 19

// Odd numbers with as many ones as zeros and no pattern.
const (
	mix1 = 0xa0761d6478bd642f
	mix2 = 0xe7037ed1a0b428db
	mix3 = 0x8ebc6af09c88c6e3
)

// mum multiplies to 128 bits and XORs the halves, so that each bit of the operands affects each bit of the result.
func mum(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// seedOf returns the initial hash of the tokens of a customer.
func seedOf(c belfry.CustomerID) uint64 { return mum(uint64(c)^mix2, mix1) }

// hashing hashes a word byte by byte. The result is on disk: a change needs another tokenFormat.
type hashing struct {
	h, part uint64
	n       uint // bytes
}

func (h *hashing) add(c byte) {
	h.part |= uint64(c) << (h.n % 8 * 8)
	h.n++
	if h.n%8 == 0 {
		h.h, h.part = mum(h.h^h.part, mix1), 0
	}
}

// token returns the hash, which is never 0.
func (h *hashing) token() token {
	return max(token(mum(mum(h.h^h.part, mix2)^uint64(h.n), mix3)), 1)
}

// tokenOf hashes a word.
func tokenOf(seed uint64, word []byte) token {
	h := hashing{h: seed}
	for _, c := range word {
		h.add(c)
	}
	return h.token()
}

// Set collects the different tokens of a block.
type Set struct {
	words    query.Tokenizer
	folded   [utf8.RuneSelf]byte // the character as it is in a word; 0 if it separates words
	customer belfry.CustomerID
	seed     uint64

	slots []token // a hash table; 0 is free
	all   []token // in order of insertion
}

func NewSet() *Set {
	s := &Set{slots: make([]token, 1<<16)}
	for c := range s.folded {
		s.words.Reset(string(rune(c)))
		if w, ok := s.words.Next(); ok {
			s.folded[c] = w[0]
		}
	}
	return s
}

// Reset empties the set.
func (s *Set) Reset() {
	clear(s.slots)
	s.all = s.all[:0]
}

// Full reports whether the block has too many tokens for a filter.
func (s *Set) Full() bool { return len(s.all) > MaxTokens }

// AddText adds the words of a text.
func (s *Set) AddText(c belfry.CustomerID, text string) {
	if c != s.customer || s.seed == 0 {
		s.customer, s.seed = c, seedOf(c)
	}
	if s.Full() || s.addASCII(text) {
		return
	}
	s.words.Reset(text)
	for w, ok := s.words.Next(); ok && !s.Full(); w, ok = s.words.Next() {
		s.add(tokenOf(s.seed, w))
	}
}

// addASCII hashes words in place, without copying them. It reports false if the text is not all ASCII.
func (s *Set) addASCII(text string) bool {
	h := hashing{h: s.seed}
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return false
		}
		if f := s.folded[c]; f != 0 {
			h.add(f)
		} else if h.n > 0 {
			s.add(h.token())
			h = hashing{h: s.seed}
		}
	}
	if h.n > 0 {
		s.add(h.token())
	}
	return true
}

func (s *Set) add(t token) {
	mask := uint64(len(s.slots) - 1)
	for at := uint64(t) & mask; ; at = (at + 1) & mask {
		switch s.slots[at] {
		case t:
			return
		case 0:
			s.slots[at] = t
			s.all = append(s.all, t)
			if 2*len(s.all) > len(s.slots) {
				s.grow()
			}
			return
		}
	}
}

func (s *Set) grow() {
	s.slots = make([]token, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for _, t := range s.all {
		at := uint64(t) & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = t
	}
}
