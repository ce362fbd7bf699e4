package collect

import (
	"testing"

	"belfry"
)

// A port with one receiver waits for it; receivers that share a port do not wait for each other.
func TestPacketsWait(t *testing.T) {
	s := newSharedPort(t, "udp")
	first := s.attach(1, "127.0.0.0/8")
	if !first.port.exclusive() {
		t.Error("one alone is not waited for")
	}
	second := s.attach(2, "127.9.0.0/16")
	if first.port.exclusive() {
		t.Error("one of two is waited for")
	}
	s.env.detach(second)
	if !first.port.exclusive() {
		t.Error("one that is alone again is not waited for")
	}
	s.env.detach(first)
}

// A receiver that is leaving does not block a new one, and gets none of its messages.
func TestPortHandedOn(t *testing.T) {
	s := newSharedPort(t, "udp")
	attach := func(id belfry.ID) (*binding, error) {
		b := s.binding(id, nil)
		return b, s.env.attach(b, s.spec)
	}
	first, err := attach(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := attach(2); err == nil {
		t.Fatal("two take everything")
	}
	first.stop()
	third, err := attach(3)
	if err != nil {
		t.Fatal(err)
	}
	s.env.detach(first)
	s.send("127.0.0.1", 1)
	if got := third.inbox.take(nil); len(got) != 1 {
		t.Errorf("it got %d", len(got))
	}
	s.env.detach(third)
	if len(s.env.ports.open) > 0 {
		t.Error("the port stays open")
	}
}
