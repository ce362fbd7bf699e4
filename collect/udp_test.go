package collect

import (
	"context"
	"net/netip"
	"testing"

	"belfry"
)

// A receiver that has a port for itself is waited for; those that share one do not wait for each other.
func TestPacketsWait(t *testing.T) {
	addr := freePort(t, "udp")
	var all ports
	env := &Env{}
	waited := make(chan bool, 1)
	join := func(id belfry.ID, allow string) (leave func()) {
		t.Helper()
		d := &desk{resource: id, account: env.NewAccount(), allow: networks{netip.MustParsePrefix(allow)}}
		d.take = func(_ context.Context, _ []raw, wait bool) { waited <- wait }
		leave, err := all.join("udp "+addr, "test", d, listenUDP(addr, false))
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	c := dial(t, "udp", "127.0.0.1", addr)
	f := func(want bool) {
		t.Helper()
		if _, err := c.Write([]byte("a line")); err != nil {
			t.Fatal(err)
		}
		if got := <-waited; got != want {
			t.Errorf("waits: %v", got)
		}
	}
	first := join(1, "127.0.0.0/8")
	f(true)
	second := join(2, "127.9.0.0/16")
	f(false)
	second()
	f(true)
	first()
}

// A receiver that is to end stands in nobody's way, and takes nothing of the one that comes.
func TestPortHandedOn(t *testing.T) {
	addr := freePort(t, "udp")
	var all ports
	env := &Env{}
	got := make(chan belfry.ID, 1)
	join := func(id belfry.ID, over <-chan struct{}) (leave func(), err error) {
		d := &desk{resource: id, account: env.NewAccount(), over: over}
		d.take = func(context.Context, []raw, bool) { got <- id }
		return all.join("udp "+addr, "test", d, listenUDP(addr, false))
	}
	over := make(chan struct{})
	first, err := join(1, over)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := join(2, nil); err == nil {
		t.Fatal("two take everything")
	}
	close(over)
	second, err := join(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	first()
	if _, err := dial(t, "udp", "127.0.0.1", addr).Write([]byte("a line")); err != nil {
		t.Fatal(err)
	}
	if id := <-got; id != 3 {
		t.Errorf("%d got it", id)
	}
	second()
	if len(all.open) > 0 {
		t.Error("the port stays open")
	}
}
