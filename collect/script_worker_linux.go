package collect

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitWorker bounds the memory of this process, closes files of the service that came with the fork, and gives up
// every way to get more rights.
func limitWorker() {
	unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	closeForeign()
	if now, ok := dataSize(); ok {
		most := now + raceFactor*ScriptWorkerMemory
		unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// closeForeign closes whatever files, folders and sockets are open besides the pipes. The runtime's own descriptors are none of
// these.
func closeForeign() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		var s unix.Stat_t
		if unix.Fstat(fd, &s) != nil {
			continue
		}
		switch s.Mode & unix.S_IFMT {
		case unix.S_IFREG, unix.S_IFDIR, unix.S_IFSOCK, unix.S_IFIFO, unix.S_IFCHR, unix.S_IFBLK:
			unix.Close(fd)
		}
	}
}

// dataSize is how much writable memory this process has reserved.
func dataSize() (bytes uint64, ok bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 6 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[5], 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}

// workerAttributes make a process that ends with the thread that started it, and that no key of the terminal reaches.
func workerAttributes(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// cpuTime is how long a process has been running on a processor.
func cpuTime(pid int) (time.Duration, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before it may have blanks
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	const tick = 10 * time.Millisecond // on every system that runs Go
	return time.Duration(user+system) * tick, err1 == nil && err2 == nil
}

// ownCPUTime is how long this process has been running on a processor.
func ownCPUTime() (time.Duration, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err == nil
}
