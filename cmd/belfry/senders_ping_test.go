package main

import (
	"fmt"
	"testing"
)

// TestPings asks addresses of loopback, both kinds, and stops and goes on as it is told.
func TestPings(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	t.Parallel()
	c := startCollecting(t)
	const header = "name,ip_address_fqdn,interval,count,timeout,size"
	c.provision("network-ping", header, cells("One", "127.0.0.1", "4s", "3", "1s", ""), cells("Five", "127.0.0.5", "2", "1", "1", "1000"), cells("Six", "::1", "5", "2", "", ""))
	c.up("One - Ping", "Five - Ping", "Six - Ping")
	c.holds("SELECT name, ip, class, status FROM objectstatus WHERE kind='object'",
		"One - Ping,127.0.0.1,network-ping,0", "Five - Ping,127.0.0.5,network-ping,0", "Six - Ping,::1,network-ping,0")
	for _, name := range []string{"One", "Five", "Six"} {
		rows := c.query(fmt.Sprintf("SELECT i1, i2, i3, i4, i5 FROM objectdata WHERE object='%s - Ping' AND i1 >= 0", name), "span", "1h")
		if len(rows) == 0 {
			t.Fatalf("%s has no data", name)
		}
		mean, least, most := rows[0]["i1"].(float64), rows[0]["i2"].(float64), rows[0]["i3"].(float64)
		if least <= 0 || least > mean || mean > most || rows[0]["i4"].(float64) >= 100 || rows[0]["i5"].(float64) < 0 {
			t.Errorf("%s: %v", name, rows[0])
		}
	}
	five := func() int { return c.count("FROM objectdata WHERE object='Five - Ping'") }
	begun := five()
	c.until("it goes on", func() bool { return five() >= begun+2 })

	running := func(n int) {
		t.Helper()
		c.until(fmt.Sprintf("%d collectors run", n), func() bool { return c.metric("belfry_collectors_running") == n })
	}
	running(3)
	c.manage(stopCollector, "Five")
	running(2)
	c.holds("SELECT statusname FROM objectstatus WHERE kind='object' AND name='Five - Ping'", "Unknown (Unmanaged)")
	stopped := five()
	c.until("others go on", func() bool { return c.count("FROM objectdata WHERE object='One - Ping'") >= 2 })
	if n := five(); n != stopped {
		t.Errorf("%d rows came after it was stopped", n-stopped)
	}
	c.manage(manageAgain, "Five")
	running(3)
	c.until("it goes on again", func() bool { return five() > stopped })
	c.up("Five - Ping")
	c.remove("network-ping", "One", "Five")
	running(1)
	c.holds("SELECT name FROM objectstatus WHERE kind='object'", "Six - Ping")
	c.remove("network-ping", "Six")
	running(0)
}
