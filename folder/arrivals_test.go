package folder

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
)

// startArrivals opens the file of a folder without an instance.
func startArrivals(dir string, last belfry.Time, position func() belfry.Position, written func(error)) *Arrivals {
	a := &Arrivals{path: filepath.Join(dir, ArrivalsFile), position: position, noted: func(uint64) {}, written: written, log: slog.New(slog.DiscardHandler)}
	known, err := readArrivals(dir, "", 0)
	a.start(known, err, last)
	return a
}

// TestArrivalsFile: the file is written when the clock was set, not for every record, and the number of steps is limited.
func TestArrivalsFile(t *testing.T) {
	dir, pos := t.TempDir(), belfry.Position(1)
	open := func(last belfry.Time) *Arrivals {
		return startArrivals(dir, last, func() belfry.Position { return pos }, nil)
	}
	read := func() recordTimes {
		t.Helper()
		known, err := readArrivals(dir, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	a := open(0)
	at := func(when time.Time) { a.Arrive(belfry.At(when)); pos++ }
	at(minute(0))
	if known := read(); !known.Until.Equal(minute(1)) || len(known.Steps) != 0 {
		t.Errorf("%+v", known)
	}
	path := filepath.Join(dir, ArrivalsFile)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	at(minute(0).Add(20 * time.Second))
	a.Renew(minute(0).Add(20 * time.Second))
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is written although nothing has changed")
	}
	a.Renew(minute(0).Add(40 * time.Second))
	if known := read(); !known.Until.Equal(minute(1).Add(40 * time.Second)) {
		t.Errorf("%+v", known)
	}
	at(minute(1))
	a.Renew(minute(50)) // the clock was set: the next record tells
	if known := read(); !known.Until.Equal(minute(1).Add(40 * time.Second)) {
		t.Errorf("%+v", known)
	}
	for range maxTimeSteps + 3 {
		at(minute(30))
		at(minute(10))
	}
	at(minute(50))
	known := read()
	if len(known.Steps) != maxTimeSteps || known.Steps[0].First != 5 || !known.Steps[0].Low.Equal(minute(10)) || !known.Steps[0].High.Equal(minute(30)) {
		t.Errorf("%d steps, %+v", len(known.Steps), known.Steps[0])
	}
	if s := known.Steps[maxTimeSteps-1]; s.First != pos-2 || s.Last != pos-1 {
		t.Errorf("the last step at %d: %+v", pos, s)
	}
	a = open(belfry.At(minute(50)))
	if len(a.steps) != maxTimeSteps {
		t.Errorf("%d steps after a start", len(a.steps))
	}
	at(minute(49)) // an append that fails leaves the step open
	pos--
	at(minute(49))
	at(minute(49))
	if s := a.steps[maxTimeSteps-1]; s.Last != pos-1 || !s.High.Equal(minute(50)) {
		t.Errorf("the last step at %d: %+v", pos, s)
	}
}

// TestArrivalsRefuse: a record whose time has to be noted and cannot be is refused, and nothing else is.
func TestArrivalsRefuse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ArrivalsFile)
	var failed []bool
	a := startArrivals(dir, 0, func() belfry.Position { return 1 }, func(err error) { failed = append(failed, err != nil) })
	at := func(when time.Time, ok bool) {
		t.Helper()
		if err := a.Arrive(belfry.At(when)); (err == nil) != ok {
			t.Errorf("%s: %v", when, err)
		}
	}
	at(minute(0), true)
	away := path + ".away"
	if err := errors.Join(os.Rename(path, away), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	at(minute(0), true) // it follows from what is noted
	at(minute(300), false)
	at(minute(300), false)
	at(minute(0), true) // the clock is right again
	if len(a.steps) != 0 {
		t.Errorf("steps of refused records: %+v", a.steps)
	}
	if err := errors.Join(os.Remove(path), os.Rename(away, path)); err != nil {
		t.Fatal(err)
	}
	at(minute(300), true)
	if known, err := readArrivals(dir, "", 0); err != nil || len(known.Steps) != 1 {
		t.Errorf("%+v, %v", known, err)
	}
	if !slices.Equal(failed, []bool{true, true, false}) {
		t.Errorf("reported %v", failed)
	}
}

// TestArrivalsChanged: no byte of the file can change or be missing without being noticed.
func TestArrivalsChanged(t *testing.T) {
	steps := make([]timeStep, maxTimeSteps)
	for i := range steps {
		steps[i] = timeStep{1<<63 + belfry.Position(i), notYet, minute(i).Add(123456 * time.Microsecond), minute(i).Add(654321 * time.Microsecond)}
	}
	text, err := recordTimes{strings.Repeat("a", 32), 1 << 63, minute(1), steps}.encode()
	if err != nil {
		t.Fatal(err)
	}
	f := func(text []byte, serial uint64, instance string, ok bool) {
		t.Helper()
		if _, err := decodeArrivals(text, instance, serial); (err == nil) != ok {
			t.Fatalf("%v\n%q", err, text)
		}
	}
	id := strings.Repeat("a", 32)
	f(text, 0, id, true)
	f(text, 1<<63, id, true)
	f(text, 1<<63+1, id, false)
	f(text, 0, strings.Repeat("b", 32), false)
	f(text, 0, "", false)
	f(append(bytes.Clone(text), '\n'), 0, id, false)
	for i := range text {
		f(text[:i], 0, id, false)
		for _, bits := range []byte{0x01, 0x20, 0xff} {
			text[i] ^= bits
			f(text, 0, id, false)
			text[i] ^= bits
		}
	}
}
