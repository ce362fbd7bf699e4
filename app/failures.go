package app

import (
	"sync"

	"belfry"
)

// Ids of the faults of the files that the service writes.
const (
	faultRows      = "row_store"
	faultMeta      = "metadata"
	faultMetaPages = "metadata_damage"
	faultJournal   = "journal"
	faultFolder    = "journal folder"
	faultLock      = "lock"
	faultTimes     = "arrivals"
)

// failureTracker begins a fault when a part has failed several times in a row, and ends it when the part succeeds.
type failureTracker struct {
	id      string
	faults  *faults
	after   int // failures in a row before the fault begins
	explain func(error) string

	mu    sync.Mutex
	times int
	why   *belfry.Error // nil while the fault is closed
}

// record counts the result of an attempt.
func (t *failureTracker) record(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.times, t.why = 0, nil
		t.faults.end(t.id)
		return
	}
	if t.times++; t.times < t.after {
		return
	}
	message := t.explain(err)
	t.why = belfry.Errorf(belfry.StorageUnavailable, "%s", message)
	t.faults.begin(t.id, true, message)
}

// recordNow begins the fault at once, for a failure that does not go away by itself.
func (t *failureTracker) recordNow(err error) {
	t.mu.Lock()
	t.times = t.after
	t.mu.Unlock()
	t.record(err)
}

// err returns the open fault as an error; nil if it is closed.
func (t *failureTracker) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why == nil {
		return nil
	}
	return t.why
}
