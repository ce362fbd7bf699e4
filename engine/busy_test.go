package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Sequencer
		s.busy.during(func() {
			time.Sleep(time.Minute)
			if took := s.Busy(); took != time.Minute {
				t.Errorf("%s", took)
			}
		})
		if took := s.Busy(); took != 0 {
			t.Errorf("%s after the round", took)
		}
	})
}
