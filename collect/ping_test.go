package collect

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"belfry"
)

func TestPing(t *testing.T) {
	h := newFixture(t, Kinds)
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
	h.await("nothing is left", func() bool { return h.sup.Running() == 0 })
}

// Resources that are provisioned in one call, changed, stopped and removed are followed, and leave nothing behind.
func TestManyPings(t *testing.T) {
	many := 1000
	if testing.Short() {
		many = 200
	}
	before := runtime.NumGoroutine()
	h := newFixture(t, Kinds)
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
