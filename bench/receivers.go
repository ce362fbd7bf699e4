package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

const (
	floodRate      = 100_000 // syslog messages/s over UDP
	trapRate       = 15_000
	floodSockets   = 4
	longestSyslog  = 30      // seconds of the load that the targets are about; the others are a fraction of it
	mostDrops      = 0.1     // per cent
	streamTarget   = 150_000 // messages/s over TCP
	pingShareLimit = 10      // per cent of a core
)

// received is everything about receivers and pings.
type received struct {
	steady  *flooded // syslog, UDP, at the rate that must be taken
	stream  *flooded // syslog, TCP
	twice   *flooded // syslog, UDP, at twice the rate at which that was stored
	unpaced *flooded // … as fast as the sender can
	traps   *flooded
	pings   *pinged
	buffer  int // bytes that the system granted for packets that wait
}

// capacity is how many messages can be stored a second: as many as over TCP, where a sender is kept from sending more.
func (r *received) capacity() float64 { return r.stream.rate() }

// receivers sends messages to the ports of a server, and lets another one ping.
func (b *bench) receivers(ctx context.Context) error {
	r := &received{}
	if err := b.floods(ctx, r); err != nil {
		return err
	}
	if err := b.pings(ctx, r); err != nil {
		return fmt.Errorf("pings: %w", err)
	}
	b.res.received = r
	return nil
}

// station is a server with a receiver of each kind.
type station struct {
	*server
	packets, streams, traps string // their addresses
}

// station starts a server and waits until all its receivers have said that they work.
func (b *bench) station(ctx context.Context) (_ *station, err error) {
	s := &station{}
	if s.packets, err = freePacketAddr(); err != nil {
		return nil, err
	}
	if s.streams, err = freeAddr(); err != nil {
		return nil, err
	}
	if s.traps, err = freePacketAddr(); err != nil {
		return nil, err
	}
	start := time.Now()
	if s.server, err = b.start(ctx, filepath.Join(b.tmp, "receivers"), ""); err != nil {
		return nil, err
	}
	if err := s.listen(ctx, start); err != nil {
		return nil, errors.Join(err, s.stop(), s.tail())
	}
	return s, nil
}

func (s *station) listen(ctx context.Context, start time.Time) error {
	for pkg, rows := range map[string]string{
		"log-syslog-receiver": "name,protocol,listen\nPackets,udp," + s.packets + "\nStreams,tcp," + s.streams + "\n",
		"log-trap-receiver":   "name,community,listen\nTraps," + trapCommunity + "," + s.traps + "\n",
	} {
		if _, err := s.provision(ctx, http.MethodPost, pkg, []byte(rows)); err != nil {
			return err
		}
	}
	// Each writes its first figures as soon as its port is open.
	return s.waitVisible(ctx, "objectdata", start, 3)
}

// freePacketAddr finds a port for packets on loopback that nobody uses at this moment.
func freePacketAddr() (string, error) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.LocalAddr().String(), nil
}

// floods runs all loads with messages, one after the other.
func (b *bench) floods(ctx context.Context, r *received) (err error) {
	s, err := b.station(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if r.buffer, err = s.buffer(ctx); err != nil {
		return err
	}
	length := min(longestSyslog, b.part(2))
	packets := flood{Network: "udp", Addr: s.packets, Sockets: floodSockets, Seconds: length, Rate: floodRate}
	if r.steady, err = b.flood(ctx, s.server, packets, "syslog-udp"); err != nil {
		return err
	}
	streams := flood{Network: "tcp", Addr: s.streams, Sockets: floodSockets, Seconds: length / 3}
	if r.stream, err = b.flood(ctx, s.server, streams, "syslog-tcp"); err != nil {
		return err
	}
	packets.Seconds, packets.Rate = length/3, 2*r.capacity()
	if r.twice, err = b.flood(ctx, s.server, packets, "syslog-twice"); err != nil {
		return err
	}
	packets.Seconds, packets.Rate = length/6, 0
	if r.unpaced, err = b.flood(ctx, s.server, packets, "syslog-unpaced"); err != nil {
		return err
	}
	traps := flood{Network: "udp", Addr: s.traps, Traps: true, Sockets: floodSockets, Seconds: length / 3, Rate: trapRate}
	r.traps, err = b.flood(ctx, s.server, traps, "traps")
	return err
}

// flooded is a load of messages with what became of them. Its Rows are what was sent.
type flooded struct {
	measured
	flood   flood
	account account // of the receiver
	stored  int     // that a query counts
	before  int     // packets that the system dropped before they came to any port, whoever's they were
}

// rate is how many messages a second were stored, until the last one was.
func (f *flooded) rate() float64 { return float64(f.account.kept) / f.visible }

// missing is how many messages nobody has accounted for; below zero there are some that nobody sent.
func (f *flooded) missing() int {
	return f.Rows - f.before - f.stored - f.account.filtered - f.account.lost()
}

// exact tells that query and account say the same, and that together they know of every message.
func (f *flooded) exact() bool { return f.missing() == 0 && f.stored == f.account.kept }

// dropped is the share of messages that were not stored, in per cent.
func (f *flooded) dropped() float64 {
	return 100 * float64(f.before+f.account.lost()) / float64(max(f.Rows, 1))
}

// flood sends messages, waits until the receiver has booked them all, and counts what is stored.
func (b *bench) flood(ctx context.Context, s *server, f flood, profile string) (*flooded, error) {
	b.say("%s over %s, %s, %g s", f.collection(), f.Network, pacing(f.Rate), f.Seconds)
	if err := s.settleRows(ctx); err != nil {
		return nil, err
	}
	before, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	early := droppedEarly(readText("/proc/net/softnet_stat"))
	var w *watch
	o, err := b.sender(ctx, floodCommand, &f, func() { w = b.watch(ctx, s, profile, 0.8*f.Seconds) })
	if err != nil {
		return nil, errors.Join(err, s.tail())
	}
	r := &flooded{measured: measured{outcome: *o}, flood: f}
	after, last, err := s.quiet(ctx)
	if err != nil {
		return nil, errors.Join(err, s.tail())
	}
	r.account, r.visible = after.since(before), last.Sub(o.Start).Seconds()
	r.before = droppedEarly(readText("/proc/net/softnet_stat")) - early
	if r.stored, err = s.count(ctx, f.collection(), o.Start); err != nil {
		return nil, err
	}
	r.settled = r.visible
	if r.cost, err = w.end(ctx, r.CPU); err != nil {
		return nil, err
	}
	b.say("sent %d, stored %d (%.0f/s), dropped %s, %d missing", r.Rows, r.stored, r.rate(), r.account.reasons(), r.missing())
	return r, nil
}

// pacing says at which rate messages are sent.
func pacing(rate float64) string {
	if rate == 0 {
		return "as fast as it goes"
	}
	return thousands(rate) + "/s"
}
