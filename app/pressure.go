package app

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/config"
	"belfry/store"
)

// pressure watches the memory of the process and refuses work when hardly any is left: parts of the budget are estimates, and the
// engine does not count all of its memory.
type pressure struct {
	limit   int64                 // of the process; 0: no limit
	used    func() int64          // bytes of anonymous memory, which the kernel cannot reclaim
	over    atomic.Pointer[int64] // bytes in use when work was first refused; nil while it is not
	freed   time.Time
	trimmed time.Time
	since   time.Time                      // when over was set; zero while it is not
	lasts   func(string)                   // called with a message when memory was low for long, and with "" when it no longer is
	engine  atomic.Pointer[store.Embedded] // the row store; nil before it is open, or if it runs elsewhere
}

const (
	pressureEvery = 25 * time.Millisecond
	calmEvery     = 200 * time.Millisecond // interval while calmFree is left
	calmFree      = 2 << 30
	freeEvery     = 500 * time.Millisecond
	pressureLasts = 10 * time.Second // after which low memory is a fault

	faultMemory = "memory"
)

func newPressure(limit int64) *pressure {
	return &pressure{limit: limit, used: anonymousMemory, lasts: func(string) {}}
}

// trim returns the engine's free memory to the system.
func (p *pressure) trim() {
	if e := p.engine.Load(); e != nil {
		(*e).FreeMemory()
	}
}

// free also returns the free Go heap, which takes longer.
func (p *pressure) free() {
	p.trim()
	debug.FreeOSMemory()
}

// Work is refused above high and accepted again below low. Above some, the engine keeps no free memory.
func (p *pressure) high() int64 { return p.limit - p.limit/10 }
func (p *pressure) low() int64  { return p.limit - p.limit*3/20 }
func (p *pressure) some() int64 { return p.limit / 2 }

func (p *pressure) run(ctx context.Context) error {
	if p.limit == 0 {
		<-ctx.Done()
		return nil
	}
	next := time.NewTimer(pressureEvery)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-next.C:
			next.Reset(p.measure(now))
		}
	}
}

// measure compares the memory in use with the limit and returns the time until the next check.
func (p *pressure) measure(now time.Time) time.Duration {
	used := p.used()
	if used >= p.some() && now.Sub(p.trimmed) >= freeEvery {
		p.trimmed = now
		p.trim()
	}
	switch {
	case used >= p.high():
		p.over.Store(&used)
		if e := p.engine.Load(); e != nil {
			(*e).EndQueries() // a query can use up the rest before the next check
		}
		if now.Sub(p.freed) >= freeEvery {
			p.freed = now
			p.free()
		}
	case used < p.low() && p.over.Swap(nil) != nil:
		p.since = time.Time{}
		p.lasts("")
	}
	p.report(now)
	if p.high()-used > calmFree {
		return calmEvery
	}
	return pressureEvery
}

// report calls lasts if memory has been low for long.
func (p *pressure) report(now time.Time) {
	used := p.over.Load()
	switch {
	case used == nil:
	case p.since.IsZero():
		p.since = now
	case now.Sub(p.since) >= pressureLasts:
		p.lasts(fmt.Sprintf("the service uses %s of the %s of memory that it may use, so rows and queries are refused; remove items that are not needed, "+
			"or give it more memory", mebibytes(*used), mebibytes(p.limit)))
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// check returns an error while memory is low.
func (p *pressure) check() error {
	used := p.over.Load()
	if used == nil {
		return nil
	}
	return belfry.Errorf(belfry.Overloaded, "the service uses %s of the %s of memory that it may use; try again shortly", config.Size(*used), config.Size(p.limit))
}

// anonymousMemory is the resident memory that is not backed by files.
func anonymousMemory() int64 {
	f := strings.Fields(readFile("/proc/self/statm")) // size resident shared …, in pages
	if len(f) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(f[1], 10, 64)
	shared, _ := strconv.ParseInt(f[2], 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
