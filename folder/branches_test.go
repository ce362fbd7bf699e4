package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
)

func TestBranches(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, BranchesFile)
	if _, err := ReadBranches(path); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	for _, since := range []belfry.Position{0, belfry.PositionOf(1, 50), belfry.PositionOf(2, 7)} {
		if err := AddBranch(dir, since); err != nil {
			t.Fatal(err)
		}
	}
	list, err := ReadBranches(path)
	if err != nil || len(list) != 3 || list[1].Since != belfry.PositionOf(1, 50) || list[0].ID == list[1].ID {
		t.Fatalf("%v, %v", list, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		changed := []byte(string(whole))
		changed[i] ^= 1
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadBranches(path); err == nil && len(got) != 3 {
			t.Fatalf("a changed byte %d is not noticed: %v", i, got)
		} else if err == nil && i < len(whole)-10 {
			t.Fatalf("a changed byte %d is not noticed", i)
		}
		if err := os.WriteFile(path, whole[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadBranches(path); err == nil && i < len(whole)-1 {
			t.Fatalf("cut after %d bytes, it is read as %v", i, got)
		}
	}
}

func TestCheckBranch(t *testing.T) {
	first, second, third := belfry.Branch{ID: "a", Since: 0}, belfry.Branch{ID: "b", Since: 100}, belfry.Branch{ID: "c", Since: 150}
	ours := []belfry.Branch{first, second, third}
	for _, x := range []struct {
		name   string
		backup []belfry.Branch
		pos    belfry.Position
		why    string
	}{
		{"the present", ours, 999, ""},
		{"before the first restore", []belfry.Branch{first}, 100, ""},
		{"after the moment that was restored", []belfry.Branch{first}, 101, "this service was restored, or its folder put back, as of"},
		{"before the second restore", []belfry.Branch{first, second}, 150, ""},
		{"after the second", []belfry.Branch{first, second}, 151, "was restored, or"},
		{"another restore of the same backup", []belfry.Branch{first, {ID: "x", Since: 100}}, 100, "of which this service does not know"},
		{"another instance", []belfry.Branch{{ID: "y"}}, 1, "of which this service does not know"},
	} {
		err := CheckBranch(ours, x.backup, x.pos)
		if (err == nil) != (x.why == "") || err != nil && !strings.Contains(err.Error(), x.why) {
			t.Errorf("%s: %v, want %q", x.name, err, x.why)
		}
	}
}
