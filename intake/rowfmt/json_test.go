package rowfmt

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"belfry"
)

// sendColumns adds the columns of sends.
func sendColumns(indicators int) func(name string) error {
	return func(name string) error {
		switch name {
		case "type", "resname", "object", "class", "view", "parentview", "ip", "host", "object_1", "object_2", "object_3", "object_4", "object_5", "log", "timestamp":
			return nil
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "i")); err == nil && n >= 1 && n <= indicators && name == "i"+strconv.Itoa(n) {
			return nil
		}
		return fmt.Errorf("there is no column %q", belfry.Clip([]byte(name)))
	}
}

type limits struct{ row, columns, indicators int }

func testLimits(row int) limits { return limits{row: row, columns: 1000, indicators: 100} }

func newTestReader(r io.Reader, f belfry.Format, lim limits) *JSON {
	return NewJSON(r, f, sendColumns(lim.indicators), lim.row, lim.columns)
}

// readObjects returns every row as "line: column=value|…", in the order in which the body first names the columns, every
// refused row as "line! code column: message", and at the end, unless the body ended well, "error: …".
func readObjects(r io.Reader, f belfry.Format, lim limits) []string {
	j := newTestReader(r, f, lim)
	all := []string{}
	for {
		fields, line, err := j.Next()
		var bad Fault
		switch {
		case errors.As(err, &bad):
			e := bad.Refuse()
			all = append(all, fmt.Sprintf("%d! %s %s: %s", line, e.Code, e.Column, e.Message))
		case err == io.EOF:
			return all
		case err != nil:
			return append(all, "error: "+err.Error())
		default:
			all = append(all, fmt.Sprintf("%d: %s", line, showNamed(j.names, fields)))
		}
	}
}

func showNamed(names []string, fields [][]byte) string {
	var parts []string
	for i, f := range fields {
		if len(f) > 0 {
			q := fmt.Sprintf("%q", f)
			parts = append(parts, names[i]+"="+q[1:len(q)-1])
		}
	}
	return strings.Join(parts, "|")
}

// checkObjects compares what is read with want, in which refusals and errors stand with the start of their text. The
// size of the pieces in which the body arrives must not matter.
func checkObjects(t *testing.T, body string, f belfry.Format, lim limits, want ...string) {
	t.Helper()
	whole := readObjects(strings.NewReader(body), f, lim)
	same := slices.EqualFunc(whole, want, func(got, want string) bool {
		return got == want || (strings.Contains(want, "! ") || strings.HasPrefix(want, "error")) && strings.HasPrefix(got, want)
	})
	if !same {
		t.Errorf("%.200q gives\n  %s\nwant\n  %s", body, strings.Join(whole, "\n  "), strings.Join(want, "\n  "))
	}
	if bytewise := readObjects(iotest.OneByteReader(strings.NewReader(body)), f, lim); !slices.Equal(bytewise, whole) {
		t.Errorf("%.200q byte by byte:\n  %s\nat once:\n  %s", body, strings.Join(bytewise, "\n  "), strings.Join(whole, "\n  "))
	}
}

func TestNDJSON(t *testing.T) {
	f := func(body string, want ...string) {
		t.Helper()
		checkObjects(t, body, belfry.NDJSON, testLimits(testMaxRow), want...)
	}
	f("")
	f(" \n\t\r\n\n")
	f(`{"type":"data","object":"cpu","i1":12.5}`+"\n", "1: type=data|object=cpu|i1=12.5")
	f(`{"type":"data"}`+"\r\n\r\n  "+`{"i2":1}`+" \n"+`{"i1":2,"type":"log"}`, "1: type=data", "3: i2=1", "4: type=log|i1=2")
	f("\xef\xbb\xbf"+`{"type":"a"}`, "1: type=a")
	f("\xff\xfe{\x00}\x00", "error: bad_json: the body is UTF-16")
	f("\x00{\x00}\x00\n", "error: bad_json: the body is UTF-16")
	f("{\x00}\x00\n\x00", "error: bad_json: the body is UTF-16")
	f("{}\n{ }\n", "1: ", "2: ")

	// A bad line leaves its neighbours alone.
	f("{\"i1\":1}\n{\"i1\":\n{\"i1\":3}\n", "1: i1=1", "2! bad_row i1: byte 7 of the row: expected a value, found the end", "3: i1=3")
	f("{\"i1\":1}\n{\"i1\n{\"i1\":3}\n", "1: i1=1", "2! bad_row : byte 2 of the row: the string that begins here is not closed", "3: i1=3")
	f("{\"i1\":1} {\"i1\":2}\n{}", "1! bad_row : byte 10 of the row: expected nothing behind the object, which ends the row, found \"{\"", "2: ")
	f("{\"i1\":1},\n{}\n", "1! bad_row : byte 9 of the row: expected nothing", "2: ")
	f("x\n{}\n", `1! bad_row : the row is no JSON (it begins with "x"), and each row must be an object`, "2: ")
	f("[{\"i1\":1}]\n", "1! bad_row : the row is an array, and each row must be an object; one array of all rows goes with Content-Type: application/json")
	f("{\"i1\":1", "1! bad_row : byte 8 of the row: expected \",\" or \"}\" after a value, found the end")
}

func TestJSONArray(t *testing.T) {
	f := func(body string, want ...string) {
		t.Helper()
		checkObjects(t, body, belfry.JSON, testLimits(testMaxRow), want...)
	}
	f("[]")
	f("\xef\xbb\xbf \n[ \t\r\n] \n\n")
	f(`[{"type":"data","i1":1},{"i1":2}]`, "1: type=data|i1=1", "1: i1=2")
	f("[\n{\"i1\":1}\n,\n\n{\n\"i1\"\n:\n2\n}\n,{}]\n", "2: i1=1", "5: i1=2", "10: ")

	// An element that is wrong but has an end.
	f(`[{"i1":1},{"i1":},{"i1":3}]`, "1: i1=1", `1! bad_row i1: byte 7 of the row: expected a string, a number or null, found "}"`, "1: i1=3")
	f("[1,\n\"a,]\\\"\",\n[[{}],2],null, truth ,{}]", "1! bad_row : the row is a number", "2! bad_row : the row is a string",
		"3! bad_row : the row is an array, and each row must be an object", "3! bad_row : the row is null", "3! bad_row : the row is no JSON", "3: ")
	f(`[{"a":"}]\\\"","b":[{"c":"]"}]},{}]`, `1! bad_row a: there is no column "a"`, "1: ")
	f("[{\"log\":\"a\nb\"},{}]", `1! bad_row log: byte 10 of the row: the control character 0x0a is not allowed in a string; write it as \u000a`, "2: ")
	f(`[{'a':1},{}]`, `1! bad_row : byte 2 of the row: expected the name of a column in quotes, found "'"`, "1: ")

	// Where the next row begins is unclear.
	f("", "error: bad_json: the body is empty; send an array of objects, for example [{")
	f(" \n ", "error: bad_json: the body is empty")
	f("\xef\xbb\xbf", "error: bad_json: the body is empty")
	f(`{"i1":1}`, "error: bad_json: the body is an object, not an array; put it in [ ], as in [{")
	f(" x", `error: bad_json: line 1, column 2: expected an array of objects, for example [{"type":"data","object":"cpu","i1":12.5}], found "x"`)
	f("\xfe\xff\x00[\x00]", "error: bad_json: the body is UTF-16")
	f("[\x00]\x00", "error: bad_json: the body is UTF-16")
	f("[{}\n,]", "1: ", `error: bad_json: line 2, column 2: expected an object, found "]"`)
	f("[,{}]", `error: bad_json: line 1, column 2: expected an object, found ","`)
	f("[{} {}]", "1: ", `error: bad_json: line 1, column 5: expected "," or "]" after a row, found "{"`)
	f("[{}}", "1: ", `error: bad_json: line 1, column 4: expected "," or "]" after a row, found "}"`)
	f("[{}\n  ü", "1: ", `error: bad_json: line 2, column 3: expected "," or "]" after a row, found "ü"`)
	f(`[{"i1":1]`, `error: bad_json: line 1, column 9: expected "}" to close an object, found "]"`)
	f(`[{"i1":[1}]`, `error: bad_json: line 1, column 10: expected "]" to close an array, found "}"`)
	f("[{}]\n[{}]", "1: ", `error: bad_json: line 2, column 1: expected nothing behind the "]" that closes the array, found "["`)
	f("[]x", `error: bad_json: line 1, column 3: expected nothing behind the "]"`)
	for _, cut := range []string{"[", "[ ", "[{}", "[{},", `[{"i1`, `[{"i1":"\`, "[1", `["`} {
		want := []string{"error: bad_json: line 1, column "}
		if strings.HasPrefix(cut, "[{}") {
			want = append([]string{"1: "}, want...)
		}
		f(cut, want...)
	}
}

// Values, the same in both.
func TestJSONValues(t *testing.T) {
	f := func(row, want string) {
		t.Helper()
		checkObjects(t, row, belfry.NDJSON, testLimits(testMaxRow), "1"+want)
		checkObjects(t, "["+row+"]", belfry.JSON, testLimits(testMaxRow), "1"+want)
	}
	f(`{"type":null,"i1":""}`, ": ")
	f(`{"i1":-0,"i2":1.50,"i3":1E+3,"i4":0.0e-9,"object":7,"timestamp":1763176447.5}`,
		": i1=-0|i2=1.50|i3=1E+3|i4=0.0e-9|object=7|timestamp=1763176447.5")
	f(`{" Type\t":"a","OBJECT":"b","\u0049\u0031":"c"}`, ": type=a|object=b|i1=c")
	f(`{"log":"\"\\\/\b\f\n\r\t\u0000é\u00e9\ud83d\ude00 😀"}`, `: log=\"\\/\b\f\n\r\t\x00éé😀 😀`)
	f(`{"log":"ü12345678","i1":"12345678ü"}`, ": log=ü12345678|i1=12345678ü")

	f(`{"objct":"x"}`, `! bad_row objct: there is no column "objct"`)
	f(`{"i101":1}`, `! bad_row i101: there is no column "i101"`)
	f(`{"s1":"a"}`, `! bad_row s1: there is no column "s1"`)
	f(`{"":1}`, `! bad_row : there is no column ""`)
	f(`{"`+strings.Repeat("x", 200)+`":1}`, "! bad_row "+strings.Repeat("x", 80)+"…: there is no column")
	f(`{"i1":1," I1 ":2}`, `! bad_row i1: the object names the column "i1" twice; name it once`)
	f(`{"i1":null,"i1":null}`, `! bad_row i1: the object names`)
	f(`{"i1":true}`, "! bad_value i1: i1 takes a string, a number or null, got true")
	f(`{"log":false}`, "! bad_value log: log takes a string, a number or null, got false")
	f(`{"i1":[1]}`, "! bad_value i1: i1 takes a string, a number or null, got an array")
	f(`{"i1":{"a":1}}`, "! bad_value i1: i1 takes a string, a number or null, got an object")

	for _, n := range []string{"01", "+1", ".5", "1.", "1e", "1e+", "-", "-x", "0x1", "NaN", "Infinity", "1_0", "nul", "tru", "--1"} {
		f(`{"i1":`+n+`}`, "! bad_row ")
	}
	f(`{"i1":1.e5}`, `! bad_row i1: byte 7 of the row: "1.e5" is no number of JSON`)
	f(`{"i1":"\x"}`, `! bad_row i1: byte 8 of the row: \x is no escape of JSON`)
	f(`{"i1":"\u12g4"}`, `! bad_row i1: byte 8 of the row: \u12g4 is no escape of JSON`)
	f(`{"i1":"\ud800"}`, `! bad_row i1: byte 8 of the row: \ud800 is one half of a character`)
	f(`{"i1":"\udc00\ud800"}`, `! bad_row i1: byte 8 of the row: \udc00 is one half`)
	f(`{"i1":"\ud800\u0041"}`, `! bad_row i1: byte 8 of the row: \ud800 is one half`)
	f("{\"i1\":\"a\xff\"}", "! bad_row i1: byte 9 of the row: the text is not valid UTF-8 at its byte 0xff")
	f("{\"i1\":\"\\n\xc3\"}", "! bad_row i1: byte 7 of the row: the text is not valid UTF-8 at its byte 0xc3")
	f("{\"\xff\":1}", "! bad_row : byte 3 of the row: the text is not valid UTF-8")
	f("{\"i1\":\"\xed\xa0\x80\"}", "! bad_row i1: byte 8 of the row: the text is not valid UTF-8")
	f("{\"i1\":\"a\tb\"}", "! bad_row i1: byte 9 of the row: the control character 0x09")
	f("{\"i1\":\"\\na\tb\"}", "! bad_row i1: byte 11 of the row: the control character 0x09")
	f(`{"i1" 1}`, `! bad_row : byte 7 of the row: expected ":" after the name of a column, found "1"`)
	f(`{"i1":1 "i2":2}`, `! bad_row : byte 9 of the row: expected "," or "}" after a value, found "\""`)
	f(`{"i1":1,}`, `! bad_row : byte 9 of the row: expected the name of a column in quotes, found "}"`)
	f(`{,}`, `! bad_row : byte 2 of the row: expected the name`)
	f("{\"i1\":\x00}", `! bad_row i1: byte 7 of the row: expected a string, a number or null, found "\x00"`)
}

func TestJSONLimits(t *testing.T) {
	f := func(body string, format belfry.Format, want ...string) {
		t.Helper()
		lim := limits{row: 20, columns: 2, indicators: 5}
		checkObjects(t, body, format, lim, want...)
	}
	f(`{"i1":"1234567890A"}`+"\n"+`{"i1":"1234567890AB"}`+"\n{}", belfry.NDJSON, "1: i1=1234567890A", "2! bad_row : the row is longer than the limit of 20 bytes", "3: ")
	f(`[{"i1":"1234567890A"},{"i1":"1234567890AB"}`+"\n,{}]", belfry.JSON, "1: i1=1234567890A", "1! bad_row : the row is longer than the limit of 20 bytes", "2: ")
	f(`[{"i1":"1234567`+strings.Repeat("\n\\\"]}", 1000)+`"}`+"\n,\n"+strings.Repeat("[", 9999)+"\n"+strings.Repeat("]", 9999)+",{}]", belfry.JSON,
		"1! bad_row : the row is longer", "1003! bad_row : the row is longer", "1004: ")
	f(`[{"i1":`+strings.Repeat("[", 100)+`}]`, belfry.JSON, "error: bad_json: line 1, column ")
	f(`[{"i1":`+strings.Repeat("[", 100)+strings.Repeat("]", 36)+"}"+strings.Repeat("]", 63)+`},{}]`, belfry.JSON, "1! bad_row : the row is longer", "1: ")
	f(`[{"i1":`+strings.Repeat("[", 100)+strings.Repeat("]", 37)+"}"+strings.Repeat("]", 62)+`},{}]`, belfry.JSON, "error: bad_json: line 1, column 145: expected \"]\"")
	f(`{"i1":1,"i2":2}`+"\n"+`{"i1":1,"i2":2,"i3":3}`[:20]+"\n"+`{"i1":1,"i2":2,"i3":`, belfry.NDJSON, "1: i1=1|i2=2", "2! bad_row : the object names more than 2 columns", "3! ")
	f(`{"i5":1}`+"\n"+`{"i6":1}`, belfry.NDJSON, "1: i5=1", `2! bad_row i6: there is no column "i6"`)
	f(`{"lag":1}`, belfry.NDJSON, `1! bad_row lag: there is no column "lag"`)
	if got := readObjects(brokenOff("{}\n{}"), belfry.NDJSON, testLimits(testMaxRow)); !slices.Equal(got, []string{"1: ", "error: unexpected EOF"}) {
		t.Errorf("a line that was cut off: %q", got)
	}
	for _, body := range []string{"[{}", "[{}]", "[{}] \n"} {
		if got := readObjects(brokenOff(body), belfry.JSON, testLimits(testMaxRow)); !slices.Equal(got, []string{"1: ", "error: unexpected EOF"}) {
			t.Errorf("%q that broke off: %q", body, got)
		}
	}
}

// Whatever is sent, a row and a buffer is all that is held.
func TestJSONHoldsLittle(t *testing.T) {
	const huge = 12 << 20
	f := func(format belfry.Format, before string, fill byte, after string, want ...string) {
		t.Helper()
		body := io.MultiReader(strings.NewReader(before), io.LimitReader(endless(fill), huge), strings.NewReader(after))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		allocated := m.TotalAlloc
		got := readObjects(body, format, testLimits(testMaxRow))
		runtime.ReadMemStats(&m)
		if len(got) != len(want) || !strings.HasPrefix(got[len(want)-1], want[len(want)-1]) || !strings.HasPrefix(got[0], want[0]) {
			t.Errorf("%s…: got %.300q, want %q", before, got, want)
		}
		if n := m.TotalAlloc - allocated; n > 8<<20 {
			t.Errorf("%s…: %d bytes were allocated", before, n)
		}
	}
	f(belfry.JSON, `[{"log":"`, 'x', `"},{}]`, "1! bad_row : the row is longer", "1: ")
	f(belfry.JSON, `[{"log":`, '[', ``, "error: bad_json: line 1, column 12582921: the body ends before")
	f(belfry.JSON, `[{`, ' ', `},{}]`, "1! bad_row : the row is longer", "1: ")
	f(belfry.JSON, `[{}`, ' ', `,{}]`, "1: ", "1: ")
	f(belfry.JSON, `[`, '1', `,{}]`, "1! bad_row : the row is longer", "1: ")
	f(belfry.NDJSON, `{"log":"`, 'x', "\"}\n{}", "1! bad_row : the row is longer", "2: ")
	f(belfry.NDJSON, "{}\n", '[', "\n{}", "1: ", "2! bad_row", "3: ")
}

func TestJSONAllocatesNothingPerRow(t *testing.T) {
	row := `{"type":"data","object":"a \"b\"","I1":1.25,"log":"ü"}`
	f := func(body string, format belfry.Format) {
		t.Helper()
		j := newTestReader(strings.NewReader(body), format, testLimits(testMaxRow))
		j.Next()
		if n := testing.AllocsPerRun(900, func() { j.Next() }); n > 0.1 {
			t.Errorf("%s: %v allocations for a row", format, n)
		}
	}
	f(strings.Repeat(row+"\n", 1000), belfry.NDJSON)
	f("["+strings.Repeat(row+",", 1000)+"{}]", belfry.JSON)
}
