package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// account is what the receivers of a server say of the messages that they were sent, all of them together.
type account struct {
	received, kept, filtered int
	dropped                  map[string]int // by reason
}

// account reads it from the metrics.
func (s *server) account(ctx context.Context) (a account, err error) {
	text, err := s.get(ctx, s.admin, "/metrics")
	if err != nil {
		return a, err
	}
	return parseAccount(text)
}

func parseAccount(text []byte) (a account, err error) {
	a.dropped = map[string]int{}
	for name, to := range map[string]*int{"received": &a.received, "kept": &a.kept, "filtered": &a.filtered} {
		v := metric(text, "belfry_messages_"+name+"_total")
		if v < 0 {
			return a, fmt.Errorf("the server does not tell belfry_messages_%s_total", name)
		}
		*to = int(v)
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, `belfry_messages_dropped_total{why="`)
		why, value, closed := strings.Cut(rest, `"} `)
		if !ok || !closed {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return a, fmt.Errorf("metric %q: %w", line, err)
		}
		a.dropped[why] = int(n)
	}
	return a, nil
}

// lost is how many were dropped, for whatever reason.
func (a *account) lost() (n int) {
	for _, d := range a.dropped {
		n += d
	}
	return n
}

// booked tells that the receivers have dealt with everything that came.
func (a *account) booked() bool { return a.received == a.kept+a.filtered+a.lost() }

func (a *account) equal(o account) bool {
	return a.received == o.received && a.kept == o.kept && a.filtered == o.filtered && maps.Equal(a.dropped, o.dropped)
}

// since is what has come since an earlier moment.
func (a *account) since(o account) account {
	d := account{a.received - o.received, a.kept - o.kept, a.filtered - o.filtered, map[string]int{}}
	for why, n := range a.dropped {
		if n -= o.dropped[why]; n != 0 {
			d.dropped[why] = n
		}
	}
	return d
}

// reasons names what was dropped for which reason.
func (a *account) reasons() string {
	var words []string
	for _, why := range slices.Sorted(maps.Keys(a.dropped)) {
		words = append(words, why+" "+thousands(float64(a.dropped[why])))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// quietFor is for how long nothing may happen before a receiver is quiet. Receivers ask the system every second what it dropped.
const quietFor = 2500 * time.Millisecond

// quiet waits until the receivers have booked everything and nothing more happens, and tells when a message was stored last.
func (s *server) quiet(ctx context.Context) (a account, last time.Time, err error) {
	last, changed := time.Now(), time.Now()
	err = until(ctx, 2*time.Minute, 20*time.Millisecond, "the receivers come to rest", func(ctx context.Context) (bool, error) {
		now, err := s.account(ctx)
		if err != nil {
			return false, err
		}
		if now.kept != a.kept {
			last = time.Now()
		}
		if !now.equal(a) {
			a, changed = now, time.Now()
		}
		return a.booked() && time.Since(changed) >= quietFor, nil
	})
	return a, last, err
}

// addBuffer notes how many bytes of waiting packets the system has granted a receiver.
func (b *bench) addBuffer(ctx context.Context, s *server) error {
	text, err := s.get(ctx, s.admin, "/metrics")
	b.add(receiverPart, "buffer", "granted", "bytes", metric(text, "belfry_receiver_buffer_bytes"))
	return err
}

// droppedEarly adds up the second column of /proc/net/softnet_stat: packets for which a processor had no room before
// anybody looked at whom they were for. Over loopback nobody else counts them.
func droppedEarly(text string) (n int) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 {
			v, _ := strconv.ParseInt(f[1], 16, 64)
			n += int(v)
		}
	}
	return n
}
