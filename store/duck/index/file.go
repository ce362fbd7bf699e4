package index

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

// The layout of a file of filters:
//
//	format   8 bytes   hash of everything the filters depend on; a file with another format is not used
//	block 0  header    number and size of pages, times and ids of the rows, checksum
//	         pages     see bloom.go
//	block 1  …
const (
	Suffix      = ".tokens"
	tokenFormat = 2 // increase it when words, hashes or layout change
	formatSize  = 8
	blockHeader = 56

	// BlockRows is the number of rows that share a filter. The engine needs two to four milliseconds to find and read that many.
	BlockRows = 8192
)

// Block is the header of a filter, which is kept in memory.
type Block struct {
	offset      int64 // of its first page
	pages, size int   // no pages: it may contain every token
	First, Last belfry.Time
	Low, High   belfry.RowID // smallest and largest id of its rows
	LastID      belfry.RowID // id of its last row that is not padding
}

// end returns the offset of the next block.
func (b Block) end() int64 { return b.offset + int64(b.pages)*int64(b.size) }

// TextColumns returns the columns of a collection that are searched by word.
func TextColumns(c *catalog.Collection) []string {
	var names []string
	for _, f := range c.Fields {
		if f.Type == catalog.FullText && f.Of == "" && f.Split == "" && f.Numbered == 0 {
			names = append(names, f.Name)
		}
	}
	return names
}

// Format is a hash of everything that filters depend on besides the rows.
type Format [formatSize]byte

func formatOf(parts ...any) (f Format) {
	all := fmt.Appendln(nil, append(parts, tokenFormat, BlockRows, tokenBits, tokenHashes)...)
	binary.LittleEndian.PutUint64(f[:], uint64(tokenOf(mix1, all)))
	return f
}

// WordFormat returns the format of the filters of words of a collection.
func WordFormat(c *catalog.Collection) Format {
	return formatOf("words", unicode.Version, TextColumns(c))
}

// encode returns the header of block n.
func (b Block) encode(n int) []byte {
	h := make([]byte, 0, blockHeader)
	h = binary.LittleEndian.AppendUint32(h, uint32(n))
	h = binary.LittleEndian.AppendUint32(h, uint32(b.pages))
	h = binary.LittleEndian.AppendUint32(h, uint32(b.size))
	for _, v := range []uint64{uint64(b.First), uint64(b.Last), uint64(b.Low), uint64(b.High), uint64(b.LastID)} {
		h = binary.LittleEndian.AppendUint64(h, v)
	}
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, pageSum))
}

// decodeBlock decodes the header of block n, which is at offset.
func decodeBlock(h []byte, n int, offset int64) (Block, bool) {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(h[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(h[at:]) }
	b := Block{
		offset: offset + blockHeader, pages: int(u32(4)), size: int(u32(8)),
		First: belfry.Time(u64(12)), Last: belfry.Time(u64(20)),
		Low: belfry.RowID(u64(28)), High: belfry.RowID(u64(36)), LastID: belfry.RowID(u64(44)),
	}
	maxPages, _ := pagesFor(MaxTokens)
	ok := u32(52) == crc32.Checksum(h[:52], pageSum) && int(u32(0)) == n &&
		b.pages <= maxPages && (b.pages == 0 || b.size > sumSize && b.size <= pageSize)
	return b, ok
}

// Read returns the blocks of the file at path up to the first damaged one; none if there is no file.
func Read(path string, want Format) ([]Block, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
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
	if _, err := f.ReadAt(h[:formatSize], 0); err != nil || Format(h[:formatSize]) != want {
		return nil, ignoreEOF(err)
	}
	var list []Block
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

// Write appends blocks to the file at path and keeps those in old. If old is empty it creates a new file, so that a file never has the
// format of some blocks and the pages of others.
func Write(path string, format Format, old []Block, more []Built) (_ []Block, err error) {
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
		list = append(list, m.Block)
	}
	if _, err := f.WriteAt(data, start); err != nil {
		return nil, err
	}
	return list, nil
}
