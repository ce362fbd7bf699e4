package script

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The service and its workers exchange frames over pipes:
//
//	length of the rest (4 bytes) | operation (1) | session (4) | body
//
// A session is one script with its state. Sessions run in parallel; each has one request at a time.

// frame is a message between the service and a script worker.
type frame struct {
	op      byte
	session uint32
	body    []byte
}

// What a frame is.
const (
	frameOpen   = 'o' // to the worker: time limits (start, message; 4 bytes each, ms) and the script
	frameRun    = 'r' // to the worker: messages, each after its length (4 bytes)
	frameClose  = 'c' // to the worker: the session ends
	frameResult = 'm' // from the worker: outcome (1 byte), microseconds (4), result or error
	frameDone   = 'd' // from the worker: end of the answer; after frameOpen with an error of the script
)

// The outcomes of a message.
const (
	outcomeDone   = 0 // followed by the result
	outcomeFailed = 1 // followed by the error
)

const (
	frameHead    = 4 + 1 + 4
	frameLongest = 8 << 20
)

// writeFrame writes a frame. The caller holds a lock on w.
func writeFrame(w io.Writer, op byte, session uint32, parts ...[]byte) error {
	size := frameHead - 4
	for _, p := range parts {
		size += len(p)
	}
	var head [frameHead]byte
	binary.LittleEndian.PutUint32(head[:], uint32(size))
	head[4] = op
	binary.LittleEndian.PutUint32(head[5:], session)
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

// readFrame reads a frame. It limits the length, since neither side trusts the other.
func readFrame(r io.Reader) (f frame, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	size := int(binary.LittleEndian.Uint32(head[:])) - (frameHead - 4)
	if size < 0 || size > frameLongest {
		return f, fmt.Errorf("a frame of %d bytes", size)
	}
	f = frame{op: head[4], session: binary.LittleEndian.Uint32(head[5:]), body: make([]byte, size)}
	_, err = io.ReadFull(r, f.body)
	return f, err
}

// number encodes an unsigned number in 4 bytes.
func number(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// cutNumber decodes a number and returns the rest.
func cutNumber(b []byte) (n int, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return int(binary.LittleEndian.Uint32(b)), b[4:], true
}
