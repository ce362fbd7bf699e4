package script

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitWorker limits the memory of this process, closes inherited files, and gives up all ways to gain privileges.
func limitWorker() {
	unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	closeForeign()
	if now, ok := dataSize(); ok {
		most := now + raceFactor*WorkerMemory
		unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// closeForeign closes all files, directories and sockets except the pipes. The descriptors of the Go runtime are none of these.
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

// dataSize returns the writable memory of this process.
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

// workerAttributes makes a process end with the thread that started it, and puts it into its own process group.
func workerAttributes(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// cpuTime returns the CPU time of a process.
func cpuTime(pid int) (time.Duration, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before it may contain blanks
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	const tick = 10 * time.Millisecond // on every system that runs Go
	return time.Duration(user+system) * tick, err1 == nil && err2 == nil
}

// ownCPUTime returns the CPU time of this process.
func ownCPUTime() (time.Duration, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err == nil
}
