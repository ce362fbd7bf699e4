package duckdb

// #include <stdlib.h>
// #include "thread.h"
import "C"

import (
	"time"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// thread is a thread of low priority on which the engine works for a connection. The zero thread is the caller's. See
// thread.c.
type thread struct{ t *C.thread }

// startThread starts a thread whose priority is lower by this many steps; each is worth a factor of 1.25. If the system
// cannot start one, the work is done on the caller's thread.
func startThread(steps int) thread {
	if steps == 0 {
		return thread{}
	}
	return thread{C.thread_open(C.int(steps))}
}

func (t thread) close() { C.thread_close(t.t) }

// lowerPriority sets the steps, even while the thread works.
func (t thread) lowerPriority(steps int) { C.thread_set_priority(t.t, C.int(steps)) }

// cpuTime returns the processor time of the thread.
func (t thread) cpuTime() time.Duration { return time.Duration(C.thread_cpu_time(t.t)) }

// start starts an engine with its main database in memory. The engine's threads inherit the priority.
func (t thread) start(config bindings.Config, db *bindings.Database) (text string, state bindings.State) {
	var made unsafe.Pointer
	var why *C.char
	state = bindings.State(C.thread_start(t.t, config.Ptr, &made, &why))
	defer bindings.Free(unsafe.Pointer(why))
	db.Ptr = made
	return C.GoString(why), state
}

func (t thread) prepare(c bindings.Connection, text string, stmt *bindings.PreparedStatement) bindings.State {
	chars := C.CString(text)
	defer C.free(unsafe.Pointer(chars))
	var made unsafe.Pointer
	state := C.thread_prepare(t.t, c.Ptr, chars, &made)
	stmt.Ptr = made
	return bindings.State(state)
}

// execute runs a statement to its end. The error is in text, or in res if text is empty. A bindings.Result is exactly
// the engine's structure.
func (t thread) execute(stmt bindings.PreparedStatement, res *bindings.Result) (text string, state bindings.State) {
	var why *C.char
	state = bindings.State(C.thread_execute(t.t, stmt.Ptr, unsafe.Pointer(res), &why))
	defer C.free(unsafe.Pointer(why))
	return C.GoString(why), state
}
