package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// describe says where the figures come from; nothing that names the machine.
func describe(o options, dir string) described {
	d := described{Date: time.Now().UTC(), Objects: o.objects, Many: o.many, Seconds: o.seconds, Quick: o.quick}
	processor, kernel := "unknown processor", "unknown kernel"
	for line := range strings.Lines(readText("/proc/cpuinfo")) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			processor = strings.TrimSpace(strings.TrimLeft(name, "\t :"))
			break
		}
	}
	if f := strings.Fields(readText("/proc/version")); len(f) > 2 {
		kernel = f[0] + " " + f[2]
	}
	if f := strings.Fields(readText("/proc/loadavg")); len(f) > 2 {
		d.Load = strings.Join(f[:3], " ")
	}
	memory := kibiField(readText("/proc/meminfo"), "MemTotal:") / (1 << 20)
	d.Machine = fmt.Sprintf("%s, %d cores, %.0f GiB, %s, %s, data on %s", processor, runtime.NumCPU(), memory, kernel, runtime.Version(), filesystem(dir))
	return d
}

func readText(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}

// filesystem names the file system of a folder: on one in memory an fsync says nothing.
func filesystem(dir string) string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "unknown"
	}
	const inMemory = "tmpfs (in memory: what is said about fsync does not count)"
	names := map[uint32]string{0xEF53: "ext4", 0x58465342: "xfs", 0x9123683E: "btrfs", 0x01021994: inMemory, 0x794C7630: "overlayfs"}
	return cmp.Or(names[uint32(s.Type)], fmt.Sprintf("type %#x", uint32(s.Type)))
}

// busyCPU reads from /proc/stat how many seconds all cores together have worked.
func busyCPU(stat string) float64 {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	busy := 0.0
	for i, field := range f {
		if v, err := strconv.ParseFloat(field, 64); err == nil && i < 9 && i != 4 && i != 5 {
			busy += v
		}
	}
	return busy / ticks
}
