package intake

import (
	"errors"
	"io"
	"math"
	"runtime"

	"belfry"
	"belfry/intake/rowfmt"
)

// body is the body of a bulk request: it is read in chunks, and the sequencer applies each chunk.
type body interface {
	// read returns the next rows. The last chunk comes with io.EOF; any other error ends the body.
	read(portion) (*chunk, error)
	apply(decision, *chunk)
}

// Bounds of a chunk: it is one record in the journal and one turn at the sequencer. An empty field counts, too, as a row
// that is left to the sequencer keeps it. Rows that are left to it cost much more of its time than others, so there are
// fewer of them in a chunk: whatever a body creates, others get their turn in between.
const (
	chunkRows  = 16_384
	chunkOpen  = 2048
	chunkBytes = 8 << 20
	fieldSize  = 4 // what an empty field counts, since it takes that much
)

// portion bounds what one read returns.
type portion struct {
	rows, open, bytes int
	check             func(c *chunk, text int) error // called as the chunk grows; nil: there is nothing to check
}

// oneChunk is what is read of a body that is applied in chunks.
func oneChunk() portion { return portion{rows: chunkRows, open: chunkOpen, bytes: chunkBytes} }

// whole reports whether the body is read to its end.
func (p portion) whole() bool { return p.rows > chunkRows }

// readWhole reads all that is left into one chunk, until check objects.
func readWhole(b body, check func(c *chunk, text int) error) (*chunk, error) {
	c, err := b.read(portion{math.MaxInt, math.MaxInt, math.MaxInt, check})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c, err
}

// source returns the rows of a body one by one, whatever they are written in.
type source interface {
	// Next returns the fields of the next row, valid until the following call, and the physical line on which it starts.
	// After a rowfmt.Fault the following call goes on with the row after it; io.EOF ends the body; any other error means
	// that the body broke off or cannot be read any further.
	Next() (fields [][]byte, line int, err error)
}

// rowBody is the part that all bodies share: it counts rows and fills chunks with them.
type rowBody struct {
	source
	row int // counted from 1 over the whole body
}

// checkEvery is how many rows are read between two checks of a chunk's size.
const checkEvery = 256

// addRow adds a row to a chunk, or says what is wrong with it.
type addRow func(c *chunk, fields [][]byte, line int) *belfry.RowError

// read adds rows until the chunk is full or the body ends. A row that cannot be read is refused alone.
func (b *rowBody) read(c *chunk, p portion, add addRow) error {
	text, empty := 0, 0
	c.before = b.row
	for c.rows < p.rows && text+empty < p.bytes && c.open.len() < p.open {
		fields, line, err := b.Next()
		bad, isRow := err.(rowfmt.Fault)
		if err != nil && !isRow {
			if errors.Is(err, io.EOF) && p.check != nil {
				if over := p.check(c, text); over != nil {
					return over
				}
			}
			return err
		}
		b.row++
		c.rows++
		switch {
		case !isRow:
			if refused := add(c, fields, line); refused != nil {
				c.rejected.add(b.row, line, refused)
			}
		case c.rejected.full():
			c.rejected.count++
		default:
			c.rejected.add(b.row, line, bad.Refuse())
		}
		for _, f := range fields {
			text += len(f)
		}
		empty += fieldSize * len(fields)
		if c.rows%checkEvery != 0 {
			continue
		}
		runtime.Gosched() // single rows and the sequencer have little to do, but often: they go before the rest of a body
		if p.check != nil {
			if err := p.check(c, text); err != nil {
				return err
			}
		}
	}
	return nil
}
