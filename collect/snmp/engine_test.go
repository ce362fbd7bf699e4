package snmp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"
)

// Informs work after a restart, and a sender with the old time learns the new one.
func TestTrapEngine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "collect", "engine")
	now := time.Now()
	clock := func() time.Time { return now }
	a, err := openEngine(file, clock)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openEngine(file, clock)
	if err != nil {
		t.Fatal(err)
	}
	if a.id != b.id || len(a.id) != 17 || a.boots != 1 || b.boots != 2 {
		t.Errorf("%x boots %d, %x boots %d", a.id, a.boots, b.id, b.boots)
	}
	now = now.Add(1000 * time.Second)
	f := func(boots, at uint32, want bool) {
		t.Helper()
		if got := b.inTimeWindow(&header{boots: boots, time: at}); got != want {
			t.Errorf("boots %d, time %d: %t", boots, at, got)
		}
	}
	f(2, 1000, true)
	f(2, 850, true)
	f(2, 849, false)
	f(2, 1150, true)
	f(2, 1151, false)
	f(1, 1000, false)
	f(3, 1000, false)
	for _, text := range []string{"", "engine 12\nboots 1", "engine zz\nboots 1", "engine 80000000050102030405060708\nboots x"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openEngine(file, clock); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An inform outside the time window, or for another engine, is answered with a report and not kept.
func TestReports(t *testing.T) {
	r := testReader(t, map[string]string{"users": testUsers})
	f := func(engine string, at uint32, want Result) {
		t.Helper()
		u := r.users["ops"]
		x := u.parameters(engine, userKeys{localize(u.auth, u.authKey, engine), u.localPrivacy(engine)})
		x.AuthoritativeEngineBoots, x.AuthoritativeEngineTime, x.PrivacyParameters = r.engine.boots, at, []byte(random(8))
		p := families()[0].packet
		p.Version, p.SecurityModel, p.MsgFlags, p.PDUType = gosnmp.Version3, gosnmp.UserSecurityModel, gosnmp.AuthPriv|gosnmp.Reportable, gosnmp.InformRequest
		p.SecurityParameters = x
		packet, err := p.MarshalMsg()
		if err != nil {
			t.Fatal(err)
		}
		_, reply, got := r.Read(string(packet), sender)
		if got != want || reply == nil {
			t.Fatalf("result %d, reply %v; want %d", got, reply, want)
		}
		if answer, err := reply.Packet(); len(answer) == 0 || err != nil {
			t.Errorf("the reply: %x, %v", answer, err)
		}
	}
	f(r.engine.id, 0, Accepted)
	f(r.engine.id, 0, Answered) // again
	f(r.engine.id, engineWindow+60, Answered)
	f("\x80\x00\x00\x00\x05another", 0, Answered)
	if late, unknown := r.engine.late.Load(), r.engine.unknown.Load(); late != 1 || unknown != 1 {
		t.Errorf("%d outside the window, %d for another engine", late, unknown)
	}
}
