package duck

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"belfry"
)

// TestAgenda: what has few rows is done together, but neither across files nor with what has failed before.
func TestAgenda(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	d := s.sums["objectdata"]
	hour := func(n, rows int) span {
		from := crashDay0 + belfry.Time(n)*belfry.Hour
		return span{belfry.Span{From: from, To: from + belfry.Hour}, int64(rows), false}
	}
	f := func(want string, spans ...span) {
		t.Helper()
		a := agenda{most: 10}
		a.add(d, d.able(d.hour, spans), nil)
		var got [][]int
		for _, w := range a.hours {
			var list []int
			for _, p := range w.spans {
				list = append(list, int((p.From-crashDay0)/belfry.Hour))
			}
			got = append(got, list)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("pieces of work %v, want %s", got, want)
		}
	}
	f("[]")
	f("[[0 1] [2]]", hour(0, 4), hour(1, 4), hour(2, 4))
	f("[[0] [1 2]]", hour(0, 40), hour(1, 4), hour(2, 4))
	month := int((d.hour.PeriodOf(crashDay0).To - crashDay0) / belfry.Hour)
	f(fmt.Sprintf("[[0 %d] [%d]]", month-1, month), hour(0, 1), hour(month-1, 1), hour(month, 1))
	d.fail(d.hour, hour(1, 0).From)
	f("[[0] [1] [2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
	d.fail(d.hour, hour(1, 0).From)
	f("[[0 2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
	d.retry()
	f("[[0] [1] [2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
	d.done(&work{to: d.hour, spans: []belfry.Span{hour(1, 0).Span}})
	f("[[0 1 2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
}

// TestSummariseAroundDamage: a damaged file is set aside and keeps nobody from summing up the other days; it is summed up
// when it has been put back.
func TestSummariseAroundDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	mustAppend(t, s, rowsOf(1, 0, 1, 2))
	path := s.files.byName["objectdata"][1].path
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(make([]byte, len(whole)))
	s = open(t, dir)
	defer s.Close()
	f := func(made ...int) {
		t.Helper()
		var last error
		for range 20 {
			more, err := s.Summarise(t.Context(), endOfTime)
			last = err
			if !more {
				break
			}
		}
		if last != nil {
			t.Errorf("in the end Summarise says %v", last)
		}
		if got := daysMade(t, s); !slices.Equal(got, made) {
			t.Errorf("summaries of the days %v, want %v", got, made)
		}
	}
	f(0, 2)
	aside, err := filepath.Glob(path + damagedMark + "*Z")
	if err != nil || len(aside) != 1 {
		t.Fatalf("set aside: %v, %v", aside, err)
	}
	write(whole)
	if err := errors.Join(os.Rename(aside[0]+".wal", path+".wal"), os.Remove(aside[0]), s.Watch()); err != nil {
		t.Fatal(err)
	}
	f(0, 1, 2)
}

// daysMade are the days in the file of days.
func daysMade(t *testing.T, s *Store) (list []int) {
	t.Helper()
	q, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	counts, err := s.madeOf(t.Context(), q, s.sums["objectdata"], s.sums["objectdata"].day, crashDay0)
	if err != nil {
		t.Fatal(err)
	}
	for at := range counts {
		list = append(list, int((at-crashDay0)/belfry.Day))
	}
	slices.Sort(list)
	return list
}
