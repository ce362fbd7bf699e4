package api

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

// format writes rows in one of the forms an answer may have.
type format interface {
	begin(columns []query.Output) error
	row(values []belfry.Value) error
	end(tail) error
}

// tail is what there is to say about rows once all are written.
type tail struct {
	count   int
	more    bool
	next    string // where the next page begins; empty: there is none, or the answer is not in pages
	missing []string
}

// form is how rows are written, and what that is called.
type form struct {
	mediaType string
	ending    string // of the name of a file that is made of it; empty: it is shown and not kept
	make      func(*bufio.Writer) format
}

const mediaCSV = "text/csv; charset=utf-8; header=present"

// formats are the values of wt.
var formats = map[string]form{
	"json":   {"application/json", "", func(w *bufio.Writer) format { return &jsonFormat{lines: jsonLines{w: w}} }},
	"csv":    {mediaCSV, ".csv", func(w *bufio.Writer) format { return newCSV(w, false) }},
	"ndjson": {"application/x-ndjson", ".ndjson", func(w *bufio.Writer) format { return &jsonLines{w: w} }},
}

// safeCSV is the form of wt=csv with safe=true.
const safeCSV = "csv safe"

func formOf(wt string) form {
	if wt == safeCSV {
		return form{mediaCSV, ".csv", func(w *bufio.Writer) format { return newCSV(w, true) }}
	}
	return formats[wt]
}

// held is how much of an answer is kept back: an error that shows up before can still be told properly.
const held = 64 << 10

// write writes rows as they come. Engines deliver one row more than was asked for, which only says that there are more.
// next is asked where the page after these rows begins; it may be nil.
func write(w io.Writer, wt string, limit int, rows query.Rows, partial *query.Partial, next func() string) (t tail, err error) {
	buf := bufio.NewWriterSize(w, held)
	out := formOf(wt).make(buf)
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
		if t.more = t.count == limit; t.more {
			break
		}
		t.count++
		if err := out.row(values); err != nil {
			return t, err
		}
	}
	if t.missing = partial.Days(); t.more && next != nil {
		t.next = next()
	}
	if err := out.end(t); err != nil {
		return t, err
	}
	return t, buf.Flush()
}

// jsonLines writes one object per line.
type jsonLines struct {
	w     *bufio.Writer
	names [][]byte // each with its quotes and colon
	buf   []byte
}

func (f *jsonLines) begin(columns []query.Output) error {
	for _, c := range columns {
		f.names = append(f.names, append(appendText(nil, c.Name), ':'))
	}
	return nil
}

func (f *jsonLines) row(values []belfry.Value) error {
	f.object(values)
	f.buf = append(f.buf, '\n')
	_, err := f.w.Write(f.buf)
	return err
}

func (f *jsonLines) end(tail) error { return nil }

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

// jsonFormat writes one document that holds all rows.
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
		f.lines.w.WriteByte(',') // a failure shows at the next write
	}
	f.begun = true
	f.lines.object(values)
	_, err := f.lines.w.Write(f.lines.buf)
	return err
}

func (f *jsonFormat) end(t tail) error {
	text := `],"count":` + strconv.Itoa(t.count) + `,"more":` + strconv.FormatBool(t.more)
	if t.next != "" {
		text += `,"next":"` + t.next + `"`
	}
	if len(t.missing) > 0 {
		text += `,"missing":["` + strings.Join(t.missing, `","`) + `"]`
	}
	_, err := f.lines.w.WriteString(text + "}\n")
	return err
}

// csvFormat writes a header of the names, then rows.
type csvFormat struct {
	w     *csv.Writer
	buf   *bufio.Writer // where w writes
	cells []string
	safe  bool // for spreadsheets: no cell is a formula
}

// newCSV writes to a buffer of 4 KiB or more, to which the writer of the library writes without another one in between.
func newCSV(w *bufio.Writer, safe bool) *csvFormat {
	return &csvFormat{w: csv.NewWriter(w), buf: w, safe: safe}
}

func (f *csvFormat) begin(columns []query.Output) error {
	for _, c := range columns {
		name := c.Name
		if f.safe {
			name = inert(name)
		}
		f.cells = append(f.cells, name)
	}
	return f.w.Write(f.cells)
}

func (f *csvFormat) row(values []belfry.Value) error {
	for i, v := range values {
		f.cells[i] = v.String()
		if f.safe && v.Type == belfry.TextValue {
			f.cells[i] = inert(f.cells[i])
		}
	}
	if len(f.cells) == 1 && f.cells[0] == "" { // not an empty line, which readers skip
		_, err := f.buf.WriteString("\"\"\n")
		return err
	}
	return f.w.Write(f.cells)
}

const (
	formulaSigns = "=+-@＝＋－＠"
	// A spreadsheet may split a text at these: separators of cells, and everything that some program takes for the end of a line.
	cellEnds = ";\t\r\n\v\f\x1c\x1d\x1e\u0085\u2028\u2029"
)

// inert puts an apostrophe before a text that a spreadsheet would take for a formula. A number stays a number. A spreadsheet that splits
// lines at semicolons or tabs, as many do outside of English, takes the parts of a text for cells, so these are looked at alike.
func inert(text string) string {
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

// formula tells whether a cell would be one. Characters that do not show may stand before it.
func formula(cell string, hidden func(rune) bool) bool {
	text := strings.TrimLeftFunc(cell, hidden)
	return text != "" && strings.ContainsRune(formulaSigns, firstRune(text)) && !plainNumber(text)
}

// hiddenFirst is what does not show at the beginning of a cell, and what some spreadsheet passes over there: spaces of all kinds,
// control characters, and those that Unicode lets programs ignore, as U+FEFF and U+3164.
func hiddenFirst(r rune) bool {
	return unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// hiddenInside is the same for a part of a cell, where quotes may be passed over, too.
func hiddenInside(r rune) bool { return r == '"' || hiddenFirst(r) }

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// plainNumber tells whether a text is a decimal number and nothing else, as -5 or +1.5e3.
func plainNumber(text string) bool {
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func (f *csvFormat) end(tail) error {
	f.w.Flush()
	return f.w.Error()
}

func appendValue(b []byte, v belfry.Value) []byte {
	switch v.Type {
	case belfry.NumberValue, belfry.IntValue, belfry.BoolValue:
		return append(b, v.String()...)
	}
	return appendText(b, v.String())
}

// appendText writes a JSON string. Plain ASCII, which is nearly everything, needs no look at single characters.
func appendText(b []byte, s string) []byte {
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
