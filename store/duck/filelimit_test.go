package duck

import (
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/store"
)

// TestFewFiles: if few files may be open, rows of many days are still stored, and only queries over more files than
// that are refused.
func TestFewFiles(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: t.TempDir(), Catalog: cat, Files: 6}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const days = 12
	mustAppend(t, s, rowsOf(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
	if s.files.attached > 6 {
		t.Errorf("%d files are open", s.files.attached)
	}
	c := cat.Collection("objectdata")
	got, err := s.files.acquire(t.Context(), c, crashDay0, crashDay0+5*belfry.Day-1)
	if err != nil || len(got) != 5 {
		t.Errorf("%d files: %v", len(got), err)
	}
	if _, err := s.files.acquire(t.Context(), c, crashDay0, crashDay0+days*belfry.Day); belfry.CodeOf(err) != belfry.Overloaded {
		t.Errorf("all files: %v", err)
	}
	mustAppend(t, s, rowsOf(1000, days, days+1, days+2, days+3)) // while others have theirs
	s.files.release(got)
	if got, err = s.files.acquire(t.Context(), c, crashDay0+5*belfry.Day, crashDay0+11*belfry.Day-1); err != nil || len(got) != 6 {
		t.Errorf("%d other files: %v", len(got), err)
	}
	s.files.release(got)
}
