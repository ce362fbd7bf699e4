package collect

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/collect/script"
	"belfry/engine"
	"belfry/status"
)

// A receiver that is changed to a port that it cannot have shows the error. A port that it only has to leave first is no failure.
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
	taken.Close()
	h.await("it gets the port once it is free", func() bool {
		h.env.ports.mu.Lock()
		defer h.env.ports.mu.Unlock()
		return h.env.ports.open["udp "+taken.LocalAddr().String()] != nil && h.env.ports.open["udp "+addr] == nil
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

// A collector whose kind adapts gets changes while it runs, at least the last one; one that is switched off runs again
// only when its resource is changed.
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
						return switchedOff{script.ErrOff}
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

// A collector that fails is run again with the current task, also if the resource was changed while it ran.
func TestSupervisorRestartsChanged(t *testing.T) {
	l := &log{}
	h := newFixture(t, map[string]Kind{"network-ping": {adapts: true, New: func(_ *Env, task Task) (Collector, error) {
		return adapter(func(ctx context.Context, changes <-chan Task) error {
			l.note("begins with %s", task.Answers["ip_address_fqdn"])
			select {
			case <-changes:
				return errors.New("it cannot be changed")
			case <-ctx.Done():
				return nil
			}
		}), nil
	}}})
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.1")
	h.await("it runs", l.has("begins with 127.0.0.1"))
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.2")
	h.await("it shows why", func() bool { return h.state("A - Ping").Info == "it cannot be changed" })
	h.await("it runs again", l.has("begins with 127.0.0.1", "begins with 127.0.0.2"))
}

// A resource that is stopped and started again has one collector at a time: the next one waits until the previous one has ended.
func TestSupervisorOneAtATime(t *testing.T) {
	l := &log{}
	release := make(chan struct{})
	h := newFixture(t, map[string]Kind{"network-ping": {New: func(*Env, Task) (Collector, error) {
		return runner(func(ctx context.Context) error {
			l.note("begins")
			<-ctx.Done()
			<-release
			l.note("ends")
			return nil
		}), nil
	}}})
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.1")
	h.await("it runs", l.has("begins"))
	h.stopCollectors("A")
	h.await("it is to end", func() bool { return h.sup.Running() == 0 })
	a := engine.Action{Kind: belfry.KindResource, List: engine.Names("A"), Manage: &status.Order{}}
	if out, err := h.seq.Act(t.Context(), h.who, a); err != nil || len(out.Errors) > 0 {
		t.Fatalf("%+v %v", out, err)
	}
	h.await("the next one is to run", func() bool { return h.sup.Running() == 1 })
	if !l.has("begins")() {
		t.Errorf("beside its predecessor: %q", l.lines)
	}
	close(release)
	h.await("the next one runs", l.has("begins", "ends", "begins"))
}

type adapter func(ctx context.Context, changes <-chan Task) error

func (a adapter) Run(ctx context.Context, changes <-chan Task) error { return a(ctx, changes) }

// A collector that fails at once is run again after pauses that grow, even if the clock steps forward while it runs.
func TestPausesWhileClockSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps, runs atomic.Int64
		env := &Env{Log: slog.New(slog.DiscardHandler), Dir: t.TempDir(), Now: func() time.Time {
			return time.Now().Add(time.Duration(steps.Add(1)) * time.Hour).Round(0)
		}}
		s := newSupervisor(nil, env, map[string]Kind{"fails": {New: func(*Env, Task) (Collector, error) {
			return runner(func(context.Context) error {
				runs.Add(1)
				return errors.New("it fails")
			}), nil
		}}})
		ctx, stop := context.WithTimeout(t.Context(), (1+2+4+8+16)*shortestWait-1)
		defer stop()
		s.keepRunning(ctx, &run{task: Task{Kind: "fails"}, changes: make(chan Task, 1)})
		if n := runs.Load(); n != 5 {
			t.Errorf("it ran %d times, want 5", n)
		}
	})
}
