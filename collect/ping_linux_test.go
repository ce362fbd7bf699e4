package collect

import (
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// In a network of its own nothing answers, or nothing can be sent. The sockets of a goroutine that is there stay there.
func TestPingSilence(t *testing.T) {
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
		p := &pinger{}
		leave := p.enter()
		defer leave()
		home := netip.MustParseAddr("127.0.0.1")
		if _, err := p.ping(t.Context(), home, 56, time.Second); err == nil || !strings.HasPrefix(err.Error(), "cannot send: ") {
			t.Errorf("without a network: %v", err)
		}
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := p.ping(t.Context(), home, 56, 5*time.Second); err != nil {
			t.Errorf("with one: %v", err)
		}
		if err := os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0); err != nil {
			t.Logf("the system does not let itself be silenced: %v", err)
			return
		}
		if _, err := p.ping(t.Context(), home, 56, 50*time.Millisecond); !errors.Is(err, errNoEcho) {
			t.Errorf("in silence: %v", err)
		}
	}()
	<-done
}
