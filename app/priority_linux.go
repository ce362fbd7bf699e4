package app

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// atLowPriority runs f on its own thread with a lower priority than requests.
func atLowPriority(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), upkeepBehind)
		f()
	}()
	<-done
}
