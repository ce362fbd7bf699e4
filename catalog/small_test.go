package catalog

import (
	"strings"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	f := func(in string, want time.Duration) {
		t.Helper()
		d, err := ParseDuration(in)
		if err != nil || d.Std() != want || d.String() != in {
			t.Errorf("ParseDuration(%q) = %s (%s), %v", in, d, d.Std(), err)
		}
	}
	f("60s", time.Minute)
	f("1m", time.Minute)
	f("5m", 5*time.Minute)
	f("36h", 36*time.Hour)
	f("400d", 400*24*time.Hour)
	f("36500d", maxDuration)
	f("1w", 7*24*time.Hour)
	f("5214w", 5214*7*24*time.Hour)

	bad := func(in string) {
		t.Helper()
		if d, err := ParseDuration(in); err == nil {
			t.Errorf("%q was read as %s", in, d)
		}
	}
	for _, in := range []string{"", "5", "s", "0s", "-5s", "+5s", "05s", "1.5h", "5 m", "5ms", "5S", "36501d", "5215w", "1y", "99999999999d", "9223372036854775807s", "1_0s"} {
		bad(in)
	}
	if (Duration{}).String() != "" || !(Duration{}).IsZero() || (Duration{}).Std() != 0 {
		t.Error("the zero Duration is something")
	}
	if !(Duration{60, 's'}).Equal(Duration{1, 'm'}) || (Duration{2, 'd'}).String() != "2d" {
		t.Error("Equal or String is wrong")
	}
}

func TestNearest(t *testing.T) {
	known := []string{"id", "timestamp", "resource", "view", "object", "class", "status", "statusname", "i1", "i2", "ip"}
	f := func(in, want string) {
		t.Helper()
		if got := Nearest(in, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
	f("objekt", "object")
	f("OBJECT", "object")
	f("staus", "status")
	f("sttaus", "status")
	f("statuss", "status")
	f("time", "timestamp")
	f("resourcename", "resource")
	f("vieuw", "view")
	f("calss", "class")
	f("completely different", "")
	f("", "")
	f(strings.Repeat("object", 100000), "")
	if Nearest("x", nil) != "" {
		t.Error("a name was made up")
	}
}
