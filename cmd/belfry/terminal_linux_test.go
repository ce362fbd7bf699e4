package main

import (
	"fmt"
	"io"
	"os"
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
