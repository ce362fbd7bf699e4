package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"belfry"
)

// cmdBulk makes the commands that send a CSV body to a package: provision and remove VAR PACKAGE FILE [query].
func cmdBulk(method string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) < 3 {
			ts.Fatalf("usage: provision|remove VAR PACKAGE FILE [query]")
		}
		address := of(ts).base + "/api/provisioning/" + args[1] + "?" + strings.Join(args[3:], "&")
		r, err := http.NewRequest(method, address, strings.NewReader(ts.ReadFile(args[2])))
		ts.Check(err)
		r.Header.Set("Content-Type", "text/csv")
		r.Header.Set("X-Api-Key", ts.Getenv(args[0]))
		do(ts, r, false)
	}
}

// cmdExport prints what a package has made, as CSV without the status line, so that it can be sent again as it is.
func cmdExport(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: export VAR PACKAGE")
	}
	r, err := http.NewRequest("GET", of(ts).base+"/api/provisioning/"+args[1], nil)
	ts.Check(err)
	r.Header.Set("X-Api-Key", ts.Getenv(args[0]))
	res, err := of(ts).client.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/csv") {
		ts.Fatalf("export: status %d, type %q\n%s", res.StatusCode, res.Header.Get("Content-Type"), body)
	}
	ts.Stdout().Write(body)
}

var repetition = regexp.MustCompile(`^(\d+)\*`)

// cmdWrite makes a file of bytes that an archive cannot hold or that would be too long in it.
func cmdWrite(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: write FILE PART…")
	}
	var out bytes.Buffer
	for _, part := range args[1:] {
		n := 1
		if m := repetition.FindStringSubmatch(part); m != nil {
			n, _ = strconv.Atoi(m[1])
			part = part[len(m[0]):]
		}
		var text []byte
		for part != "" {
			c, multibyte, rest, err := strconv.UnquoteChar(part, 0)
			ts.Check(err)
			if c < 0x80 || multibyte {
				text = append(text, string(c)...)
			} else {
				text = append(text, byte(c)) // \xff stands for the byte, not for the character
			}
			part = rest
		}
		out.Write(bytes.Repeat(text, n))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

// cmdStall begins a request and keeps it from ending until the script does or until release: of a body only the first
// half is sent, of an answer only the first line is read. It returns when the server is at work on it.
func cmdStall(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: stall VAR METHOD PATH [FILE]")
	}
	s := of(ts)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	ts.Check(err)
	s.stalled = append(s.stalled, conn)
	ts.Defer(func() { conn.Close() })
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: belfry\r\nX-Api-Key: %s\r\n", args[1], args[2], ts.Getenv(args[0]))
	want := "HTTP/1.1 200 OK"
	if len(args) > 3 {
		body := ts.ReadFile(args[3])
		// The server says "continue" when it begins to read the body.
		fmt.Fprintf(conn, "Content-Length: %d\r\nExpect: 100-continue\r\n\r\n%s", 2*len(body), body)
		want = "HTTP/1.1 100 Continue"
	} else {
		fmt.Fprint(conn, "\r\n")
	}
	line, err := bufio.NewReaderSize(conn, 64).ReadString('\n')
	ts.Check(err)
	if got := strings.TrimSpace(line); got != want {
		ts.Fatalf("the stalled request was answered with %q, not %q", got, want)
	}
}

// cmdRelease breaks off the requests that stall.
func cmdRelease(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	for _, conn := range s.stalled {
		conn.Close()
	}
	s.stalled = nil
}

// checkReport holds every report to its arithmetic, whatever the script looks at.
func checkReport(ts *testscript.TestScript, res *http.Response, body []byte) {
	if !bytes.Contains(body, []byte(`"errors_truncated"`)) {
		return
	}
	var r struct {
		Error *struct{ Code string }
		belfry.Report
	}
	ts.Check(json.Unmarshal(body, &r))
	if r.Accepted+r.Rejected+r.Discarded != r.Rows {
		ts.Fatalf("%d accepted + %d rejected + %d discarded is not %d rows", r.Accepted, r.Rejected, r.Discarded, r.Rows)
	}
	want := 200
	switch {
	case r.Error != nil:
		want = 400
	case r.Rejected > 0:
		want = 207
	}
	if res.StatusCode != want || (r.Error != nil && r.Accepted != 0) || (r.Error == nil && r.Rejected > 0 && r.Rejected == r.Rows) {
		ts.Fatalf("status %d does not go with the report", res.StatusCode)
	}
	if len(r.Errors) > belfry.MaxReported || r.Truncated && len(r.Errors) != belfry.MaxReported {
		ts.Fatalf("%d errors are listed, truncated is %t", len(r.Errors), r.Truncated)
	}
	if !slices.IsSortedFunc(r.Errors, func(a, b belfry.RowError) int { return a.Row - b.Row }) {
		ts.Fatalf("the errors are not in the order of the rows")
	}
	// A header stands before the rows of a CSV body, so a row is never on the line of its number.
	header := res.Request.Method != "GET" && !strings.Contains(res.Request.Header.Get("Content-Type"), "json")
	for _, e := range r.Errors {
		if e.Row < 1 || e.Row > r.Rows || e.Line < 1 || e.Line <= e.Row && header || e.Code == "" || e.Message == "" {
			ts.Fatalf("not a proper error of a row: %+v", e)
		}
	}
}

// cmdAct sends the body of an action: act VAR KIND JSON [header]….
func cmdAct(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: act VAR KIND JSON [header]…")
	}
	r, err := http.NewRequest("POST", of(ts).base+"/api/ackmanagenote/"+args[1], strings.NewReader(args[2]))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", ts.Getenv(args[0]))
	for _, h := range args[3:] {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	do(ts, r, false)
}
