package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// cutBody is a body of about 2 kB with rows of every kind. The values are such that a piece of one is a valid value that
// stands in no row; the objects and views carry the number of the run, so that what a run stored can be told apart.
func cutBody(run int) string {
	var b strings.Builder
	b.WriteString("type,resname,object,class,view,parentview,log,i1,i2\n")
	id := fmt.Sprintf("%05d", run)
	for i := range 10 {
		fmt.Fprintf(&b, "createview,cut,,folder,v%s-%d,cut,,,\n", id, i)
		fmt.Fprintf(&b, "data,cut,o%s-%d,host,v%s-%d,,,%d.125,%d\n", id, i, id, i, 1_000_000+i, 1_000_000+i)
		fmt.Fprintf(&b, "log,cut,o%s-%d,host,v%s-%d,,\"line %d,\n\"\"quoted\"\" to its end.\",,\n", id, i, id, i, i)
		fmt.Fprintf(&b, "data,,o%s-%d,,,,,%d.125,\n", id, i, 2_000_000+i)
	}
	return b.String()
}

// A body that breaks off, wherever that is, is never answered as if it were whole; what of it was stored are whole rows,
// none of them after one that was not; and the service goes on.
func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	p := start(t)
	if status, r := p.report("/api/provisioning/custom", strings.NewReader("name\ncut\n")); status != 200 {
		t.Fatalf("%d %+v", status, r)
	}
	size := len(cutBody(0))
	if size < 1800 || size > 2500 {
		t.Fatalf("the body has %d bytes", size)
	}
	run := 0
	var work []cut
	for at := range size { // at the whole size nothing is cut
		body := cutBody(run)
		head := fmt.Sprintf("Content-Length: %d\r\n", size)
		work = append(work, cut{raw: head + "\r\n" + body[:at]})
		body = cutBody(run + 1)
		work = append(work, cut{raw: head + "\r\n" + body[:at], abrupt: true})
		run += 2
	}
	for at := range len(chunked(cutBody(0))) {
		work = append(work, cut{raw: "Transfer-Encoding: chunked\r\n\r\n" + chunked(cutBody(run))[:at]})
		run++
	}
	for at := 0; at < size; at += 13 {
		work = append(work,
			cut{raw: fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, cutBody(run)[:at]), query: "?atomic=true"},
			cut{raw: fmt.Sprintf("Idempotency-Key: k%d\r\nContent-Length: %d\r\n\r\n%s", at, size, cutBody(run + 1)[:at])})
		run += 2
	}
	p.sendCuts(t, work)
	p.healthy()
	p.checkPrefixes(t)
	// A key whose request was cut may be used again, and the whole body is taken.
	for at := range 3 {
		status, r := p.report("/api/send", strings.NewReader(cutBody(99990+at)), "Idempotency-Key", "k"+strconv.Itoa(13*at))
		if status != 200 || r.Accepted != 40 || r.Created.Objects != 10 || r.Created.Views != 10 {
			t.Errorf("the whole body: %d %+v", status, r)
		}
	}
}

// cut is a request that ends too early.
type cut struct {
	raw    string // headers and body, as far as they go
	query  string
	abrupt bool // the connection is gone at once; else only the way to the server ends, and the answer can be read
}

// chunked encodes a body as a few chunks.
func chunked(body string) string {
	var b strings.Builder
	for part := range slices.Chunk([]byte(body), 300) {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
	}
	return b.String() + "0\r\n\r\n"
}

// sendCuts sends the requests, some at a time.
func (p *service) sendCuts(t *testing.T, work []cut) {
	t.Helper()
	queue := make(chan cut)
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for c := range queue {
				if err := p.sendCut(c); err != nil {
					t.Errorf("cut after %d bytes of the request (abrupt %t, query %q): %v", len(c.raw), c.abrupt, c.query, err)
				}
			}
		})
	}
	for _, c := range work {
		queue <- c
	}
	close(queue)
	senders.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func (p *service) sendCut(c cut) error {
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	tcp := conn.(*net.TCPConn)
	if c.abrupt {
		tcp.SetLinger(0)
	}
	if _, err := fmt.Fprintf(conn, "POST /api/send%s HTTP/1.1\r\nHost: belfry\r\nX-Api-Key: %s\r\n%s", c.query, p.key, c.raw); err != nil {
		return err
	}
	if c.abrupt {
		return nil
	}
	if err := tcp.CloseWrite(); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return err
	}
	if len(answer) > 0 && !(bytes.HasPrefix(answer, []byte("HTTP/1.1 400 ")) && bytes.Contains(answer, []byte(`"code":"bad_csv"`))) {
		return fmt.Errorf("answered with %s", answer)
	}
	return nil
}

// checkPrefixes holds what the runs have stored against the rows they sent.
func (p *service) checkPrefixes(t *testing.T) {
	t.Helper()
	stored := map[string][]string{} // by run
	for _, r := range p.query("SELECT object, i1 FROM objectdata ORDER BY timestamp ASC", "rows", "100000") {
		run, _, _ := strings.Cut(r["object"].(string), "-")
		stored[run] = append(stored[run], strconv.FormatFloat(r["i1"].(float64), 'f', -1, 64))
	}
	var sent []string
	for i := range 10 {
		sent = append(sent, fmt.Sprintf("%d.125", 1_000_000+i), fmt.Sprintf("%d.125", 2_000_000+i))
	}
	for run, values := range stored {
		first := slices.Clone(sent[:min(len(values), len(sent))])
		slices.Sort(first)
		slices.Sort(values)
		if !slices.Equal(values, first) {
			t.Errorf("run %s stored %v, which are not the first rows it sent", run, values)
		}
	}
	for _, r := range p.query("SELECT log FROM objectlog", "rows", "100000") {
		if !strings.HasSuffix(r["log"].(string), "\"quoted\" to its end.") {
			t.Errorf("a piece of a log line was stored: %q", r["log"])
		}
	}
	for _, r := range p.query("SELECT name FROM objectstatus WHERE kind<>'resource'", "rows", "100000") {
		if name := r["name"].(string); name != "MAIN" && len(name) != len("v00000-0") {
			t.Errorf("an item was made of a piece of a row: %q", name)
		}
	}
}

// A body long enough to be applied in parts: what was stored when it breaks off is a prefix of its rows.
func TestCutLongBody(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.report("/api/provisioning/custom", strings.NewReader("name\ncut\n"))
	const rows = 16_384 + 4 // a little more than is applied at a time
	const row = len("data,cut,long00,host,cut,1000000\n")
	// Around a line end, inside a value, and around the end of what is applied at a time.
	for i, short := range []int{1, 2, 7, 8, 9, row, 4*row - 1, 4 * row, 4*row + 1, 4*row + 2} {
		object := fmt.Sprintf("long%02d", i)
		var b strings.Builder
		b.WriteString("type,resname,object,class,view,i1\n")
		for i := range rows {
			fmt.Fprintf(&b, "data,cut,%s,host,cut,%d\n", object, 1_000_000+i)
		}
		whole := b.Len()
		c := cut{raw: fmt.Sprintf("Content-Length: %d\r\n\r\n%s", whole, b.String()[:whole-short])}
		if err := p.sendCut(c); err != nil {
			t.Fatalf("%d bytes short: %v", short, err)
		}
		stored := p.count("FROM objectdata WHERE object='" + object + "'")
		if stored >= rows {
			t.Errorf("%d bytes short: %d rows stored of %d", short, stored, rows)
		}
		if i == 0 && stored == 0 {
			t.Error("nothing was applied in part, so this test shows nothing; make the body longer")
		}
		if beyond := p.count(fmt.Sprintf("FROM objectdata WHERE object='%s' AND i1>=%d", object, 1_000_000+stored)); beyond != 0 {
			t.Errorf("%d bytes short: %d rows stored, %d of them not among the first", short, stored, beyond)
		}
	}
	if cut := p.count("FROM objectdata WHERE i1<1000000"); cut != 0 {
		t.Errorf("%d pieces of a value were stored", cut)
	}
	p.healthy()
}

// A packed body that ends too early, in a request that is itself whole.
func TestCutPacked(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.report("/api/provisioning/custom", strings.NewReader("name\ncut\n"))
	f := func(encoding string, packed []byte) {
		t.Helper()
		for at := range packed {
			status, answer := p.post("/api/send", bytes.NewReader(packed[:at]), "Content-Encoding", encoding)
			// Of nothing at all zstd makes nothing at all: a body without a header.
			if status != http.StatusBadRequest || !bytes.Contains(answer, []byte(`"code":"bad_csv"`)) && at > 0 {
				t.Errorf("%s cut after %d of %d bytes: %d %s", encoding, at, len(packed), status, answer)
			}
		}
		if n := p.count("FROM objectdata"); n != 0 {
			t.Errorf("%s: %d rows were stored", encoding, n)
		}
		status, r := p.report("/api/send?dryrun=true", bytes.NewReader(packed), "Content-Encoding", encoding)
		if status != 200 || r.Accepted != 40 {
			t.Errorf("%s, the whole body: %d %+v", encoding, status, r)
		}
	}
	var z bytes.Buffer
	gz := gzip.NewWriter(&z)
	io.WriteString(gz, cutBody(0))
	gz.Close()
	f("gzip", z.Bytes())
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	f("zstd", enc.EncodeAll([]byte(cutBody(0)), nil))
}
