package app

import (
	"sync"

	"belfry"
)

// Ids of faults of what the service writes to.
const (
	faultRows      = "row_store"
	faultMeta      = "metadata"
	faultMetaPages = "metadata_damage"
	faultJournal   = "journal"
	faultFolder    = "journal folder"
	faultLock      = "lock"
	faultTimes     = "arrivals"
)

// trouble follows a part that fails and recovers. It reports a fault when the part has failed several times in a row, and
// its end when it has succeeded.
type trouble struct {
	id      string
	faults  *faults
	after   int // failures in a row
	explain func(error) string

	mu    sync.Mutex
	times int
	why   *belfry.Error // nil while there is no fault
}

// record notes the outcome of an attempt.
func (t *trouble) record(err error) {
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

// now takes note of a failure that is no matter of chance: there is a fault at once.
func (t *trouble) now(err error) {
	t.mu.Lock()
	t.times = t.after
	t.mu.Unlock()
	t.record(err)
}

// err says what is wrong; nil while nothing is.
func (t *trouble) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why == nil {
		return nil
	}
	return t.why
}
