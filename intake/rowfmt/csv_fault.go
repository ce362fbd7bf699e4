package rowfmt

import (
	"fmt"
	"unicode/utf8"

	"belfry"
)

// CSVFault is what is wrong with a row of CSV.
type CSVFault struct {
	problem
	field  int
	number int // the offending byte, the limit, or the line on which the quote opens
	other  int // the line on which it might have closed, or the byte behind the closing quote
}

type problem uint8

const (
	notUTF8 problem = iota
	tooManyFields
	tooLong
	unclosedInRow
	unclosedInBody
	closedElsewhere
	textAfterQuote
	bareQuote
)

// TooLong reports whether the row is longer than the reader allows. The rest of its line has not been read yet then.
func (e CSVFault) TooLong() bool { return e.problem == tooLong }

func (e CSVFault) Error() string {
	const remedy = `close it, and write "" for a quote inside a quoted field`
	switch e.problem {
	case notUTF8:
		return fmt.Sprintf("field %d is not valid UTF-8 at its byte 0x%02x; send the body in UTF-8", e.field, e.number)
	case tooManyFields:
		return fmt.Sprintf("the row has more than %d fields", maxFields)
	case tooLong:
		return fmt.Sprintf("the row is longer than the limit of %d bytes; split it or shorten its texts", e.number)
	case unclosedInRow:
		return fmt.Sprintf("the quote that opens field %d is not closed within the limit of a row, %d bytes; %s", e.field, e.number, remedy)
	case unclosedInBody:
		return fmt.Sprintf("the quote that opens field %d is not closed before the end of the body; %s", e.field, remedy)
	case closedElsewhere:
		return fmt.Sprintf("the quote that opens field %d on line %d is not closed there, and the next single quote, on line %d, "+
			"does not end a field; %s", e.field, e.number, e.other, remedy)
	case textAfterQuote:
		return fmt.Sprintf(`field %d goes on after its closing quote; write "" for a quote inside a quoted field`, e.field)
	case bareQuote:
		return fmt.Sprintf(`field %d has a quote inside but does not begin with one; write the field as "…" with "" for `+
			"each quote inside", e.field)
	}
	panic("a row error of no known kind")
}

func (e CSVFault) Refuse() *belfry.RowError {
	return &belfry.RowError{Code: belfry.BadRow, Message: e.Error()}
}

// AfterQuote returns the byte behind the closing quote of a field that goes on there; 0 if that is not what is wrong.
func (e CSVFault) AfterQuote() byte {
	if e.problem != textAfterQuote {
		return 0
	}
	return byte(e.other)
}

// badUTF8 finds the first byte of the row that is not UTF-8.
func badUTF8(fields [][]byte) CSVFault {
	for i, f := range fields {
		for len(f) > 0 {
			r, n := utf8.DecodeRune(f)
			if r == utf8.RuneError && n == 1 {
				return CSVFault{problem: notUTF8, field: i + 1, number: int(f[0])}
			}
			f = f[n:]
		}
	}
	panic("a row is invalid though its fields are valid") // commas and quotes between them are ASCII
}
