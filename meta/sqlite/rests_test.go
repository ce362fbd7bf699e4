package sqlite

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rests
		work := func(d, rest time.Duration) {
			t.Helper()
			time.Sleep(d)
			begun := time.Now()
			r.pause()
			if took := time.Since(begun); took != rest {
				t.Errorf("after %v of work, a rest of %v; want %v", d, took, rest)
			}
		}
		work(time.Second, 0) // nil: none
		r = &rests{until: time.Now().Add(5 * time.Second)}
		work(0, 0)
		work(restAfter/2, 0)
		work(restAfter/2, restAfter) // of the work since the last rest
		work(3*time.Millisecond, 3*time.Millisecond)
		work(time.Second, longRest)
		work(4*time.Second, 0) // the states must be written before the next ones are due
		r = &rests{}
		work(time.Second, 0)
	})
}
