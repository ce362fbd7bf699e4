package clustering

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var small = Sizes{Piece: 100, Run: 1000, Fresh: 200, Late: 50}

func TestDue(t *testing.T) {
	for _, x := range []struct {
		runs []uint64
		rows uint64
		over bool
		want string
	}{
		{nil, 0, false, "[] false"},
		{nil, 199, false, "[] false"},
		{nil, 200, false, "[] true"},
		{nil, 49, true, "[] false"},
		{nil, 50, true, "[] true"},
		{[]uint64{200}, 399, false, "[] false"},
		{[]uint64{200}, 400, false, "[] true"},
		{[]uint64{1000}, 1499, false, "[1000] false"}, // not yet half as many
		{[]uint64{1000}, 1500, false, "[1000] true"},
		{[]uint64{1000, 400, 900}, 4000, false, "[1000] true"}, // small ones are joined with what comes
		{[]uint64{1000, 900}, 2100, true, "[1000 900] false"},
		{[]uint64{1000, 900}, 2200, true, "[1000 900] true"},
		{[]uint64{300, 300, 300}, 900, true, "[] true"}, // too many runs
		{[]uint64{300, 300}, 600, true, "[] false"},
		{[]uint64{500}, 400, true, "[] false"}, // not settled
	} {
		stay, ok := small.due(x.runs, x.rows, x.over)
		if got := fmt.Sprint(stay, ok); got != x.want {
			t.Errorf("due(%v, %d, %v) = %s, want %s", x.runs, x.rows, x.over, got, x.want)
		}
	}
}

// TestDays lets days of different sizes go on and end: each row is copied a few times, and the runs are of a good size at the end.
func TestDays(t *testing.T) {
	for _, size := range []uint64{60, 500, 3000, 100_000} {
		var runs []uint64
		rows, copied := uint64(0), uint64(0)
		step := func(over bool) {
			stay, ok := small.due(runs, rows, over)
			if ok {
				copied += rows
				runs = append(stay, small.divide(rows-sum(stay))...)
			}
		}
		for rows < size {
			rows += size/100 + 1
			step(false)
		}
		step(true)
		if len(runs) == 0 || sum(runs) < rows*8/10 || len(runs) > 2*int(rows/small.Run+1) {
			t.Errorf("%d rows: runs of %v", rows, runs)
		}
		if copied > 6*rows {
			t.Errorf("%d rows: %d were copied", rows, copied)
		}
		if _, again := small.due(runs, rows, true); again {
			t.Errorf("%d rows: it does not end", rows)
		}
	}
}

func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var parts []part
		item := uint64(0)
		for range 1 + rng.IntN(30) {
			item += 1 + rng.Uint64N(3)
			parts = append(parts, part{items: item, rows: 1 + rng.Uint64N(60)})
		}
		last := uint64(0)
		in := map[uint64]int{}
		for _, p := range small.pieces(parts) {
			if p.from < last {
				t.Fatalf("a piece from %d after one to %d", p.from, last)
			}
			rows, n := uint64(0), 0
			for _, x := range parts {
				if first := x.items * neighbours; first >= p.from && first < p.to {
					rows, n = rows+x.rows, n+1
					in[x.items]++
				}
			}
			if rows > small.Piece && n > 1 {
				t.Fatalf("a piece of %d rows of %d parts", rows, n)
			}
			last = p.to
		}
		for _, x := range parts {
			if in[x.items] != 1 {
				t.Fatalf("a part is in %d pieces", in[x.items])
			}
		}
	}
}

func TestSettled(t *testing.T) {
	var s State
	now := time.Unix(1e9, 0)
	for i, x := range []struct{ after, rows, want int }{{0, 10, 0}, {4, 20, 0}, {1, 30, 10}, {4, 40, 10}, {1, 50, 30}, {9, 5, 5}} {
		now = now.Add(time.Duration(x.after) * time.Minute)
		if got := s.settled(uint64(x.rows), now, 5*time.Minute); got != uint64(x.want) {
			t.Errorf("look %d: %d of %d rows are settled, want %d", i, got, x.rows, x.want)
		}
	}
}

func TestFailed(t *testing.T) {
	var s State
	now := time.Unix(1e9, 0)
	if !s.Failed(errors.New("full"), now) || !s.Idle(1, now.Add(9*time.Minute)) || s.Idle(1, now.Add(10*time.Minute)) {
		t.Error("an attempt that failed is not made again after ten minutes")
	}
	if s.Failed(ErrUnfit, now) || !s.Idle(1, now.Add(23*time.Hour)) {
		t.Error("a file that is unfit is looked at again at once, or reported")
	}
}
