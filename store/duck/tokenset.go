package duck

import (
	"encoding/binary"
	"math/bits"

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

// tokenOf hashes a word; never to 0. What it gives is on disk: to change it, change tokenFormat.
func tokenOf(seed uint64, word []byte) token {
	h := seed ^ uint64(len(word))*mix3
	for len(word) > 8 {
		h = mum(h^binary.LittleEndian.Uint64(word), mix1)
		word = word[8:]
	}
	var rest uint64
	switch n := len(word); {
	case n >= 4:
		rest = uint64(binary.LittleEndian.Uint32(word)) | uint64(binary.LittleEndian.Uint32(word[n-4:]))<<32
	case n > 0:
		rest = uint64(word[0]) | uint64(word[n/2])<<8 | uint64(word[n-1])<<16
	}
	return max(token(mum(mum(h^rest, mix2)^mix3, mix1)), 1)
}

// tokenSet gathers the different tokens of a block.
type tokenSet struct {
	words    query.Tokenizer
	customer belfry.CustomerID
	seed     uint64

	slots []token // a hash table; 0 is free
	all   []token // in the order in which they came
}

func newTokenSet() *tokenSet { return &tokenSet{slots: make([]token, 1<<16)} }

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
	s.words.Reset(text)
	for w, ok := s.words.Next(); ok; w, ok = s.words.Next() {
		s.add(tokenOf(s.seed, w))
		if s.full() {
			return
		}
	}
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
