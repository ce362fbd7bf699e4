package collect

import (
	"context"
	"net"
	"strings"
	"testing"

	"belfry"
)

// A receiver that is changed to a port that it cannot have shows so. What it only has to leave first is no failure.
func TestChangedReceiverFails(t *testing.T) {
	h := newFixture(t, Kinds)
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen", "U,"+addr)
	h.up("U")
	h.provision("log-syslog-receiver", "name,listen", "U,"+taken.LocalAddr().String())
	h.await("it shows", func() bool {
		s := h.state("U - Receiver")
		return s.Status == belfry.Unavailable && strings.Contains(s.Info, "another program has this port")
	})
	_, port, _ := net.SplitHostPort(addr)
	h.provision("log-syslog-receiver", "name,listen", "U,"+addr)
	h.up("U")
	h.provision("log-syslog-receiver", "name,listen", "U,0.0.0.0:"+port)
	h.await("it has moved", func() bool {
		h.env.ports.mu.Lock()
		defer h.env.ports.mu.Unlock()
		return h.env.ports.open["udp :"+port] != nil
	})
	if s := h.state("U - Receiver"); s.Status == belfry.Unavailable {
		t.Errorf("it shows %s", s.Info)
	}
}

// A collector whose kind adapts gets changes while it runs, the last one in any case; one that is switched off is run again
// when its resource is changed, and not before.
func TestSupervisorAdapts(t *testing.T) {
	l := &log{}
	h := newFixture(t, map[string]Kind{"network-ping": {adapts: true, New: func(_ *Env, task Task) (Collector, error) {
		return adapter(func(ctx context.Context, changes <-chan Task) error {
			l.note("begins with %s", task.Answers["ip_address_fqdn"])
			for {
				select {
				case task = <-changes:
					l.note("is changed to %s", task.Answers["ip_address_fqdn"])
					if task.Answers["ip_address_fqdn"] == "127.0.0.9" {
						return switchedOff{errScriptOff}
					}
				case <-ctx.Done():
					return nil
				}
			}
		}), nil
	}}})
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.1")
	h.await("it runs", l.has("begins with 127.0.0.1"))
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.2")
	h.await("it is changed", l.has("begins with 127.0.0.1", "is changed to 127.0.0.2"))
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.9")
	h.await("it shows that it is off", func() bool { return strings.HasPrefix(h.state("A - Ping").Info, "switched off: ") })
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.3")
	h.await("it runs again", l.has("begins with 127.0.0.1", "is changed to 127.0.0.2", "is changed to 127.0.0.9", "begins with 127.0.0.3"))
}

type adapter func(ctx context.Context, changes <-chan Task) error

func (a adapter) Run(ctx context.Context, changes <-chan Task) error { return a(ctx, changes) }
