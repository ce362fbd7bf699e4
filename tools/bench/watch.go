package main

import (
	"context"
	"errors"
	"path/filepath"
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
	file         string // of the profile; empty when none is taken
	profiled     chan error
	cores        int
}

// watch begins to look at a server. With -keep a profile is taken for so many seconds, if it has a name.
func (b *bench) watch(ctx context.Context, s *server, profile string, seconds float64) *watch {
	w := &watch{server: s, start: time.Now(), busy: busyCPU(readText("/proc/stat")), profiled: make(chan error, 1), cores: runtime.NumCPU()}
	w.before, w.err = s.cpu()
	if b.keep && profile != "" {
		w.file = filepath.Join(b.tmp, profile+".prof")
		go func() { w.profiled <- s.profile(ctx, seconds, w.file) }()
	}
	return w
}

// end tells what the load has cost, up to now; sender is the CPU of whoever sent it.
func (w *watch) end(sender float64) (c cost, err error) {
	after, err := w.server.cpu()
	if err := errors.Join(w.err, err); err != nil {
		return c, err
	}
	c.cpu = after - w.before
	c.others = max(0, busyCPU(readText("/proc/stat"))-w.busy-c.cpu-sender) / time.Since(w.start).Seconds() / float64(w.cores)
	if c.now, c.peak, err = w.server.memory(); err != nil || w.file == "" {
		return c, err
	}
	return c, <-w.profiled
}
