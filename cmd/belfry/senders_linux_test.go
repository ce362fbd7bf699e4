package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sockets counts those that the service has open.
func (p *process) sockets() (n int) {
	p.t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	files, err := os.ReadDir(dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range files {
		if to, _ := os.Readlink(filepath.Join(dir, f.Name())); strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// TestThousandPings: resources that are provisioned in one call, changed, stopped, managed again and removed have collectors
// that follow, and leave nothing behind.
func TestThousandPings(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const (
		many   = 1000
		target = 2 * time.Second // on a quiet machine
		most   = 30 * time.Second
	)
	c := startCollecting(t)
	running := func() int { return c.metric("belfry_collectors_running") }
	goroutines := func() int { return c.metric("go_goroutines") }
	values := func() int { return c.count("FROM objectdata") }
	rows := func(interval string) (all []string) {
		for i := range many {
			all = append(all, cells(fmt.Sprint("P", i), fmt.Sprintf("127.0.%d.%d", 1+i/250, 1+i%250), interval, "1", "20s"))
		}
		return all
	}
	var names []string
	for i := range many {
		names = append(names, fmt.Sprint("P", i))
	}
	const header = "name,ip_address_fqdn,interval,count,timeout" // with patience: an answer that is late on a busy machine is none
	first, before := values(), goroutines()
	sockets := c.sockets()                                                          // with the connections of this test, which stay open
	c.provision("network-ping", header, cells("Once", "127.0.0.1", "", "1", "20s")) // so that what the first data take a while for is done
	c.up("Once - Ping")
	c.remove("network-ping", "Once")
	c.until("nothing runs", func() bool { return running() == 0 })
	first = values()

	// f does something and waits until its collectors have followed.
	f := func(what string, do func(), followed func() bool) {
		t.Helper()
		begun := time.Now()
		do()
		answered := time.Since(begun)
		c.until(what, followed)
		took := time.Since(begun)
		t.Logf("%s: answered after %s, followed after %s (target %s)", what, answered.Round(time.Millisecond), took.Round(time.Millisecond), target)
		if took > most*raceFactor {
			t.Errorf("%s: that is too long", what)
		}
	}
	ended := func() bool { return running() == 0 && goroutines() <= before+10 && c.sockets() <= sockets }
	f("provisioned", func() { c.provision("network-ping", header, rows("60s")...) }, func() bool { return running() == many })
	f("all have answered", func() {}, func() bool { return values() >= first+many })
	// A collector with another interval begins again, and the first thing it does is to ask.
	f("changed", func() { c.provision("network-ping", header, rows("90s")...) }, func() bool { return values() >= first+2*many })
	f("stopped", func() { c.manage(stopCollector, names...) }, ended)
	asked := values()
	f("managed again", func() { c.manage(manageAgain, names...) }, func() bool { return running() == many && values() >= asked+many })
	f("removed", func() { c.remove("network-ping", names...) }, ended)
	t.Logf("%d goroutines and %d sockets before, %d and %d after", before, sockets, goroutines(), c.sockets())
	c.holds("SELECT name FROM objectstatus WHERE kind='object'")
}
