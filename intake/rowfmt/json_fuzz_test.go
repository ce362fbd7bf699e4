package rowfmt

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"belfry"
)

// FuzzJSONRows holds the reader against encoding/json, and against itself with the body in pieces and a low row limit.
func FuzzJSONRows(f *testing.F) {
	for _, s := range []string{
		`{"type":"data","object":"cpu","i1":12.5}` + "\n{}\n", `[{"type":"log","log":"a\"\\\/\b\f\n\r\tü\u00fc\ud83d\ude00"},{"i1":null}]`,
		"\xef\xbb\xbf[\n]\n", `[{"i1":01},{"i1":[{}]},true,"a",-1e5,{"i1":1,"I1 ":2}]`, `[{"i1":"\ud800"},{"i1":"` + "\xff" + `"}] x`,
		`[{"a":1}{"b":`, `[{"i1":]}`, "\xff\xfe[\x00]\x00", `{"i1":"123456789012345678901234567890"}` + "\n[[[[[[[[[[]]]]]]]]]]\n\n{}",
		`{"i2":-0.0E+10 , "İ1" : 0}` + "\r\n\t\r\n" + `{"log":"12345678\u0000` + "\x01" + `"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, format := range []belfry.Format{belfry.JSON, belfry.NDJSON} {
			for _, maxRow := range []int{testMaxRow, 16} {
				whole := readObjects(strings.NewReader(body), format, testLimits(maxRow))
				bytewise := readObjects(iotest.OneByteReader(strings.NewReader(body)), format, testLimits(maxRow))
				if !slices.Equal(whole, bytewise) {
					t.Fatalf("%s, limit %d: at once %q, byte by byte %q", format, maxRow, whole, bytewise)
				}
				checkHolds(t, body, format, maxRow)
			}
		}
		compareLines(t, body)
		compareArray(t, strings.TrimPrefix(body, "\ufeff"))
	})
}

// checkHolds: the buffers stay within their bounds, whatever is read.
func checkHolds(t *testing.T, body string, format belfry.Format, maxRow int) {
	t.Helper()
	j := newTestReader(strings.NewReader(body), format, testLimits(maxRow))
	for rows := 0; ; rows++ {
		_, _, err := j.Next()
		if _, bad := err.(Fault); err != nil && !bad {
			break
		}
		if rows > len(body) {
			t.Fatal("more rows than bytes")
		}
	}
	if len(j.buf) > max(fullBuffer, maxRow+4<<10) || cap(j.text) > 4*max(maxRow, fullBuffer) || len(j.known) > maxKnown+115 || len(j.last) > 116 || len(j.fields) > 115 {
		t.Fatalf("it holds %d bytes of input, %d of text, %d names, %d fields", len(j.buf), cap(j.text), len(j.known), len(j.fields))
	}
}

func compareLines(t *testing.T, body string) {
	t.Helper()
	p := newObjectParser(sendColumns(100), 1000)
	for line := range strings.Lines(body) {
		compareRow(t, &p, strings.TrimSuffix(line, "\n"))
	}
}

func compareArray(t *testing.T, body string) {
	t.Helper()
	var rows []json.RawMessage
	valid := json.Unmarshal([]byte(body), &rows) == nil && rows != nil // null is no array
	j := newTestReader(strings.NewReader(body), belfry.JSON, testLimits(testMaxRow))
	bad, n := false, 0
	for ; ; n++ {
		fields, _, err := j.Next()
		if err == io.EOF {
			break
		}
		_, row := err.(Fault)
		bad = bad || err != nil
		if !valid && !row && err != nil {
			return
		}
		if !valid {
			continue
		}
		if n >= len(rows) || err != nil && !row {
			t.Fatalf("%q: row %d: %v; encoding/json has %d", body, n+1, err, len(rows))
		}
		want, ok := standardRow(string(rows[n]))
		if got := named(j.names, fields); ok != (err == nil) || ok && !maps.Equal(got, want) {
			t.Fatalf("%s: got %q, %v; want %q, %t", rows[n], got, err, want, ok)
		}
	}
	if valid && n != len(rows) || !valid && !bad {
		t.Fatalf("%q: got %d rows, encoding/json has %d (valid %t)", body, n, len(rows), valid)
	}
}

func compareRow(t *testing.T, p *objectParser, row string) {
	t.Helper()
	want, ok := standardRow(row)
	fields, err := p.parseAll([]byte(row))
	if got := named(p.names, fields); ok != (err == nil) || ok && !maps.Equal(got, want) {
		t.Fatalf("%q: got %q, %v; want %q, %t", row, got, err, want, ok)
	}
	if err != nil {
		if e := err.(Fault).Refuse(); !utf8.ValidString(e.Message) || !utf8.ValidString(e.Column) || len(e.Message) > 700 {
			t.Fatalf("%q: the message %q", row, e.Message)
		}
	}
}

func named(names []string, fields [][]byte) map[string]string {
	values := map[string]string{}
	for i, f := range fields {
		if len(f) > 0 {
			values[names[i]] = string(f)
		}
	}
	return values
}

// standardRow reads a row by way of encoding/json, and says whether it can be one.
func standardRow(row string) (values map[string]string, ok bool) {
	if !json.Valid([]byte(row)) || !utf8.ValidString(row) || hasLoneSurrogate(row) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(row))
	d.UseNumber()
	if open, _ := d.Token(); open != json.Delim('{') {
		return nil, false
	}
	values, seen := map[string]string{}, map[string]bool{}
	for d.More() {
		token, _ := d.Token()
		key := strings.ToLower(strings.TrimSpace(token.(string)))
		if seen[key] || sendColumns(100)(key) != nil {
			return nil, false
		}
		seen[key] = true
		value, _ := d.Token()
		text := ""
		switch v := value.(type) {
		case string:
			text = v
		case json.Number:
			text = v.String()
		case nil:
		default:
			return nil, false
		}
		if text != "" {
			values[key] = text
		}
	}
	return values, true
}

// hasLoneSurrogate looks at the escapes of valid JSON.
func hasLoneSurrogate(row string) bool {
	for i := 0; i < len(row); i++ {
		if row[i] != '\\' {
			continue
		}
		if i++; row[i] != 'u' {
			continue
		}
		first, _ := strconv.ParseUint(row[i+1:i+5], 16, 16)
		i += 4
		if !utf16.IsSurrogate(rune(first)) {
			continue
		}
		if len(row) < i+7 || row[i+1:i+3] != `\u` {
			return true
		}
		second, _ := strconv.ParseUint(row[i+3:i+7], 16, 16)
		if utf16.DecodeRune(rune(first), rune(second)) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}
