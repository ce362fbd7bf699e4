package calendar

import (
	"archive/zip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// zoneNames lists the zones in the archive of time/tzdata.
func zoneNames(t *testing.T) (names []string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	return names
}

// change is a moment at which the clocks of a zone change.
type change struct {
	at            time.Time
	before, after civil // what they show when it comes, and what from then on
}

func (c change) gap() civil { return c.after - c.before }

// changes finds the changes of some years by checking every half day, unlike civil.in.
func changes(zone *time.Location, from, to int) (list []change) {
	end := time.Date(to+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	offset := func(unix int64) int64 {
		_, o := time.Unix(unix, 0).In(zone).Zone()
		return int64(o)
	}
	const step = 12 * 3600
	for next := last + step; next < end; last, next = next, next+step {
		if offset(last) == offset(next) {
			continue
		}
		low, high := last, next
		for high-low > 1 {
			if mid := (low + high) / 2; offset(mid) == offset(last) {
				low = mid
			} else {
				high = mid
			}
		}
		list = append(list, change{time.Unix(high, 0).In(zone), civil(high + offset(low)), civil(high + offset(high))})
	}
	return list
}

// TestWindowsOverClockChanges sets windows around every change of the clocks in 2026 and 2027, in every zone that has
// one: daily, weekly and once; beginning before, in and after the time that is skipped or comes twice, and ending so.
func TestWindowsOverClockChanges(t *testing.T) {
	t.Parallel()
	zones, total := 0, 0
	for _, name := range zoneNames(t) {
		z := zone(t, name)
		list := changes(z, 2026, 2027)
		if len(list) > 0 {
			zones++
		}
		for _, c := range list {
			total++
			checkChange(t, z, c)
		}
	}
	t.Logf("%d changes in %d zones", total, zones)
	if zones < 50 || total < 4*50 {
		t.Errorf("only %d changes in %d zones were looked at", total, zones)
	}
}

func checkChange(t *testing.T, z *time.Location, c change) {
	t.Helper()
	low, high := min(c.before, c.after), max(c.before, c.after)
	middle := (low + high) / 2
	begins := []civil{low - 3*anHour, low - 1, low, low + 1, middle, high - 1, high, high + 1, high + 2*anHour}
	lengths := []civil{1, 5 * aMinute, high - low, 90 * aMinute, aDay}
	rules := []string{"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU", "FREQ=DAILY;INTERVAL=2"}
	for i, begin := range begins {
		checkWall(t, z, c, begin)
		for j, length := range lengths {
			first := begin - 2*aDay
			s, err := ParseSchedule(first.String(), (first + length).String(), rules[(i+j)%len(rules)], z)
			if err != nil {
				t.Fatal(err)
			}
			checkOrder(t, s, first.in(z).Add(-time.Hour), 4)
			checkOccurrence(t, s, c, begin, length)
			once, err := ParseSchedule(begin.String(), (begin + length).String(), "", z)
			if from, to, ok := s.Next(begin.in(z)); err == nil && !(ok && from.Equal(once.from.In(z)) && to.Equal(once.to.In(z))) {
				t.Fatalf("%s: once it is another window than that of %s, %v to %v", once, s, from, to)
			}
		}
	}
}

// checkWall checks civil.in around the change.
func checkWall(t *testing.T, z *time.Location, c change, wall civil) {
	t.Helper()
	at := wall.in(z)
	switch skipped := c.before <= wall && wall < c.after; {
	case skipped && !at.Equal(c.at):
		t.Fatalf("%s: %s is skipped at %v, but is %v", z, wall, c.at, at)
	case !skipped && civilOf(at) != wall:
		t.Fatalf("%s: %s is %v", z, wall, at)
	case c.after <= wall && wall < c.before && !at.Before(c.at):
		t.Fatalf("%s: %s comes twice around %v, but is %v", z, wall, c.at, at)
	}
}

// checkOccurrence checks the one that begins at the given wall-clock time.
func checkOccurrence(t *testing.T, s Schedule, c change, begin, length civil) {
	t.Helper()
	skipped := func(wall civil) bool { return c.before <= wall && wall < c.after }
	end := begin + length
	from, to, ok := s.Next(begin.in(s.zone))
	if skipped(begin) && (skipped(end) || end == c.after) { // nothing is left of it
		if !ok || civilOf(from) <= begin {
			t.Fatalf("%s: that of %s is skipped around %v, but comes %v to %v", s, begin, c.at, from, to)
		}
		return
	}
	wantFrom, wantTo := begin, end
	if skipped(begin) {
		wantFrom = c.after
	}
	if skipped(end) {
		wantTo = c.after
	}
	if end == c.before && c.gap() > 0 { // it ends as the clocks jump, and they do not show its end
		wantTo = c.after
	}
	if !ok || civilOf(from) != wantFrom || civilOf(to) != wantTo {
		t.Fatalf("%s: around %v that of %s to %s is %v to %v", s, c.at, begin, end, from, to)
	}
	// Its real length is that on the wall clock, except for a change in it.
	took := civil(to.Unix() - from.Unix())
	want := wantTo - wantFrom
	if from.Before(c.at) && !to.Before(c.at) {
		want -= c.gap()
	}
	if took != want {
		t.Fatalf("%s: around %v it takes %d s from %v to %v, want %d", s, c.at, took, from, to, want)
	}
}

// TestEndOfLeapYears: windows end at the turn of every leap year, for which the standard library has wrong bounds in zones that
// follow a rule.
func TestEndOfLeapYears(t *testing.T) {
	t.Parallel()
	for _, name := range zoneNames(t) {
		z := zone(t, name)
		for _, year := range []int{2026, 2028, 2036, 2040, 2044, 2108} {
			for wall := dayOf(year, 12, 30).start(); wall < dayOf(year+1, 1, 2).start(); wall += anHour / 2 {
				if at := wall.in(z); civilOf(at) != wall {
					t.Fatalf("%s: %s is %v", z, wall, at)
				}
			}
		}
	}
}
