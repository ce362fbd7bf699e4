package collect

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/ipv4"
)

// udpReader hands packets from a port to its receivers. When a receiver goes, and when the port is to be closed, it first
// reads what has arrived by then. Whoever wants that says so and then sets a deadline, which ends the read that is under way.
type udpReader struct {
	port    *port
	u       *net.UDPConn
	conn    *ipv4.PacketConn // reads many packets with one call, of IPv6, too
	packets []ipv4.Message
	senders *senders
	shut    atomic.Bool   // nothing more comes
	done    chan struct{} // closed when all is read

	mu    sync.Mutex
	going []chan struct{} // of receivers that wait
}

// What waits at a port that is to be closed is read: all of it where nothing more comes then, however little time the machine
// has for us, and else for a while. The same is true for what waits for a receiver that goes.
const (
	drainTimeout = 3 * time.Second
	drainIdle  = 100 * time.Millisecond // for one that the system has announced and then found to be broken
)

// newUDPReader makes a reader. Noted is how many bytes the system notes of a packet's arrival.
func newUDPReader(p *port, u *net.UDPConn, noted int) *udpReader {
	return &udpReader{
		port: p, u: u, conn: ipv4.NewPacketConn(u), packets: newPackets(noted),
		senders: &senders{names: map[netip.Addr]string{}}, done: make(chan struct{}),
	}
}

// run reads until ctx ends and nothing more waits.
func (r *udpReader) run(ctx context.Context) {
	defer r.release()
	defer close(r.done)
	for ctx.Err() == nil {
		if going := r.take(); len(going) > 0 {
			r.drain(ctx)
			r.u.SetReadDeadline(time.Time{})
			closeEach(going)
			continue // somebody may have set a deadline meanwhile
		}
		r.read(ctx)
	}
	r.drain(ctx)
}

// read hands over the packets that are read at once. A deadline has done its work when it is seen here.
func (r *udpReader) read(ctx context.Context) {
	n, err := r.conn.ReadBatch(r.packets, 0)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.u.SetReadDeadline(time.Time{})
	case err != nil:
		time.Sleep(10 * time.Millisecond) // the system is short of something
	default:
		r.port.packets(ctx, r.senders, r.packets[:n])
	}
}

// drain reads what waits, until there is nothing.
func (r *udpReader) drain(ctx context.Context) {
	for end := time.Now().Add(drainTimeout); readable(r.u) && (r.shut.Load() || time.Now().Before(end)); {
		r.u.SetReadDeadline(time.Now().Add(drainIdle))
		r.read(ctx)
	}
}

// settle makes the reader read what has arrived, and tells when it has done so.
func (r *udpReader) settle(*binding) <-chan struct{} {
	settled := make(chan struct{})
	r.mu.Lock()
	r.going = append(r.going, settled)
	r.mu.Unlock()
	select {
	case <-r.done:
		r.release()
	default:
		r.u.SetReadDeadline(time.Now())
	}
	return settled
}

// take gives those who wait until what has arrived is read.
func (r *udpReader) take() (going []chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	going, r.going = r.going, nil
	return going
}

// release lets everybody go: there is nothing more to read.
func (r *udpReader) release() { closeEach(r.take()) }

func closeEach(all []chan struct{}) {
	for _, c := range all {
		close(c)
	}
}
