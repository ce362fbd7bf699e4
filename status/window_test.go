package status

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
)

// brief writes the windows of an item on one line: the open ones, a bar, the planned ones.
func brief(c belfry.OperatorState) string {
	var words []string
	for i, w := range windowsOf(c) {
		if i == countOpen(windowsOf(c)) {
			words = append(words, "|")
		}
		words = append(words, fmt.Sprintf("%s%d:%d-%d", w.Name, w.Mode, w.From, w.To))
	}
	return strings.Join(words, " ")
}

// TestWindowsBelow: windows without an end that have opened are replaced, and then the clock is set back.
func TestWindowsBelow(t *testing.T) {
	var c belfry.OperatorState
	f := func(now belfry.Time, o Order) {
		t.Helper()
		c, _ = PassWindows(c, now)
		c = Arrange(c, o, now)
	}
	back := func(now belfry.Time, want belfry.Mode, passages int) {
		t.Helper()
		to, passed, _ := Rewind(c, now)
		if to.Mode != want || len(passed) != passages {
			t.Errorf("at %d it is %s with %s after %+v, want %s", now, to.Mode, brief(to), passed, want)
		}
		if same, again, changed := Rewind(to, now); brief(same) != brief(to) || again != nil || changed {
			t.Errorf("at %d it is %s, and then %s after %+v", now, brief(to), brief(same), again)
		}
	}
	f(1, Order{Mode: belfry.UnmanagedDrop})
	f(2, Order{Mode: belfry.UnmanagedKeep, From: 10})
	f(11, Order{Mode: belfry.UnmanagedKeep, From: 30, To: 40})
	back(10, belfry.UnmanagedKeep, 0)
	back(9, belfry.UnmanagedDrop, 1)

	before := c
	f(12, Order{Mode: belfry.UnmanagedKeep, From: 30, To: 40}) // the same
	if brief(c) != brief(before) || !c.SameWindows(&before) {
		t.Errorf("the same window was asked for: %s, before %s", brief(c), brief(before))
	}
	f(30, Order{Mode: belfry.Managed, From: 20, To: 50}) // the one that is open ends, and the item is managed
	back(19, belfry.Managed, 1)
	back(9, belfry.Managed, 1)

	c = belfry.OperatorState{}
	f(1, Order{Mode: belfry.UnmanagedKeep, From: 10})
	f(11, Order{From: 5, To: 50}) // managed for a while, then unmanaged
	if c, _ := PassWindows(c, 50); c.Mode != belfry.UnmanagedKeep || brief(c) != "2:10-0" {
		t.Errorf("after the window it is %s with %s", c.Mode, brief(c))
	}
	back(7, belfry.Managed, 0)
	if c, _, _ = Rewind(c, 7); brief(c) != "0:5-50" {
		t.Errorf("it goes back to %s", brief(c))
	}

	c = belfry.OperatorState{}
	f(1, Order{Mode: belfry.UnmanagedKeep, From: 10})
	f(11, Order{To: 20})               // managed for a while, which ends, too
	c, _ = PassWindows(c, 21)          // unmanaged again
	back(10, belfry.UnmanagedKeep, 0)  // which is correct
	back(5, belfry.Managed, 1)         // it has not begun
	f(22, Order{Mode: belfry.Managed}) // for good
	back(5, belfry.Managed, 0)
}

// TestWindowsKeptBelow: a few windows of the same name without an end stay below the last one.
func TestWindowsKeptBelow(t *testing.T) {
	var c belfry.OperatorState
	f := func(mode belfry.Mode, from belfry.Time, want int) {
		t.Helper()
		c = Arrange(c, Order{Mode: mode, From: from}, 100)
		if got := len(c.Windows) - 1; got != want {
			t.Errorf("%d are below the last, want %d: %s", got, want, brief(c))
		}
	}
	f(belfry.UnmanagedKeep, 50, 0)
	f(belfry.UnmanagedKeep, 50, 0)
	f(belfry.UnmanagedDrop, 50, 0)
	f(belfry.UnmanagedKeep, 40, 0)
	f(belfry.UnmanagedKeep, 45, 1)
	f(belfry.Managed, 46, 2)
	f(belfry.UnmanagedKeep, 47, 3)
	f(belfry.Managed, 48, 4)
	f(belfry.UnmanagedKeep, 49, maxBelow)
	f(belfry.UnmanagedDrop, 60, maxBelow)
	for at, want := range map[belfry.Time]belfry.Mode{60: belfry.UnmanagedDrop, 49: belfry.UnmanagedKeep, 48: belfry.Managed, 47: belfry.UnmanagedKeep, 46: belfry.Managed} {
		if to, _, _ := Rewind(c, at); to.Mode != want {
			t.Errorf("set back to %d it is %s, want %s", at, to.Mode, want)
		}
	}
}

// TestNamedWindows: the window opened last decides, then the one before; each is replaced and cancelled by its name.
func TestNamedWindows(t *testing.T) {
	const managed, stored, discarded = belfry.Managed, belfry.UnmanagedKeep, belfry.UnmanagedDrop
	var c belfry.OperatorState
	f := func(now belfry.Time, mode belfry.Mode, want string) {
		t.Helper()
		c, _ = PassWindows(c, now)
		if c.Mode != mode || brief(c) != want {
			t.Errorf("at %d it is %s with %s, want %s with %s", now, c.Mode, brief(c), mode, want)
		}
	}
	order := func(now belfry.Time, o Order) {
		c, _ = PassWindows(c, now)
		c = Arrange(c, o, now)
	}
	order(1, Order{Name: "a", Mode: stored, From: 10, To: 40})
	order(1, Order{Name: "b", Mode: discarded, From: 20, To: 30})
	order(1, Order{Mode: belfry.UnmanagedIfDown, From: 25, To: 50})
	f(9, managed, "| a2:10-40 b3:20-30 1:25-50")
	f(10, stored, "a2:10-40 | b3:20-30 1:25-50")
	f(20, discarded, "a2:10-40 b3:20-30 | 1:25-50")
	f(25, belfry.UnmanagedIfDown, "a2:10-40 b3:20-30 1:25-50")
	f(30, belfry.UnmanagedIfDown, "a2:10-40 1:25-50") // one that does not decide closes
	f(40, belfry.UnmanagedIfDown, "1:25-50")
	f(50, managed, "")

	// An immediate order is below windows that open later, and above those opened before.
	order(60, Order{Name: "a", Mode: discarded, From: 60, To: 80})
	order(65, Order{Mode: stored})
	f(65, stored, "a3:60-80 2:65-0")
	order(66, Order{Name: "b", Mode: discarded, To: 70})
	f(66, discarded, "a3:60-80 2:65-0 b3:66-70")
	f(70, stored, "a3:60-80 2:65-0")
	f(80, stored, "2:65-0")

	// A name replaces and cancels one window; no name cancels all.
	order(90, Order{Name: "a", Mode: discarded})
	f(90, discarded, "2:65-0 a3:90-0")
	order(91, Order{Name: "b", Mode: stored, From: 100, To: 110})
	order(92, Order{Name: "b", Mode: stored, From: 120, To: 130})
	f(92, discarded, "2:65-0 a3:90-0 | b2:120-130")
	order(93, Order{Name: "a"})
	f(93, stored, "2:65-0 | b2:120-130")
	order(94, Order{})
	f(94, managed, "")

	// The window without a name can be cancelled alone; an immediate order is not a window.
	order(100, Order{Name: "a", Mode: stored, From: 110, To: 120})
	order(100, Order{Mode: discarded})
	order(100, Order{Mode: stored, From: 130, To: 140})
	unnamed := Order{Unnamed: true}
	if unnamed.Misses(&c) {
		t.Errorf("%s has a window without a name", brief(c))
	}
	order(101, unnamed)
	f(101, discarded, "3:100-0 | a2:110-120")
	if !unnamed.Misses(&c) {
		t.Errorf("%s has no window without a name", brief(c))
	}
	order(102, Order{Mode: stored, From: 105, To: 125})
	f(110, stored, "3:100-0 2:105-125 a2:110-120")
	order(111, unnamed) // as if it had ended
	f(111, stored, "a2:110-120")
	order(112, Order{})
	f(112, managed, "")

	// A managed window may have an end and a name.
	order(200, Order{Mode: stored})
	order(201, Order{Name: "look", From: 210, To: 220})
	f(210, managed, "2:200-0 look0:210-220")
	f(220, stored, "2:200-0")
	order(221, Order{})

	// After the clock is set back, windows that have not begun yet wait again, in order.
	order(300, Order{Name: "a", Mode: stored, From: 310, To: 400})
	order(300, Order{Name: "b", Mode: discarded, From: 320, To: 400})
	f(330, discarded, "a2:310-400 b3:320-400")
	to, passed, _ := Rewind(c, 315)
	if to.Mode != stored || brief(to) != "a2:310-400 | b3:320-400" || len(passed) != 1 || passed[0].Name != "b" {
		t.Errorf("set back it is %s with %s after %+v", to.Mode, brief(to), passed)
	}
	if to, _, _ = Rewind(c, 305); to.Mode != managed || brief(to) != "| a2:310-400 b3:320-400" {
		t.Errorf("set back it is %s with %s", to.Mode, brief(to))
	}
	if to, _ = PassWindows(to, 500); to.Mode != managed || brief(to) != "" {
		t.Errorf("in the end it is %s with %s", to.Mode, brief(to))
	}
}

// TestWindowsShown: what objectstatus and lists show of several windows.
func TestWindowsShown(t *testing.T) {
	f := func(c belfry.OperatorState, from, to belfry.Time, planned string) {
		t.Helper()
		if a, b := unmanagedTime(&c); a != from || b != to {
			t.Errorf("%s: unmanaged from %d to %d, want %d to %d", brief(c), a, b, from, to)
		}
		var names []string
		for _, w := range Planned(&c) {
			names = append(names, fmt.Sprintf("%s:%d", w.Name, w.From))
		}
		if got := strings.Join(names, " "); got != planned {
			t.Errorf("%s: listed are %q, want %q", brief(c), got, planned)
		}
	}
	c := Arrange(belfry.OperatorState{}, Order{Name: "b", Mode: belfry.UnmanagedKeep, From: 20, To: 30}, 1)
	c = Arrange(c, Order{Name: "a", Mode: belfry.UnmanagedKeep, From: 10, To: 40}, 1)
	f(c, 10, 40, "a:10 b:20")
	c, _ = PassWindows(c, 20)
	f(c, 20, 30, "a:10 b:20")
	c, _ = PassWindows(c, 30)
	f(c, 10, 40, "a:10")
	c = Arrange(c, Order{Name: "m", From: 35, To: 37}, 31)
	f(c, 10, 35, "a:10 m:35")
	c, _ = PassWindows(c, 35)
	f(c, 37, 40, "a:10 m:35")

	f(Arrange(belfry.OperatorState{}, Order{Mode: belfry.UnmanagedKeep}, 5), 5, 0, "")
	f(Arrange(belfry.OperatorState{}, Order{Mode: belfry.UnmanagedKeep, From: 5}, 6), 5, 0, "")
	c = Arrange(belfry.OperatorState{}, Order{Name: "a", Mode: belfry.UnmanagedKeep}, 5)
	f(c, 5, 0, "a:5")
	c = Arrange(c, Order{Name: "a", Mode: belfry.UnmanagedKeep, From: 50, To: 60}, 6)
	f(c, 5, 0, "a:50")
}
