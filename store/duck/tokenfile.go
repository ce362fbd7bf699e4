package duck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"unicode"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/catalog"
)

// The filters of a file are in a file beside it:
//
//	format   8 bytes   what the filters were made of; other filters are of no use
//	block 0  header    shape, times and ids of the rows, checksum
//	         pages     see bloom.go
//	block 1  …
//
// It only saves work: it is written after the rows are durable, is not synced itself, and what is wrong with it is found
// by its checksums, cut off and made anew from the rows.
const (
	tokenSuffix = ".tokens"
	tokenFormat = 2 // counts changes of words, hashes and layout
	formatSize  = 8
	blockHeader = 56

	// blockRows is how many rows share a filter. The engine takes two to four milliseconds to find and read that many.
	blockRows = 8192
)

// block is what is held in memory of a filter.
type block struct {
	offset      int64 // of its first page
	pages, size int   // no pages: every token may be in it
	first, last belfry.Time
	low, high   belfry.RowID // the least and the greatest id of its rows
	lastID      belfry.RowID // of its last row that is not padding
}

// end is where the next block begins.
func (b block) end() int64 { return b.offset + int64(b.pages)*int64(b.size) }

// textColumns are the columns of a collection that are searched by word.
func textColumns(c *catalog.Collection) []string {
	var names []string
	for _, f := range c.Fields {
		if f.Type == catalog.FullText && f.Of == "" && f.Split == "" && f.Numbered == 0 {
			names = append(names, f.Name)
		}
	}
	return names
}

// format stands for all that filters depend on beside the rows.
type format [formatSize]byte

func formatOf(parts ...any) (f format) {
	all := fmt.Appendln(nil, append(parts, tokenFormat, blockRows, tokenBits, tokenMany)...)
	binary.LittleEndian.PutUint64(f[:], uint64(tokenOf(mix1, all)))
	return f
}

// textFormat is the format of the filters of words.
func textFormat(c *catalog.Collection) format {
	return formatOf("words", unicode.Version, textColumns(c))
}

// encode writes the header of block number n.
func (b block) encode(n int) []byte {
	h := make([]byte, 0, blockHeader)
	h = binary.LittleEndian.AppendUint32(h, uint32(n))
	h = binary.LittleEndian.AppendUint32(h, uint32(b.pages))
	h = binary.LittleEndian.AppendUint32(h, uint32(b.size))
	for _, v := range []uint64{uint64(b.first), uint64(b.last), uint64(b.low), uint64(b.high), uint64(b.lastID)} {
		h = binary.LittleEndian.AppendUint64(h, v)
	}
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, pageSum))
}

// decodeBlock reads the header of block number n, which stands at offset.
func decodeBlock(h []byte, n int, offset int64) (block, bool) {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(h[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(h[at:]) }
	b := block{
		offset: offset + blockHeader, pages: int(u32(4)), size: int(u32(8)),
		first: belfry.Time(u64(12)), last: belfry.Time(u64(20)),
		low: belfry.RowID(u64(28)), high: belfry.RowID(u64(36)), lastID: belfry.RowID(u64(44)),
	}
	most, _ := pagesFor(maxTokens)
	ok := u32(52) == crc32.Checksum(h[:52], pageSum) && int(u32(0)) == n &&
		b.pages <= most && (b.pages == 0 || b.size > sumSize && b.size <= pageSize)
	return b, ok
}

// readBlocks finds the blocks of the file at path, up to the first that is not whole. No file has none.
func readBlocks(path string, want format) ([]block, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h := make([]byte, blockHeader)
	if _, err := f.ReadAt(h[:formatSize], 0); err != nil || format(h[:formatSize]) != want {
		return nil, ignoreEOF(err)
	}
	var list []block
	for at := int64(formatSize); ; {
		if _, err := f.ReadAt(h, at); err != nil {
			return list, ignoreEOF(err)
		}
		b, ok := decodeBlock(h, len(list), at)
		if !ok || b.end() > info.Size() {
			return list, nil
		}
		list = append(list, b)
		at = b.end()
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// writeBlocks adds blocks to the file at path, of which those in old are kept. Without any it is another file: never
// does one have the format of some blocks and the pages of others.
func writeBlocks(path string, format format, old []block, more []builtBlock) (_ []block, err error) {
	if len(old) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	start, data := int64(0), format[:]
	if len(old) > 0 {
		start, data = old[len(old)-1].end(), nil
	}
	if err := f.Truncate(start); err != nil {
		return nil, err
	}
	list := old[:len(old):len(old)]
	for _, m := range more {
		m.offset = start + int64(len(data)) + blockHeader
		data = append(append(data, m.encode(len(list))...), m.data...)
		list = append(list, m.block)
	}
	if _, err := f.WriteAt(data, start); err != nil {
		return nil, err
	}
	return list, nil
}
