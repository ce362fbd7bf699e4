package intake

import (
	"errors"
	"io"

	"belfry"
	"belfry/engine"
	"belfry/intake/rowfmt"
)

// csvBody is a body of CSV rows under a header.
type csvBody struct {
	rowBody
	table *csvTable
}

func newCSVBody(r io.Reader, lim engine.Limits) csvBody {
	t := &csvTable{csv: rowfmt.NewCSV(r, lim.Row)}
	return csvBody{rowBody: rowBody{source: t}, table: t}
}

// header reads the first line; example shows one to whoever sent none.
func (b *csvBody) header(example string) ([][]byte, error) {
	header, _, err := b.table.csv.Next()
	if bad, ok := errors.AsType[rowfmt.CSVFault](err); ok {
		if bad.AfterQuote() == ';' {
			return nil, semicolons(`"…";"…"`)
		}
		return nil, belfry.Errorf(belfry.BadHeader, "the header cannot be read: %s", bad.Error())
	}
	if errors.Is(err, io.EOF) {
		return nil, belfry.Errorf(belfry.BadHeader, "the body is empty; its first line names the columns, for example %s", example)
	}
	b.table.columns = len(header)
	return header, err
}

// csvTable returns the rows below a header.
type csvTable struct {
	csv     *rowfmt.CSV
	columns int
}

// Next returns a row without the empty fields it may have beyond the header.
func (t *csvTable) Next() ([][]byte, int, error) {
	fields, line, err := t.csv.Next()
	if err != nil {
		return nil, line, err
	}
	for n := len(fields); n > t.columns; n-- {
		if extra := fields[n-1]; len(extra) > 0 && !blank(extra) {
			return nil, line, longRow{fields: n, columns: t.columns, extra: extra}
		}
		fields = fields[:n-1]
	}
	return fields, line, nil
}

// longRow is a row with values beyond the header.
type longRow struct {
	fields, columns int
	extra           []byte
}

func (e longRow) Error() string { return e.Refuse().Message }

func (e longRow) Refuse() *belfry.RowError {
	return belfry.Rejectf("", belfry.BadRow, "the row has %d fields, the header %d columns, and field %d holds %q; quote commas inside a value",
		e.fields, e.columns, e.fields, belfry.Clip(e.extra))
}
