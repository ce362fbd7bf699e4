package index

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// The filter of a block is split into pages. All bits of a token are in one page, so one read answers for a token and no filter is held
// in memory. Each page ends in a checksum that also covers its number: after a crash the file may contain anything.
const (
	pageSize    = 4096 // at most, checksum included
	pageUnit    = 64   // the size of a single page is a multiple of this
	sumSize     = 4
	tokenBits   = 12 // size of the filter per token
	tokenHashes = 8  // bits that a token sets; with 12 bits per token, one false positive in three hundred
)

// pageSum is the polynomial that processors have an instruction for.
var pageSum = crc32.MakeTable(crc32.Castagnoli)

// pagesFor returns the number and the size of the pages for n tokens.
func pagesFor(n int) (pages, size int) {
	need := max(n*tokenBits/8, 1)
	if room := pageSize - sumSize; need > room {
		return (need + room - 1) / room, pageSize
	}
	return 1, (need + sumSize + pageUnit - 1) / pageUnit * pageUnit
}

// in returns the token as it is stored in a block, which differs from block to block. Common words are in every block, so a word whose
// bits collide with theirs would otherwise match all blocks.
func (t token) in(block int) token { return token(mum(uint64(t)^mix2, uint64(block)^mix3)) }

// pageOf returns the page that has the bits of a token.
func pageOf(t token, pages int) int {
	hi, _ := bits.Mul64(uint64(t), uint64(pages))
	return int(hi)
}

// eachBit calls do with each bit of a token until it returns false, and reports whether it never did.
func eachBit(t token, size int, do func(at, bit uint32) bool) bool {
	n := uint64(size-sumSize) * 8
	h := uint64(t) * mix1 // pageOf has used the upper bits of t
	at, step := uint32(h>>32), uint32(h)|1
	for i := range uint32(tokenHashes) {
		b := uint32(uint64(at) * n >> 32)
		if !do(b/8, b%8) {
			return false
		}
		at += step + i
	}
	return true
}

// buildPages returns the pages of the filter of the tokens, one after the other.
func buildPages(block int, tokens []token) (data []byte, pages, size int) {
	pages, size = pagesFor(len(tokens))
	data = make([]byte, pages*size)
	for _, t := range tokens {
		t = t.in(block)
		page := data[pageOf(t, pages)*size:][:size]
		eachBit(t, size, func(at, bit uint32) bool { page[at] |= 1 << bit; return true })
	}
	for i := range pages {
		page := data[i*size:][:size]
		binary.LittleEndian.PutUint32(page[size-sumSize:], sumOf(block, i, page))
	}
	return data, pages, size
}

// sumOf returns the checksum of a page.
func sumOf(block, page int, data []byte) uint32 {
	var place [8]byte
	binary.LittleEndian.PutUint32(place[:], uint32(block))
	binary.LittleEndian.PutUint32(place[4:], uint32(page))
	return crc32.Update(crc32.Checksum(place[:], pageSum), pageSum, data[:len(data)-sumSize])
}

// pageWhole reports whether the checksum of the page is right.
func pageWhole(block, page int, data []byte) bool {
	return binary.LittleEndian.Uint32(data[len(data)-sumSize:]) == sumOf(block, page, data)
}

// pageHas reports whether the page may contain a token.
func pageHas(data []byte, t token) bool {
	return eachBit(t, len(data), func(at, bit uint32) bool { return data[at]&(1<<bit) != 0 })
}
