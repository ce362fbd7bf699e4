// Package encode writes the rows of a query: as JSON, CSV or NDJSON, compressed if the client accepts that, and in pages.
package encode

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"belfry"
	"belfry/query"
)

// writer writes rows in one format.
type writer interface {
	begin(columns []query.Output) error
	row(values []belfry.Value) error
	end(Tail) error
}

// Tail is what is known once all rows are written.
type Tail struct {
	Count   int
	More    bool     // the query has more rows than were asked for
	Next    string   // cursor of the next page; empty: there is none, or the answer is not in pages
	missing []string // days
}

// Format is a format of rows.
type Format struct {
	MediaType string
	Extension string // of a file with the answer; empty: it is not offered as a file
	kind      kind
}

type kind uint8

const (
	jsonDocument kind = iota
	jsonLine
	plainCSV
	safeCSV
)

// The formats. SafeCSV is for spreadsheets: no cell is a formula.
var (
	JSON    = Format{"application/json", "", jsonDocument}
	CSV     = Format{mediaCSV, ".csv", plainCSV}
	SafeCSV = Format{mediaCSV, ".csv", safeCSV}
	NDJSON  = Format{"application/x-ndjson", ".ndjson", jsonLine}
)

const mediaCSV = "text/csv; charset=utf-8; header=present"

// Formats are the formats by the value of the parameter wt.
var Formats = map[string]Format{"json": JSON, "csv": CSV, "ndjson": NDJSON}

func (f Format) writer(w *bufio.Writer) writer {
	switch f.kind {
	case jsonDocument:
		return &jsonFormat{lines: jsonLines{w: w}}
	case jsonLine:
		return &jsonLines{w: w}
	default:
		return newCSV(w, f.kind == safeCSV)
	}
}

// buffered is how much of an answer is buffered: an error that occurs earlier is still answered with its own status.
const buffered = 64 << 10

// Write writes rows as they come. Sources deliver one row more than the limit, which sets More and is not written.
// The rows may be a Page.
func (f Format) Write(w io.Writer, limit int, rows query.Rows, partial *query.Partial) (t Tail, err error) {
	buf := bufio.NewWriterSize(w, buffered)
	out := f.writer(buf)
	if err := out.begin(rows.Columns()); err != nil {
		return t, err
	}
	for {
		values, err := rows.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return t, err
		}
		if t.More = t.Count == limit; t.More {
			break
		}
		t.Count++
		if err := out.row(values); err != nil {
			return t, err
		}
	}
	t.missing = partial.Days()
	if page, ok := rows.(*Page); ok && t.More {
		t.Next = page.next()
	}
	if err := out.end(t); err != nil {
		return t, err
	}
	return t, buf.Flush()
}

// jsonLines writes an object per line.
type jsonLines struct {
	w     *bufio.Writer
	names [][]byte // each with its quotes and colon
	buf   []byte
}

func (f *jsonLines) begin(columns []query.Output) error {
	for _, c := range columns {
		f.names = append(f.names, append(AppendText(nil, c.Name), ':'))
	}
	return nil
}

func (f *jsonLines) row(values []belfry.Value) error {
	f.object(values)
	f.buf = append(f.buf, '\n')
	_, err := f.w.Write(f.buf)
	return err
}

func (f *jsonLines) end(Tail) error { return nil }

func (f *jsonLines) object(values []belfry.Value) {
	f.buf = append(f.buf[:0], '{')
	for i, v := range values {
		if v.Type == belfry.AbsentValue {
			continue
		}
		if len(f.buf) > 1 {
			f.buf = append(f.buf, ',')
		}
		f.buf = append(f.buf, f.names[i]...)
		f.buf = appendValue(f.buf, v)
	}
	f.buf = append(f.buf, '}')
}

// jsonFormat writes one document with all rows.
type jsonFormat struct {
	lines jsonLines
	begun bool
}

func (f *jsonFormat) begin(columns []query.Output) error {
	f.lines.begin(columns)
	_, err := f.lines.w.WriteString(`{"rows":[`)
	return err
}

func (f *jsonFormat) row(values []belfry.Value) error {
	if f.begun {
		f.lines.w.WriteByte(',') // the next write returns an error
	}
	f.begun = true
	f.lines.object(values)
	_, err := f.lines.w.Write(f.lines.buf)
	return err
}

func (f *jsonFormat) end(t Tail) error {
	text := `],"count":` + strconv.Itoa(t.Count) + `,"more":` + strconv.FormatBool(t.More)
	if t.Next != "" {
		text += `,"next":"` + t.Next + `"`
	}
	if len(t.missing) > 0 {
		text += `,"missing":["` + strings.Join(t.missing, `","`) + `"]`
	}
	_, err := f.lines.w.WriteString(text + "}\n")
	return err
}

// csvFormat writes a header with the names, then the rows.
type csvFormat struct {
	w     *csv.Writer
	buf   *bufio.Writer // where w writes
	cells []string
	safe  bool // for spreadsheets: no cell is a formula
}

// newCSV returns a writer to a buffer of at least 4 KiB, which csv.Writer uses directly instead of adding its own.
func newCSV(w *bufio.Writer, safe bool) *csvFormat {
	return &csvFormat{w: csv.NewWriter(w), buf: w, safe: safe}
}

func (f *csvFormat) begin(columns []query.Output) error {
	for _, c := range columns {
		name := c.Name
		if f.safe {
			name = escapeFormula(name)
		}
		f.cells = append(f.cells, name)
	}
	return f.w.Write(f.cells)
}

func (f *csvFormat) row(values []belfry.Value) error {
	for i, v := range values {
		f.cells[i] = v.String()
		if f.safe && v.Type == belfry.TextValue {
			f.cells[i] = escapeFormula(f.cells[i])
		}
	}
	if len(f.cells) == 1 && f.cells[0] == "" { // an empty line would be skipped by readers
		_, err := f.buf.WriteString("\"\"\n")
		return err
	}
	return f.w.Write(f.cells)
}

const (
	formulaSigns = "=+-@＝＋－＠"
	// cellEnds are the characters at which a spreadsheet may split a text: separators of cells, and line ends of any program.
	cellEnds = ";\t\r\n\v\f\x1c\x1d\x1e\u0085\u2028\u2029"
)

// escapeFormula puts an apostrophe before a text that a spreadsheet would read as a formula. Numbers stay numbers. A spreadsheet that splits
// lines at semicolons or tabs, as many locales do, reads the parts of a text as cells, so each part is checked.
func escapeFormula(text string) string {
	if !strings.ContainsAny(text, formulaSigns+"\t\r\n") {
		return text
	}
	var b strings.Builder
	for rest, hidden := text, hiddenFirst; ; hidden = hiddenInside {
		end := strings.IndexAny(rest, cellEnds)
		part := rest
		if end >= 0 {
			part = rest[:end]
		}
		if formula(part, hidden) || b.Len() == 0 && end == 0 && rest[0] != ';' {
			b.WriteByte('\'')
		}
		b.WriteString(part)
		if end < 0 {
			return b.String()
		}
		_, size := utf8.DecodeRuneInString(rest[end:])
		b.WriteString(rest[end : end+size])
		rest = rest[end+size:]
	}
}

// formula reports whether a spreadsheet would read a cell as a formula, ignoring invisible characters before it.
func formula(cell string, hidden func(rune) bool) bool {
	text := strings.TrimLeftFunc(cell, hidden)
	return text != "" && strings.ContainsRune(formulaSigns, firstRune(text)) && !plainNumber(text)
}

// hiddenFirst reports whether a character is invisible at the beginning of a cell and skipped by some spreadsheet: spaces of all
// kinds, control characters, and those that Unicode lets programs ignore, such as U+FEFF and U+3164.
func hiddenFirst(r rune) bool {
	return unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// hiddenInside is hiddenFirst for a part of a cell, where quotes may be skipped, too.
func hiddenInside(r rune) bool { return r == '"' || hiddenFirst(r) }

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// plainNumber reports whether a text is a decimal number and nothing else, such as -5 or +1.5e3.
func plainNumber(text string) bool {
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func (f *csvFormat) end(Tail) error {
	f.w.Flush()
	return f.w.Error()
}

func appendValue(b []byte, v belfry.Value) []byte {
	switch v.Type {
	case belfry.NumberValue, belfry.IntValue, belfry.BoolValue:
		return append(b, v.String()...)
	}
	return AppendText(b, v.String())
}

// AppendText appends a JSON string. Nearly all texts are plain ASCII and are copied as they are.
func AppendText(b []byte, s string) []byte {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		return append(append(append(b, '"'), s...), '"')
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string always encodes
	return append(b, strings.TrimSuffix(text.String(), "\n")...)
}
