package main

import (
	"errors"
	"runtime"
	"time"
)

// cost is what a load took from the server and the machine.
type cost struct {
	cpu       float64 // seconds of the server
	now, peak float64 // resident memory, MiB; the peak is that of the process since its start
	others    float64 // share of the machine that went to neither server nor sender; much of it distorts the figures
}

// watch looks at a server while a load runs.
type watch struct {
	server       *server
	start        time.Time
	before, busy float64 // CPU of the server and of the machine at the start
	err          error
}

func (s *server) watch() *watch {
	w := &watch{server: s, start: time.Now(), busy: busyCPU(readText("/proc/stat"))}
	w.before, w.err = s.cpu()
	return w
}

// end tells what the load has cost, up to now; sender is the CPU of whoever sent it.
func (w *watch) end(sender float64) (c cost, err error) {
	after, err := w.server.cpu()
	if err := errors.Join(w.err, err); err != nil {
		return c, err
	}
	c.cpu = after - w.before
	others := busyCPU(readText("/proc/stat")) - w.busy - c.cpu - sender
	c.others = max(0, others) / time.Since(w.start).Seconds() / float64(runtime.NumCPU())
	c.now, c.peak, err = w.server.memory()
	return c, err
}
