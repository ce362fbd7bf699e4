package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// TestWorkload: the rows are what a CSV reader takes, objects come in turn, and the numbers are what they are said to be.
func TestWorkload(t *testing.T) {
	const objects = 250
	w := newWorkload(objects)
	counters := map[string]int{}
	for round := range 3 {
		rows := readRows(t, w.body(nil, objects, round == 0))
		if len(rows) != objects {
			t.Fatalf("%d rows", len(rows))
		}
		for i, row := range rows {
			if want := fmt.Sprintf("obj%07d", i); row[2] != want || row[1] != fmt.Sprintf("res%05d", i/perResource) {
				t.Fatalf("row %d is about %s of %s", i, row[2], row[1])
			}
			numbers := row[len(row)-values:]
			for _, n := range numbers {
				if _, err := strconv.ParseFloat(n, 64); err != nil {
					t.Fatal(err)
				}
			}
			counter, err := strconv.Atoi(numbers[4])
			if err != nil || counter < counters[row[2]] || numbers[2] != "42" {
				t.Fatalf("row %q after counter %d", row, counters[row[2]])
			}
			counters[row[2]] = counter
		}
	}
}

// TestOtherWorkloads: random digits have two to six of them, and a changing object is above the threshold every other time.
func TestOtherWorkloads(t *testing.T) {
	const objects = 200
	lengths := map[int]int{}
	digits := newWorkload(objects)
	digits.digits = true
	for _, row := range readRows(t, digits.body(nil, objects, false)) {
		for _, v := range row[3:] {
			if _, err := strconv.Atoi(v); err != nil || v[0] == '0' {
				t.Fatalf("row %q", row)
			}
			lengths[len(v)]++
		}
	}
	if len(lengths) != 5 || lengths[2] < objects/2 || lengths[6] < objects/2 {
		t.Errorf("values by their digits: %v", lengths)
	}
	next := bodies(job{First: 1000, Objects: objects, Rows: objects, Change: true})
	for round := 1; round < 4; round++ { // round 0 is that of whoever prepared the objects
		for i, row := range readRows(t, next(nil)) {
			v, err := strconv.Atoi(row[4])
			if above := (i+round)%2 == 1; err != nil || above != (v > 100) || row[2] != fmt.Sprintf("obj%07d", 1000+i) || row[1] != fmt.Sprintf("res%05d", 10+i/perResource) {
				t.Fatalf("round %d, row %d is %q", round, i, row)
			}
		}
	}
}

// readRows are the rows of a body without its header.
func readRows(t *testing.T, body []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func TestAppendDecimal(t *testing.T) {
	f := func(n int32, places int, want string) {
		t.Helper()
		if got := string(appendDecimal(nil, n, places)); got != want {
			t.Errorf("%d with %d places: got %s, want %s", n, places, got, want)
		}
	}
	f(0, 2, "0")
	f(1234, 2, "12.34")
	f(1230, 2, "12.3")
	f(1200, 2, "12")
	f(-7, 2, "-0.07")
	f(5, 3, "0.005")
}

// TestSender runs whole jobs against a small server.
func TestSender(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("x-api-key") != "secret" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		fmt.Fprintf(w, `{"rows":1,"accepted":%d,"rejected":0}`, bytes.Count(body, []byte("\n"))-1)
	}))
	defer h.Close()
	f := func(j job, bodies, rows, refused int) {
		t.Helper()
		j.Addr, j.Path, j.Objects, j.Clients = h.Listener.Addr().String(), "/api/send", 100, 3
		o := runSender(t, j)
		if o.Bodies != bodies || o.Rows != rows || o.Refused != refused {
			t.Fatalf("got %+v, want %d bodies with %d rows, %d refused", o, bodies, rows, refused)
		}
		if o.Max < o.P99 || o.P99 < o.P50 || (o.P50 > 0) != (bodies > 0) || o.End.Before(o.Start) {
			t.Fatalf("times do not fit: %+v", o)
		}
	}
	f(job{Key: "secret", Rows: 20, Create: true}, 5, 100, 0)
	f(job{Key: "wrong", Rows: 20, Create: true}, 0, 0, 5)
	f(job{Key: "secret", Rows: 20, Rate: 20_000, Seconds: 0.01}, 10, 200, 0)
}

// TestStall: while the only client waits for an answer, the bodies that are due then become late, and that is in their times.
func TestStall(t *testing.T) {
	var requests atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			time.Sleep(50 * time.Millisecond) // all others are due 10 ms after the start at the latest
		}
		io.WriteString(w, `{"accepted":1}`)
	}))
	defer h.Close()
	o := runSender(t, job{Addr: h.Listener.Addr().String(), Path: "/", Objects: 10, Rows: 1, Rate: 500, Seconds: 0.01, Clients: 1})
	if o.Bodies != 5 || o.Waited < 4 || o.P50 < 40 {
		t.Errorf("%+v", o)
	}
}

// TestAskingSender: a sender that asks looks at each answer.
func TestAskingSender(t *testing.T) {
	s := stand(t, 200, `{"rows":[{"object":"a"}]}`)
	for object, want := range map[string]bool{"a": true, "b": false} {
		q := question{Rows: 1, Only: [2]string{"object", object}}
		text, err := json.Marshal(job{Questions: []question{q}, Rows: 1, Rate: 1000, Seconds: 0.01, Clients: 2}.to(s))
		if err != nil {
			t.Fatal(err)
		}
		send, err := prepareLoad(text)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := send(); (err == nil) != want || want && o.Rows != 10 {
			t.Errorf("%+v, %v", o, err)
		}
	}
}

// TestOrdered: the message that is looked for is the one that the server logs.
func TestOrdered(t *testing.T) {
	text, err := os.ReadFile("../../store/duck/order.go")
	if err != nil || !bytes.Contains(text, []byte(`Log.Info("`+orderedMessage)) {
		t.Errorf("the server does not log %q any more; %v", orderedMessage, err)
	}
}

// runSender talks to the sender as the main process does.
func runSender(t *testing.T, j any) *outcome {
	t.Helper()
	toSender, in := io.Pipe()
	out, fromSender := io.Pipe()
	done := make(chan error, 1)
	prepare := prepareLoad
	if _, ok := j.(flood); ok {
		prepare = prepareFlood
	}
	go func() { done <- senderProcess(toSender, fromSender, prepare) }()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	begun := false
	o, err := converse(in, bufio.NewReader(out), text, func() { begun = true })
	if err != nil || !begun {
		t.Fatal(err, begun)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return o
}

// TestClient: an answer that the small client does not understand is an error, not a wrong figure.
func TestClient(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 100))
			_, _ = io.WriteString(conn, answer)
		}()
		c, err := dial(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		got := ""
		if status, body, err := c.do([]byte("x")); err == nil {
			got = fmt.Sprint(status, " ", string(body))
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
	f("HTTP/1.1 200 OK\r\nDate: now\r\ncontent-length: 3\r\n\r\nabc", "200 abc")
	f("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", "503 ")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "200 abc")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabc", "")
	f("HTTP/1.1 200 OK\r\n\r\nabc", "")
	f("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", "")
	f("hello\r\n\r\n", "")
}

func TestParsers(t *testing.T) {
	figures := parseBench("goos: linux\nBenchmarkAppend/bare-2   \t 100\t 48000000 ns/op\t 2.19 bytes/value\t 1034567 rows/s\nPASS\n")
	if got := figures["BenchmarkAppend/bare"]; got["rows/s"] != 1034567 || got["bytes/value"] != 2.19 {
		t.Errorf("benchmark: %v", figures)
	}
	stat := "17 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0"
	if got, err := parseStat(stat); err != nil || got != 3 {
		t.Errorf("process status: %v, %v", got, err)
	}
	if _, err := parseStat("17 (a) S 1"); err == nil {
		t.Error("a short process status was taken")
	}
	if got := kibiField("VmPeak: 9 kB\nVmRSS:\t 2048 kB\n", "VmRSS:"); got != 2048 {
		t.Errorf("memory: %v", got)
	}
	if got := busyCPU("cpu  100 0 200 9999 9999 1 2 3 77 0\ncpu0 1\n"); got != 3.06 {
		t.Errorf("busy: %v", got)
	}
	if got := metric([]byte("# HELP a_b x\na_b_c 4\na_b 1.9e+06\n"), "a_b"); got != 1.9e6 {
		t.Errorf("metric: %v", got)
	}
	if got := accepted([]byte(`{"rows":5,"accepted":42,"rejected":0}`)); got != 42 {
		t.Errorf("accepted: %d", got)
	}
	if got := thousands(1234567.4) + thousands(999) + thousands(-1000); got != "1,234,567999-1,000" {
		t.Errorf("thousands: %s", got)
	}
}

func TestQuantile(t *testing.T) {
	var d []time.Duration
	for i := range 1000 {
		d = append(d, time.Duration(i+1)*time.Millisecond)
	}
	if a, b, c := quantiles(d); a != 501 || b != 991 || c != 1000 {
		t.Errorf("got %v %v %v", a, b, c)
	}
	if a, b, c := quantiles(nil); a != 0 || b != 0 || c != 0 {
		t.Error("quantiles of nothing")
	}
}

// TestBareServer: the limit is measured against something that answers.
func TestBareServer(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(bareAnswer))
	defer h.Close()
	o := runSender(t, job{Addr: h.Listener.Addr().String(), Path: "/x?a=1", Objects: 10, Rows: 1, Create: true, Clients: 2})
	if o.Bodies != 10 || o.Refused != 0 {
		t.Fatalf("%+v", o)
	}
}

func TestFlags(t *testing.T) {
	f := func(want bool, args ...string) {
		t.Helper()
		if _, err := readFlags(args); (err == nil) != want {
			t.Errorf("%q: %v", args, err)
		}
	}
	f(true)
	f(true, "-quick", "-only", "limits,bulk")
	f(true, "-page", "results.jsonl", "-out", "page.md")
	f(false, "-only", "everything")
	f(false, "-seconds", "0")
	f(false, "now")
	if err := pause(canceled(), time.Hour); err == nil {
		t.Error("a pause does not end with its context")
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
