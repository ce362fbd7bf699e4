package intake

import (
	"errors"
	"io"
	"math"
	"runtime"

	"belfry"
	"belfry/engine"
	"belfry/intake/rowfmt"
)

// body is the body of a bulk request: it is read in chunks, and the sequencer decides each chunk.
type body interface {
	// read returns the next rows. The last chunk comes with io.EOF; any other error ends the body.
	read(readLimits) (*chunk, error)
	// addRow adds a row to a chunk, or says what is wrong with it.
	addRow(c *chunk, fields [][]byte, line int) *belfry.RowError
	// decide decides the rows of a chunk, or as many as fit into one turn, see chunk.more.
	decide(decision, *chunk)
}

// Bounds of a chunk: it is one record in the journal and one turn at the sequencer. An empty field counts, too, as a row
// that is left to the sequencer keeps it. Rows that are left to it cost much more of its time than others, so there are
// fewer of them in a chunk: whatever a body creates, others get their turn in between.
const (
	chunkRows      = 16_384
	chunkUndecided = 2048
	chunkBytes     = 8 << 20
	fieldSize      = 4 // what an empty field counts, since it takes that much
)

// readLimits bounds what one read returns.
type readLimits struct {
	rows, undecided, bytes int
	check                  func(c *chunk, text int) error // called as the chunk grows; nil: there is nothing to check
}

// chunkLimits is what is read of a body that is applied in chunks.
func chunkLimits() readLimits {
	return readLimits{rows: chunkRows, undecided: chunkUndecided, bytes: chunkBytes}
}

// whole reports whether the body is read to its end.
func (p readLimits) whole() bool { return p.rows > chunkRows }

// readWhole reads all that is left into one chunk, until check objects.
func readWhole(b body, check func(c *chunk, text int) error) (*chunk, error) {
	c, err := b.read(readLimits{math.MaxInt, math.MaxInt, math.MaxInt, check})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c, err
}

// rowReader reads the rows of a body, from CSV or JSON, and counts them.
type rowReader struct {
	csv     *rowfmt.CSV
	columns int          // of the header of CSV
	json    *rowfmt.JSON // nil for CSV
	row     int          // the last one, counted from 1 over the whole body
}

func newCSVReader(r io.Reader, lim engine.Limits) rowReader {
	return rowReader{csv: rowfmt.NewCSV(r, lim.Row)}
}

// newJSONReader calls add with each column that an object names first.
func newJSONReader(r io.Reader, f belfry.Format, lim engine.Limits, add func(name string) error) rowReader {
	return rowReader{json: rowfmt.NewJSON(r, f, add, lim.Row, lim.Columns)}
}

// header reads the first line of CSV; example shows one to whoever sent none.
func (r *rowReader) header(example string) ([][]byte, error) {
	header, _, err := r.csv.Next()
	if bad, ok := errors.AsType[rowfmt.Fault](err); ok {
		if bad.AfterQuote() == ';' {
			return nil, semicolons(`"…";"…"`)
		}
		return nil, belfry.Errorf(belfry.BadHeader, "the header cannot be read: %s", bad.Error())
	}
	if errors.Is(err, io.EOF) {
		return nil, belfry.Errorf(belfry.BadHeader, "the body is empty; its first line names the columns, for example %s", example)
	}
	r.columns = len(header)
	return header, err
}

// next returns the fields of the next row, valid until the following call, and the physical line on which it starts. After a
// rowfmt.Fault the following call continues with the row after it; io.EOF ends the body; any other error means that the body broke
// off or cannot be read any further.
func (r *rowReader) next() (fields [][]byte, line int, err error) {
	if r.json != nil {
		return r.json.Next()
	}
	return r.csv.NextOf(r.columns)
}

// checkEvery is how many rows are read between two checks of a chunk's size.
const checkEvery = 256

// fill adds rows of a body until the chunk is full or the body ends. A row that cannot be read is refused alone.
func (r *rowReader) fill(c *chunk, p readLimits, b body) error {
	text, empty := 0, 0
	c.rowsBefore = r.row
	for c.rows < p.rows && text+empty < p.bytes && c.undecided.len() < p.undecided {
		fields, line, err := r.next()
		_, isFault := err.(rowfmt.Fault)
		if err != nil && !isFault {
			if errors.Is(err, io.EOF) && p.check != nil {
				if over := p.check(c, text); over != nil {
					return over
				}
			}
			return err
		}
		r.row++
		c.rows++
		switch {
		case !isFault:
			if bad := b.addRow(c, fields, line); bad != nil {
				c.rejected.add(r.row, line, bad)
			}
		case c.rejected.full():
			c.rejected.count++
		default:
			c.rejected.add(r.row, line, err.(rowfmt.Fault).Refuse())
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
