package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"belfry"
)

// abuse sends bodies that are meant to hurt, and watches the memory of the server.
type abuse struct {
	*service
	t    *testing.T
	most int64 // bytes by which a request may make the server grow
}

// startAbuse has a server that has done some ordinary work: what that takes is not growth.
func startAbuse(t *testing.T, config string, most int64) *abuse {
	t.Helper()
	t.Parallel()
	file := filepath.Join(t.TempDir(), "belfry.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &abuse{service: start(t, "--config", file), t: t, most: most * raceFactor}
	a.report("/api/provisioning/custom", strings.NewReader("name\nabuse\n"))
	var b strings.Builder
	b.WriteString("type,resname,object,class,view,i1\n")
	for i := range 50_000 {
		fmt.Fprintf(&b, "data,abuse,warm %d,host,abuse,%d\n", i%100, i)
	}
	if status, r := a.report("/api/send", strings.NewReader(b.String())); status != 200 {
		t.Fatalf("%d %+v", status, r)
	}
	return a
}

// try sends a body, checks that the answer matches, that a neighbour in the body was stored if there is one, and how
// much the server grew. A "neighbour" is a log row of the object n with the text the case is called by.
func (a *abuse) try(name string, body io.Reader, want string, header ...string) (r belfry.Report) {
	a.t.Helper()
	before := a.resetPeak()
	status, answer := a.post("/api/send", body, header...)
	grown := a.memory("VmHWM") - before
	a.t.Logf("%s: %d, grown by %d MiB", name, status, grown>>20)
	if grown > a.most {
		a.t.Errorf("%s: the server grew by %d MiB, more than %d", name, grown>>20, a.most>>20)
	}
	got := strconv.Itoa(status) + " " + string(answer)
	if !regexp.MustCompile(want).MatchString(got) {
		a.t.Errorf("%s: answered with %.600s, not %s", name, got, want)
	}
	if status == 200 || status == 207 {
		if err := json.Unmarshal(answer, &r); err != nil {
			a.t.Fatal(err)
		}
		if r.Accepted+r.Rejected+r.Discarded != r.Rows || len(r.Errors) != min(r.Rejected, belfry.MaxReported) || r.Truncated != (r.Rejected > belfry.MaxReported) {
			a.t.Errorf("%s: the report does not add up: %d rows, %d accepted, %d rejected, %d listed, truncated %t",
				name, r.Rows, r.Accepted, r.Rejected, len(r.Errors), r.Truncated)
		}
		if n := a.count("FROM objectlog WHERE log='" + name + "'"); n != 2 {
			a.t.Errorf("%s: %d of the 2 neighbours were stored", name, n)
		}
	}
	a.healthy()
	return r
}

// between puts rows between two good ones, under a header of type, resname, object, class, view, log and i1.
func between(name string, rows io.Reader) io.Reader {
	good := "log,abuse,n,text,abuse," + name + ",\n"
	return io.MultiReader(strings.NewReader("type,resname,object,class,view,log,i1\n"+good), rows, strings.NewReader(good))
}

// memory reads a line of the server's own account, in bytes.
func (a *abuse) memory(line string) int64 {
	a.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.cmd.Process.Pid))
	if err != nil {
		a.t.Fatal(err)
	}
	m := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		a.t.Fatalf("no %s in\n%s", line, text)
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		a.t.Fatal(err)
	}
	return kib << 10
}

// resetPeak makes the peak what is used now, and gives it.
func (a *abuse) resetPeak() int64 {
	a.t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", a.cmd.Process.Pid), []byte("5"), 0); err != nil {
		a.t.Fatalf("cannot reset the peak of the memory: %v", err)
	}
	return a.memory("VmHWM")
}

const mib = 1 << 20

// repeat is a text so many times over, without ever being there as a whole.
type repeat struct {
	text string
	left int64 // bytes
	at   int
}

func times(n int, text string) io.Reader {
	return &repeat{text: text, left: int64(n) * int64(len(text))}
}

func (r *repeat) Read(b []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	for n < len(b) && r.left > 0 {
		k := copy(b[n:min(len(b), n+int(min(r.left, 1<<20)))], r.text[r.at:])
		r.at = (r.at + k) % len(r.text)
		r.left -= int64(k)
		n += k
	}
	return n, nil
}

func gzipped(t testing.TB, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t testing.TB, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Bodies that unpack to a thousand times their size are read as far as the limit of a body and no further.
//
// The limit of growth: such a request has a buffer of a row and a bit (1 MiB), a decompressor with a window of at most 8 MiB,
// and a chunk of 8 MiB; the heap grows by 60 % between two collections. Were a body kept whole, it would be 32 MiB at once.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	a := startAbuse(t, "limits: {body: 32MiB, body_held: 32MiB}", 28*mib)
	const unpacked = 40 * mib
	tooLarge := `^413 \{"error":\{"code":"body_too_large"`
	head, zhead := gzipped(t, strings.NewReader("type,object,log\n")), zstandard(t, strings.NewReader("type,object,log\n"))
	rows := gzipped(t, times(unpacked/1024, strings.Repeat("x", 1023)+"\n"))
	row, zrow := gzipped(t, times(unpacked, "x")), zstandard(t, times(unpacked, "x"))
	if len(row) > unpacked/900 || len(zrow) > unpacked/900 {
		t.Fatalf("not much of a bomb: %d and %d bytes", len(row), len(zrow))
	}
	a.try("rows", bytes.NewReader(slices.Concat(head, rows)), tooLarge, "Content-Encoding", "gzip")
	a.try("one row", bytes.NewReader(slices.Concat(head, row)), tooLarge, "Content-Encoding", "gzip")
	a.try("members", io.MultiReader(bytes.NewReader(head), times(unpacked/mib, string(gzipped(t, times(mib, "x"))))), tooLarge, "Content-Encoding", "gzip")
	a.try("zstd", bytes.NewReader(slices.Concat(zhead, zrow)), tooLarge, "Content-Encoding", "zstd")
	a.try("frames", io.MultiReader(bytes.NewReader(zhead), times(unpacked/mib, string(zstandard(t, times(mib, "x"))))), tooLarge, "Content-Encoding", "zstd")
	// Under an Idempotency-Key it is held, in a file.
	a.try("held", bytes.NewReader(slices.Concat(head, rows)), tooLarge, "Content-Encoding", "gzip", "Idempotency-Key", "bomb")
	// What is packed inside stays packed: it is text that nobody can read.
	a.try("nested", bytes.NewReader(gzipped(t, bytes.NewReader(row))), `^400 \{"error":\{"code":"bad_header"`, "Content-Encoding", "gzip")
	r := a.try("nested rows", bytes.NewReader(gzipped(t, between("nested rows", io.MultiReader(bytes.NewReader(rows), strings.NewReader("\n"))))),
		`^207 `, "Content-Encoding", "gzip")
	if r.Accepted != 2 {
		t.Errorf("rows of packed bytes were taken: %d", r.Accepted-2)
	}
	// Several at a time, each with its own decompressor.
	before := a.resetPeak()
	var senders sync.WaitGroup
	for i := range 4 {
		encoding, body := "gzip", slices.Concat(head, row)
		if i%2 == 0 {
			encoding, body = "zstd", slices.Concat(zhead, zrow)
		}
		senders.Go(func() {
			if status, answer := a.post("/api/send", bytes.NewReader(body), "Content-Encoding", encoding); status != 413 {
				t.Errorf("%s beside others: %d %s", encoding, status, answer)
			}
		})
	}
	senders.Wait()
	if grown := a.memory("VmHWM") - before; grown > 2*a.most {
		t.Errorf("four at a time made the server grow by %d MiB", grown>>20)
	}
	a.healthy()
}

// Rows that cannot be taken, many of them or large ones, cost no memory, and the rows beside them are stored.
//
// The limit of growth: of a bad row nothing is kept but the first hundred errors; what is left are two chunks of 8 MiB at
// the most, one being read and one being decided. A body of large rows kept whole would be 40 MiB and more.
func TestBadRowsInBulk(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	a := startAbuse(t, "", 40*mib)
	f := func(name string, rows io.Reader, n int, code string) {
		t.Helper()
		r := a.try(name, between(name, rows), `^207 `)
		if r.Rows != n+2 || r.Rejected != n || string(r.Errors[0].Code) != code {
			t.Errorf("%s: %d rows, %d rejected, the first because of %s; want %d, %s", name, r.Rows, r.Rejected, r.Errors[0].Code, n, code)
		}
		if e := r.Errors[len(r.Errors)-1]; n >= 100 && (e.Row != 101 || e.Line != 102) {
			t.Errorf("%s: the last error listed is of row %d, line %d", name, e.Row, e.Line)
		}
	}
	const many, fewer, large = 100_000, 20_000, 20 // fewer: still more than is applied at a time
	f("wrong type", times(many, "metric,abuse,n,text,abuse,,1\n"), many, "unknown_type")
	f("no object", times(many, "data,abuse,nothing,,,,1\n"), many, "unknown_object")
	f("no resource", times(fewer, "data,nothing,n,text,abuse,,1\n"), fewer, "unknown_resource")
	f("no number", times(many, "data,abuse,warm 1,,,,much\n"), many, "bad_value")
	f("no value", times(fewer, "data,abuse,warm 1,,,,\n"), fewer, "missing_value")
	f("too long", times(fewer, "log,abuse,n,,,text,,more\n"), fewer, "bad_row")
	f("bare quotes", times(many, "log,abuse,n,,,a \" b,\n"), many, "bad_row")
	f("not UTF-8", times(fewer, "log,abuse,n,,,\xff,\n"), fewer, "bad_row")
	f("open quotes", times(fewer, "log,abuse,n,,,\"x,y\"z\n"), fewer, "bad_row")
	f("commas", times(large, strings.Repeat(",", mib-1)+"\n"), large, "bad_row")
	f("2 MiB", times(large, "log,abuse,n,,,"+strings.Repeat("x", 2*mib)+",\n"), large, "bad_row")
	f("1 MiB and a bit", times(large, "log,abuse,n,,,"+strings.Repeat("ä", mib/2)+",\n"), large, "bad_row")
	f("2 MiB quoted", times(large, "log,abuse,n,,,\""+strings.Repeat("x\n", 10)+strings.Repeat("x", 2*mib)+"\",\n"), large*11, "bad_row")
	// Rows of just 1 MiB are fine. They go into the journal and into the store, so they are there more than once.
	a.most = 150 * mib * raceFactor
	r := a.try("1 MiB", between("1 MiB", times(large, "log,abuse,n,,,"+strings.Repeat("x", mib-len("log,abuse,n,,,,"))+",\n")), `^200 `)
	if r.Accepted != large+2 {
		t.Errorf("%d rows of 1 MiB were taken", r.Accepted-2)
	}
}

// Headers that are no headers are refused as a whole, and quickly.
func TestBadHeaders(t *testing.T) {
	a := startAbuse(t, "", 48*mib)
	badHeader := `^400 \{"error":\{"code":"bad_header","message":"`
	a.try("columns", io.MultiReader(strings.NewReader("type"), times(100_000, ",i1"), strings.NewReader("\n")), badHeader)
	a.try("long", io.MultiReader(times(100*mib/2, "xy"), strings.NewReader("\ndata\n")), `^4(00|13) `)
	a.try("endless", times(3*mib, "type"), badHeader)
	a.try("quoted", io.MultiReader(strings.NewReader(`"`), times(3*mib, "type\n")), badHeader)
	a.try("name", strings.NewReader("type,"+strings.Repeat("x", 900<<10)+"\n"), badHeader+`.{1,900}\n$`)
	a.try("semicolons", strings.NewReader("type;object;i1\ndata;n;1\n"), badHeader+`.*semicolon`)
	a.try("binary", times(1000, "\x00\x01\x02\xff"), `^400 `)
	for _, order := range []string{"\xff\xfe", "\xfe\xff", ""} {
		a.try("UTF-16", strings.NewReader(utf16Text(order, "type,object,i1\ndata,n,1\n")), `^400 \{"error":\{"code":"bad_csv","message":".*UTF-8`)
	}
}

// utf16Text encodes a text, little-endian unless the mark says otherwise.
func utf16Text(mark, text string) string {
	out := []byte(mark)
	for _, u := range utf16.Encode([]rune(text)) {
		if mark == "\xfe\xff" {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return string(out)
}

// A body that is applied as a whole takes memory in proportion to its size: of rows this short about ten times as much,
// until all of them have been decided.
func TestWholeInBulk(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	a := startAbuse(t, "", 150*mib)
	const size = 16 * mib
	a.most = (12*size + 50*mib) * raceFactor
	row := "data,abuse,nothing,,,,1\n"
	for _, query := range []string{"atomic=true", "dryrun=true"} {
		before := a.resetPeak()
		status, answer := a.post("/api/send?"+query, between(query, times(size/len(row), row)))
		if grown := a.memory("VmHWM") - before; grown > a.most {
			t.Errorf("%s: answered with %d %.100s, the server grew by %d MiB", query, status, answer, grown>>20)
		}
	}
}
