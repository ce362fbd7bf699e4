package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// account is what the receivers of a server say of the messages that they were sent, all of them together: how many were
// received, kept and filtered, and how many dropped, by reason.
type account map[string]int

// dropped is what the reasons begin with in an account.
const dropped = "dropped "

// account reads it from the metrics.
func (s *server) account(ctx context.Context) (account, error) {
	text, err := s.get(ctx, s.admin, "/metrics")
	if err != nil {
		return nil, err
	}
	return parseAccount(text)
}

func parseAccount(text []byte) (account, error) {
	a := account{}
	for line := range strings.Lines(string(text)) {
		m := messageMetric.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, fmt.Errorf("metric %q: %w", line, err)
		}
		a[strings.TrimSpace(m[1]+" "+m[2])] = int(n)
	}
	for _, name := range []string{"received", "kept", "filtered"} {
		if _, ok := a[name]; !ok {
			return nil, fmt.Errorf("the server does not report belfry_messages_%s_total", name)
		}
	}
	return a, nil
}

var messageMetric = regexp.MustCompile(`^belfry_messages_([a-z]+)_total(?:\{why="([^"]*)"\})? (\S+)`)

// lost is how many were dropped, for whatever reason.
func (a account) lost() (n int) {
	for name, count := range a {
		if strings.HasPrefix(name, dropped) {
			n += count
		}
	}
	return n
}

// settled reports whether every message received has been kept, filtered or dropped.
func (a account) settled() bool { return a["received"] == a["kept"]+a["filtered"]+a.lost() }

// since is what has come since an earlier moment.
func (a account) since(earlier account) account {
	d := account{}
	for name, n := range a {
		d[name] = n - earlier[name]
	}
	return d
}

// reasons names what was dropped for which reason.
func (a account) reasons() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if why, ok := strings.CutPrefix(name, dropped); ok && a[name] != 0 {
			words = append(words, why+" "+thousands(float64(a[name])))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// quietFor is for how long nothing may happen before a receiver is quiet. Receivers ask the system every second what it dropped.
const quietFor = 2500 * time.Millisecond

// quiet waits until the receivers have processed everything and nothing more happens, and returns when a message was stored last.
func (s *server) quiet(ctx context.Context) (a account, last time.Time, err error) {
	last, changed := time.Now(), time.Now()
	err = until(ctx, 2*time.Minute, 20*time.Millisecond, "the receivers come to rest", func(ctx context.Context) (bool, error) {
		now, err := s.account(ctx)
		if err != nil {
			return false, err
		}
		if now["kept"] != a["kept"] {
			last = time.Now()
		}
		if !maps.Equal(now, a) {
			a, changed = now, time.Now()
		}
		return a.settled() && time.Since(changed) >= quietFor, nil
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
// their receiver was known. Over loopback nothing else counts them.
func droppedEarly(text string) (n int) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 {
			v, _ := strconv.ParseInt(f[1], 16, 64)
			n += int(v)
		}
	}
	return n
}
