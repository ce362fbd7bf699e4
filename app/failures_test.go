package app

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"belfry"
)

func TestTrouble(t *testing.T) {
	f := newFaults(slog.New(slog.DiscardHandler), time.Now)
	tr := &failureTracker{id: faultMeta, faults: f, after: 3, explain: func(err error) string { return "because of " + err.Error() }}
	broken := errors.New("a disk")
	told := func(err error, want string) {
		t.Helper()
		tr.record(err)
		got := ""
		if list := f.list(); len(list) > 0 {
			got = list[0].Message
			if list[0].ID != faultMeta || !list[0].Blocks || belfry.CodeOf(tr.err()) != belfry.StorageUnavailable {
				t.Errorf("%+v, %v", list[0], tr.err())
			}
		}
		if got != want || (tr.err() == nil) != (want == "") {
			t.Errorf("fault %q, want %q; %v", got, want, tr.err())
		}
	}
	for range 2 {
		told(broken, "")
		told(nil, "") // twice in a row is no fault
		told(broken, "")
		told(broken, "")
		told(broken, "because of a disk")
		told(broken, "because of a disk")
		told(nil, "")
		told(nil, "")
	}
}
