package main

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"
)

const (
	procsEvery = 100 * time.Millisecond
	mostExtra  = 4 // at most this many more than processors
)

// procTuner computes GOMAXPROCS. While the processors are busy, it is higher than their number, so that a goroutine that returns
// from a call of the engine runs at once, even while parsing bodies takes all processors. Otherwise it is their number, because
// with more the scheduler would wake threads that find no work.
type procTuner struct {
	processors, now int
	used            time.Duration // processor time at the last check
}

// after returns the value for a process that has used so much processor time in total, when the last check was so long ago.
func (p *procTuner) after(used, passed time.Duration) int {
	share := float64(used-p.used) / float64(passed) / float64(p.processors)
	p.used = used
	switch {
	case share > 0.75:
		p.now = p.processors + min(p.processors, mostExtra)
	case share < 0.5:
		p.now = p.processors
	}
	return p.now
}

// tuneProcs adjusts GOMAXPROCS until ctx ends, unless the environment sets it.
func tuneProcs(ctx context.Context) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	n := runtime.GOMAXPROCS(0)
	p := &procTuner{processors: n, now: n, used: usedProcessors()}
	last := time.Now()
	for tick := time.NewTicker(procsEvery); ; {
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

// usedProcessors returns the processor time of the process, including the engine's threads.
func usedProcessors() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
