package app

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFindMemoryLimit reads limits from a tree of files like those of the kernel.
func TestFindMemoryLimit(t *testing.T) {
	const (
		machine = "MemTotal:       25165824 kB\nMemFree: 1 kB\n"
		v1      = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		v2      = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		none    = "9223372036854771712\n"
	)
	f := func(want int64, from string, files map[string]string) {
		t.Helper()
		root := t.TempDir()
		for name, text := range files {
			file := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := findMemoryLimit(root); got != (memoryLimit{want, from}) {
			t.Errorf("got %+v, want %d from %s; files %v", got, want, from, files)
		}
	}
	f(0, "", nil)
	f(24<<30, "machine", map[string]string{"proc/meminfo": machine})
	// version 2, in a group of its own
	f(512<<20, "control group", map[string]string{
		"proc/meminfo": machine, "proc/self/cgroup": "0::/system.slice/belfry.service\n", "proc/self/mountinfo": v2,
		"sys/fs/cgroup/system.slice/belfry.service/memory.max": "536870912\n",
	})
	// the group has none, the one around it has
	f(1<<30, "control group", map[string]string{
		"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": v2,
		"sys/fs/cgroup/a/b/c/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.max": "2147483648\n",
	})
	// memory.high is a limit too
	f(256<<20, "control group", map[string]string{
		"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/memory.max": "536870912\n", "sys/fs/cgroup/a/memory.high": "268435456\n",
	})
	// in a container: the group is the root of what is mounted
	f(512<<20, "control group", map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "536870912\n"})
	f(512<<20, "control group", map[string]string{"proc/self/cgroup": "0::/../..\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "536870912\n"})
	f(24<<30, "machine", map[string]string{
		"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/memory.max": "max\n",
	})
	// version 1, nested, beside an empty version 2
	f(512<<20, "control group", map[string]string{
		"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/docker/abc/in\n1:cpu:/\n0::/\n", "proc/self/mountinfo": v1 + v2,
		"sys/fs/cgroup/memory/memory.limit_in_bytes": none, "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "536870912\n",
		"sys/fs/cgroup/memory/docker/abc/in/memory.limit_in_bytes": none,
	})
	// version 1 in a container that sees the path of the host and its own group mounted
	f(300<<20, "control group", map[string]string{
		"proc/self/cgroup":                           "4:cpu,memory:/docker/abc\n",
		"proc/self/mountinfo":                        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,cpu,memory\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "314572800\n",
	})
	// a mount of some other container is not ours, but it is all that can be seen
	f(300<<20, "control group", map[string]string{
		"proc/self/cgroup":                           "4:memory:/docker/abcdef\n",
		"proc/self/mountinfo":                        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "314572800\n",
	})
	f(512<<20, "a quarter of the address space", map[string]string{
		"proc/meminfo": machine, "proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\nMax address space         2147483648           unlimited            bytes\n",
	})
	f(24<<30, "machine", map[string]string{"proc/meminfo": machine, "proc/self/limits": "Max address space         unlimited            unlimited            bytes\n"})
	f(24<<30, "machine", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "nonsense\n", "proc/self/mountinfo": "nonsense - \n\n - cgroup2\n"})
}
