package ping

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"belfry"
)

// In a separate network name space nothing replies, or nothing can be sent. Sockets of a goroutine in it stay there.
func TestPingSilence(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may make a network namespace")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never given back: the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Errorf("a network of its own: %v", err)
			return
		}
		const home = "127.0.0.1"
		if s := pingOnce(t, nil, home, 56, time.Second); !strings.HasPrefix(s.Info, home+": cannot send: ") {
			t.Errorf("without a network: %s", s.Info)
		}
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if s := pingOnce(t, nil, home, 56, testTimeout); s.Status != belfry.OK {
			t.Errorf("with one: %s", s.Info)
		}
		if err := os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0); err != nil {
			t.Logf("the system does not let itself be silenced: %v", err)
			return
		}
		if s := pingOnce(t, nil, home, 56, time.Second); !strings.HasPrefix(s.Info, "no answer from ") {
			t.Errorf("in silence: %q", s.Info)
		}
	}()
	<-done
}

// Without the capability an unprivileged socket is used, if the group may open one; otherwise the error says what is
// missing.
func TestPingUnprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may make a network namespace")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Errorf("a network of its own: %v", err)
			return
		}
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		f := func(groups, missing string) {
			if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte(groups), 0); err != nil {
				t.Errorf("groups that may ping: %v", err)
				return
			}
			for i, a := range []string{"127.0.0.7", "::1"} {
				dgram := false
				s := pingOnce(t, func(p *Pinger) { dgram = p.sockets[i] != nil && p.sockets[i].dgram }, a, 1000, testTimeout)
				if missing == "" && (s.Status != belfry.OK || !dgram) {
					t.Errorf("%s: %s", a, s.Info)
				}
				if missing != "" && !strings.Contains(s.Info, missing) {
					t.Errorf("%s: %q", a, s.Info)
				}
			}
		}
		if err := dropRaw(); err != nil {
			t.Errorf("to be without the capability: %v", err)
			return
		}
		f("0 0", "")
		f("1 0", "give the service CAP_NET_RAW")
	}()
	<-done
}

// dropRaw removes the capability for raw sockets from this thread.
func dropRaw() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&head, &sets[0]); err != nil {
		return err
	}
	sets[0].Effective &^= 1 << unix.CAP_NET_RAW
	return unix.Capset(&head, &sets[0])
}
