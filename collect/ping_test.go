package collect

import (
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"belfry"
)

func TestPing(t *testing.T) {
	h := newHouse(t, Kinds)
	h.provision("network-ping", "name,ip_address_fqdn,interval,count,size,timeout", // with patience: an answer that is late on a busy machine is a loss
		"four,127.1.2.3,60,3,,15", "six,::1,60s,2,64,15s", "name,localhost,1m,1,1400,20s", "none,no-such-host.invalid,5m,1,,")
	f := func(name string, status belfry.Status) {
		t.Helper()
		h.await(name, func() bool { return h.state(name+" - Ping").Status == status })
	}
	f("four", belfry.OK)
	f("six", belfry.OK)
	f("name", belfry.OK)
	f("none", belfry.Unavailable)
	if s := h.state("none - Ping"); !strings.HasPrefix(s.Info, "no-such-host.invalid does not resolve: ") {
		t.Errorf("info %q", s.Info)
	}
	s := h.state("four - Ping")
	if len(s.Numbers) < 5 || !(s.Numbers[1] <= s.Numbers[0] && s.Numbers[0] <= s.Numbers[2]) || s.Numbers[0] <= 0 || s.Numbers[3] != 0 || s.Numbers[4] < 0 {
		t.Errorf("values %v", s.Numbers)
	}
	h.remove("network-ping", "four", "six", "name", "none")
	h.await("all sockets are closed", func() bool {
		h.env.pings.mu.Lock()
		defer h.env.pings.mu.Unlock()
		return h.env.pings.sockets == [2]*echoSocket{} && len(h.env.pings.waiting) == 0
	})
}

// What is provisioned in one call, changed, stopped and removed is followed, and leaves nothing behind.
func TestManyPings(t *testing.T) {
	const many = 1000
	before := runtime.NumGoroutine()
	h := newHouse(t, Kinds)
	body := func(third int) []string {
		lines := []string{"name,ip_address_fqdn,count,timeout"} // with patience: an answer that is late on a busy machine is none
		for i := range many {
			lines = append(lines, fmt.Sprintf("P%d,127.%d.%d.%d,1,20s", i, third, i/250, 1+i%250))
		}
		return lines
	}
	h.provision("network-ping", body(1)...)
	h.await("all answer", func() bool { return h.count(belfry.OK) == many })
	h.provision("network-ping", body(2)...)
	h.await("all are asked elsewhere", func() bool { return h.sup.Running() == many && h.asked("127.2.") == many })
	var names []string
	for i := range many {
		names = append(names, fmt.Sprint("P", i))
	}
	h.stopCollectors(names...)
	h.await("all are stopped", func() bool { return h.sup.Running() == 0 })
	h.remove("network-ping", names...)
	h.await("nothing is left", func() bool { return runtime.NumGoroutine() < before+20 })
}

func TestPingChecks(t *testing.T) {
	f := func(interval, count, timeout, want string) {
		t.Helper()
		column, err := checkPing(map[string]string{"interval": interval, "count": count, "timeout": timeout})
		if got := fmt.Sprint(column, " ", err); !strings.HasPrefix(got, want) {
			t.Errorf("got %s", got)
		}
	}
	f("60s", "3", "1s", " <nil>")
	f("30", "3", "1", " <nil>")
	f("5", "5", "1s", "interval interval is 5, but 5 requests of 1s each may take 5.25s")
}

func TestPingValues(t *testing.T) {
	f := func(want string, lost int, times ...time.Duration) {
		t.Helper()
		if got := fmt.Sprint(values(times, lost)); got != want {
			t.Errorf("got %s", got)
		}
	}
	f("[{1 2} {2 1} {3 4} {4 0} {5 1.667}]", 0, time.Millisecond, time.Millisecond, 4*time.Millisecond, 2*time.Millisecond)
	f("[{1 0.052} {2 0.052} {3 0.052} {4 66.67} {5 0}]", 2, 52*time.Microsecond)
}

// Series of many resources are spread over the interval, and each keeps its place.
func TestPingPhase(t *testing.T) {
	var seconds [60]int
	now := time.Now()
	for i := range 6000 {
		p := &ping{interval: time.Minute, task: Task{Resource: belfry.ID(i), Name: fmt.Sprint("P", i)}}
		wait := p.wait(now)
		if wait < p.interval/2 || wait > 3*p.interval/2 {
			t.Fatalf("waits %s", wait)
		}
		at := now.Add(wait)
		if again := p.wait(at); again.Round(time.Millisecond) != p.interval {
			t.Fatalf("waits %s after that", again)
		}
		seconds[at.Second()]++
	}
	for s, n := range seconds {
		if n < 50 || n > 160 {
			t.Errorf("%d of 6000 begin in second %d", n, s)
		}
	}
}

func FuzzEcho(f *testing.F) {
	for _, six := range []bool{false, true} {
		s, err := openEcho(six)
		if err != nil {
			f.Skip(err)
		}
		b, _ := s.packet(1, 1, 56)
		f.Add(b, six)
		f.Add([]byte{3, 1, 0, 0, 0, 0, 0, 0, 0x45, 0, 0, 84}, six)
		s.conn.Close()
	}
	four, _ := openEcho(false)
	six, _ := openEcho(true)
	f.Fuzz(func(t *testing.T, b []byte, v6 bool) {
		s := four
		if v6 {
			s = six
		}
		s.parse(b) // whatever arrives at a raw socket
	})
}

func TestPingerAnswers(t *testing.T) {
	p := &pinger{}
	leave := p.enter()
	defer leave()
	for _, a := range []string{"127.0.0.1", "127.255.1.2", "::1"} {
		if d, err := p.ping(t.Context(), 1, netip.MustParseAddr(a), 56, hang); err != nil || d <= 0 {
			t.Errorf("%s: %s, %v", a, d, err)
		}
	}
}
