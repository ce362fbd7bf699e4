package main

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"
)

const (
	placesEvery = 100 * time.Millisecond
	mostPlaces  = 4 // more than there are processors
)

// places is how many goroutines may run at a time. While the processors are busy it is more than there are processors: what waits
// for a call of the engine then finds a place as soon as the call ends, also while bodies that are read take every processor.
// Otherwise it is one for each, for every further one makes the scheduler wake up threads that find nothing to do.
type places struct {
	processors, now int
	used            time.Duration // of the processors, when last asked
}

// after says how many there shall be, when the process had used so much and looks again after so long.
func (p *places) after(used, passed time.Duration) int {
	share := float64(used-p.used) / float64(passed) / float64(p.processors)
	p.used = used
	switch {
	case share > 0.75:
		p.now = p.processors + min(p.processors, mostPlaces)
	case share < 0.5:
		p.now = p.processors
	}
	return p.now
}

// keepPlaces sets the places until the context ends, unless the environment says how many.
func keepPlaces(ctx context.Context) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	n := runtime.GOMAXPROCS(0)
	p := &places{processors: n, now: n, used: usedProcessors()}
	last := time.Now()
	for tick := time.NewTicker(placesEvery); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			before := p.now
			if next := p.after(usedProcessors(), now.Sub(last)); next != before {
				runtime.GOMAXPROCS(next)
			}
			last = now
		}
	}
}

// usedProcessors is the time that the process has had of the processors, the engine's threads included.
func usedProcessors() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
