package collect

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Scripts run in a process of their own, see script_worker.go. The two processes exchange frames over pipes:
//
//	length of the rest (4 bytes) | what it is (1) | lane (4) | body
//
// A lane is one script with its state. Several lanes run at the same time; each has one request at a time.

// workerFrame is one message between the service and a script worker.
type workerFrame struct {
	op   byte
	lane uint32
	body []byte
}

// What a frame is.
const (
	frameOpen   = 'o' // to the worker: limits of time (start, message; 4 bytes each, ms) and the text of a script
	frameRun    = 'r' // to the worker: messages, each behind its length (4 bytes)
	frameClose  = 'c' // to the worker: the lane is not needed any more
	frameResult = 'm' // from the worker: outcome (1 byte), microseconds (4), and what follows from the outcome
	frameDone   = 'd' // from the worker: the end of the answer; a fault of the script when a lane was to be opened
)

// The outcomes of a message.
const (
	outcomeDone   = 0 // what the script gave back follows
	outcomeFailed = 1 // why it failed follows
)

const (
	frameHead    = 4 + 1 + 4
	frameLongest = 8 << 20
)

// writeFrame writes a frame; whoever calls it holds a lock on w.
func writeFrame(w io.Writer, op byte, lane uint32, parts ...[]byte) error {
	size := frameHead - 4
	for _, p := range parts {
		size += len(p)
	}
	var head [frameHead]byte
	binary.LittleEndian.PutUint32(head[:], uint32(size))
	head[4] = op
	binary.LittleEndian.PutUint32(head[5:], lane)
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// readFrame reads a frame. Neither side trusts the length that the other one gives.
func readFrame(r io.Reader) (f workerFrame, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	size := int(binary.LittleEndian.Uint32(head[:])) - (frameHead - 4)
	if size < 0 || size > frameLongest {
		return f, fmt.Errorf("a frame of %d bytes", size)
	}
	f = workerFrame{op: head[4], lane: binary.LittleEndian.Uint32(head[5:]), body: make([]byte, size)}
	_, err = io.ReadFull(r, f.body)
	return f, err
}

// number writes an unsigned number of 4 bytes.
func number(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// cutNumber takes such a number off a body.
func cutNumber(b []byte) (n int, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return int(binary.LittleEndian.Uint32(b)), b[4:], true
}
