package duck

// #include <stdlib.h>
// #include "lane.h"
import "C"

import (
	"time"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// lane is a thread that gives way to others, on which the engine works for a connection; the zero lane is that of the
// caller. See lane.c.
type lane struct{ l *C.lane }

// openLane starts a thread that gives way by so many steps, of which each is worth a factor of 1.25. When there is none
// to be had, the work is done all the same.
func openLane(steps int) lane {
	if steps == 0 {
		return lane{}
	}
	return lane{C.lane_open(C.int(steps))}
}

func (l lane) close() { C.lane_close(l.l) }

// giveWay puts the thread behind by so many steps from now on, also while it works.
func (l lane) giveWay(steps int) { C.lane_give_way(l.l, C.int(steps)) }

// worked is for how long the thread has had a processor.
func (l lane) worked() time.Duration { return time.Duration(C.lane_worked(l.l)) }

// start starts an engine with its main database in memory. Its own threads are behind the others like the lane.
func (l lane) start(config bindings.Config, db *bindings.Database) (text string, state bindings.State) {
	var made unsafe.Pointer
	var why *C.char
	state = bindings.State(C.lane_start(l.l, config.Ptr, &made, &why))
	defer bindings.Free(unsafe.Pointer(why))
	db.Ptr = made
	return C.GoString(why), state
}

func (l lane) prepare(c bindings.Connection, text string, stmt *bindings.PreparedStatement) bindings.State {
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	var made unsafe.Pointer
	state := C.lane_prepare(l.l, c.Ptr, t, &made)
	stmt.Ptr = made
	return bindings.State(state)
}

// execute runs a statement to its end. The error is in text, or in res when text is empty. A Result is the engine's structure and
// nothing else.
func (l lane) execute(stmt bindings.PreparedStatement, res *bindings.Result) (text string, state bindings.State) {
	var why *C.char
	state = bindings.State(C.lane_execute(l.l, stmt.Ptr, unsafe.Pointer(res), &why))
	defer C.free(unsafe.Pointer(why))
	return C.GoString(why), state
}
