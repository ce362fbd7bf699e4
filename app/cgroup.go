package app

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryLimit is the memory that the process may use and the source of the limit; 0 if unknown.
type memoryLimit struct {
	bytes int64
	from  string
}

// findMemoryLimit returns the smallest limit on this process: its control group and all groups above it, in version 1 and 2, a
// quarter of its address space, and the memory of the machine. Tests pass another root.
func findMemoryLimit(root string) memoryLimit {
	best := memoryLimit{}
	lower := func(bytes int64, from string) {
		if bytes > 0 && (best.bytes == 0 || bytes < best.bytes) {
			best = memoryLimit{bytes, from}
		}
	}
	lower(machineMemory(filepath.Join(root, "proc/meminfo")), "machine")
	if bytes := addressSpace(filepath.Join(root, "proc/self/limits")); bytes > 0 {
		lower(bytes/4, "a quarter of the address space") // most of it is reserved and never used, for stacks and by allocators
	}
	paths := groupPaths(readFile(filepath.Join(root, "proc/self/cgroup")))
	for line := range strings.Lines(readFile(filepath.Join(root, "proc/self/mountinfo"))) {
		m, ok := parseMount(line)
		if !ok {
			continue
		}
		path, ok := paths[m.version]
		if !ok {
			continue
		}
		for _, dir := range m.groups(path) {
			for _, name := range limitFiles[m.version] {
				lower(readLimit(filepath.Join(root, dir, name)), "control group")
			}
		}
	}
	return best
}

// limitFiles are the files that hold the limits of a group, by version. Above memory.high the kernel throttles the group.
var limitFiles = map[int][]string{1: {"memory.limit_in_bytes"}, 2: {"memory.max", "memory.high"}}

// groupMount is where a hierarchy of control groups with the controller memory is mounted.
type groupMount struct {
	version    int
	root, path string // which group of the hierarchy is mounted, and where
}

// parseMount reads a line of mountinfo: "35 31 0:32 /root /mount/point options - type source superoptions".
func parseMount(line string) (m groupMount, ok bool) {
	before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
	if !ok {
		return m, false
	}
	fields, super := strings.Fields(before), strings.Fields(after)
	if len(fields) < 5 || len(super) < 3 {
		return m, false
	}
	m.root, m.path = unescapeMount(fields[3]), unescapeMount(fields[4])
	switch super[0] {
	case "cgroup2":
		m.version = 2
		return m, true
	case "cgroup":
		m.version = 1
		for option := range strings.SplitSeq(super[2], ",") {
			if option == "memory" {
				return m, true
			}
		}
	}
	return m, false
}

// unescapeMount decodes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// groupPaths reads /proc/self/cgroup and returns the path of the memory controller's group, by version.
func groupPaths(text string) map[int]string {
	paths := map[int]string{}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			paths[2] = parts[2]
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "memory" {
				paths[1] = parts[2]
			}
		}
	}
	return paths
}

// groups lists the visible folders of a group and of the groups above it. In a container the mount may start
// at the group itself, or the path may be one of the host: then only the mount point is listed.
func (m groupMount) groups(path string) []string {
	inside, ok := strings.CutPrefix(filepath.Clean("/"+path), strings.TrimSuffix(m.root, "/"))
	if !ok || inside != "" && inside[0] != '/' || strings.HasPrefix(path, "/..") {
		inside = ""
	}
	list := []string{m.path}
	at := m.path
	for name := range strings.SplitSeq(strings.Trim(inside, "/"), "/") {
		if name != "" {
			at = filepath.Join(at, name)
			list = append(list, at)
		}
	}
	return list
}

// readLimit reads a limit; 0: none. Without a limit, version 1 has a very large number in the file and version 2 the word max.
func readLimit(file string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(readFile(file)), 10, 64)
	if err != nil || n <= 0 || n >= math.MaxInt64/2 {
		return 0
	}
	return n
}

// machineMemory reads MemTotal.
func machineMemory(file string) int64 {
	for line := range strings.Lines(readFile(file)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// addressSpace reads the soft limit of the address space; 0: none.
func addressSpace(file string) int64 {
	for line := range strings.Lines(readFile(file)) {
		if rest, ok := strings.CutPrefix(line, "Max address space"); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(f[0], 10, 64)
				return n
			}
		}
	}
	return 0
}

func readFile(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return "" // not on this system
	}
	return string(text)
}
