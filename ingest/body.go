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

// Bounds of a chunk: it is one record in the journal and one turn at the sequencer.
const (
	chunkRows  = 16_384
	chunkBytes = 8 << 20
)

// readWhole reads all that is left into one chunk; how much that may be is limited by whoever opened the body.
func readWhole(b body) (*chunk, error) {
	c, err := b.read(math.MaxInt, math.MaxInt)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c, err
}

// csvBody is the part that all bodies of CSV rows share.
type csvBody struct {
	csv     *csvReader
	columns int
	row     int // counted from 1 over the whole body
}

func newCSVBody(r io.Reader, lim Limits) csvBody { return csvBody{csv: newCSVReader(r, lim.Row)} }

// header reads the first line; example shows one to whoever sent none.
func (b *csvBody) header(example string) ([][]byte, error) {
	header, _, err := b.csv.next()
	if bad, ok := errors.AsType[rowError](err); ok {
		return nil, belfry.Errorf(belfry.BadHeader, "the header cannot be read: %s", bad.Error())
	}
	if errors.Is(err, io.EOF) {
		return nil, belfry.Errorf(belfry.BadHeader, "the body is empty; its first line names the columns, for example %s", example)
	}
	b.columns = len(header)
	return header, err
}

// read hands rows to take until the chunk is full or the body ends. A row that cannot be read is refused alone.
func (b *csvBody) read(c *chunk, rows, bytes int, take func(*chunk, [][]byte, int) *belfry.RowError) error {
	for size := 0; c.rows < rows && size < bytes; {
		fields, line, err := b.csv.next()
		var refused *belfry.RowError
		if err != nil {
			bad, ok := errors.AsType[rowError](err)
			if !ok {
				return err
			}
			refused = &belfry.RowError{Code: belfry.BadRow, Message: bad.Error()}
		}
		b.row++
		c.rows++
		if refused == nil {
			fields, refused = b.trim(fields)
		}
		if refused == nil {
			refused = take(c, fields, line)
		}
		if refused != nil {
			c.rejected.add(b.row, line, refused)
		}
		for _, f := range fields {
			size += len(f)
		}
	}
	return nil
}

// trim takes away empty fields beyond the header.
func (b *csvBody) trim(fields [][]byte) ([][]byte, *belfry.RowError) {
	for len(fields) > b.columns {
		extra := fields[len(fields)-1]
		if len(extra) > 0 {
			return nil, rejectf("", belfry.BadRow, "the row has %d fields, the header %d columns, and field %d holds %q; quote commas inside a value",
				len(fields), b.columns, len(fields), clip(extra))
		}
		fields = fields[:len(fields)-1]
	}
	return fields, nil
}

// keep copies a row for the sequencer: the fields themselves belong to the CSV reader.
func (b *csvBody) keep(fields [][]byte, line int, kind rowKind, slot int) openRow {
	size := 0
	for _, f := range fields {
		size += len(f)
	}
	store := make([]byte, 0, size)
	kept := make([][]byte, len(fields))
	for i, f := range fields {
		from := len(store)
		store = append(store, f...)
		kept[i] = store[from:len(store):len(store)]
	}
	return openRow{row: b.row, line: line, kind: kind, slot: slot, fields: kept}
}
