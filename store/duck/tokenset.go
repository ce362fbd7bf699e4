package duck

import (
	"math/bits"
	"unicode/utf8"

	"belfry"
	"belfry/query"
)

// A token is what a filter knows of a word in a row of a customer: the hash of both. Another customer's word is another
// token, so that a search is not led to blocks where only others have the word.
type token uint64

// maxTokens is how many different tokens a block may have. One with more, which no text of people or programs brings
// about, gets no filter and is always read.
const maxTokens = 1 << 19

// Odd numbers with as many ones as zeros, in no order.
const (
	mix1 = 0xa0761d6478bd642f
	mix2 = 0xe7037ed1a0b428db
	mix3 = 0x8ebc6af09c88c6e3
)

// mum multiplies to 128 bits and folds the halves together: each bit of the operands reaches each of the result.
func mum(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// seedOf is where the tokens of a customer begin.
func seedOf(c belfry.CustomerID) uint64 { return mum(uint64(c)^mix2, mix1) }

// hashing takes a word byte by byte. What it makes of it is on disk: to change it, change tokenFormat.
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

// token ends the word. It is never 0.
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

// tokenSet gathers the different tokens of a block.
type tokenSet struct {
	words    query.Tokenizer
	folded   [utf8.RuneSelf]byte // what words make of a character; 0 for one between words
	customer belfry.CustomerID
	seed     uint64

	slots []token // a hash table; 0 is free
	all   []token // in the order in which they came
}

func newTokenSet() *tokenSet {
	s := &tokenSet{slots: make([]token, 1<<16)}
	for c := range s.folded {
		s.words.Reset(string(rune(c)))
		if w, ok := s.words.Next(); ok {
			s.folded[c] = w[0]
		}
	}
	return s
}

// reset empties the set.
func (s *tokenSet) reset() {
	clear(s.slots)
	s.all = s.all[:0]
}

// full tells that the block has too many tokens for a filter.
func (s *tokenSet) full() bool { return len(s.all) > maxTokens }

// addText adds the words of a text.
func (s *tokenSet) addText(c belfry.CustomerID, text string) {
	if c != s.customer || s.seed == 0 {
		s.customer, s.seed = c, seedOf(c)
	}
	if s.full() || s.addASCII(text) {
		return
	}
	s.words.Reset(text)
	for w, ok := s.words.Next(); ok && !s.full(); w, ok = s.words.Next() {
		s.add(tokenOf(s.seed, w))
	}
}

// addASCII hashes words while it finds them, without copying them first; false when the text is not all ASCII.
func (s *tokenSet) addASCII(text string) bool {
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

func (s *tokenSet) add(t token) {
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

func (s *tokenSet) grow() {
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
