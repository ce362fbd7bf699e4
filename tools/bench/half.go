package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	halfPart = "half"
	halfLoad = "1,000-row bodies at half of that rate"
	busyLoad = halfLoad + ", beside busy programs"

	openClients = 64 // of a load with a rate: more than ever wait for an answer at the same time, unless the server stalls
)

// half sends medium bodies at half of the rate that the server takes, alone and beside programs that need the processor, too.
func (b *bench) half(ctx context.Context) error {
	return b.during(ctx, &dataset{data: filepath.Join(b.tmp, "half")}, func(s *server) error {
		if _, err := b.register(ctx, s, b.objects); err != nil {
			return err
		}
		j := job{Objects: b.objects, Rows: 1000, Clients: 4, Seconds: b.fraction(6)}
		m, err := b.runJob(ctx, s, j)
		if err != nil {
			return err
		}
		b.addLoad(halfPart, "1,000-row bodies, 4 clients", m)
		j.Rate, j.Clients, j.Seconds = m.rate()/2, openClients, b.fraction(3)
		if m, err = b.runJob(ctx, s, j); err != nil {
			return err
		}
		b.progress("at half of the rate: p50 %.2f ms, p99 %.2f ms, sender late %.2f ms", m.P50, m.P99, m.Late)
		b.addLoad(halfPart, halfLoad, m)
		m, taken, err := b.besideBusy(ctx, s, j)
		if err != nil {
			return err
		}
		b.progress("beside other programs: p50 %.2f ms, p99 %.2f ms, %d refused, they took %.2f cores", m.P50, m.P99, m.Refused, taken)
		b.addLoad(halfPart, busyLoad, m)
		b.add(halfPart, busyLoad, "cores of the programs", "", taken)
		return nil
	})
}

// besideBusy runs a job beside busy programs, and returns how many cores these took.
func (b *bench) besideBusy(ctx context.Context, s *server, j job) (m *measured, cores float64, err error) {
	var all sync.WaitGroup
	used, errs := make([]time.Duration, runtime.NumCPU()), make([]error, runtime.NumCPU())
	m, err = b.runJob(ctx, s, j, func() {
		for i := range used {
			all.Go(func() {
				cmd := exec.CommandContext(ctx, b.self, busyCommand)
				cmd.Stdin = strings.NewReader(fmt.Sprintln(j.Seconds))
				// The scheduler shares the processor between sessions before it shares it between processes.
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				if errs[i] = cmd.Run(); errs[i] == nil {
					used[i] = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				}
			})
		}
	})
	all.Wait()
	for _, d := range used {
		cores += d.Seconds() / j.Seconds
	}
	return m, cores, errors.Join(err, errors.Join(errs...))
}

const (
	// busyCommand is the hidden argument with which the program becomes one that needs the processor.
	busyCommand = "busy"

	busyShare  = 0.8 // of a core that it uses, if it gets it
	busyPeriod = 10 * time.Millisecond
)

// busyProcess reads a number of seconds and is busy for so long.
func busyProcess(in io.Reader) error {
	var seconds float64
	if err := json.NewDecoder(in).Decode(&seconds); err != nil {
		return err
	}
	start := time.Now()
	for n := time.Duration(1); time.Since(start).Seconds() < seconds; n++ {
		before, end := ownCPU(), start.Add(n*busyPeriod)
		for time.Now().Before(end) && ownCPU()-before < busyShare*busyPeriod.Seconds() {
			for range 10_000 { // a few microseconds
			}
		}
		time.Sleep(time.Until(end))
	}
	return nil
}
