package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/api"
)

// faults is the list of what is wrong around the service right now: an unwritable folder, a damaged file, a clock that is far
// off. A detector calls begin and end, as often as it checks. /readyz and /api/health show the list, and the begin and end of
// each fault are events of type internal.
// An event is a journal record, so it reaches the live stream even while the row store cannot store its row. While the journal
// cannot be written, events are queued here.
type faults struct {
	log  *slog.Logger
	now  func() time.Time
	file string // the open faults for the next start; empty: not saved
	kept []byte // content of the file; used by run alone

	mu      sync.Mutex
	open    map[string]fault
	before  map[string]fault // open at the end of the previous run and not found again yet
	pending []faultEvent     // not written yet
	wake    chan struct{}
}

// faultEvent is an event that is not written yet.
type faultEvent struct {
	Info string      `json:"info"`
	At   belfry.Time `json:"at"` // when it happened, which may be long before it can be written
}

type fault struct {
	since   time.Time
	message string
	blocks  bool // data cannot be accepted or queried
}

const (
	maxPendingEvents = 1000
	eventRetry       = time.Second
)

func newFaults(log *slog.Logger, now func() time.Time) *faults {
	return &faults{log: log, now: now, open: map[string]fault{}, wake: make(chan struct{}, 1)}
}

// begin adds a fault, or replaces the message of an open one. The id names the part and its object, as in "row_store" or
// "day_file objectdata 2026-11-13". A blocking fault makes the service not ready.
func (f *faults) begin(id string, blocks bool, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, known := f.open[id]
	if !known {
		if was, known = f.before[id]; known {
			delete(f.before, id)
			f.log.Warn("fault continues", "fault", id, "message", message)
		} else {
			was.since = f.now()
			f.event(message, was.since)
			f.log.Warn("fault begins", "fault", id, "message", message)
		}
		f.poke()
	}
	f.open[id] = fault{since: was.since, message: message, blocks: blocks}
}

// end removes a fault if it is open.
func (f *faults) end(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, known := f.open[id]
	if !known {
		return
	}
	delete(f.open, id)
	f.ended(id, was)
}

// ended writes the event for the end of a fault. The mutex is held.
func (f *faults) ended(id string, was fault) {
	now := f.now()
	lasted := now.Sub(was.since).Round(time.Second)
	if lasted < 0 { // the clock was set back between two runs
		f.event("over: "+was.message, now)
		f.log.Info("fault is over", "fault", id)
		return
	}
	f.event("over after "+lasted.String()+": "+was.message, now)
	f.log.Info("fault is over", "fault", id, "dur", lasted)
}

// endStale ends the faults of the previous run that were not found again. It is called once everything has been checked.
func (f *faults) endStale() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, was := range f.before {
		f.ended(id, was)
	}
	f.before = nil
}

// report writes an event about something that is over.
func (f *faults) report(info string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.event(info, f.now())
}

// reportAt writes an event about something that happened at a time; 0: now.
func (f *faults) reportAt(info string, at belfry.Time) {
	if at == 0 {
		f.report(info)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.event(info, at.Std())
}

// isOpen reports whether a fault is open.
func (f *faults) isOpen(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, open := f.open[id]
	return open
}

// event queues the text of an event. The mutex is held.
func (f *faults) event(info string, at time.Time) {
	if len(f.pending) == maxPendingEvents { // all of them are in the log
		return
	}
	f.pending = append(f.pending, faultEvent{info, belfry.At(at)})
	f.poke()
}

func (f *faults) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// ready returns the oldest blocking fault as an error; nil if there is none.
func (f *faults) ready() error {
	for _, h := range f.list() {
		if h.Blocks {
			code := belfry.StorageUnavailable
			if h.ID == faultMemory { // requests that free memory are accepted
				code = belfry.Overloaded
			}
			return belfry.Errorf(code, "%s (since %s)", h.Message, h.Since)
		}
	}
	return nil
}

// list returns the open faults, the oldest first.
func (f *faults) list() []api.HealthFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []api.HealthFault{}
	for id, a := range f.open {
		list = append(list, api.HealthFault{ID: id, Since: belfry.At(a.since).String(), Message: a.message, Blocks: a.blocks})
	}
	slices.SortFunc(list, func(a, b api.HealthFault) int {
		if n := strings.Compare(a.Since, b.Since); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// run writes the events with emit until ctx ends. It retries events that could not be written.
func (f *faults) run(ctx context.Context, emit func(info string, at belfry.Time) error) error {
	defer f.save()
	for {
		f.save()
		for e, ok := f.first(); ok && emit(e.Info, e.At) == nil; e, ok = f.first() {
			f.written()
		}
		f.save()
		var retry <-chan time.Time
		if _, waiting := f.first(); waiting {
			retry = time.After(eventRetry)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.wake:
		case <-retry:
		}
	}
}

func (f *faults) first() (e faultEvent, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pending) == 0 {
		return e, false
	}
	return f.pending[0], true
}

func (f *faults) written() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = f.pending[1:]
}

// memory begins the fault of low memory, or ends it if why is empty.
func (f *faults) memory(why string) {
	if why == "" {
		f.end(faultMemory)
		return
	}
	f.begin(faultMemory, true, why)
}
