package duck

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"belfry"
	"belfry/store/duck/folder"
)

// TestSummariseAroundDamage: a damaged file is set aside and does not block summaries of other days; it is summarised
// after it has been put back.
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
			more, err := s.Summarise(t.Context(), folder.EndOfTime)
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
	aside, err := filepath.Glob(path + folder.DamagedMark + "*Z")
	if err != nil || len(aside) != 1 {
		t.Fatalf("set aside: %v, %v", aside, err)
	}
	write(whole)
	if err := errors.Join(os.Rename(aside[0]+".wal", path+".wal"), os.Remove(aside[0]), s.Watch()); err != nil {
		t.Fatal(err)
	}
	f(0, 1, 2)
}

// daysMade returns the days in the file of days.
func daysMade(t *testing.T, s *Store) (list []int) {
	t.Helper()
	q, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	counts, err := s.madeOf(t.Context(), q, s.trackers["objectdata"], s.trackers["objectdata"].Day, crashDay0)
	if err != nil {
		t.Fatal(err)
	}
	for at := range counts {
		list = append(list, int((at-crashDay0)/belfry.Day))
	}
	slices.Sort(list)
	return list
}

// TestFinishSummaries: before a deletion, the summaries of what it concerns are made piece by piece, while rows are being written.
func TestFinishSummaries(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	s.cfg.summaryRows = 1 // each hour and each day is a piece of its own
	mustAppend(t, s, rowsOf(1, 0, 1, 2))
	if err := s.lockWrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := s.trackers["objectdata"].Raw
	for pieces := 0; ; pieces++ {
		more, err := s.FinishSummaries(t.Context(), c, crashDay0+2*belfry.Day+belfry.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			if pieces != 4 {
				t.Errorf("%d pieces of work, want 4", pieces)
			}
			break
		}
	}
	s.unlockWrite()
	if got := daysMade(t, s); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("summaries of the days %v, want those of 0 and 1", got)
	}
}
