package engine

import (
	"sync/atomic"
	"time"
)

// busy knows since when the sequencer has been working on a round.
type busy struct{ since atomic.Pointer[time.Time] }

func (b *busy) during(f func()) {
	now := time.Now()
	b.since.Store(&now)
	f()
	b.since.Store(nil)
}

// Busy returns how long the present round has taken so far. Many seconds mean that something is wrong with a command.
func (s *Sequencer) Busy() time.Duration {
	if at := s.busy.since.Load(); at != nil {
		return time.Since(*at)
	}
	return 0
}
