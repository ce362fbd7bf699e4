package collect

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// place is a separate network name space: functions run in it, and sockets that are opened there stay there.
type place struct {
	t    *testing.T
	work chan func()
	name string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, work: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // and never given back: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		p.name = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid())
		made <- err
		for f := range p.work {
			f()
		}
	}()
	err := <-made
	if errors.Is(err, unix.EPERM) {
		t.Skip("not even root may make a network namespace here")
	}
	if err != nil {
		t.Fatalf("a network of its own: %v", err)
	}
	t.Cleanup(func() { close(p.work) })
	return p
}

func (p *place) do(f func()) {
	done := make(chan struct{})
	p.work <- func() { defer close(done); f() }
	<-done
}

// ip runs the program of that name.
func (p *place) ip(words string) {
	p.t.Helper()
	p.do(func() {
		if out, err := exec.Command("ip", strings.Fields(words)...).CombinedOutput(); err != nil {
			p.t.Errorf("ip %s: %v: %s", words, err, out)
		}
	})
}

// A machine with two links replies to a sender on the link it sent from, although its address could be on either.
func TestLinkAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may make a network namespace")
	}
	here, there := newPlace(t), newPlace(t)
	here.ip("link add first type veth peer name other")
	here.ip("link add second type veth peer name far netns " + there.name)
	for _, link := range []string{"other", "first", "second"} {
		here.ip("link set " + link + " addrgenmode none up")
	}
	there.ip("link set far addrgenmode none up")
	here.ip("addr add fe80::1/64 dev first nodad")
	here.ip("addr add fe80::2/64 dev second nodad")
	there.ip("addr add fe80::7/64 dev far nodad")

	const port = 10162
	var env Env
	opened := false
	b := newBinding(t.Context(), Task{}, env.NewStats(), newInbox(inboxPackets), nil)
	here.do(func() {
		addr := fmt.Sprintf(":%d", port)
		if err := env.attach(b, portSpec{protocol: "udp", addr: addr, replies: true}); err != nil {
			t.Error(err)
			return
		}
		opened = true
	})
	if !opened {
		return
	}
	go func() {
		for _, in := range b.inbox.take(nil) {
			if err := in.socket.reply(in.from, in.to, []byte(in.ip)); err != nil {
				t.Error(err)
			}
		}
	}()
	defer env.detach(b)
	there.do(func() {
		c, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.ParseIP("fe80::2"), Port: port, Zone: "far"})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if _, err := c.Write([]byte("an inform")); err != nil {
			t.Error(err)
		}
		c.SetReadDeadline(time.Now().Add(testTimeout))
		room := make([]byte, 100)
		if n, err := c.Read(room); err != nil || string(room[:n]) != "fe80::7" {
			t.Errorf("the answer: %q, %v", room[:n], err)
		}
	})
}
