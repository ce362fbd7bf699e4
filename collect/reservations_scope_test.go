package collect

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/intake"
)

// limitedTo makes a user who is limited to a new view.
func (h *fixture) limitedTo(view string) engine.Sender {
	h.t.Helper()
	h.provision("view", "name,view,posx,posy", view+",MAIN,10,10")
	return engine.Sender{Scope: belfry.Scope{Customer: h.who.Customer, Views: []string{view}}, Name: "op"}
}

// answer sends rows of a package and returns the answer.
func (h *fixture) answer(who engine.Sender, pkg, header string, o intake.Options, rows ...string) string {
	h.t.Helper()
	_, answer, err := h.intake.Provision(h.t.Context(), who, pkg, strings.NewReader(header+"\n"+strings.Join(rows, "\n")+"\n"), o)
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// A user who is limited to views cannot add a receiver to a port that has one outside of them, move one of theirs
// there, or change which senders it accepts: with a narrower network it would get the messages of the other. They learn
// nothing about it.
func TestLimitedUserJoinsNoForeignPort(t *testing.T) {
	h := newFixture(t, nil)
	limited := h.limitedTo("V")
	const taken, free, shared = "127.0.0.1:18210", "127.0.0.1:18211", "127.0.0.1:18212"
	h.provision("log-syslog-receiver", "name,listen,allow", "Payroll,"+taken+",127.0.0.0/8", "Audit,"+shared+",127.0.0.0/8")
	h.provision("log-syslog-receiver", "name,view,listen,allow", "Joined,V,"+shared+",127.0.0.9") // by a user who may
	h.provision("log-trap-receiver", "name,listen", "Traps,127.0.0.1:18213")
	h.provision("view", "name,view,posx,posy", "W,V,10,10")
	for _, o := range []intake.Options{{DryRun: true}, {Atomic: true}, {}} {
		f := func(want, pkg, header, row string) {
			t.Helper()
			got := h.answer(limited, pkg, header, o, row)
			if !strings.Contains(got, want) {
				t.Errorf("%+v, %s: %s", o, row, got)
			}
			for _, secret := range []string{"Payroll", "Audit", "Traps", "127.0.0.0/8"} {
				if strings.Contains(got, secret) {
					t.Errorf("%+v, %s: it tells of %s: %s", o, row, secret, got)
				}
			}
		}
		refuse := func(pkg, header, row, listen string) {
			t.Helper()
			f(fmt.Sprintf(`"column":"listen","code":"not_allowed","message":"the address %s is in use; choose another"`, listen), pkg, header, row)
		}
		const header = "name,view,listen,allow,protocol"
		_, port, _ := net.SplitHostPort(taken)
		for _, listen := range []string{taken, "0.0.0.0:" + port, "[::ffff:127.0.0.1]:" + port} {
			refuse("log-syslog-receiver", header, "X,V,"+listen+",127.0.0.1,udp", listen)
			refuse("log-syslog-receiver", header, "X,V,"+listen+",,tcp", listen)
		}
		refuse("log-trap-receiver", "name,view,listen,allow", "X,V,127.0.0.1:18213,127.0.0.1", "127.0.0.1:18213")
		refuse("log-trap-receiver", "name,view,listen", "X,V,"+taken, taken)
		f(`"accepted":1`, "log-syslog-receiver", header, "Own,V,"+free+",,udp")
		// One that another user has put there: everything but its port can be changed.
		f(`"accepted":1`, "log-syslog-receiver", "name,filter", "Joined,severity < 3")
		f(`"accepted":1`, "log-syslog-receiver", "name,view", "Joined,W")
		refuse("log-syslog-receiver", "name,allow", "Joined,127.0.0.1", shared)
		refuse("log-syslog-receiver", "name,allow", "Joined,", shared)
		refuse("log-syslog-receiver", "name,listen", "Joined,0.0.0.0:18212", "0.0.0.0:18212")
		refuse("log-syslog-receiver", "name,protocol", "Joined,tcp", shared)
	}
	// "Own" exists now.
	if got := h.answer(limited, "log-syslog-receiver", "name,listen", intake.Options{}, "Own,"+taken); !strings.Contains(got, `"code":"not_allowed"`) {
		t.Error(got)
	}
	if got := h.answer(limited, "log-syslog-receiver", "name,view,listen,allow", intake.Options{}, "Own2,V,"+free+",127.0.0.1"); !strings.Contains(got, `"accepted":1`) {
		t.Errorf("a port with receivers of their own: %s", got)
	}
	if got := h.answer(h.who, "log-syslog-receiver", "name,listen,allow", intake.Options{}, "Any,"+free+",127.0.0.2"); !strings.Contains(got, `"accepted":1`) {
		t.Errorf("somebody who is not limited: %s", got)
	}
}

// Two receivers that want the same messages are refused when they are provisioned: one of them would get nothing.
func TestSameSendersRefused(t *testing.T) {
	h := newFixture(t, nil)
	const addr = "127.0.0.1:18210"
	h.provision("log-syslog-receiver", "name,listen,allow", "A,"+addr+`,"10.0.0.0/8, 192.0.2.7"`, "B,"+addr+",")
	f := func(want string, rows ...string) {
		t.Helper()
		for _, o := range []intake.Options{{DryRun: true}, {}} {
			if got := h.answer(h.who, "log-syslog-receiver", "name,listen,allow,protocol", o, rows...); !strings.Contains(got, want) {
				t.Errorf("%q: %s", rows, got)
			}
		}
	}
	as := func(other string) string {
		return fmt.Sprintf(`"column":"allow","code":"bad_value","message":"the receiver \"%s\" takes messages from the same senders on %s already; say in allow`, other, addr)
	}
	f(as("A"), "X,"+addr+",192.0.2.7/32 10.0.0.0/8,udp")
	f(as("B"), "X,"+addr+",,udp")
	f(as("B"), "A,"+addr+",,udp")                                                 // a change
	f(as("X"), "X,"+addr+",10.1.0.0/16,udp", "Y,"+addr+",10.1.0.0/16,udp")        // in one body
	f(`"accepted":2`, "A,"+addr+",10.9.0.0/16,udp", "C,"+addr+",192.0.2.7,udp")   // others
	f(`"accepted":2`, "A,"+addr+",10.8.0.0/16,udp", "D,"+addr+",10.9.0.0/16,udp") // one makes room for the other
	f(`"accepted":1`, "E,"+addr+",,tcp")                                          // another protocol
}
