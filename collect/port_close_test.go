package collect

import (
	"context"
	"testing"
)

// A port that is being closed, and takes long because its receiver does, holds up no other one; whoever wants the same port
// waits.
func TestPortsCloseApart(t *testing.T) {
	var all ports
	env := &Env{}
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	join := func(addr string, take func(context.Context, []raw, bool)) (leave func()) {
		t.Helper()
		d := &desk{resource: 1, account: env.NewAccount(), take: take}
		leave, err := all.join("udp "+addr, "test", d, listenUDP(addr, false))
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	begin := func(f func()) (done chan struct{}) {
		done = make(chan struct{})
		go func() { defer close(done); f() }()
		return done
	}
	slowAt, otherAt := freePort(t, "udp"), freePort(t, "udp")
	var closing <-chan struct{}
	slow := join(slowAt, func(ctx context.Context, _ []raw, _ bool) {
		closing = ctx.Done()
		arrived <- struct{}{}
		<-release
	})
	other := join(otherAt, func(context.Context, []raw, bool) {})
	if _, err := dial(t, "udp", "127.0.0.1", slowAt).Write([]byte("a line")); err != nil {
		t.Fatal(err)
	}
	<-arrived
	left := begin(slow)
	<-closing // it is under way
	<-begin(other)
	select {
	case <-left:
		t.Error("the slow one is not waited for")
	default:
	}
	var again func()
	back := begin(func() { again = join(slowAt, func(context.Context, []raw, bool) {}) })
	close(release)
	<-left
	<-back
	again()
	if len(all.open) > 0 {
		t.Error("a port stays open")
	}
}
