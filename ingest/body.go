package ingest

import (
	"errors"
	"io"
	"math"

	"belfry"
)

// body is what a bulk request brings: rows that are read chunk by chunk, and what the sequencer does with a chunk.
type body interface {
	// read gives the next rows. The last chunk comes with io.EOF; any other error ends the body.
	read(rows, bytes int) (*chunk, error)
	apply(*tx, *chunk)
}

// Bounds of a chunk: it is one record in the journal and one turn at the sequencer. An empty field counts, too, as a row
// that is left to the sequencer keeps it.
const (
	chunkRows  = 16_384
	chunkBytes = 8 << 20
	fieldSize  = 4 // what an empty field counts, since it takes that much
)

// readWhole reads all that is left into one chunk; how much that may be is limited by whoever opened the body.
func readWhole(b body) (*chunk, error) {
	c, err := b.read(math.MaxInt, math.MaxInt)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c, err
}

// source gives the rows of a body one by one, whatever they are written in.
type source interface {
	// next gives the fields of the next row, valid until the following call, and the physical line on which it starts.
	// After a rowFault the following call goes on with the row after it; io.EOF ends the body; any other error means
	// that the body broke off or cannot be read any further.
	next() (fields [][]byte, line int, err error)
}

// rowFault is what is wrong with one row. The rows around it are not concerned. Its text is made when asked for, before
// the next row is read: of a body full of bad rows only the first few are ever shown.
type rowFault interface {
	error
	refuse() *belfry.RowError
}

// rowBody is the part that all bodies share: it counts rows and fills chunks with them.
type rowBody struct {
	source
	row  int // counted from 1 over the whole body
	most int // bytes that the rows of a body read whole may take, their texts not counted
}

// A row of few bytes can be large in memory when other rows have named many columns, and a body that is read whole has
// many rows. So what they take is limited, too: generously, as it is the text that clients can reckon with.
const (
	heldGrowth = 16
	heldAtMost = 1 << 30 // unless bodies that are held may be so large that they need more
)

func newRowBody(s source, lim Limits) rowBody {
	return rowBody{source: s, most: max(heldAtMost, heldGrowth*int(lim.HeldBody))}
}

// take puts a row into a chunk, or says what is wrong with it.
type take func(c *chunk, fields [][]byte, line int) *belfry.RowError

// read hands rows to take until the chunk is full or the body ends. A row that cannot be read is refused alone.
func (b *rowBody) read(c *chunk, rows, bytes int, t take) error {
	for size := 0; c.rows < rows && size < bytes; {
		fields, line, err := b.next()
		bad, isRow := err.(rowFault)
		if err != nil && !isRow {
			return err
		}
		b.row++
		c.rows++
		switch {
		case !isRow:
			if refused := t(c, fields, line); refused != nil {
				c.rejected.add(b.row, line, refused)
			}
		case c.rejected.full():
			c.rejected.count++
		default:
			c.rejected.add(b.row, line, bad.refuse())
		}
		for _, f := range fields {
			size += fieldSize + len(f)
		}
		if c.rows%1024 == 0 && c.memory() > b.most {
			return belfry.Errorf(belfry.BodyTooLarge, "the first %d rows of the body take more than %d bytes while they are held; "+
				"send fewer at a time, or without atomic, dryrun and Idempotency-Key", b.row, b.most)
		}
	}
	return nil
}
