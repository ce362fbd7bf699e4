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

// pressure watches the memory of the process, and refuses work when hardly any is left: parts of the budget are
// estimates, and the engine takes what it does not count.
type pressure struct {
	limit   int64                 // of the process; 0: none
	used    func() int64          // bytes that the system cannot take back
	over    atomic.Pointer[int64] // what was used when it was too much; nil while it is not
	freed   time.Time
	trimmed time.Time
	since   time.Time                      // when it became too much; zero while it is not
	lasts   func(string)                   // told that it has been too much for long, and why; with an empty text once it is not
	engine  atomic.Pointer[store.Embedded] // of rows; nil before it is open, and when it runs elsewhere
}

const (
	pressureEvery = 25 * time.Millisecond
	calmEvery     = 200 * time.Millisecond // while so much is free that it cannot be used up before the next look
	calmFree      = 2 << 30
	freeEvery     = 500 * time.Millisecond
	pressureLasts = 10 * time.Second // after which it is a fault

	faultMemory = "memory"
)

func newPressure(limit int64) *pressure {
	return &pressure{limit: limit, used: anonymousMemory, lasts: func(string) {}}
}

// trim returns to the system what the engine has free.
func (p *pressure) trim() {
	if e := p.engine.Load(); e != nil {
		(*e).FreeMemory()
	}
}

// free returns to the system all that is free, which takes longer.
func (p *pressure) free() {
	p.trim()
	debug.FreeOSMemory()
}

// high is the use above which work is refused, low the one below which it is taken again, and some the one above which the
// engine may keep nothing for later use.
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

// measure compares what is used with the limit, and says when to look again.
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
			(*e).EndQueries() // a query can take what is left before the next look
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

// report tells of memory that has been short for long.
func (p *pressure) report(now time.Time) {
	used := p.over.Load()
	switch {
	case used == nil:
	case p.since.IsZero():
		p.since = now
	case now.Sub(p.since) >= pressureLasts:
		p.lasts(fmt.Sprintf("the service uses %s of the %s of memory that it may have, so rows and queries are refused; remove items that are not needed, "+
			"or give it more memory", mebibytes(*used), mebibytes(p.limit)))
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// check refuses work while there is too little memory.
func (p *pressure) check() error {
	used := p.over.Load()
	if used == nil {
		return nil
	}
	return belfry.Errorf(belfry.Overloaded, "the service uses %s of the %s of memory that it may have; send again shortly", config.Size(*used), config.Size(p.limit))
}

// anonymousMemory is what the process has in memory and no file holds.
func anonymousMemory() int64 {
	f := strings.Fields(readFile("/proc/self/statm")) // size resident shared …, in pages
	if len(f) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(f[1], 10, 64)
	shared, _ := strconv.ParseInt(f[2], 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
