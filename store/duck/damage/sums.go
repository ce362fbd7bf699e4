package damage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"belfry/store/duck/duckdb"
)

// ErrSums marks a file that does not match the checksums in it.
var ErrSums = errors.New("it does not match its checksums")

// CheckSums reads a whole database file that is attached, and returns an error that wraps ErrSums if it is damaged where the engine
// uses it. Queries do not show that: the engine answers some from its statistics, and does not read what they do not need.
func CheckSums(ctx context.Context, c *duckdb.Conn, path, alias string) error {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	s, part := NewSums(), make([]byte, BlockBytes)
	for err == nil && ctx.Err() == nil {
		var n int
		n, err = f.Read(part)
		s.Write(part[:n]) // cannot fail
	}
	if err != io.EOF {
		return errors.Join(err, ctx.Err())
	}
	var failed error
	why := s.Damage(f, func(blocks []uint64) bool {
		var yes bool
		yes, failed = Uses(ctx, c, alias, blocks)
		return yes
	})
	if failed != nil || why == "" {
		return failed
	}
	return fmt.Errorf("%w: %s", ErrSums, why)
}

// Sums checks the checksums of a database file while it is read from the beginning.
type Sums struct {
	at   int64    // offset of part
	part []byte   // of a header or a block
	bad  []uint64 // blocks whose checksum is wrong
	head int64    // offset of the first header whose checksum is wrong; -1: none

	newest uint64 // number of the newest checkpoint in the headers
	blocks uint64 // that the file had then
}

// NewSums returns the sums of a file of which nothing has been read.
func NewSums() *Sums { return &Sums{head: -1} }

// Write adds what was read.
func (s *Sums) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		size := partSize(s.at)
		if len(s.part) == 0 && len(b) >= size {
			s.check(b[:size])
			b = b[size:]
			continue
		}
		k := min(size-len(s.part), len(b))
		if s.part, b = append(s.part, b[:k]...), b[k:]; len(s.part) == size {
			s.check(s.part)
			s.part = s.part[:0]
		}
	}
	return n, nil
}

func partSize(at int64) int {
	if at < FirstBlock {
		return mainHeader
	}
	return BlockBytes
}

func (s *Sums) check(part []byte) {
	switch {
	case sound(part) && s.at < FirstBlock:
		s.noteBlocks(part)
	case sound(part):
	case s.at >= FirstBlock:
		s.bad = append(s.bad, uint64((s.at-FirstBlock)/BlockBytes))
	case s.head < 0:
		s.head = s.at
	}
	s.at += int64(len(part))
}

// sound reports whether a header or a block matches its checksum.
func sound(part []byte) bool {
	return blockSum(part[8:]) == binary.LittleEndian.Uint64(part)
}

func (s *Sums) noteBlocks(header []byte) {
	if s.at == 0 {
		return // the first header has only the version
	}
	if n := binary.LittleEndian.Uint64(header[8:]); n >= s.newest {
		s.newest, s.blocks = n, binary.LittleEndian.Uint64(header[blocksOffset:])
	}
}

// Read returns how many bytes were read.
func (s *Sums) Read() int64 { return s.at + int64(len(s.part)) }

// Damage returns what is wrong with a file that was read to its end; empty: nothing. used reports whether the engine uses one of some
// blocks.
func (s *Sums) Damage(file io.ReaderAt, used func(blocks []uint64) bool) string {
	switch {
	case s.head >= 0:
		return blockProblem(s.head)
	case s.at < FirstBlock:
		return "it is empty or cut off"
	}
	if bad := s.sift(file); len(bad) > 0 && used(bad) {
		return fmt.Sprintf("a block that is in use does not match its checksum or is missing: one of %v", bad[:min(len(bad), 10)])
	}
	return ""
}

func blockProblem(at int64) string {
	return fmt.Sprintf("the block at %d does not match its checksum", at)
}

// sift returns the numbers of the blocks that still do not match their checksums, or are missing at the end. Those that the engine
// does not use may have any content, may never have been written, and may have been written while they were read.
func (s *Sums) sift(file io.ReaderAt) (numbers []uint64) {
	part := make([]byte, BlockBytes)
	for _, n := range s.bad {
		if _, err := file.ReadAt(part, FirstBlock+int64(n)*BlockBytes); err != nil || !sound(part) {
			numbers = append(numbers, n)
		}
	}
	for n := uint64(s.at-FirstBlock) / BlockBytes; n < s.blocks && len(numbers) < mostBlocks; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// mostBlocks limits the missing blocks that are looked for.
const mostBlocks = 10_000

// Uses reports whether an attached database has data in one of some blocks.
func Uses(ctx context.Context, c *duckdb.Conn, alias string, blocks []uint64) (bool, error) {
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(blocks), "[]"), " ", ", ")
	r, err := c.Query(ctx, "SELECT table_name FROM duckdb_tables() WHERE database_name = ?", alias)
	if err != nil {
		return false, err
	}
	text := "SELECT count(*) FROM pragma_metadata_info(" + duckdb.QuoteText(alias) + ") WHERE block_id IN (" + list + ")"
	for r.Next() {
		text += " UNION ALL SELECT count(*) FROM pragma_storage_info(" + duckdb.QuoteText(alias+".main."+r.TextAt(0)) + ") WHERE block_id IN (" + list + ") OR list_has_any(additional_block_ids, [" + list + "])"
	}
	n, err := c.Number(ctx, "SELECT sum(n) FROM ("+text+") AS of(n)")
	return n > 0, err
}
