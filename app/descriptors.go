package app

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// descriptors divides the open files that the process may have, so that connections cannot use up those needed for storing.
type descriptors struct {
	connections int // API connections
	waiting     int // API connections waiting for a slot
	streams     int // receiver connections
	files       int // files of rows that queries may open; the store may open as many again for logs and writing
}

const (
	// baseDescriptors are reserved for the journal, the metadata database, listeners, bodies in temporary files and so on.
	baseDescriptors = 112
	// leastDescriptors is the minimum to start. With fewer, hardly any connection could be accepted.
	leastDescriptors = 200
	// mostFiles is how many files of rows queries may need: two queries at a time, each over some years.
	mostFiles = 2000
	// leastWaiting and mostWaiting bound the connections that may wait for a slot; between them it is a quarter of the slots.
	leastWaiting, mostWaiting = 32, 512
)

// divideDescriptors divides the process's limit of open files, which the Go runtime has raised to the hard limit.
func divideDescriptors(connections int) (descriptors, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return descriptors{}, fmt.Errorf("read the limit of open files: %w", err)
	}
	return divide(uint64(l.Cur), connections)
}

func divide(limit uint64, connections int) (d descriptors, err error) {
	if limit < leastDescriptors {
		return d, fmt.Errorf("the process may open %d files and needs at least %d; raise the limit (ulimit -n, LimitNOFILE of a systemd unit)", limit, leastDescriptors)
	}
	rest := int(min(limit, math.MaxInt32)) - baseDescriptors
	d.files = min(mostFiles, rest/4)
	rest -= 2 * d.files
	d.connections = min(connections, rest*5/8)
	d.waiting = min(max(leastWaiting, min(mostWaiting, d.connections/4)), rest/8)
	d.streams = rest - d.connections - d.waiting
	return d, nil
}
