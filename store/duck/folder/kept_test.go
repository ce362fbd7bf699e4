package folder

import (
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
)

// day0 is the start of a day.
const day0 = 20_000 * belfry.Day

// TestReadKept cuts the list at every byte, and changes every bit. Only the whole list is accepted.
func TestReadKept(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := cat.Collection("objectdata")
	whole := keptList{version: 12, until: map[belfry.Time]belfry.Time{day0: day0 + 1, day0 + belfry.Day: day0 + 5}}
	good := whole.text(c, "abc")
	if f, err := parseKept(c, "abc", good, 12); err != nil || f.version != 12 || len(f.until) != 2 || f.until[day0] != day0+1 {
		t.Fatalf("%+v", f)
	}
	for at := range good {
		if f, err := parseKept(c, "abc", good[:at], 12); err == nil {
			t.Errorf("cut at %d: %+v", at, f)
		}
		for bit := range 8 {
			text := []byte(good)
			text[at] ^= 1 << bit
			if f, err := parseKept(c, "abc", string(text), 12); err == nil {
				t.Errorf("bit %d of byte %d: %+v", bit, at, f)
			}
		}
	}
	for _, text := range []string{good + good, good + "1 2\n", strings.Repeat("\x00", len(good)), "\n", "1 2\n", whole.text(c, "abd"), (&keptList{version: 11}).text(c, "abc")} {
		if f, err := parseKept(c, "abc", text, 12); err == nil {
			t.Errorf("%.60q: %+v", text, f)
		}
	}
}

// FuzzKept: a list that is accepted equals what would be written for it.
func FuzzKept(f *testing.F) {
	cat, err := catalog.Load()
	if err != nil {
		f.Fatal(err)
	}
	c := cat.Collection("objectdata")
	f.Add((&keptList{version: 3, until: map[belfry.Time]belfry.Time{1: 2}}).text(c, ""))
	f.Add("1 2\n")
	f.Add("kept \n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseKept(c, "", text, 0)
		if err != nil {
			return
		}
		again, err := parseKept(c, "", got.text(c, ""), got.version)
		if got.version > 0 && (err != nil || again.version != got.version || len(again.until) != len(got.until)) {
			t.Errorf("%q: %+v, then %+v, %v", text, got, again, err)
		}
	})
}
