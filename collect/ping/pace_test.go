package ping

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEchoPace: a customer that sends a lot is slowed down, others are not, and one that sends little never waits.
func TestEchoPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := new(echoPace)
		const requests, size = 640, 65_000
		for range requests {
			e.reserve(2, size, time.Now())
		}
		for range 100 { // three hundred small requests in a second
			for range 3 {
				if delay := e.reserve(1, 56, time.Now()); delay > 0 {
					t.Errorf("the other customer waits for %s", delay)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		if left := e.reserve(2, size, time.Now()); left < 8*time.Second || left > 10*time.Second {
			t.Errorf("%d large requests at once are sent within %s", requests, left+time.Second)
		}
		time.Sleep(20 * time.Second)
		if left := e.reserve(2, size, time.Now()); left > 0 {
			t.Errorf("after a pause it has to wait for %s", left)
		}
	})
}
