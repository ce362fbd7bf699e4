package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"belfry"
	"belfry/engine"
)

// The rules of rows are those of CSV: here is one of each kind, and the codes that only objects have.
func TestSendJSON(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	f := func(format belfry.Format, body string, wantCode int, want ...string) {
		t.Helper()
		code, r := b.send(t, body, Options{Format: format})
		got := []string{}
		for _, e := range r.Errors {
			got = append(got, fmt.Sprintf("%d/%d/%s/%s", e.Row, e.Line, e.Column, e.Code))
		}
		if code != wantCode || !slices.Equal(got, want) {
			t.Errorf("%q: got %d %q, want %d %q (%+v)", body, code, got, wantCode, want, r.Errors)
		}
	}
	f(belfry.JSON, "[]", 200)
	f(belfry.NDJSON, "", 200)
	f(belfry.NDJSON, "\n \n", 200)
	f(belfry.JSON, `[{"type":"data","resname":"web01","object":"cpu","class":"CPU","view":"web01","i1":12.5,"i2":"on"}]`, 200)
	f(belfry.NDJSON, `{"type":"data","object":"cpu","i1":"7"}`+"\n"+`{"type":"log","object":"cpu","log":"hello"}`, 200)
	f(belfry.NDJSON, `{"type":"data","object":"cpu","i1":7,"I1":8}`+"\n\n"+`{"type":"data","object":"cpu","i1":true}`+"\n"+
		`{"object":"cpu","i1":1}`+"\n"+`{"type":"data","object":"cpu","i1":1}`+"\n{\n"+`{"type":"data","object":"cpu","i1":2}`, 207,
		"1/1/i1/bad_row", "2/3/i1/bad_value", "3/4/type/missing_value", "5/6//bad_row")
	f(belfry.JSON, "[\n"+`{"type":"data","object":"cpu","i1":"many"},`+"\n\n"+`{"type":"data","object":"cpu","i1":1,"load":2},{"type":"data","object":"cpu","i1":1}]`, 207,
		"1/2/i1/bad_value", "2/4/load/bad_row")
	f(belfry.JSON, `[{"type":"data","object":"cpu","i1":1e999}]`, 400, "1/1/i1/bad_value")
	f(belfry.JSON, `[{"type":"data","object":"cpu","i2":5}]`, 200) // the text of the number
	if got := b.Statuses()["cpu"]; got != "0 1 NaN 5" {
		t.Errorf("cpu shows %q, want the number 1 and the text 5", got)
	}
	f(belfry.JSON, `[{"type":"createview","resname":"web01","class":"Rack","view":"R1","parentview":"web01"},
		{"type":"data","resname":"web01","object":"fan","class":"Fan","view":"R1","i1":1,"ip":"192.0.2.1","object_1":5},{"type":"data","object":"fan","i1":2}]`, 200)
}

func TestSendJSONWishes(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	before := len(b.Records)
	good := `{"type":"data","resname":"r","object":"o","class":"C","view":"r","i1":5}`
	code, r := b.send(t, "["+good+"]", Options{Format: belfry.JSON, DryRun: true})
	if code != 200 || r.Accepted != 1 || r.Created.Objects != 1 {
		t.Errorf("dry run: %d %+v", code, r)
	}
	code, r = b.send(t, good+"\n{}\n", Options{Format: belfry.NDJSON, Atomic: true})
	if code != 400 || r.Accepted != 0 || r.Rejected != 2 {
		t.Errorf("atomic with a wrong row: %d %+v", code, r)
	}
	_, _, err := b.Send(context.Background(), b.Who, strings.NewReader("["+good+"}"), Options{Format: belfry.JSON, Atomic: true})
	if belfry.CodeOf(err) != belfry.BadJSON || len(b.Records) != before {
		t.Errorf("a broken array: %v, %d records", err, len(b.Records)-before)
	}
	o := Options{Format: belfry.NDJSON, Repeat: engine.Repeat{Key: "a", Digest: [32]byte{1}}}
	_, first := b.send(t, good, o)
	_, again := b.send(t, good, o)
	if first.Created.Objects != 1 || again.Created != first.Created || len(b.Records) != before+1 {
		t.Errorf("a repeat: %+v, then %+v, %d records", first, again, len(b.Records)-before)
	}
}

// examples are bodies of about 2 kB with every kind of row, text and blank in them, all of them right.
func examples() (array, lines string) {
	var rows []string
	for i := range 20 {
		rows = append(rows, fmt.Sprintf(`{"type":"data", "object":"cpu", "i1":%d.5, "i%d" : "ü \"%d\" \ud83d\ude00 😀"}`, i, i%3+2, i),
			fmt.Sprintf(`{"type":"log","object":"cpu","log":"{[\"%d]}\\","ip":null}`, i))
	}
	return " [\n" + strings.Join(rows, "\n,\r\n") + "\n] \n", strings.Join(rows, "\n\n") + " \r\n"
}

// stored counts the data and log rows of the records since from.
func (b *bench) stored(from int) (n int) {
	for _, r := range b.Records[from:] {
		for _, batch := range r.Batches {
			if batch.Collection == belfry.ObjectData || batch.Collection == belfry.ObjectLog {
				n += batch.Len()
			}
		}
	}
	return n
}

func (b *bench) forCuts(t *testing.T) {
	t.Helper()
	b.provision(t, "r")
	b.send(t, "type,resname,object,class,view,i1,i2,i3,i4\ndata,r,cpu,C,r,1,x,x,x\n", Options{})
}

// An array that is cut short says so and stores nothing, wherever the cut is.
func TestCutJSON(t *testing.T) {
	b := newBench(t)
	b.forCuts(t)
	body, _ := examples()
	closed := strings.LastIndexByte(body, ']') + 1
	for cut := range len(body) + 1 {
		from := len(b.Records)
		code, _, err := b.Send(context.Background(), b.Who, strings.NewReader(body[:cut]), Options{Format: belfry.JSON})
		if whole := cut >= closed; whole && (code != 200 || b.stored(from) != 40) || !whole && (belfry.CodeOf(err) != belfry.BadJSON || len(b.Records) > from) {
			t.Fatalf("cut at %d of %d: %d, %v, %d rows stored", cut, len(body), code, err, b.stored(from))
		}
		b.checkBreaksOff(t, body[:cut], belfry.JSON)
	}
}

// Of an object a line, those that are whole are stored, and what is left of the last one is refused.
func TestCutNDJSON(t *testing.T) {
	b := newBench(t)
	b.forCuts(t)
	_, body := examples()
	for cut := range len(body) + 1 {
		good, bad := 0, 0
		for line := range strings.Lines(body[:cut]) {
			switch line = strings.TrimSpace(line); {
			case line == "":
			case json.Valid([]byte(line)):
				good++
			default:
				bad++
			}
		}
		from := len(b.Records)
		_, r := b.send(t, body[:cut], Options{Format: belfry.NDJSON})
		if r.Accepted != good || b.stored(from) != good || r.Rejected != bad || bad > 1 || bad == 1 && r.Errors[0].Code != belfry.BadRow {
			t.Fatalf("cut at %d of %d: %+v, %d rows stored", cut, len(body), r, b.stored(from))
		}
		b.checkBreaksOff(t, body[:cut], belfry.NDJSON)
	}
}

// checkBreaksOff: when the connection fails, even behind a whole row, nothing is acknowledged.
func (b *bench) checkBreaksOff(t *testing.T, body string, format belfry.Format) {
	t.Helper()
	from := len(b.Records)
	_, answer, err := b.Send(context.Background(), b.Who, io.MultiReader(strings.NewReader(body), iotest.ErrReader(io.ErrUnexpectedEOF)), Options{Format: format})
	if err == nil || answer != nil || len(b.Records) > from {
		t.Fatalf("%d bytes and a failure: %s, %v, %d rows stored", len(body), answer, err, b.stored(from))
	}
}

// Columns that appear as the body goes, while the chunks before are with the sequencer: what is stored is what the same
// table stores as CSV.
func TestColumnsAppear(t *testing.T) {
	const rows, columns = 3*chunkRows + 100, 8
	var csv, lines strings.Builder
	csv.WriteString("type,resname,object,class,view,log")
	for n := range columns {
		fmt.Fprintf(&csv, ",i%d", n+1)
	}
	csv.WriteByte('\n')
	for i := range rows {
		n := i*columns/rows + 1
		object := fmt.Sprintf("o%d", i%(n*10)) // new ones now and then, so that rows are left to the sequencer
		fmt.Fprintf(&csv, "data,r,%s,C%d,r,%s%d\n", object, n, strings.Repeat(",", n), i)
		fmt.Fprintf(&lines, `{"i%d":%d,"type":"data","view":"r","resname":"r","object":"%s","class":"C%d"}`+"\n", n, i, object, n)
	}
	run := func(body string, format belfry.Format) (report string, rows []string) {
		b := newBench(t)
		b.provision(t, "r")
		from := len(b.Records)
		_, r := b.send(t, body, Options{Format: format})
		for _, rec := range b.Records[from:] {
			for _, batch := range rec.Batches {
				rows = append(rows, printRows(batch)...) // where a chunk ends depends on how far the one before has come
			}
		}
		for i := range r.Errors {
			r.Errors[i].Line = 0
		}
		slices.Sort(rows)
		return fmt.Sprintf("%+v", r), rows
	}
	wantReport, want := run(csv.String(), belfry.CSV)
	gotReport, got := run(lines.String(), belfry.NDJSON)
	if gotReport != wantReport {
		t.Errorf("got  %s\nwant %s", gotReport, wantReport)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d rows differ from the %d of CSV", len(got), len(want))
	}
}

// printRows returns the objects and values of a batch of data, row by row.
func printRows(b *belfry.Batch) (rows []string) {
	if b.Collection != belfry.ObjectData {
		return nil
	}
	columns := slices.Clone(b.Columns)
	slices.SortFunc(columns, func(a, b belfry.Column) int { return strings.Compare(a.Name, b.Name) })
	for i := range b.Times {
		row := ""
		for _, c := range columns {
			switch {
			case c.Ints != nil:
				row += fmt.Sprintf(" %s=%d", c.Name, c.Ints[i])
			case c.Numbers != nil && c.Numbers[i] == c.Numbers[i]:
				row += fmt.Sprintf(" %s=%v", c.Name, c.Numbers[i])
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Bodies as spreadsheets save them are refused with advice.
func TestForeignCSV(t *testing.T) {
	b := newBench(t)
	f := func(body string, code belfry.Code, want string) {
		t.Helper()
		_, _, err := b.Send(context.Background(), b.Who, strings.NewReader(body), Options{})
		if belfry.CodeOf(err) != code || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s with %q", body, err, code, want)
		}
	}
	text := "type,object,i1\ndata,cpu,1\n"
	little, big := encodeUTF16(text, false), encodeUTF16(text, true)
	f("\xff\xfe"+little, belfry.BadCSV, "UTF-16 (it begins with the bytes ff fe); send it as UTF-8")
	f("\xfe\xff"+big, belfry.BadCSV, "UTF-16 (it begins with the bytes fe ff); send it as UTF-8")
	f(little, belfry.BadCSV, "UTF-16 (it begins with the bytes 74 00); send it as UTF-8")
	f(big, belfry.BadCSV, "UTF-16 (it begins with the bytes 00 74); send it as UTF-8")
	f("type;object;i1\ndata;cpu;1\n", belfry.BadHeader, "separated by semicolons; separate columns with commas")
	f("\"type\";\"object\";\"i1\"\n", belfry.BadHeader, "separated by semicolons")
	f("\"type\"x\n", belfry.BadHeader, "continues after its closing quote")
}

func encodeUTF16(text string, big bool) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return string(out)
}

func TestIndicatorLimit(t *testing.T) {
	b := newBench(t)
	lim := b.Config.Limits()
	lim.Indicators = 7
	b.Config.Limits = func() engine.Limits { return lim }
	f := func(body string, format belfry.Format, ok bool) {
		t.Helper()
		_, answer, err := b.Send(context.Background(), b.Who, strings.NewReader(body), Options{Format: format})
		told := fmt.Sprintf("%s%v", answer, err)
		if strings.Contains(told, "indicators are i1 to i7") == ok {
			t.Errorf("%q: %s", body, told)
		}
	}
	f("type,object,i7\ndata,cpu,1\n", belfry.CSV, true)
	f("type,object,i8\ndata,cpu,1\n", belfry.CSV, false)
	f(`[{"type":"data","object":"cpu","i7":1}]`, belfry.JSON, true)
	f(`[{"type":"data","object":"cpu","i8":1}]`, belfry.JSON, false)
	f(`{"type":"data","object":"cpu","i8":1}`, belfry.NDJSON, false)
}

// A body of bad rows costs time in proportion to its length: the texts that nobody will see are not made.
func TestManyBadObjects(t *testing.T) {
	b := newBench(t)
	const rows = 100_000
	body := io.MultiReader(strings.NewReader("["), strings.NewReader(strings.Repeat(`{"x":1},`, rows)), strings.NewReader(`{}]`))
	code, answer, err := b.Send(context.Background(), b.Who, body, Options{Format: belfry.JSON})
	var r belfry.Report
	if err != nil || json.Unmarshal(answer, &r) != nil || code != 400 || r.Rejected != rows+1 || len(r.Errors) != belfry.MaxReported || !r.Truncated {
		t.Errorf("%d %+v, %v", code, r, err)
	}
}

// A body that is held whole is refused before its rows take much more memory than its text, in any format.
func TestHeldRowsAreBounded(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	b.send(t, "type,resname,object,class,view,i1\ndata,r,o,C,r,1\n", Options{})
	var names, members []string
	for n := range 100 {
		names = append(names, fmt.Sprintf("i%d", n+1))
		members = append(members, fmt.Sprintf(`"i%d":1`, n+1))
	}
	const rows = 15_000
	f := func(head, row string, format belfry.Format, ok bool) {
		t.Helper()
		r, err := b.newSendBody(b.Who.Scope, strings.NewReader(head+strings.Repeat(row, rows)), Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		held := &wholeBody{new(HeldMemory).Body(1, 32<<20), engine.Limits{HeldRows: 1_000_000}}
		c, err := readWhole(r, held.check)
		if ok && err != nil || !ok && belfry.CodeOf(err) != belfry.BodyTooLarge || c.memory() > 12<<20 {
			t.Errorf("%d rows of %q: %v, %d bytes", rows, row, err, c.memory())
		}
	}
	header, wide := "type,object,"+strings.Join(names, ",")+"\n", "{"+strings.Join(members, ",")+"}\n"
	f("type,object,i1\n", "data,o,1\n", belfry.CSV, true)
	f(header, "data,o,1\n", belfry.CSV, false)
	f(header, "data,x,1\n", belfry.CSV, false)
	f("", `{"type":"data","object":"o","i1":1}`+"\n", belfry.NDJSON, true)
	f("", `{"type":"log","object":"o","log":"1"}`+"\n", belfry.NDJSON, true)
	f(wide, `{"type":"data","object":"o","i1":1}`+"\n", belfry.NDJSON, false)
	f(wide, `{"type":"data","object":"x","i100":1}`+"\n", belfry.NDJSON, false)
	f(wide, `{"type":"createview","i100":1}`+"\n", belfry.NDJSON, true) // its cells are empty, and those take little
}

// TestMostlyWrongRows: a body of which hardly a row can be used is not read to its end, and the error says what became of the rows.
func TestMostlyWrongRows(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	const wrong = ",,,,,\n"
	send := func(rows ...string) error {
		b.Records = nil
		_, _, err := b.Send(t.Context(), b.Who, strings.NewReader("type,resname,object,class,view,i1\n"+strings.Join(rows, "")), Options{})
		return err
	}
	right := "data,r,o,generic,r,1\n"
	many := strings.Repeat(wrong, mostRejected)
	if err := send(right, many); err != nil {
		t.Error(err)
	}
	err := send(right, many, strings.Repeat(wrong, 100_000), right)
	if belfry.CodeOf(err) != belfry.BodyTooLarge || !strings.Contains(err.Error(), " rows of the body 1 were accepted and 10") || !strings.Contains(err.Error(), "the rest was not read") ||
		!strings.Contains(err.Error(), " rows of this body have been processed: 1 stored, 10") {
		t.Error(err)
	}
	stored := 0
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if batch.Collection == "objectdata" {
				stored += batch.Len()
			}
		}
	}
	if stored != 1 {
		t.Errorf("%d rows are stored, and the error says one", stored)
	}
	if err := send(strings.Repeat(right, mostRejected/10), many, strings.Repeat(wrong, 100_000), right); belfry.CodeOf(err) != belfry.BodyTooLarge {
		t.Error(err)
	}
}

// TestSenderGone: of a long body whose sender has gone, what was read is stored, and the rest is not read.
func TestSenderGone(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	ctx, gone := context.WithCancel(t.Context())
	rows := strings.NewReader("type,resname,object,class,view,i1\n" + strings.Repeat("data,r,o,generic,r,1\n", 100_000))
	read := 0
	body := readerFunc(func(p []byte) (int, error) {
		n, err := rows.Read(p[:min(len(p), 10_000)])
		if read += n; read > 1_000_000 {
			gone()
		}
		return n, err
	})
	_, _, err := b.Send(ctx, b.Who, body, Options{})
	if !errors.Is(err, context.Canceled) || rows.Len() == 0 {
		t.Errorf("%v, and %d bytes were not read", err, rows.Len())
	}
	if n := b.Counters(); n.Stored.Load() == 0 || n.Received.Load() != n.Stored.Load()+n.Lost[lostBroken].Load() {
		t.Errorf("received %d, stored %d, lost %d", n.Received.Load(), n.Stored.Load(), n.Lost[lostBroken].Load())
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestUnknownColumns(t *testing.T) {
	b := &sendBody{layout: newLayout(), indicators: 5}
	for _, name := range []string{"i5", "log"} {
		if err := b.addColumn(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"i6": `there is no column "i6"; indicators are i1 to i5, as limits.indicators says`,
		"lag": `there is no column "lag"; did you mean "log"? Known columns: type, resname, object, class, view, parentview, ` +
			`ip, host, object_1, object_2, object_3, object_4, object_5, log, timestamp, i1, i2 and the indicators i1 to i5`,
	} {
		if err := b.addColumn(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(b.layout.names) != 2 {
		t.Errorf("the columns are %v", b.layout.names)
	}
}
