package app

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// descriptors is how the files and sockets that the process may have open are divided, so that connections cannot take
// those that storing needs.
type descriptors struct {
	connections int // to the API
	waiting     int // to the API, without a place
	streams     int // to receivers
	files       int // of rows that queries may open; the store may have as many again for logs and for writing
}

const (
	// baseDescriptors are kept for the journal, the metadata database, listeners, bodies in temporary files, and whatever
	// else opens a few.
	baseDescriptors = 112
	// leastDescriptors is with how many the service starts. Below it, hardly a connection would be left.
	leastDescriptors = 200
	// mostFiles is how many files of rows queries may need: two at a time, over some years.
	mostFiles = 2000
	// leastWaiting and mostWaiting are how many connections may wait for a place; it is a quarter of the places between them.
	leastWaiting, mostWaiting = 32, 512
)

// divideDescriptors divides the limit of the process, which the Go runtime has raised as far as it may.
func divideDescriptors(connections int) (descriptors, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return descriptors{}, fmt.Errorf("read the limit of open files: %w", err)
	}
	return divide(uint64(l.Cur), connections)
}

func divide(limit uint64, connections int) (d descriptors, err error) {
	if limit < leastDescriptors {
		return d, fmt.Errorf("the process may have %d files open, and at least %d are needed; raise the limit (ulimit -n, LimitNOFILE of a systemd unit)", limit, leastDescriptors)
	}
	rest := int(min(limit, math.MaxInt32)) - baseDescriptors
	d.files = min(mostFiles, rest/4)
	rest -= 2 * d.files
	d.connections = min(connections, rest*5/8)
	d.waiting = min(max(leastWaiting, min(mostWaiting, d.connections/4)), rest/8)
	d.streams = rest - d.connections - d.waiting
	return d, nil
}
