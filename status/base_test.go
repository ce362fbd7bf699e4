package status

import (
	"testing"

	"belfry"
)

// TestBase: windows without an end that have opened are replaced, and then the clock is set back.
func TestBase(t *testing.T) {
	var c belfry.Care
	f := func(now belfry.Time, o Order) {
		t.Helper()
		c, _ = PassWindow(c, now)
		c = Arrange(c, o, now)
	}
	back := func(now belfry.Time, want belfry.Mode, passages int) {
		t.Helper()
		to, passed := Rewind(c, now)
		if to.Mode != want || len(passed) != passages {
			t.Errorf("at %d it is %s with %+v after %+v, want %s", now, to.Mode, to.Window, passed, want)
		}
		if same, again := Rewind(to, now); same != to || again != nil {
			t.Errorf("at %d it is %+v, and then %+v after %+v", now, to, same, again)
		}
	}
	f(1, Order{Mode: belfry.Discarded})
	f(2, Order{Mode: belfry.Stored, From: 10})
	f(11, Order{Mode: belfry.Stored, From: 30, To: 40})
	back(10, belfry.Stored, 0)
	back(9, belfry.Discarded, 1)

	before := c
	f(12, Order{Mode: belfry.Stored, From: 30, To: 40}) // the same
	if c != before {
		t.Errorf("the same window was asked for: %+v, before %+v", c, before)
	}
	f(30, Order{Mode: belfry.Managed, From: 20, To: 50}) // the one that is open ends, and the item is managed
	back(19, belfry.Managed, 1)
	back(9, belfry.Managed, 1)

	c = belfry.Care{}
	f(1, Order{Mode: belfry.Stored, From: 10})
	f(11, Order{From: 5, To: 50}) // managed for a while, and then unmanaged
	if c, _ := PassWindow(c, 50); c.Mode != belfry.Stored || !c.Window.Endless() {
		t.Errorf("after the window it is %s with %+v", c.Mode, c.Window)
	}
	back(7, belfry.Managed, 0)
	if c, _ = Rewind(c, 7); c.Window.Back != belfry.Managed || !c.Window.Open || c.Window.Base != nil {
		t.Errorf("it goes back to %+v", c.Window)
	}

	c = belfry.Care{}
	f(1, Order{Mode: belfry.Stored, From: 10})
	f(11, Order{To: 20})               // managed for a while, which ends, too
	c, _ = PassWindow(c, 21)           // unmanaged as before
	back(10, belfry.Stored, 0)         // rightly so
	back(5, belfry.Managed, 1)         // its time has not come
	f(22, Order{Mode: belfry.Managed}) // for good
	back(5, belfry.Managed, 0)
}

// TestBases: a window keeps a few of those before it, and of several that go together one.
func TestBases(t *testing.T) {
	var c belfry.Care
	bases := func() (n int) {
		for b := c.Window.Base; b != nil; b = b.Base {
			n++
		}
		return n
	}
	f := func(mode belfry.Mode, from belfry.Time, want int) {
		t.Helper()
		c = Arrange(c, Order{Mode: mode, From: from}, 100)
		if got := bases(); got != want {
			t.Errorf("%d bases, want %d", got, want)
		}
	}
	f(belfry.Stored, 50, 0)
	f(belfry.Stored, 50, 0)
	f(belfry.Discarded, 50, 1)
	f(belfry.Stored, 40, 1)
	f(belfry.Stored, 45, 1)
	f(belfry.Managed, 46, 2)
	f(belfry.Stored, 47, 3)
	f(belfry.Managed, 48, 4)
	f(belfry.Stored, 49, belfry.MaxBases)
	f(belfry.Discarded, 60, belfry.MaxBases)
	for at, want := range map[belfry.Time]belfry.Mode{60: belfry.Discarded, 49: belfry.Stored, 48: belfry.Managed, 47: belfry.Stored, 46: belfry.Managed} {
		if to, _ := Rewind(c, at); to.Mode != want {
			t.Errorf("set back to %d it is %s, want %s", at, to.Mode, want)
		}
	}
}
