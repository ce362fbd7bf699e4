package collect

import (
	"runtime"
	"strings"
	"testing"

	"belfry"
)

// A receiver that needs the address of a port that is being closed waits for it, also one of another customer; other ports do not wait.
func TestPortsWaitForClosing(t *testing.T) {
	for _, customer := range []belfry.CustomerID{1, 2} {
		s := newSharedPort(t, "udp")
		first := s.binding(1, nil)
		if err := s.env.attach(first, s.spec); err != nil {
			t.Fatal(err)
		}
		p, release := first.port, make(chan struct{})
		p.udp.running.Go(func() { <-release }) // it closes slowly
		detached, attached := make(chan struct{}), make(chan error)
		go func() {
			defer close(detached)
			s.env.detach(first)
		}()
		<-p.udp.done // it is being closed
		second := s.binding(2, nil)
		second.customer = customer
		go func() { attached <- s.env.attach(second, s.spec) }()
		awaitLock("collect.(*Env).attach(")
		other := s.binding(3, nil)
		if err := s.env.attach(other, portSpec{protocol: "udp", addr: freePort(t, "udp")}); err != nil {
			t.Error(err)
		}
		s.env.detach(other)
		select {
		case err := <-attached:
			t.Fatalf("attached while the port is being closed: %v", err)
		default:
		}
		close(release)
		<-detached
		if err := <-attached; err != nil {
			t.Fatal(err)
		}
		s.send("127.0.0.1", 1)
		if got := second.inbox.take(nil); len(got) != 1 || second.port == p {
			t.Errorf("it got %d", len(got))
		}
		s.env.detach(second)
	}
}

// awaitLock waits until a goroutine waits for a mutex in a function.
func awaitLock(function string) {
	for stacks := make([]byte, 1<<20); ; runtime.Gosched() {
		for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(stack, function) && strings.Contains(stack, "[sync.Mutex.Lock") {
				return
			}
		}
	}
}

// A binding that is replaced keeps the inbox of its receiver and its position at the port, and accepts messages from other networks at once.
func TestRebind(t *testing.T) {
	s := newSharedPort(t, "udp")
	one, two := s.attach(1, "127.0.0.1/32"), s.attach(2, "127.0.0.2/32")
	changed := *one
	changed.allow, _ = parseNetworks("127.0.0.3")
	if err := one.port.rebind(&changed); err != nil {
		t.Fatal(err)
	}
	s.send("127.0.0.3", 4)
	s.env.detach(&changed)
	s.holds(&changed, 4)
	s.env.detach(two)
	s.holds(two, 0)
	if len(s.env.ports.open) > 0 {
		t.Error("the port stays open")
	}
}
