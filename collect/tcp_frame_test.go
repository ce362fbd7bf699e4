package collect

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/collect/syslog"
)

// A stream may use octet counting or delimiters, and may be split anywhere.
func TestSyslogTCP(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "T,tcp,"+addr)
	h.up("T")
	c := dial(t, "tcp", "127.0.0.1", addr)
	for b := range strings.SplitSeq("12 <13>counted\n15 <13>with\nbreak!<14>a line\r\n<14>another\x00\n2026 is no count\n\n<13>the last, not ended", "") {
		io.WriteString(c, b)
	}
	c.Close()
	long := dial(t, "tcp", "127.0.0.1", addr)
	fmt.Fprintf(long, "<13>%s\n<13>after\n", strings.Repeat("x", tcpLength*3))
	long.Close()
	want := []string{"counted", "with\nbreak!", "a line", "another", "2026 is no count", "the last, not ended", strings.Repeat("x", tcpLength-4), "after"}
	slices.Sort(want)
	h.await("all is stored", func() bool { return slices.Equal(h.stored("syslog", "message"), want) })
	h.remove("log-syslog-receiver", "T")
	h.await("the port is closed", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

// TestStreamEnds: the delimiter is determined for each connection; other delimiters are part of its texts. A text may
// contain anything.
func TestStreamEnds(t *testing.T) {
	f := func(stream string, want ...string) {
		t.Helper()
		for _, piece := range []int{1, len(stream)} {
			var got []string
			for _, m := range serveStream(t, stream, piece) {
				got = append(got, (&syslog.Parser{Zone: time.UTC, Now: time.Now}).Parse(m.text).Message)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%.100q in pieces of %d: got %.300q, want %.300q", stream, piece, got, want)
			}
		}
	}
	f("<13>one\ntwo\x00<13>three\x00<13>four\n<13>five\x00", "one\ntwo", "three", "four\n<13>five")
	f("<13>one\x00two\n<13>three\n<13>four\x00<13>five\n", "one␀two", "three", "four␀<13>five")
	f("<13>one\r\n<13>two\r\n", "one", "two")
	f("<13>one\n\x00<13>two\n\x00", "one", "two")
	f("<13>one\x00\n<13>two\x00\n", "one", "two")
	f("<13>an error\n\tat this\n\tat that\n<13>next\n", "an error", "\tat this", "\tat that", "next")
	f("15 <13>a\x00b\n<13>c\x00d7 <13>end<13>a line\n7 <13>two\n<13>three\n", "a␀b\n<13>c␀d", "end", "a line", "two", "three")
	f("<13>a line\n18 <13>counted\x00\nagain<13>more\n", "a line", "counted␀\nagain", "more")
	f("<13>a\nbreak\x0018 <13>counted\x00\nagain<13>more\x00", "a\nbreak", "counted␀\nagain", "more")
	f("no priority\nnone\x00here\nnor there\n", "no priority", "none␀here", "nor there")
	f("no priority\x00and none\x00", "no priority", "and none")
	f("12 <b>no count</b>\n404 not found\n", "12 <b>no count</b>", "404 not found")
	f("<13>only\nthis\x00", "only\nthis")
	f("<13>only\x00this\n", "only␀this")
	f("<13>not\x00ended", "not␀ended")
	f("\x00\n\r\n<13>after nothing\n", "after nothing")
}

// TestStreamSenders: senders of all kinds use one port at the same time.
func TestStreamSenders(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "T,tcp,"+addr)
	h.up("T")
	frames := map[string]func(string) string{
		"127.0.3.1": func(m string) string { return m + "\n" },
		"127.0.3.2": func(m string) string { return m + "\x00" },
		"127.0.3.3": func(m string) string { return fmt.Sprintf("%d %s", len(m), m) },
	}
	const lines = 2000
	var senders sync.WaitGroup
	for from, frame := range frames {
		c := dial(t, "tcp", from, addr)
		senders.Go(func() {
			for i := range lines {
				io.WriteString(c, frame(fmt.Sprintf("<13>Nov 14 10:11:12 web01 app[7]: line %d", i)))
			}
			c.Close()
		})
	}
	senders.Wait()
	h.await("all is booked", func() bool {
		h.env.connLimit.mu.Lock()
		defer h.env.connLimit.mu.Unlock()
		n := h.env.Totals.Kept.Load()
		return h.env.connLimit.open == 0 && n > 2*lines && n == h.env.Totals.Received.Load()
	})
	got := map[string][]string{}
	for _, line := range h.inOrder("syslog", "ip", "app", "procid", "message") {
		got[line[:len("127.0.3.1")]] = append(got[line[:len("127.0.3.1")]], line)
	}
	for from := range frames {
		if len(got[from]) != lines {
			t.Fatalf("%s: %d rows", from, len(got[from]))
		}
		for i, line := range got[from] {
			if want := fmt.Sprintf("%s|app|7|line %d", from, i); line != want {
				t.Fatalf("row %d is %s, want %s", i, line, want)
			}
		}
	}
}

// TestStreamOrder: the rows of a connection are in the order in which its messages came, and so are their ids.
func TestStreamOrder(t *testing.T) {
	lines := 20000
	if testing.Short() {
		lines = 8000
	}
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "T,tcp,"+addr)
	h.up("T")
	c := dial(t, "tcp", "127.0.0.1", addr)
	var want []string
	for i := range lines {
		want = append(want, fmt.Sprint("line ", i))
		if _, err := fmt.Fprintf(c, "<13>line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	h.await("all is stored", func() bool { return h.env.Totals.Kept.Load() == int64(lines) })
	if got := h.inOrder("syslog", "message"); !slices.Equal(got, want) {
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("row %d is %q", i, got[i])
			}
		}
	}
}

// TestStreamCut: of a message that is too long the first 64 KiB are kept, whole characters of them. The row says how long it was,
// and the receiver counts it.
func TestStreamCut(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "T,tcp,"+addr)
	h.up("T")
	x := func(n int) string { return strings.Repeat("x", n) }
	const header = len("<13>")
	var want []string
	f := func(message, kept string, length int) {
		t.Helper()
		mark := ""
		if length > 0 {
			mark = fmt.Sprintf(`[cut length="%d"]`, length)
		}
		for _, stream := range []string{"<13>" + message + "\n<13>after\n", fmt.Sprintf("%d <13>%s<13>after\n", header+len(message), message), "<13>" + message + "\x00<13>after\x00"} {
			c := dial(t, "tcp", "127.0.0.1", addr)
			io.WriteString(c, stream)
			c.Close()
			want = append(want, kept+"|"+mark, "after|")
		}
	}
	f(x(tcpLength-header), x(tcpLength-header), 0)
	f(x(tcpLength-header+1), x(tcpLength-header), tcpLength+1)
	f(x(3*tcpLength), x(tcpLength-header), 3*tcpLength+header)
	f(x(tcpLength-header-1)+"é", x(tcpLength-header-1), tcpLength+1) // no half characters
	f(x(tcpLength-header-1)+"\xe9\xa9\xa9\xa9", x(tcpLength-header-1), tcpLength+3)
	slices.Sort(want)
	h.await("all is stored", func() bool { return len(h.stored("syslog", "message")) >= len(want) })
	for i, got := range h.stored("syslog", "message", "data") {
		if got != want[i] {
			t.Errorf("stored are %d bytes, ending with %q, want %d with %q", len(got), got[max(0, len(got)-40):], len(want[i]), want[i][max(0, len(want[i])-40):])
		}
	}
	if n := h.env.Totals.Cut.Load(); n != 12 {
		t.Errorf("%d counted", n)
	}
}

// TestStreamHeard: a complete message does not wait for the rest of the next one.
func TestStreamHeard(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "T,tcp,"+addr)
	h.up("T")
	c := dial(t, "tcp", "127.0.0.1", addr)
	io.WriteString(c, "<13>one\n7 <13>two<13>thr")
	h.await("two are stored", func() bool { return slices.Equal(h.stored("syslog", "message"), []string{"one", "two"}) })
	io.WriteString(c, "ee\n")
	h.await("and the third", func() bool { return slices.Equal(h.stored("syslog", "message"), []string{"one", "three", "two"}) })
}

// TestStreamAlone: a message is kept if nothing follows, although only what follows would show that it has ended.
func TestStreamAlone(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "T,tcp,"+addr)
	h.up("T")
	f := func(pieces ...string) {
		t.Helper()
		c := dial(t, "tcp", "127.0.0.1", addr)
		for i := 0; i < len(pieces); i += 2 {
			io.WriteString(c, pieces[i])
			h.await("it is stored", func() bool {
				got := h.inOrder("syslog", "message")
				return len(got) > 0 && got[len(got)-1] == pieces[i+1]
			})
		}
	}
	f("<13>line one\n", "line one", "<13>line two\n", "line two", "<13>line\x00three\n", "line␀three")
	f("<13>NUL one\x00", "NUL one", "<13>NUL\ntwo\x00", "NUL\ntwo", "<13>NUL three\x00", "NUL three")
	f("bare one\n", "bare one", "bare two\x00", "bare two", "bare\x00three\n", "bare␀three")
}

// serveStream returns the messages of a stream that arrives in pieces.
func serveStream(t *testing.T, s string, piece int) (got []raw) {
	t.Helper()
	account := (&Env{}).NewStats()
	box := newInbox(1 << 20)
	p := boundPort(1, account, box)
	a, b := net.Pipe()
	go func() {
		for rest := []byte(s); len(rest) > 0; {
			n := min(max(piece, len(s)/500+1), len(rest))
			a.Write(rest[:n])
			rest = rest[n:]
		}
		a.Close()
	}()
	(&tcpSocket{port: p, delimiterWait: time.Hour}).serve(t.Context(), &connection{conn: b})
	box.close()
	for all := box.take(nil); len(all) > 0; all = box.take(nil) {
		got = append(got, all...)
	}
	if int64(len(got)) != account.Received.Load() {
		t.Errorf("%d messages, %d booked", len(got), account.Received.Load())
	}
	return got
}

// checkStream: however a stream is split, it has the same messages, and all are counted.
func checkStream(t *testing.T, s string, piece int) {
	t.Helper()
	var want, got []string
	whole := framer{in: bufio.NewReaderSize(strings.NewReader(s), streamBytes), conn: &net.TCPConn{}}
	for err := error(nil); err == nil; {
		var m []byte
		var long int
		if m, long, err = whole.next(); len(m) > 0 {
			want = append(want, fmt.Sprint(string(m), long))
		}
	}
	for _, m := range serveStream(t, s, piece) {
		got = append(got, fmt.Sprint(m.text, m.fullSize))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %.300q, want %.300q", got, want)
	}
}

// TestStreamLong: many messages, some longer than any buffer.
func TestStreamLong(t *testing.T) {
	for _, piece := range []int{1000, streamBytes, 1 << 20} {
		for _, end := range []string{"\r\n", "\x00"} {
			checkStream(t, strings.Repeat("<13>many"+end, 3*streamMessages+1), piece)
			checkStream(t, strings.Repeat("many"+end, 3*streamMessages+1), piece)
			checkStream(t, strings.Repeat("x", tcpLength+10)+end+"70000 <13>"+strings.Repeat("y", 69996)+"<13>z", piece)
			checkStream(t, "<13>"+strings.Repeat("many lines\n", 2*streamBytes/10)+end+"<13>next"+end+"<13>and\x00one more"+end, piece)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add("12 <13>counted\n<14>a line\n", 3)
	f.Add("999999999999 <13>x", 100)
	f.Add("<13>one\ntwo\x00<13>three\x00", 4)
	f.Add("<13>one\x00two\n<13>three\n", 4)
	f.Add("no\x00priority\x00<191>\x007 <13>end\n<", 1)
	f.Add("\n<13>\x00\x00\n404 <b>\n1 <13>", 2)
	f.Fuzz(checkStream)
}
