package app

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// giveWay runs f on a thread of its own that gets the processor after those that serve requests. Threads that f starts
// inherit this. What moves rows on may take its time; should it fall behind, senders are slowed down.
func giveWay(f func()) { later(laterBy, f) }

// giveWayToAll runs f behind what moves rows, too: queries get what is left, and ingestion keeps its pace.
func giveWayToAll(f func()) { later(lastBy, f) }

func later(by int, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), by)
		f()
	}()
	<-done
}

// A step is worth a factor of 1.25, so that five threads with queries together get less than the one that moves rows.
const (
	laterBy = 10
	lastBy  = 19
)
