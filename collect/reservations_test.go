package collect

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"belfry"
	"belfry/accounts"
	"belfry/engine"
	"belfry/intake"
)

// another makes a second customer, which may listen on what is granted.
func (h *fixture) another(name string, grants ...string) engine.Sender {
	h.t.Helper()
	c, err := h.accounts.AddCustomer(name, "", &belfry.Actor{Name: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.accounts.ChangeGrants(accounts.Caller{}, name, accounts.GrantChange{Listen: &grants}); err != nil {
		h.t.Fatal(err)
	}
	return engine.Sender{Scope: belfry.Whole(c.ID), Name: "test"}
}

// provisionAs sends one row of a receiver and returns the answer.
func (h *fixture) provisionAs(who engine.Sender, row string, o intake.Options) string {
	h.t.Helper()
	_, answer, err := h.intake.Provision(h.t.Context(), who, "log-syslog-receiver", strings.NewReader("name,listen,allow\n"+row+"\n"), o)
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// A port belongs to one customer: others get the same refusal whether it is in use or was never granted, however the address
// is written, and nothing that arrives there.
func TestPortsBelongToOneCustomer(t *testing.T) {
	h := newFixture(t, Kinds)
	free, taken, granted := freePort(t, "udp"), freePort(t, "udp"), freePort(t, "udp")
	_, port, _ := net.SplitHostPort(taken)
	other := h.another("B", granted, "0.0.0.0:"+port) // the second is in use by default, which needs no grant
	h.provision("log-syslog-receiver", "name,listen", "A,"+taken)
	h.up("A")
	refused := func(listen string) {
		t.Helper()
		want := fmt.Sprintf(`"column":"listen","code":"not_allowed","message":"this customer may not listen on %s; ask an administrator of the instance for a port"`, listen)
		for _, o := range []intake.Options{{}, {DryRun: true}} {
			if got := h.provisionAs(other, "X,"+listen+",127.0.0.0/24", o); !strings.Contains(got, want) {
				t.Errorf("%s: %s", listen, got)
			}
		}
	}
	refused(free)
	for _, listen := range []string{taken, "0.0.0.0:" + port, "[::]:" + port, ":" + port, "[::ffff:127.0.0.1]:" + port} {
		refused(listen)
	}
	if got := h.provisionAs(other, "X,"+granted+",", intake.Options{}); !strings.Contains(got, `"accepted":1`) {
		t.Fatal(got)
	}
	h.await("it receives", func() bool {
		return h.env.ports.smallestBuffer() > 0 && h.stateOf(other, "X - Receiver").Status == belfry.OK
	})
	// Conversely, default may open any port, but not one that another customer has.
	if got := h.provisionAs(h.who, "Y,"+granted+",127.0.0.9", intake.Options{}); !strings.Contains(got, `"code":"not_allowed"`) {
		t.Error(got)
	}
	// A receiver whose grant is revoked is switched off and shows that; granted again, it works again.
	if err := h.accounts.ChangeGrants(accounts.Caller{}, "B", accounts.GrantChange{Remove: []string{granted}}); err != nil {
		t.Fatal(err)
	}
	h.await("it is off", func() bool {
		s := h.stateOf(other, "X - Receiver")
		return s.Status == belfry.Unavailable && strings.Contains(s.Info, "may not listen on "+granted)
	})
	if err := h.accounts.ChangeGrants(accounts.Caller{}, "B", accounts.GrantChange{Add: []string{granted}}); err != nil {
		t.Fatal(err)
	}
	h.await("it is on again", func() bool { return h.stateOf(other, "X - Receiver").Status == belfry.OK })
}

// allows reports whether the one receiver accepts messages from this many networks, which a change sets last.
func (h *fixture) allows(networks int) func() bool {
	return func() bool {
		h.env.ports.mu.Lock()
		defer h.env.ports.mu.Unlock()
		for _, at := range h.env.ports.open {
			return len(at.first().allow) == networks
		}
		return false
	}
}

// stateOf returns the state of an item of a customer.
func (h *fixture) stateOf(who engine.Sender, name string) (s belfry.ItemState) {
	for n := range h.tree.Each(h.tree.Everything(who.Customer)) {
		if n.Name == name {
			s = n.State
		}
	}
	return s
}

// An open port is never shared between customers.
func TestPortsAreNotShared(t *testing.T) {
	s := newSharedPort(t, "udp")
	s.attach(1, "127.0.0.1/32")
	b := newBinding(t.Context(), Task{Customer: 2, Resource: 2}, s.env.NewStats(), newInbox(10), networks{})
	_, port, _ := net.SplitHostPort(s.spec.addr)
	for _, spec := range []portSpec{s.spec, {protocol: "udp", addr: ":" + port}, {protocol: "tcp", addr: s.spec.addr}} {
		if err := s.env.attach(b, spec); belfry.CodeOf(err) != belfry.NotAllowed {
			t.Errorf("%s %s: %v", spec.protocol, spec.addr, err)
		}
	}
}

// A customer has a limited number of receivers.
func TestReceiversLimited(t *testing.T) {
	h := newFixture(t, nil)
	var rows []string
	for i := range 101 {
		rows = append(rows, fmt.Sprintf("R%d,127.0.0.1:%d,", i, 20000+i))
	}
	got := h.provisionAs(h.who, strings.Join(rows, "\n"), intake.Options{})
	if !strings.Contains(got, `"accepted":100,`) || !strings.Contains(got, `"code":"limit_reached","message":"there are as many receivers as are allowed, 100`) {
		t.Errorf("%.500s", got)
	}
	h.remove("log-syslog-receiver", "R7")
	if got := h.provisionAs(h.who, rows[100], intake.Options{}); !strings.Contains(got, `"accepted":1,`) {
		t.Error(got)
	}
}

// Answers are inspected outside the sequencer: others can send meanwhile.
func TestInspectOutsideSequencer(t *testing.T) {
	h := newFixture(t, nil)
	h.provision("custom", "name", "C")
	looked := 0
	h.inspecting = func() {
		looked++
		row := &belfry.Row{Type: "data", Resource: "C", Object: "o", Class: "c", View: "C", Indicators: []belfry.Cell{{N: 1, Text: "1"}}}
		if code, answer, err := h.intake.SendOne(t.Context(), h.who.Scope, row); err != nil || code != 200 {
			t.Errorf("%d %s %v", code, answer, err)
		}
	}
	for _, o := range []intake.Options{{DryRun: true}, {Atomic: true}, {}} {
		if got := h.provisionAs(h.who, "S,127.0.0.1:5514,", o); !strings.Contains(got, `"rejected":0`) {
			t.Error(got)
		}
	}
	if looked != 2 { // the third changes nothing
		t.Errorf("looked at %d times", looked)
	}
}

// A script that a user limited to views wrote writes inside these views, as they are when it writes.
func TestScriptScope(t *testing.T) {
	h := newFixture(t, Kinds)
	h.provision("custom", "name", "Mine", "Foreign")
	user := belfry.User{Name: "op", Password: "x", Role: belfry.Operator, Views: []string{"Mine", "Recv"}}
	addr := freePort(t, "udp")
	script := `function message(m) { log("o", m.message, {resource: m.app, class: "lines", view: m.app}); return m }`
	h.provision("log-syslog-receiver", "name,listen", "Recv,"+addr)
	if err := h.accounts.AddUser(h.who.Customer, user, &belfry.Actor{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	limited := engine.Sender{Scope: belfry.Scope{Customer: h.who.Customer, Views: user.Views}, Name: "op"}
	_, answer, err := h.intake.Provision(t.Context(), limited, "log-syslog-receiver", strings.NewReader("name,allow,script\nRecv,127.0.0.0/8,"+cell(script)+"\n"), intake.Options{})
	if err != nil || !strings.Contains(string(answer), `"accepted":1`) {
		t.Fatalf("%s %v", answer, err)
	}
	h.await("the script is there", h.allows(1))
	h.up("Recv")
	c := dial(t, "udp", "127.0.0.1", addr)
	said := int64(0)
	say := func(to string) {
		t.Helper()
		fmt.Fprintf(c, "<13>Nov 14 10:11:12 h %s: text", to)
		said++
		h.await("it is stored", func() bool { return h.env.Totals.Kept.Load() == said })
	}
	say("Mine")
	say("Foreign")
	if got := len(h.stored("objectlog", "item")); got != 1 {
		t.Errorf("%d lines were written", got)
	}
	if n := h.env.Totals.Failed.Load(); n != 1 {
		t.Errorf("%d failures", n)
	}
	if err := h.accounts.UpdateUser(h.who.Customer, "op", accounts.UserChange{Views: &[]string{"Recv"}}, true, &belfry.Actor{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	say("Mine")
	if got := len(h.stored("objectlog", "item")); got != 1 {
		t.Errorf("the views are fewer: %d lines were written", got)
	}
	// An unlimited user changes the filter: that does not make them the author of the script.
	h.provision("log-syslog-receiver", "name,allow,filter", `Recv,"127.0.0.0/8, ::1",severity < 7`)
	h.await("it is changed", h.allows(2))
	say("Foreign")
	if got := len(h.stored("objectlog", "item")); got != 1 {
		t.Errorf("after the change of another: %d lines were written", got)
	}
	// The author is removed: the script continues within the last limits. A new user of that name is not the author.
	still := func(when string) {
		t.Helper()
		before := len(h.stored("objectlog", "item"))
		say("Mine")
		if got := len(h.stored("objectlog", "item")); got != before {
			t.Errorf("%s: the script writes where its author could not any more", when)
		}
		say("Recv")
		if got := len(h.stored("objectlog", "item")); got != before+1 {
			t.Errorf("%s: the script does not write where its author could", when)
		}
	}
	if err := h.accounts.RemoveUser(accounts.Caller{Sender: h.who, Level: belfry.LevelInstance}, "op"); err != nil {
		t.Fatal(err)
	}
	still("removed")
	user.Role = belfry.Viewer
	if err := h.accounts.AddUser(h.who.Customer, user, &belfry.Actor{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	still("made again")
	if err := h.accounts.UpdateUser(h.who.Customer, "op", accounts.UserChange{Views: new([]string)}, true, &belfry.Actor{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	still("the new one is not limited")
}

// No receiver is put on a port of the service itself, in whatever spelling; over UDP it is another port.
func TestPortsOfTheService(t *testing.T) {
	h := newFixture(t, nil)
	h.env.Taken = map[string]string{"listen": "127.0.0.1:28080", "admin_listen": "[::]:29090"}
	f := func(protocol, listen, want string) {
		t.Helper()
		for _, o := range []intake.Options{{DryRun: true}, {}} {
			_, answer, err := h.intake.Provision(t.Context(), h.who, "log-syslog-receiver", strings.NewReader("name,protocol,listen\nR,"+protocol+","+listen+"\n"), o)
			if got := string(answer); err != nil || !strings.Contains(got, want) || strings.Contains(want, "setting") && !strings.Contains(got, `"column":"listen","code":"not_allowed"`) {
				t.Errorf("%s %s: %s %v", protocol, listen, got, err)
			}
		}
	}
	for _, listen := range []string{"127.0.0.1:28080", ":28080", "0.0.0.0:28080", "[::]:28080"} {
		f("tcp", listen, "as its setting listen says")
	}
	f("tcp", "127.0.0.7:29090", "as its setting admin_listen says")
	f("udp", "127.0.0.1:28080", `"accepted":1`)
	f("tcp", "127.0.0.1:28080", "as its setting listen says") // the same receiver with another protocol
	f("tcp", "127.0.0.2:28080", `"accepted":1`)
}
