package api

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"belfry"
)

// TestNoRoomForBody holds bodies where no file can be written: that is not the fault of the request, and nothing is wrong with the
// service but its disk.
func TestNoRoomForBody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tmp")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // in the place of the folder
		t.Fatal(err)
	}
	long := strings.Repeat("x", heldInMemory+1)
	_, err := hold(strings.NewReader(long), dir, "")
	if belfry.CodeOf(err) != belfry.StorageUnavailable || !strings.Contains(err.Error(), "not a directory") || strings.Contains(err.Error(), dir) {
		t.Errorf("a long body: %v", err)
	}
	h, err := hold(strings.NewReader(long[:heldInMemory-1]), dir, "")
	if err != nil {
		t.Fatalf("a short one: %v", err)
	}
	h.Close()
	cut := errors.New("cut off")
	if _, err := hold(io.MultiReader(strings.NewReader(long), iotest.ErrReader(cut)), t.TempDir(), ""); !errors.Is(err, cut) {
		t.Errorf("a body that is cut off: %v", err)
	}
}
