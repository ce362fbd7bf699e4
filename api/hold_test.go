package api

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"belfry"
)

// TestNoRoomForBody: that a disk is full is not the fault of the request, and nothing else is wrong with the service.
func TestNoRoomForBody(t *testing.T) {
	err := notHeld(&fs.PathError{Op: "write", Path: "/data/tmp/body-1", Err: syscall.ENOSPC})
	if belfry.CodeOf(err) != belfry.StorageUnavailable || !strings.Contains(err.Error(), "no space left on device") || strings.Contains(err.Error(), "/data") {
		t.Errorf("a full disk: %v", err)
	}
	if err := notHeld(&fs.PathError{Op: "mkdir", Path: "/data/tmp", Err: syscall.ENOTDIR}); belfry.CodeOf(err) != belfry.Internal {
		t.Errorf("a file in the place of the folder: %v", err)
	}
	cut := errors.New("cut off")
	long := strings.Repeat("x", heldInMemory+1)
	if _, err := hold(io.MultiReader(strings.NewReader(long), iotest.ErrReader(cut)), t.TempDir(), ""); !errors.Is(err, cut) {
		t.Errorf("a body that is cut off: %v", err)
	}
}
