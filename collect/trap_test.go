package collect

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"belfry/intake"
)

func (h *fixture) holds(collection string, want []string, fields ...string) {
	h.t.Helper()
	slices.Sort(want)
	for end := time.Now().Add(testTimeout); !slices.Equal(h.stored(collection, fields...), want); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("stored\n%s\nwant\n%s", strings.Join(h.stored(collection, fields...), "\n"), strings.Join(want, "\n"))
		}
	}
}

const (
	testUsers = "ops, sha, proof-of-ops, aes, secret-of-ops\nnoc, SHA-256, \"proof, of noc\", aes, secret-of-noc\n\nguest, none\nlevel, sha512, proof-of-level\nlong, sha, proof-of-long, aes256, secret-of-long"
	asOps     = "-v 3 -l authPriv -u ops -a SHA -A proof-of-ops -x AES -X secret-of-ops "
	asGuest   = "-v 3 -l noAuthNoPriv -u guest "
	asLevel   = "-v 3 -l authNoPriv -u level -a SHA-512 -A proof-of-level "
	asLong    = "-v 3 -l authPriv -u long -a SHA -A proof-of-long -x AES-256 -X secret-of-long "
	asDevice  = "-e 0x8000000001020304 "
)

// trapVariables are the variables that begin every trap with a name.
func trapVariables(oid string) []gosnmp.SnmpPDU {
	return []gosnmp.SnmpPDU{
		{Name: ".1.3.6.1.2.1.1.3.0", Type: gosnmp.TimeTicks, Value: uint32(1)},
		{Name: ".1.3.6.1.6.3.1.1.4.1.0", Type: gosnmp.ObjectIdentifier, Value: oid},
	}
}

// A sender that knows the engine sets its clock by the report, and sends again.
func TestTrapInformOutOfTime(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen,users", "T,"+addr+","+cell(testUsers))
	h.up("T")
	text, err := os.ReadFile(filepath.Join(h.env.Dir, "collect", "engine"))
	if err != nil {
		t.Fatal(err)
	}
	var id []byte
	var boots uint32
	if _, err := fmt.Sscanf(string(text), "engine %x\nboots %d", &id, &boots); err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(addr)
	f := func(engine string) error {
		t.Helper()
		x := &gosnmp.GoSNMP{
			Target: at.Addr().String(), Port: at.Port(), Version: gosnmp.Version3, SecurityModel: gosnmp.UserSecurityModel, MsgFlags: gosnmp.AuthPriv,
			Timeout: 30 * time.Second, Retries: 3, MaxOids: 10,
			SecurityParameters: &gosnmp.UsmSecurityParameters{
				UserName: "ops", AuthoritativeEngineID: engine, AuthoritativeEngineBoots: boots + 7, AuthoritativeEngineTime: 12345,
				AuthenticationProtocol: gosnmp.SHA, AuthenticationPassphrase: "proof-of-ops", PrivacyProtocol: gosnmp.AES, PrivacyPassphrase: "secret-of-ops",
			},
		}
		if err := x.Connect(); err != nil {
			t.Fatal(err)
		}
		defer x.Conn.Close()
		_, err := x.SendTrap(gosnmp.SnmpTrap{IsInform: true, Variables: trapVariables(".1.3.6.1.6.3.1.1.5.1")})
		return err
	}
	if err := f(string(id)); err != nil {
		t.Error(err)
	}
	h.holds("trap", []string{"coldStart"}, "name")
	if n := h.env.Totals.Filtered.Load(); n != 1 {
		t.Errorf("%d were out of time", n)
	}
	if err := f("\x80\x00\x00\x00\x05another"); err == nil {
		t.Error("an inform for another engine was answered")
	}
	h.holds("trap", []string{"coldStart"}, "name")
}

// An inform that is sent again because its response was lost is answered again and stored once.
func TestTrapInformRepeated(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen", "T,"+addr)
	h.up("T")
	from := func() func(request uint32) {
		c := dial(t, "udp", "127.0.0.1", addr)
		return func(request uint32) {
			t.Helper()
			if _, err := c.Write(testInform(t, request)); err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Now().Add(testTimeout))
			if n, err := c.Read(make([]byte, 1000)); n == 0 || err != nil {
				t.Fatalf("no answer: %v", err)
			}
		}
	}
	first, second := from(), from()
	for range 3 {
		first(7)
	}
	first(8)
	second(7)
	h.holds("trap", []string{"coldStart", "coldStart", "coldStart"}, "name")
	h.await("all is booked", func() bool { return h.env.Totals.Kept.Load() == 3 && h.env.Totals.Filtered.Load() == 2 })
}

func TestTrapChecks(t *testing.T) {
	h := newFixture(t, nil)
	f := func(columns, values, want string) {
		t.Helper()
		_, answer, err := h.intake.Provision(t.Context(), h.who, "log-trap-receiver", strings.NewReader("name,"+columns+"\nX,"+values+"\n"), intake.Options{})
		got := string(answer) + fmt.Sprint(err)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", values, got)
		}
		if strings.Contains(got, "tiger") {
			t.Errorf("%s: a password is shown: %s", values, got)
		}
	}
	f("allow", "nowhere", `"column":"allow"`)
	f("version", "4", `"column":"version","code":"bad_value","message":"\"4\" is no version of SNMP`)
	f("version", "3", `"column":"users","code":"bad_value","message":"version 3 needs users`)
	f("filter", `"nmae == 1"`, `"column":"filter"`)
	f("script", `"function"`, `"column":"script"`)
	users := func(text, want string) {
		t.Helper()
		f("users", cell(text), `"column":"users","code":"bad_value","message":"`+want)
	}
	users("a, sha, tiger", "line 1: field 3: the password of the proof has 5 characters; it needs 8 or more")
	users("a, none\n\nb, sha, tigertiger, aes, tiger", "line 3: field 5: the password of privacy has 5 characters")
	users("a, tigertiger", "line 1: field 2: the proof is none, md5,")
	users("a, sha, tigertiger, tigertiger", "line 1: field 4: privacy is none, des,")
	users("a, none, , aes, tigertiger", "line 1: field 4: privacy without a proof")
	users("a, none, tigertiger", "line 1: field 3: there is a password, but the proof is none")
	users("a, sha, tigertiger, none, tigertiger", "line 1: field 5: there is a password, but privacy is none")
	users("a, none\na, sha, tigertiger", "line 2: field 1: the user of line 1 has the same name")
	users(", sha, tigertiger", "line 1: field 1: the name has 0 bytes")
	users(strings.Repeat("x", 33)+", none", "line 1: field 1: the name has 33 bytes")
	users("a, sha, tiger, tiger, aes, tigertiger", "line 1: a user has five fields")
	users("u, none\n\"a, sha", "line 2: a user has five fields")
	users("a, sha, tiger\"tiger", "line 1: a user has five fields")
}

// TestTrapNumberFed: a number of 64 bits that a script feeds to an object is rounded as numbers are, and kept.
func TestTrapNumberFed(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen,script", "T,"+addr+","+cell(`function message(m) { data("octets", {i1: m.p[0]}, {class: "octets", view: "T"}); return m }`))
	h.up("T")
	packet, err := (&gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.SNMPv2Trap, Variables: append(trapVariables(".1.3.6.1.4.1.32473.9.0.1"),
		gosnmp.SnmpPDU{Name: ".1.3.6.1.4.1.32473.9.1", Type: gosnmp.Opaque, Value: []byte("\x9f\x76\x09\x00\xff\xff\xff\xff\xff\xff\xff\xff")})}).MarshalMsg()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, "udp", "127.0.0.1", addr).Write(packet); err != nil {
		t.Fatal(err)
	}
	h.holds("trap", []string{"18446744073709551615"}, "p1")
	if got := h.state("octets").Numbers; len(got) != 1 || got[0] != 1<<64 {
		t.Errorf("the object has %v", got)
	}
	if n := h.env.Totals.Failed.Load(); n != 0 {
		t.Errorf("%d failed", n)
	}
}
