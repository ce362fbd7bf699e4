package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpu is what the process has used, in seconds: user and system.
func (s *server) cpu() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseStat(string(text))
}

// ticks is how many of the kernel's units of CPU time make a second, on every Linux.
const ticks = 100

// parseStat reads the fields utime and stime; the name of the program before them may hold anything.
func parseStat(text string) (float64, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("process status %q is too short", text)
	}
	user, err1 := strconv.ParseUint(fields[11], 10, 64)
	system, err2 := strconv.ParseUint(fields[12], 10, 64)
	return float64(user+system) / ticks, errors.Join(err1, err2)
}

// memory gives the resident memory of the process now and at its peak, in MiB.
func (s *server) memory() (now, peak float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	return kibiField(string(text), "VmRSS:") / 1024, kibiField(string(text), "VmHWM:") / 1024, err
}

// kibiField reads a line such as "VmRSS:  1234 kB".
func kibiField(text, name string) float64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			v, _ := strconv.ParseFloat(f[1], 64)
			return v
		}
	}
	return 0
}

// disk is what a data folder takes, in bytes of allocated blocks.
type disk struct {
	rows, journal, meta, other int64
}

func (d disk) all() int64 { return d.rows + d.journal + d.meta + d.other }

// usage adds up a data folder, without the reserve, which is there whatever is stored.
func usage(dir string) (d disk, err error) {
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return ignoreGone(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreGone(err)
		}
		size := info.Size()
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			size = s.Blocks * 512
		}
		rel, _ := filepath.Rel(dir, path)
		first, _, _ := strings.Cut(rel, string(filepath.Separator))
		switch {
		case first == "rows":
			d.rows += size
		case first == "journal":
			d.journal += size
		case strings.HasPrefix(first, "meta.db"):
			d.meta += size
		case first != "reserve":
			d.other += size
		}
		return nil
	})
	return d, err
}

// ignoreGone forgives a file that the server has removed.
func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

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
