package collect

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"belfry/collect/ping"
)

// A panic in a collector must not end the service, which has other customers. Where a message is processed, only that message is
// affected: it is kept as it came. A panic elsewhere ends the collector with an error, and the supervisor runs it again. So every
// goroutine of a collector runs in a guard.

// panicLog logs the first panic of a minute: every message may cause the same one.
type panicLog struct {
	mu   sync.Mutex
	last time.Time
}

const panicLogEvery = time.Minute

func (l *panicLog) note(log *slog.Logger, fault any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.last.IsZero() || now.Sub(l.last) >= panicLogEvery {
		l.last = now
		log.Error("panic in a collector", "fault", fault, "stack", string(debug.Stack()))
	}
}

// guard runs f. A panic in f is logged and returned as an error.
func (e *Env) guard(f func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			e.panics.note(e.Log, fault)
			err = ping.ErrPanic
		}
	}()
	return f()
}
