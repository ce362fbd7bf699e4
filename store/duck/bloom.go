package duck

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// The filter of a block is a Bloom filter in pages: the token says in which page to look, and there are its bits. So one
// read of a page answers for a token, without the filter being held in memory. A page ends in a checksum that also
// covers its place, as filters are not made durable and may be anything after a crash.
const (
	pageSize  = 4096 // at most, checksum included
	pageUnit  = 64   // of which sizes are multiples, when one page is enough
	sumSize   = 4
	tokenBits = 12 // of the filter, per token
	tokenMany = 8  // bits that a token sets: one token in three hundred seems to be in a block where it is not
)

// pageSum makes the checksums. It is also the processor's.
var pageSum = crc32.MakeTable(crc32.Castagnoli)

// pagesFor is the shape of a filter for n tokens.
func pagesFor(n int) (pages, size int) {
	need := max(n*tokenBits/8, 1)
	if room := pageSize - sumSize; need > room {
		return (need + room - 1) / room, pageSize
	}
	return 1, (need + sumSize + pageUnit - 1) / pageUnit * pageUnit
}

// in is the token as a block knows it, another one in each: all blocks have the common words, and a word whose bits happen
// to be theirs would seem to be in all of them.
func (t token) in(block int) token { return token(mum(uint64(t)^mix2, uint64(block)^mix3)) }

// pageOf is the page in which a token has its bits.
func pageOf(t token, pages int) int {
	hi, _ := bits.Mul64(uint64(t), uint64(pages))
	return int(hi)
}

// eachBit gives the bits of a token in a page until one is refused; it tells whether none was.
func eachBit(t token, size int, do func(at, bit uint32) bool) bool {
	n := uint64(size-sumSize) * 8
	h := uint64(t) * mix1 // the page has used the upper bits; the lower half of this does not know them
	at, step := uint32(h>>32), uint32(h)|1
	for i := range uint32(tokenMany) {
		b := uint32(uint64(at) * n >> 32)
		if !do(b/8, b%8) {
			return false
		}
		at += step + i
	}
	return true
}

// buildPages makes the filter of the tokens, all pages in a row, with sums.
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

// sumOf is the checksum of a page in its place.
func sumOf(block, page int, data []byte) uint32 {
	var place [8]byte
	binary.LittleEndian.PutUint32(place[:], uint32(block))
	binary.LittleEndian.PutUint32(place[4:], uint32(page))
	return crc32.Update(crc32.Checksum(place[:], pageSum), pageSum, data[:len(data)-sumSize])
}

// pageWhole tells whether the page is as it was written.
func pageWhole(block, page int, data []byte) bool {
	return binary.LittleEndian.Uint32(data[len(data)-sumSize:]) == sumOf(block, page, data)
}

// pageHas tells whether a token may be in the page.
func pageHas(data []byte, t token) bool {
	return eachBit(t, len(data), func(at, bit uint32) bool { return data[at]&(1<<bit) != 0 })
}
