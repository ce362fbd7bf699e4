package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
