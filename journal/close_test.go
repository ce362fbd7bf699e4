package journal

import (
	"errors"
	"os"
	"testing"
)

// TestCloseWaits: a record that is being written when the journal is closed is valid once acknowledged; later ones are
// rejected.
func TestCloseWaits(t *testing.T) {
	dir := t.TempDir()
	written, closing := make(chan struct{}, 1), make(chan struct{})
	armed := false
	j := open(t, dir, Options{Sync: func(f *os.File) error {
		if armed {
			armed = false
			written <- struct{}{}
			<-closing
		}
		return syncData(f)
	}})
	appendAll(t, j, "first")
	armed = true
	appended, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := j.Append([]byte("second"))
		appended <- err
	}()
	<-written
	go func() { close(closing); closed <- j.Close() }()
	if err := errors.Join(<-appended, <-closed); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([]byte("third")); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if list := replay(t, open(t, dir, Options{}), 0); len(list) != 2 || list[1].payload != "second" {
		t.Errorf("the journal has %v", list)
	}
}
