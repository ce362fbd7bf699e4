package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"belfry/client"
)

// shownProblems limits how many rejected rows are printed.
const shownProblems = 20

// console prints problems line by line while a file is sent and, on a terminal, a progress bar below them.
type console struct {
	err      io.Writer
	label    string
	width    int // of the terminal; 0: no bar
	total    int64
	start    time.Time
	now      func() time.Time
	drawn    bool
	problems int
}

func newConsole(s streams, label string, quiet bool) *console {
	c := &console{err: s.err, label: label, now: time.Now}
	c.start = c.now()
	if f, ok := s.err.(*os.File); ok && !quiet {
		c.width = terminalWidth(f)
	}
	return c
}

// println prints a line, above the bar.
func (c *console) println(text string) {
	c.end()
	fmt.Fprintf(c.err, "belfry: %s%s\n", c.label, client.Printable(text))
}

func (c *console) problem(line int, message string) {
	c.problems++
	if c.problems > shownProblems {
		return
	}
	c.end()
	fmt.Fprintf(c.err, "%sline %d: %s\n", c.label, line, client.Printable(message))
}

// more prints how many problems were not shown. all is the number of problems, or a lower bound.
func (c *console) more(all int, atLeast bool, file string) {
	rest := all - shownProblems
	if rest <= 0 {
		return
	}
	text := fmt.Sprintf("%sand %d more", c.label, rest)
	if atLeast {
		text += " at least"
	}
	if file != "" {
		text += "; all rejected rows are in " + file
	}
	fmt.Fprintln(c.err, text)
}

func (c *console) step(s client.Step) {
	if c.width <= 0 {
		return
	}
	fmt.Fprintf(c.err, "\r%s\x1b[K", bar(s, c.total, c.now().Sub(c.start), c.width-1))
	c.drawn = true
}

// bytes draws the progress of a backup or a restore.
func (c *console) bytes(done, total int64, also string) {
	if c.width <= 0 {
		return
	}
	text := size(done)
	if total > 0 {
		text += " of " + size(total)
	}
	if took := c.now().Sub(c.start).Seconds(); took > 0 {
		text += "  " + size(int64(float64(done)/took)) + "/s"
	}
	fmt.Fprintf(c.err, "\r%s\x1b[K", clipped(text+"  "+also, c.width-1))
	c.drawn = true
}

// end removes the bar.
func (c *console) end() {
	if c.drawn {
		fmt.Fprint(c.err, "\r\x1b[K")
		c.drawn = false
	}
}

// bar draws the progress of a file. For a stream, the share and the remaining time are unknown and left out.
func bar(s client.Step, total int64, took time.Duration, width int) string {
	rate := 0.0
	if took > 0 {
		rate = float64(s.Rows) / took.Seconds()
	}
	if total <= 0 {
		return clipped(fmt.Sprintf("%d rows  %s  %.0f rows/s", s.Rows, size(s.Bytes), rate), width)
	}
	share := min(1, float64(s.Bytes)/float64(total))
	text := fmt.Sprintf(" %3.0f %%  %d rows  %s of %s  %.0f rows/s", 100*share, s.Rows, size(min(s.Bytes, total)), size(total), rate)
	if share > 0 && share < 1 {
		left := time.Duration(float64(took) * (1 - share) / share).Round(time.Second)
		text += fmt.Sprintf("  %d:%02d left", int(left.Minutes()), int(left.Seconds())%60)
	}
	room := min(30, width-len(text)-2)
	if room < 5 {
		return clipped(strings.TrimLeft(text, " "), width)
	}
	full := int(share * float64(room))
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", room-full) + "]" + text
}

func clipped(text string, width int) string { return text[:min(len(text), max(0, width))] }

// size formats bytes for people.
func size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	if i == 0 || v >= 100 {
		return fmt.Sprintf("%.0f %s", v, units[i])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
