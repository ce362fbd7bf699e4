package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal gives both ends of a terminal of 100 columns: what is written to tty is read from screen.
func openTerminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return screen, tty
}

// onTerminal runs a command with its output on a terminal, and gives what is seen there.
func onTerminal(t *testing.T, want int, args ...string) string {
	t.Helper()
	screen, tty := openTerminal(t)
	defer screen.Close()
	defer tty.Close()
	go func() {
		if code := run(args, tty, io.Discard); code != want {
			t.Errorf("exit status %d", code)
		}
		fmt.Fprint(tty, "END")
	}()
	var seen []byte
	for buf := make([]byte, 4096); !bytes.HasSuffix(seen, []byte("END")); {
		n, err := screen.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, buf[:n]...)
	}
	return strings.ReplaceAll(strings.TrimSuffix(string(seen), "END"), "\r\n", "\n")
}

// TestQueryOnTerminal: a person sees a table that fits, with the status in colour unless they want none; a watch paints each
// answer over the one before.
func TestQueryOnTerminal(t *testing.T) {
	s := newShell(t)
	rounds := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rounds++; rounds > 3 {
			w.WriteHeader(400)
			io.WriteString(w, `{"error":{"code":"bad_query","message":"enough"}}`)
			return
		}
		fmt.Fprintf(w, "name,status,i1\n%s,3,%d\n", strings.Repeat("long ", 30), rounds)
	}))
	defer srv.Close()
	ask := []string{"sql", "--url", srv.URL, "SELECT name"}
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	seen := onTerminal(t, 0, ask...)
	s.shows(seen, "  \x1b[31m3\x1b[0m")
	s.shows(seen, "…  ")
	s.shows(seen, "(1 row)\n")
	for line := range strings.Lines(strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(seen)) {
		if widthOf(line) > 100 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
	t.Setenv("NO_COLOR", "1")
	if seen := onTerminal(t, 0, ask...); strings.Contains(seen, "\x1b") {
		t.Errorf("%q", seen)
	}
	seen = onTerminal(t, 1, append(ask, "--watch", "100ms")...)
	s.shows(seen, "\x1b[H20")
	s.shows(seen, ", every 100ms: SELECT name\x1b[K\n")
	s.shows(seen, "(1 row)\x1b[K\n\x1b[J")
}

// TestTerminal: a person at a terminal sees a bar, unless they want none.
func TestTerminal(t *testing.T) {
	s := newShell(t)
	s.write("rows.csv", "name\na\nb\nwrong\n")
	f := func(args ...string) string {
		t.Helper()
		screen, tty := openTerminal(t)
		defer screen.Close()
		if w := terminalWidth(tty); w != 100 {
			t.Errorf("the terminal is %d columns wide", w)
		}
		if code := run(append([]string{"provision", "custom", "rows.csv", "--rows", "1"}, args...), io.Discard, tty); code != 3 {
			t.Errorf("exit status %d", code)
		}
		fmt.Fprint(tty, "END")
		var seen []byte
		for buf := make([]byte, 4096); len(seen) < 3 || string(seen[len(seen)-3:]) != "END"; {
			n, err := screen.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, buf[:n]...)
		}
		tty.Close()
		return string(seen)
	}
	seen := f()
	s.shows(seen, "[##############")
	s.shows(seen, "2 rows")
	s.shows(seen, "line 4: ")
	if seen := f("--quiet"); len(seen) > 400 || seen[0] == '\r' {
		t.Errorf("seen with --quiet: %q", seen)
	}
}
