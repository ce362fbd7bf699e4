package body

import (
	"bytes"
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
	if _, err := Hold(io.MultiReader(strings.NewReader(long), iotest.ErrReader(cut)), t.TempDir(), ""); !errors.Is(err, cut) {
		t.Errorf("a body that is cut off: %v", err)
	}
}

// TestHold: bodies of every length come back whole, and the digest tells requests apart.
func TestHold(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, size := range []int{0, 1, heldInMemory - 1, heldInMemory, heldInMemory + 1, 3 * heldInMemory} {
		plain := bytes.Repeat([]byte("x"), size)
		for _, prefix := range []string{"POST /a?", "POST /ax?"} {
			h, err := Hold(bytes.NewReader(plain), t.TempDir(), prefix)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(h)
			h.Close()
			if err != nil || !bytes.Equal(got, plain) || seen[h.Digest] {
				t.Errorf("%s with %d bytes: %d came back, %v, digest seen before: %t", prefix, size, len(got), err, seen[h.Digest])
			}
			seen[h.Digest] = true
		}
	}
}
