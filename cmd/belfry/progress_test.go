package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"belfry/client"
)

func TestBar(t *testing.T) {
	f := func(rows int, done, total int64, took time.Duration, width int, want string) {
		t.Helper()
		got := bar(client.Step{Rows: rows, Bytes: done}, total, took, width)
		if got != want || len(got) > width {
			t.Errorf("got %q (%d columns of %d), want %q", got, len(got), width, want)
		}
	}
	f(0, 0, 1000, 0, 100, "[..............................]   0 %  0 rows  0 B of 1.0 kB  0 rows/s")
	f(500, 25e6, 100e6, 10*time.Second, 100, "[#######.......................]  25 %  500 rows  25.0 MB of 100 MB  50 rows/s  0:30 left")
	f(500, 25e6, 100e6, 10*time.Minute, 75, "[####............]  25 %  500 rows  25.0 MB of 100 MB  1 rows/s  30:00 left")
	f(500, 25e6, 100e6, 10*time.Second, 40, "25 %  500 rows  25.0 MB of 100 MB  50 ro")
	f(900, 1000, 1000, time.Second, 80, "[##############################] 100 %  900 rows  1.0 kB of 1.0 kB  900 rows/s")
	f(900, 1500, 1000, time.Second, 80, "[##############################] 100 %  900 rows  1.0 kB of 1.0 kB  900 rows/s")
	f(900, 123456, 0, 2*time.Second, 80, "900 rows  123 kB  450 rows/s")
	f(900, 123456, 0, 2*time.Second, 0, "")
}

// TestConsole: lines replace the bar, and there is none without a terminal.
func TestConsole(t *testing.T) {
	f := func(width int, want string) {
		t.Helper()
		var b bytes.Buffer
		start := time.Unix(0, 0)
		c := &console{err: &b, width: width, start: start, now: func() time.Time { return start.Add(time.Second) }}
		c.step(client.Step{Rows: 1, Bytes: 1})
		c.problem(7, "bad\x07")
		c.step(client.Step{Rows: 2, Bytes: 2})
		c.end()
		c.end()
		if b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	}
	f(0, "line 7: bad?\n")
	clear := "\r\x1b[K"
	f(80, "\r1 rows  1 B  1 rows/s\x1b[K"+clear+"line 7: bad?\n"+"\r2 rows  2 B  2 rows/s\x1b[K"+clear)
	if w := newConsole(streams{nil, new(bytes.Buffer)}, "", false).width; w != 0 {
		t.Errorf("a buffer has a width of %d", w)
	}
	if !strings.HasPrefix(clear, "\r") {
		t.Error("the bar is not on its own line")
	}
}
