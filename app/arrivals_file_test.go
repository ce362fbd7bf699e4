package app

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"belfry"
)

// copyOf makes a core over a copy of the data folder.
func (c *clockedCore) copyOf(t *testing.T) *clockedCore {
	t.Helper()
	in := &instance{T: t, options: c.options, dir: t.TempDir()}
	cfg := *c.options.Config
	cfg.Data = in.dir
	in.options.Config = &cfg
	in.must(os.CopyFS(in.dir, os.DirFS(c.dir)))
	copied := &clockedCore{instance: in, began: c.began}
	copied.off.Store(c.off.Load())
	return copied
}

// TestLossWithWrongTimes: a file that has been changed, is older, or comes from elsewhere does not hide the times of lost records.
func TestLossWithWrongTimes(t *testing.T) {
	const ahead = 2 * time.Hour
	other := newClockedCore(t)
	other.run(0)
	c := newClockedCore(t)
	c.run(0)
	old := c.read(arrivalsFile)
	c.run(time.Second, ahead, time.Minute)
	replace := func(pattern, by string) func(string) string {
		return func(text string) string {
			changed := regexp.MustCompile(pattern).ReplaceAllString(text, by)
			if changed == text {
				t.Errorf("%s has no %s", arrivalsFile, pattern)
			}
			return changed
		}
	}
	for name, change := range map[string]func(text string) string{
		"unchanged":    func(text string) string { return text },
		"older":        func(string) string { return old },
		"another's":    func(string) string { return other.read(arrivalsFile) },
		"no steps":     replace(`"steps"`, `"stepz"`),
		"no high":      replace(`"high"`, `"higi"`),
		"other times":  replace(`("(low|high)": "20)\d\d`, "${1}11"),
		"other places": replace(`"first": (\d)`, `"first": 9$1`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.copyOf(t)
			c.write(arrivalsFile, change(c.read(arrivalsFile)))
			losses := c.lose(fmt.Sprintf("event 0 at %s", ahead), "", true)
			if len(losses) != 1 {
				t.Fatalf("losses: %+v", losses)
			}
			if at := c.began.Add(ahead).Truncate(time.Microsecond); at.Before(losses[0].From) || at.After(losses[0].To) {
				t.Errorf("a row of %s was lost, and the time that is told is %s", at.UTC(), losses[0].span())
			}
			if all := losses[0].To.Year() == 9999; all != (name != "unchanged") {
				t.Errorf("all times: %t", all)
			}
		})
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

// TestArrivalsReplaced: a file that cannot be used is no fault of a start, and is replaced by it.
func TestArrivalsReplaced(t *testing.T) {
	c := newClockedCore(t)
	c.run(0, time.Second)
	for name, text := range map[string]string{
		"empty":      "",
		"zeros":      c.read(arrivalsFile) + strings.Repeat("\x00", 1<<20),
		"junk":       strings.Repeat("x", 100),
		"old form":   `{"until": "2026-11-17T03:00:00Z"}` + strings.Repeat("\n", arrivalsSize-33),
		"old serial": c.read(arrivalsFile),
	} {
		if name == "old serial" {
			c.run(-time.Hour, time.Hour)
		}
		c.write(arrivalsFile, text)
		if found := c.verify(); len(found) != 1 || !strings.HasPrefix(found[0], c.path(arrivalsFile)+": it cannot be used: ") {
			t.Errorf("%s: verify says %q", name, found)
		}
		c.run()
		if found := c.verify(); len(found) != 0 || len(c.losses) != 0 {
			t.Errorf("%s: afterwards verify says %q, losses %v", name, found, c.losses)
		}
		if n := len(c.read(arrivalsFile)); n != arrivalsSize {
			t.Errorf("%s: the file has %d bytes", name, n)
		}
	}
}

// TestArrivalsInTheWay: when something else is in the place of the file, the fault says so, and not that the journal cannot be
// written. It ends when the place is free, also if nobody sends anything.
func TestArrivalsInTheWay(t *testing.T) {
	in := newInstanceFolder(t)
	c := &core{Options: in.options}
	c.use(in.options.Config)
	s := &service{core: c, faults: newFaults(in.options.Log, time.Now)}
	s.newTroubles()
	path := in.path(arrivalsFile)
	for says, put := range map[string]func() error{
		"is a folder, not a file":               func() error { return os.Mkdir(path, 0o700) },
		"is a link, and links are not followed": func() error { return os.Symlink("elsewhere", path) },
	} {
		in.must(os.RemoveAll(path))
		a := startArrivals(in.dir, 0, func() belfry.Position { return 1 }, s.trouble.times.told)
		in.must(a.arrive(belfry.At(minute(0))))
		in.must(os.Remove(path))
		in.must(put())
		a.renew(minute(0).Add(time.Second)) // nobody sends anything
		list := s.faults.list()
		if len(list) != 1 || list[0].ID != faultTimes || !list[0].Blocks || !strings.Contains(list[0].Message, path+" "+says) {
			t.Errorf("faults: %+v, want %s", list, says)
		}
		if err := a.arrive(belfry.At(minute(10))); err == nil {
			t.Error("a record was taken")
		}
		in.must(os.Remove(path))
		a.renew(minute(10))
		if list := s.faults.list(); len(list) != 0 {
			t.Errorf("faults: %+v", list)
		}
		in.must(a.arrive(belfry.At(minute(10))))
	}
}
