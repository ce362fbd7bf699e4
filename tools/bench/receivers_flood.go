package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
)

// floodCommand is the hidden argument with which the program becomes the sender of messages.
const floodCommand = "flood"

// flood tells the sender what to send.
type flood struct {
	Network string // udp or tcp
	Addr    string
	Traps   bool // SNMP traps instead of syslog messages
	Sockets int
	Seconds float64
	Rate    float64 // messages per second, of all sockets together; 0: as fast as they are taken
}

// collection is where its messages are found.
func (f *flood) collection() string {
	if f.Traps {
		return "trap"
	}
	return "syslog"
}

const (
	floodMessages = 1 << 18 // different ones that are prepared; then they repeat
	floodBatch    = 64      // packets that are sent with one call
	floodChunk    = 1 << 16 // bytes that are written to a stream at once
)

// prepareFlood connects and makes the messages of a job.
func prepareFlood(text []byte) (func() (*outcome, error), error) {
	var f flood
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	sockets, err := f.open()
	return func() (*outcome, error) { return f.send(sockets) }, err
}

// floodSocket sends what was prepared for it.
type floodSocket struct {
	net.Conn
	// send sends up to most messages, more only if they go together, and returns how many.
	send func(most int) (int, error)
}

// open connects every socket, each from an address of its own, and prepares what it sends.
func (f *flood) open() (all []floodSocket, err error) {
	messages, err := f.messages()
	if err != nil {
		return nil, err
	}
	for i := range f.Sockets {
		from := net.IPv4(127, 0, 1, byte(i+1))
		d := net.Dialer{LocalAddr: &net.UDPAddr{IP: from}}
		if f.Network == "tcp" {
			d.LocalAddr = &net.TCPAddr{IP: from}
		}
		conn, err := d.Dial(f.Network, f.Addr)
		if err != nil {
			return nil, err
		}
		own := messages[i*len(messages)/f.Sockets : (i+1)*len(messages)/f.Sockets]
		if f.Network == "tcp" {
			all = append(all, floodSocket{conn, streams(conn, own, i%2 == 0)})
		} else {
			all = append(all, floodSocket{conn, packets(conn, own)})
		}
	}
	return all, nil
}

// send lets all sockets send, each its share.
func (f *flood) send(sockets []floodSocket) (*outcome, error) {
	before := ownCPU()
	o := &outcome{Start: time.Now()}
	sent, lag, errs := make([]int, len(sockets)), make([]time.Duration, len(sockets)), make([]error, len(sockets))
	var all sync.WaitGroup
	for i, s := range sockets {
		all.Go(func() {
			sent[i], lag[i], errs[i] = f.stream(s, o.Start)
			errs[i] = errors.Join(errs[i], s.Close())
		})
	}
	all.Wait()
	o.End, o.CPU = time.Now(), ownCPU()-before
	for i := range sockets {
		o.Rows += sent[i]
		o.Max = max(o.Max, float64(lag[i])/float64(time.Millisecond))
	}
	return o, errors.Join(errs...)
}

// stream sends through one socket until the time is up. With a rate it sends every millisecond what is due by then, and reports
// by how much it was late at worst: a sender that did not get the processor makes up for it.
func (f *flood) stream(s floodSocket, start time.Time) (sent int, lag time.Duration, err error) {
	length := time.Duration(f.Seconds * float64(time.Second))
	rate := f.Rate / float64(f.Sockets) / float64(time.Second)
	for {
		now := time.Since(start)
		most := 1 << 30
		if rate == 0 && now >= length {
			return sent, 0, nil
		}
		if rate > 0 {
			if most = int(float64(min(now, length))*rate) - sent; most > 0 {
				lag = max(lag, now-time.Duration(float64(sent)/rate))
			}
			if most <= 0 && now >= length {
				return sent, lag, nil
			}
			if most <= 0 {
				time.Sleep(time.Millisecond)
				continue
			}
		}
		n, err := s.send(most)
		sent += n
		if err != nil {
			return sent, lag, err
		}
	}
}

// packets sends each message as a packet.
func packets(conn net.Conn, messages [][]byte) func(most int) (int, error) {
	many, next := ipv4.NewPacketConn(conn.(*net.UDPConn)), 0
	var all []ipv4.Message
	for _, m := range messages {
		all = append(all, ipv4.Message{Buffers: [][]byte{m}})
	}
	return func(most int) (int, error) {
		n, err := many.WriteBatch(all[next:min(next+min(most, floodBatch), len(all))], 0)
		if errors.Is(err, syscall.ENOBUFS) { // none of them went
			time.Sleep(100 * time.Microsecond)
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		next = (next + n) % len(all)
		return n, nil
	}
}

// streams sends messages one after the other over a connection: every one after its length, or else with a newline behind
// it. It writes a whole chunk, however many messages that has: a stream is not sent at a rate.
func streams(conn net.Conn, messages [][]byte, counted bool) func(int) (int, error) {
	type chunk struct {
		text  []byte
		count int
	}
	all, next := []chunk{{}}, 0
	for _, m := range messages {
		c := &all[len(all)-1]
		if counted {
			c.text = append(fmt.Appendf(c.text, "%d ", len(m)), m...)
		} else {
			c.text = append(append(c.text, m...), '\n')
		}
		if c.count++; len(c.text) >= floodChunk {
			all = append(all, chunk{})
		}
	}
	return func(int) (int, error) {
		c := all[next%len(all)]
		next++
		if _, err := conn.Write(c.text); err != nil {
			return 0, err
		}
		return c.count, nil
	}
}
