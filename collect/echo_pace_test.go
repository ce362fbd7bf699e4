package collect

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEchoPace: a customer that sends much is slowed down, others are not, and who sends little never waits.
func TestEchoPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := new(echoPace)
		start := time.Now()
		const requests, size = 640, 65_000
		for range requests {
			go func() {
				if err := e.wait(t.Context(), 2, size); err != nil {
					t.Error(err)
				}
			}()
		}
		for range 100 { // three hundred small requests in a second
			for range 3 {
				if err := e.wait(t.Context(), 1, 56); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the other customer needs %s", took)
		}
		if left := e.book(2, size, time.Now()); left < 8*time.Second || left > 10*time.Second {
			t.Errorf("%d large requests at once are sent within %s", requests, time.Second+left)
		}
		time.Sleep(20 * time.Second)
		if left := e.book(2, size, time.Now()); left > 0 {
			t.Errorf("after a pause it has to wait for %s", left)
		}
	})
}
