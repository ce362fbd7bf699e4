package app

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/folder"
)

func minute(n int) time.Time { return time.Date(2026, 11, 16, 8, n, 0, 0, time.UTC) }

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
	old := c.read(folder.ArrivalsFile)
	c.run(time.Second, ahead, time.Minute)
	replace := func(pattern, by string) func(string) string {
		return func(text string) string {
			changed := regexp.MustCompile(pattern).ReplaceAllString(text, by)
			if changed == text {
				t.Errorf("%s has no %s", folder.ArrivalsFile, pattern)
			}
			return changed
		}
	}
	for name, change := range map[string]func(text string) string{
		"unchanged":    func(text string) string { return text },
		"older":        func(string) string { return old },
		"another's":    func(string) string { return other.read(folder.ArrivalsFile) },
		"no steps":     replace(`"steps"`, `"stepz"`),
		"no high":      replace(`"high"`, `"higi"`),
		"other times":  replace(`("(low|high)": "20)\d\d`, "${1}11"),
		"other places": replace(`"first": (\d)`, `"first": 9$1`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.copyOf(t)
			c.write(folder.ArrivalsFile, change(c.read(folder.ArrivalsFile)))
			losses := c.lose(fmt.Sprintf("event 0 at %s", ahead), "", true)
			if len(losses) != 1 {
				t.Fatalf("losses: %+v", losses)
			}
			if at := c.began.Add(ahead).Truncate(time.Microsecond); at.Before(losses[0].From) || at.After(losses[0].To) {
				t.Errorf("a row of %s was lost, and the time that is told is %s", at.UTC(), losses[0].Span())
			}
			if all := losses[0].To.Year() == 9999; all != (name != "unchanged") {
				t.Errorf("all times: %t", all)
			}
		})
	}
}

// TestArrivalsReplaced: a file that cannot be used is no fault of a start, and is replaced by it.
func TestArrivalsReplaced(t *testing.T) {
	c := newClockedCore(t)
	c.run(0, time.Second)
	for name, text := range map[string]string{
		"empty":      "",
		"zeros":      c.read(folder.ArrivalsFile) + strings.Repeat("\x00", 1<<20),
		"junk":       strings.Repeat("x", 100),
		"old form":   `{"until": "2026-11-17T03:00:00Z"}` + strings.Repeat("\n", 16<<10-33),
		"old serial": c.read(folder.ArrivalsFile),
	} {
		if name == "old serial" {
			c.run(-time.Hour, time.Hour)
		}
		c.write(folder.ArrivalsFile, text)
		if found := c.verify(); len(found) != 1 || !strings.HasPrefix(found[0], c.path(folder.ArrivalsFile)+": it cannot be used: ") {
			t.Errorf("%s: verify says %q", name, found)
		}
		c.run()
		open, _ := c.OpenLosses()
		if found := c.verify(); len(found) != 0 || len(open) != 0 {
			t.Errorf("%s: afterwards verify says %q, losses %v", name, found, open)
		}
		if n := len(c.read(folder.ArrivalsFile)); n != 16<<10 {
			t.Errorf("%s: the file has %d bytes", name, n)
		}
	}
}

// TestArrivalsInTheWay: when something else is in the place of the file, the fault says so, and not that the journal cannot be
// written. It ends when the place is free, also if nobody sends anything.
func TestArrivalsInTheWay(t *testing.T) {
	in := newInstanceFolder(t)
	c, err := lockCore(in.options)
	in.must(err)
	defer c.Close()
	s := &service{core: c, faults: newFaults(in.options.Log, time.Now)}
	s.newFailureTrackers()
	c.OnTimes = s.failures.times.record
	in.must(c.open(t.Context()))
	in.must(c.Replay(t.Context(), func(*belfry.Record, bool) error { return nil }))
	path := in.path(folder.ArrivalsFile)
	for says, put := range map[string]func() error{
		"is a folder, not a file":               func() error { return os.Mkdir(path, 0o700) },
		"is a link, and links are not followed": func() error { return os.Symlink("elsewhere", path) },
	} {
		in.must(os.RemoveAll(path))
		a := c.OpenArrivals()
		in.must(a.Arrive(belfry.At(minute(0))))
		in.must(os.Remove(path))
		in.must(put())
		a.Renew(minute(0).Add(time.Second)) // nobody sends anything
		list := s.faults.list()
		if len(list) != 1 || list[0].ID != faultTimes || !list[0].Blocks || !strings.Contains(list[0].Message, path+" "+says) {
			t.Errorf("faults: %+v, want %s", list, says)
		}
		if err := a.Arrive(belfry.At(minute(10))); err == nil {
			t.Error("a record was taken")
		}
		in.must(os.Remove(path))
		a.Renew(minute(10))
		if list := s.faults.list(); len(list) != 0 {
			t.Errorf("faults: %+v", list)
		}
		in.must(a.Arrive(belfry.At(minute(10))))
	}
}
