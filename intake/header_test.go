package intake

import (
	"fmt"
	"reflect"
	"testing"

	"belfry/engine"
)

func TestLayoutsAreKept(t *testing.T) {
	lim := engine.Limits{Columns: 100, Indicators: 100}
	var kept layouts
	read := func(lim engine.Limits, typed bool, names ...string) (*layout, error) {
		t.Helper()
		var header [][]byte
		for _, n := range names {
			header = append(header, []byte(n))
		}
		l, err := kept.read(header, lim, typed)
		want, wantErr := readLayout(header, lim, typed)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(l, want) {
			t.Errorf("%q: %+v, %v; without what is kept: %+v, %v", names, l, err, want, wantErr)
		}
		return l, err
	}
	first, _ := read(lim, true, "type", "object", "i1")
	if again, _ := read(lim, true, "type", "object", "i1"); again != first {
		t.Error("the layout of a known header was made again")
	}
	read(lim, true, "type\nobject", "i1") // one name of two lines
	read(lim, true, "type", "object\ni1")
	read(lim, true, "type\n", "object", "i1")
	read(lim, true, "TYPE", " object", "I1")
	read(lim, true, "object", "i1")
	read(lim, false, "object", "i1")
	read(lim, true, "object", "i1")
	read(engine.Limits{Columns: 2, Indicators: 100}, true, "type", "object", "i1")
	read(lim, true, "type", "i7")
	read(engine.Limits{Columns: 100, Indicators: 5}, true, "type", "i7")
	for i := range 2 * mostLayouts { // some name a column twice
		read(lim, true, "type", fmt.Sprintf("i%d", i%100+1), fmt.Sprintf("i%d", i/100%100+1))
	}
	if n := len(kept.known); n > mostLayouts {
		t.Errorf("%d layouts are kept, at most %d should be", n, mostLayouts)
	}
}
