package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"
)

const (
	receiverPart  = "receivers"
	floodRate     = 100_000 // syslog messages/s over UDP
	trapRate      = 15_000
	floodSockets  = 4
	longestSyslog = 30 // seconds of the first load; the others are a fraction of it
)

// receivers sends messages to the ports of a server, and lets another one ping.
func (b *bench) receivers(ctx context.Context) error {
	e := &dataset{data: filepath.Join(b.tmp, "receivers"), collect: true}
	if err := b.during(ctx, e, func(s *server) error { return b.floods(ctx, s) }); err != nil {
		return err
	}
	if err := b.pings(ctx); err != nil {
		return fmt.Errorf("pings: %w", err)
	}
	return nil
}

// ports are the addresses of a receiver of each kind.
type ports struct{ packets, streams, traps string }

// listen makes receivers, and waits until all of them have said that they work.
func (s *server) listen(ctx context.Context) (p ports, err error) {
	start := time.Now()
	for addr, network := range map[*string]string{&p.packets: "udp", &p.streams: "tcp", &p.traps: "udp"} {
		if *addr, err = freeAddr(network); err != nil {
			return p, err
		}
	}
	for pkg, rows := range map[string]string{
		"log-syslog-receiver": "name,protocol,listen\nPackets,udp," + p.packets + "\nStreams,tcp," + p.streams + "\n",
		"log-trap-receiver":   "name,community,listen\nTraps," + trapCommunity + "," + p.traps + "\n",
	} {
		if _, err := s.provision(ctx, http.MethodPost, pkg, []byte(rows)); err != nil {
			return p, err
		}
	}
	// Each writes its first figures as soon as its port is open.
	return p, s.waitVisible(ctx, "objectdata", start, 3)
}

// floods runs all loads with messages, one after the other.
func (b *bench) floods(ctx context.Context, s *server) error {
	p, err := s.listen(ctx)
	if err != nil {
		return errors.Join(err, s.tail())
	}
	if err := b.addBuffer(ctx, s); err != nil {
		return err
	}
	length := min(longestSyslog, b.fraction(2))
	loads := []struct {
		name  string
		flood flood
	}{
		{"syslog, UDP, 100,000/s", flood{Network: "udp", Addr: p.packets, Seconds: length, Rate: floodRate}},
		{"syslog, TCP, as fast as it goes", flood{Network: "tcp", Addr: p.streams, Seconds: length / 3}},
		{"syslog, UDP, as fast as it goes", flood{Network: "udp", Addr: p.packets, Seconds: length / 6}},
		{"traps v2c, UDP, 15,000/s", flood{Network: "udp", Addr: p.traps, Traps: true, Seconds: length / 3, Rate: trapRate}},
	}
	for _, l := range loads {
		l.flood.Sockets = floodSockets
		r, err := b.flood(ctx, s, l.name, l.flood)
		if err != nil {
			return err
		}
		b.addFlood(l.name, r)
	}
	return nil
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
func (f *flooded) rate() float64 { return float64(f.account["kept"]) / f.visible }

// missing is how many messages are unaccounted for; below zero there are more than were sent.
func (f *flooded) missing() int {
	return f.Rows - f.before - f.stored - f.account["filtered"] - f.account.lost()
}

// addFlood notes what became of messages.
func (r *results) addFlood(of string, f *flooded) {
	r.add(receiverPart, of, "length", "s", f.flood.Seconds)
	r.add(receiverPart, of, "sent", "messages", float64(f.Rows))
	r.add(receiverPart, of, "sent a second", "1/s", float64(f.Rows)/f.seconds())
	r.add(receiverPart, of, "stored", "messages", float64(f.stored))
	r.add(receiverPart, of, "stored a second", "1/s", f.rate())
	r.add(receiverPart, of, "dropped", "messages", float64(f.before+f.account["filtered"]+f.account.lost()))
	r.explain(f.drops())
	r.add(receiverPart, of, "share dropped", "%", 100*float64(f.before+f.account.lost())/float64(max(f.Rows, 1)))
	r.add(receiverPart, of, "missing", "messages", float64(f.missing()))
	r.add(receiverPart, of, "kept, as the receiver says", "messages", float64(f.account["kept"]))
	r.add(receiverPart, of, "server CPU per million stored", "s", per(f.cpu, f.stored))
	if f.flood.Rate > 0 {
		r.add(receiverPart, of, "sender late", "ms", f.Max)
	}
	r.addCost(receiverPart, of, f.cost)
}

// drops names what was lost for which reason.
func (f *flooded) drops() string {
	text := f.account.reasons()
	if f.account["filtered"] > 0 {
		text += fmt.Sprintf(", filtered %s", thousands(float64(f.account["filtered"])))
	}
	if f.before > 0 {
		text += fmt.Sprintf(", before the port %s", thousands(float64(f.before)))
	}
	return text
}

// flood sends messages, waits until the receiver has processed them all, and counts what is stored.
func (b *bench) flood(ctx context.Context, s *server, name string, f flood) (*flooded, error) {
	b.progress("%s, %.1f s", name, f.Seconds)
	if err := s.settleRows(ctx); err != nil {
		return nil, err
	}
	before, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	early := droppedEarly(readText("/proc/net/softnet_stat"))
	var w *watch
	o, err := b.sender(ctx, floodCommand, &f, func() { w = s.watch() })
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
	if r.cost, err = w.end(r.CPU); err != nil {
		return nil, err
	}
	b.progress("sent %d, stored %d (%.0f/s), dropped %s, %d missing", r.Rows, r.stored, r.rate(), r.account.reasons(), r.missing())
	return r, nil
}
