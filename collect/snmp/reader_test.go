package snmp

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gosnmp/gosnmp"

	"belfry/collect/mib"
)

// family is a device and a packet as in its vendor's public documents.
type family struct {
	name   string
	packet gosnmp.SnmpPacket
}

func octetsOf(oid string, text string) gosnmp.SnmpPDU {
	return gosnmp.SnmpPDU{Name: "." + oid, Type: gosnmp.OctetString, Value: text}
}

func integer(oid string, n int) gosnmp.SnmpPDU {
	return gosnmp.SnmpPDU{Name: "." + oid, Type: gosnmp.Integer, Value: n}
}

func typed(oid string, t gosnmp.Asn1BER, v any) gosnmp.SnmpPDU {
	return gosnmp.SnmpPDU{Name: "." + oid, Type: t, Value: v}
}

// opaque is a value inside an Opaque, as hexadecimal digits.
func opaque(oid, digits string) gosnmp.SnmpPDU {
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return typed(oid, gosnmp.Opaque, b)
}

// v2 is a trap of version 2c.
func v2(name, oid string, variables ...gosnmp.SnmpPDU) family {
	first := []gosnmp.SnmpPDU{typed(oidUpTime, gosnmp.TimeTicks, uint32(123456)), typed(oidTrapOID, gosnmp.ObjectIdentifier, "."+oid)}
	return family{name, gosnmp.SnmpPacket{
		Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.SNMPv2Trap, RequestID: 77, Variables: append(first, variables...),
	}}
}

// v1 is a trap of version 1.
func v1(name, enterprise, agent string, generic, specific int, variables ...gosnmp.SnmpPDU) family {
	return family{name, gosnmp.SnmpPacket{
		Version: gosnmp.Version1, Community: "public", PDUType: gosnmp.Trap, Variables: variables,
		SnmpTrap: gosnmp.SnmpTrap{Enterprise: "." + enterprise, AgentAddress: agent, GenericTrap: generic, SpecificTrap: specific, Timestamp: 4711},
	}}
}

func families() []family {
	const ifEntry, alarm, ups = "1.3.6.1.2.1.2.2.1.", "1.3.6.1.2.1.16.3.1.1.", "1.3.6.1.2.1.33.1."
	return []family{
		v2("cisco-switch-linkdown", "1.3.6.1.6.3.1.1.5.3", integer(ifEntry+"1.10103", 10103), octetsOf(ifEntry+"2.10103", "GigabitEthernet1/0/3"),
			integer(ifEntry+"3.10103", 6), octetsOf("1.3.6.1.4.1.9.2.2.1.1.20.10103", "down")),
		v1("cisco-router-config-v1", "1.3.6.1.4.1.9.9.43.2", "192.0.2.1", 6, 1, integer("1.3.6.1.4.1.9.9.43.1.1.6.1.3.38", 1),
			integer("1.3.6.1.4.1.9.9.43.1.1.6.1.4.38", 2), integer("1.3.6.1.4.1.9.9.43.1.1.6.1.5.38", 3)),
		v2("juniper-router-fan", "1.3.6.1.4.1.2636.4.1.2", typed("1.3.6.1.4.1.2636.3.1.8.1.1.4.1.0.0", gosnmp.Gauge32, uint32(4)), octetsOf("1.3.6.1.4.1.2636.3.1.8.1.6.4.1.0.0", "Fan Tray 0"),
			integer("1.3.6.1.4.1.2636.3.1.8.1.7.4.1.0.0", 6)),
		v1("apc-ups-v1", "1.3.6.1.4.1.318", "192.0.2.20", 6, 5, octetsOf("1.3.6.1.4.1.318.2.3.3.0", "UPS: On battery power in response to an input power problem.")),
		v2("ups-rfc1628", "1.3.6.1.2.1.33.2.3", integer(ups+"6.2.1.1.1", 1), typed(ups+"6.2.1.2.1", gosnmp.ObjectIdentifier, "."+ups+"6.3.2")),
		v2("hp-procurve-rmon", "1.3.6.1.2.1.16.0.1", integer(alarm+"1.9", 9), typed(alarm+"3.9", gosnmp.ObjectIdentifier, "."+ifEntry+"14.24"), integer(alarm+"4.9", 2),
			integer(alarm+"5.9", 512), integer(alarm+"7.9", 100)),
		v2("printer-alert", "1.3.6.1.2.1.43.18.2.0.1", integer("1.3.6.1.2.1.43.18.1.1.1.1.13", 13), integer("1.3.6.1.2.1.43.18.1.1.2.1.13", 3),
			integer("1.3.6.1.2.1.43.18.1.1.4.1.13", 8), integer("1.3.6.1.2.1.43.18.1.1.7.1.13", 8), octetsOf("1.3.6.1.2.1.43.18.1.1.8.1.13", "Papierstau in Fach 2 – bitte öffnen"),
			octetsOf("1.3.6.1.2.1.25.3.5.1.2.1", "\x04")),
		v2("bgp-router", "1.3.6.1.2.1.15.0.2", typed("1.3.6.1.2.1.15.3.1.7.203.0.113.5", gosnmp.IPAddress, "203.0.113.5"), octetsOf("1.3.6.1.2.1.15.3.1.14.203.0.113.5", "\x04\x00"),
			integer("1.3.6.1.2.1.15.3.1.2.203.0.113.5", 1)),
		v2("ospf-router", "1.3.6.1.2.1.14.16.2.2", typed("1.3.6.1.2.1.14.1.1.0", gosnmp.IPAddress, "192.0.2.1"), typed("1.3.6.1.2.1.14.10.1.1.192.0.2.2.0", gosnmp.IPAddress, "192.0.2.2"),
			integer("1.3.6.1.2.1.14.10.1.2.192.0.2.2.0", 0), typed("1.3.6.1.2.1.14.10.1.3.192.0.2.2.0", gosnmp.IPAddress, "192.0.2.3"), integer("1.3.6.1.2.1.14.10.1.6.192.0.2.2.0", 8)),
		v2("bridge-topology", "1.3.6.1.2.1.17.0.2"),
		v1("windows-coldstart-v1", "1.3.6.1.4.1.311.1.1.3.1.2", "10.1.2.3", 0, 0),
		v1("linux-net-snmp-v1", "1.3.6.1.4.1.8072.4", "127.0.0.1", 6, 2),
		v2("linux-monitor-load", "1.3.6.1.2.1.88.2.0.1", octetsOf("1.3.6.1.2.1.88.2.1.1.0", "laTable"), octetsOf("1.3.6.1.2.1.88.2.1.2.0", ""), octetsOf("1.3.6.1.2.1.88.2.1.3.0", ""),
			typed("1.3.6.1.2.1.88.2.1.4.0", gosnmp.ObjectIdentifier, ".1.3.6.1.4.1.2021.10.1.100.1"), integer("1.3.6.1.2.1.88.2.1.5.0", 1), octetsOf("1.3.6.1.4.1.2021.10.1.101.1", "1 min Load Average too high (= 12.37)")),
		v2("vmware-host", "1.3.6.1.4.1.6876.4.3.0.203", integer("1.3.6.1.4.1.6876.4.3.304.0", 2), octetsOf("1.3.6.1.4.1.6876.4.3.305.0", "Green"), octetsOf("1.3.6.1.4.1.6876.4.3.306.0", "Red")),
		v2("wireless-controller", "1.3.6.1.4.1.14179.2.6.3.8", octetsOf("1.3.6.1.4.1.14179.2.6.2.20.0", "\x00\x00\x5e\x00\x53\xaf"), octetsOf("1.3.6.1.4.1.14179.2.2.1.1.3.0.0.94.0.83.175", "AP-Lobby\x00")),
		v2("entity-sensor", "1.3.6.1.2.1.47.2.0.1", typed("1.3.6.1.2.1.47.1.4.1.0", gosnmp.TimeTicks, uint32(8640000)), typed(ifEntry+"10.1", gosnmp.Counter32, uint32(4294967295)),
			typed("1.3.6.1.2.1.31.1.1.1.6.1", gosnmp.Counter64, uint64(18446744073709551615)), typed("1.3.6.1.4.1.32473.9.1", gosnmp.OpaqueFloat, float32(36.6)), typed("1.3.6.1.4.1.32473.9.2", gosnmp.Null, nil)),
		v2("linux-net-snmp-opaque", "1.3.6.1.4.1.32473.9.0.1", opaque("1.3.6.1.4.1.32473.9.1", "9f760900ffffffffffffffff"), opaque("1.3.6.1.4.1.32473.9.2", "9f7a01fe"),
			opaque("1.3.6.1.4.1.32473.9.3", "9f7b020400"), opaque("1.3.6.1.4.1.32473.9.4", "9f780442126666"), opaque("1.3.6.1.4.1.32473.9.5", "9f7908c05ec00000000000"), opaque("1.3.6.1.4.1.32473.9.6", "020105")),
		v2("acme-power-with-mib", "1.3.6.1.4.1.32473.20.0.1", integer("1.3.6.1.4.1.32473.20.1.1.1.2.7", 3), integer("1.3.6.1.4.1.32473.20.1.1.1.3.7", 5), octetsOf("1.3.6.1.4.1.32473.20.1.1.1.4.7", "\x80\x40"),
			octetsOf("1.3.6.1.4.1.32473.20.1.2.0", "\x07\xea\x0b\x0f\x0d\x1e\x0f\x05+\x01\x00"), octetsOf("1.3.6.1.4.1.32473.20.1.3.0", "abcdef"), integer("1.3.6.1.4.1.32473.20.1.4.0", -3)),
		v2("behind-a-proxy", "1.3.6.1.6.3.1.1.5.4", integer(ifEntry+"1.2", 2), typed(oidTrapAddress, gosnmp.IPAddress, "198.51.100.7"), octetsOf(oidTrapCommunity, "a secret"),
			typed("1.3.6.1.6.3.1.1.4.3.0", gosnmp.ObjectIdentifier, ".1.3.6.1.4.1.8072.3.2.10")),
	}
}

var sender = netip.MustParseAddrPort("192.0.2.99:50000")

const testUsers = "ops, sha, proof-of-ops, aes, secret-of-ops\nnoc, SHA-256, \"proof, of noc\", aes, secret-of-noc\n\nguest, none\nlevel, sha512, proof-of-level\nlong, sha, proof-of-long, aes256, secret-of-long"

var update = flag.Bool("update", false, "write the expected output again")

// testReader makes a reader for answers.
func testReader(t testing.TB, answers map[string]string) *Reader {
	t.Helper()
	r, _, err := newReader(answers)
	if err != nil {
		t.Fatal(err)
	}
	r.entity = &Entity{MIBs: "../mib/testdata", Engine: filepath.Join(t.TempDir(), "engine"), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	if r.engine, err = r.entity.openEngine(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTrapFamilies reads packets of families of devices; a file for each has the packet and what is read from it.
func TestTrapFamilies(t *testing.T) {
	r := testReader(t, nil)
	for _, f := range families() {
		packet, err := f.packet.MarshalMsg()
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		m, _, result := r.Read(string(packet), sender)
		got := hex.EncodeToString(packet) + "\n"
		if result != Accepted {
			t.Errorf("%s: result %d", f.name, result)
		}
		var out strings.Builder
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(m); err != nil {
			t.Fatal(err)
		}
		got += out.String()
		file := "testdata/trap/" + f.name + ".txt"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, _ := os.ReadFile(file); string(want) != got {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}

// The keys are those that the library makes, which other programs understand.
func TestTrapKeys(t *testing.T) {
	engine := "\x80\x00\x00\x00\x05engine"
	for proof, p := range authProtocols {
		for privacy, c := range privacyProtocols {
			if proof == "none" || privacy == "none" {
				continue
			}
			u := userLine{"x", proof, "proof-password", privacy, "another password, longer"}
			k := userKeys{localize(p.protocol, u.user().authKey, engine), u.user().localPrivacy(engine)}
			want := &gosnmp.UsmSecurityParameters{
				UserName: "x", AuthoritativeEngineID: engine, AuthenticationProtocol: p.protocol, AuthenticationPassphrase: u.authPassword,
				PrivacyProtocol: c, PrivacyPassphrase: u.privacyPassword,
			}
			if err := want.InitSecurityKeys(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(k.auth, want.SecretKey) || !slices.Equal(k.privacy, want.PrivacyKey[:len(k.privacy)]) {
				t.Errorf("%s with %s: %x %x, want %x %x", proof, privacy, k.auth, k.privacy, want.SecretKey, want.PrivacyKey)
			}
		}
	}
}

func TestTrapMalformed(t *testing.T) {
	r := testReader(t, map[string]string{"users": testUsers})
	f := func(p gosnmp.SnmpPacket, change func([]byte) []byte, want Result) {
		t.Helper()
		packet, err := p.MarshalMsg()
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			packet = change(packet)
		}
		_, _, got := r.Read(string(packet), sender)
		if got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	good := families()[0].packet
	f(good, nil, Accepted)
	f(good, func(b []byte) []byte { return b[:len(b)-1] }, Malformed)
	f(good, func(b []byte) []byte { return append(b, 0) }, Malformed)
	f(good, func([]byte) []byte { return nil }, Malformed)
	f(good, func(b []byte) []byte { b[6] = 2; return b }, Malformed) // there is no such version
	v1 := families()[1].packet
	f(v1, nil, Accepted)
	bad := v1
	bad.GenericTrap = 7
	f(bad, nil, Malformed)
	bad = good
	bad.PDUType = gosnmp.GetRequest
	f(bad, nil, Malformed)
	bad = good
	bad.Variables = good.Variables[2:] // no name
	f(bad, nil, Malformed)
	bad = good
	bad.Version = gosnmp.Version1 // there are no such traps in version 1
	f(bad, nil, Malformed)
}

// readTrap reads a linkDown with these variables.
func readTrap(t *testing.T, r *Reader, variables []gosnmp.SnmpPDU) Trap {
	t.Helper()
	p := v2("", "1.3.6.1.6.3.1.1.5.3", variables...).packet
	packet, err := p.MarshalMsg()
	if err != nil {
		t.Fatal(err)
	}
	m, _, result := r.Read(string(packet), sender)
	if result != Accepted {
		t.Fatalf("result %d", result)
	}
	return m
}

// A trap may have more variables, and longer ones, than are kept.
func TestTrapLimits(t *testing.T) {
	r := testReader(t, nil)
	f := func(variables []gosnmp.SnmpPDU) Trap {
		t.Helper()
		m := readTrap(t, r, variables)
		if !json.Valid([]byte(m.Varbinds)) || len(m.Varbinds) > maxText+1 || len(m.Info) > maxText || !utf8.ValidString(m.Info) {
			t.Errorf("info %d bytes, varbinds %d bytes", len(m.Info), len(m.Varbinds))
		}
		return m
	}
	var many []gosnmp.SnmpPDU
	for i := range 150 {
		many = append(many, integer(fmt.Sprintf("1.3.6.1.2.1.2.2.1.1.%d", i+1), i))
	}
	if m := f(many); len(m.P) != 100 || !strings.HasSuffix(m.Info, "ifIndex.100 = 99, and 50 more") {
		t.Errorf("%d values, %s", len(m.P), m.Info[len(m.Info)-50:])
	}
	if m := f([]gosnmp.SnmpPDU{octetsOf("1.3.6.1.4.1.32473.9.1", strings.Repeat("\xff", 60000)), octetsOf("1.3.6.1.4.1.32473.9.2", "kept")}); len(m.P[0]) != maxText || m.Varbinds != `{"1.3.6.1.4.1.32473.9.2":"kept"}` {
		t.Errorf("%d bytes, %s", len(m.P[0]), m.Varbinds)
	}
}

// A repeated variable of a trap keeps all its values: readers of JSON use one of several equal keys.
func TestTrapRepeatedVariable(t *testing.T) {
	r := testReader(t, nil)
	f := func(want string, variables ...gosnmp.SnmpPDU) {
		t.Helper()
		m := readTrap(t, r, variables)
		if m.Varbinds != want || len(m.P) != len(variables) || !json.Valid([]byte(m.Varbinds)) {
			t.Errorf("%d values, varbinds %s", len(m.P), m.Varbinds)
		}
	}
	const x, y = "1.3.6.1.4.1.32473.9.1", "1.3.6.1.4.1.32473.9.2"
	f(`{"`+x+`":["a","b","a"],"`+y+`":"c"}`, octetsOf(x, "a"), octetsOf(x, "b"), octetsOf(y, "c"), octetsOf(x, "a"))
	f(`{"ifIndex.1":["1","2"]}`, integer("1.3.6.1.2.1.2.2.1.1.1", 1), integer("1.3.6.1.2.1.2.2.1.1.1", 2))
	f(`{"`+x+`":["a","c"]}`, octetsOf(x, "a"), octetsOf(x, strings.Repeat("\xff", 60000)), octetsOf(x, "c")) // what does not fit is left out
}

func TestTrapHints(t *testing.T) {
	octets := func(hint, b, want string) {
		t.Helper()
		got, ok := hintOctets(hint, []byte(b))
		if !ok {
			got = "no"
		}
		if got != want {
			t.Errorf("%q as %s is %q", b, hint, got)
		}
	}
	octets("1x:", "\x00\x5e\xff", "00:5e:ff")
	octets("255a", "text\x00", "text")
	octets("255a", "\x01\x02", "no")
	octets("255a", "", "")
	octets("255a", "\x00", "no")
	octets("255t", "größe", "größe")
	octets("1d.1d.1d.1d", "\xc0\x00\x02\x01", "192.0.2.1")
	octets("1d.1d.1d.1d/2d", "\xc0\x00\x02\x01\x00\xa1", "192.0.2.1/161")
	octets("2x:", "\x20\x01\x0d\xb8\x00\x01", "2001:0db8:0001")
	octets("*1x:/1x:", "\x02\x01\x02\x03\x04", "01:02/03:04")
	octets("1o", "\x08\x09", "1011")
	octets("", "x", "no")
	octets("1", "x", "no")
	octets("0a", "x", "no")
	octets("*0a", "xy", "no")
	octets("1q", "x", "no")
	octets("9x", "123456789", "no")
	octets("99999999999999999999d", "x", "no")
	number := func(hint string, n int64, want string) {
		t.Helper()
		if got := hintNumber(hint, n, fmt.Sprint(n)); got != want {
			t.Errorf("%d as %s is %s", n, hint, got)
		}
	}
	number("", 5, "5")
	number("d", 5, "5")
	number("d-2", 5, "0.05")
	number("d-2", -1234, "-12.34")
	number("d-0", 5, "5")
	number("d-99", 5, "5")
	number("x", 255, "0xff")
	number("o", 8, "010")
	number("b", 5, "101")
}

// TestTrapOpaque: a 64-bit or floating-point number inside an Opaque is shown as the number. Malformed ones are not
// changed.
func TestTrapOpaque(t *testing.T) {
	r := testReader(t, nil)
	f := func(digits, want string) {
		t.Helper()
		p := v2("", "1.3.6.1.4.1.32473.9.0.1", opaque("1.3.6.1.4.1.32473.9.1", digits)).packet
		packet, err := p.MarshalMsg()
		if err != nil {
			t.Fatal(err)
		}
		m, _, result := r.Read(string(packet), sender)
		if result != Accepted {
			t.Fatalf("%s: result %d", digits, result)
		}
		if m.P[0] != want || !strings.HasSuffix(m.Info, " = "+want) {
			t.Errorf("%s: got %q, want %q", digits, m.P, want)
		}
	}
	f("9f760100", "0") // Counter64
	f("9f76017f", "127")
	f("9f76020080", "128")
	f("9f760800000000075bcd15", "123456789")
	f("9f760900ffffffffffffffff", "18446744073709551615")
	f("9f7608ffffffffffffffff", "18446744073709551615") // some leave out the zero
	f("9f76810105", "5")                                // a length in the long form
	f("9f7a0100", "0")                                  // Integer64
	f("9f7a01ff", "-1")
	f("9f7a020080", "128")
	f("9f7a087fffffffffffffff", "9223372036854775807")
	f("9f7a088000000000000000", "-9223372036854775808")
	f("9f7b0105", "5") // Unsigned64
	f("9f7b09008000000000000000", "9223372036854775808")
	f("9f780442126666", "36.6") // Float
	f("9f7804c2c80000", "-100")
	f("9f790840091eb851eb851f", "3.14") // Double
	f("9f79087fefffffffffffff", "1.7976931348623157e+308")
	f("020105", "02:01:05") // another type
	f("9f770105", "9f:77:01:05")
	f("9f7600", "9f:76:00")
	f("9f760205", "9f:76:02:05")
	f("9f76010500", "9f:76:01:05:00")
	f("9f760901ffffffffffffffff", "9f:76:09:01:ff:ff:ff:ff:ff:ff:ff:ff")
	f("9f7a0900ffffffffffffffff", "9f:7a:09:00:ff:ff:ff:ff:ff:ff:ff:ff")
	f("9f", "9f")
}

func FuzzTrapPacket(f *testing.F) {
	for _, f1 := range families() {
		packet, err := f1.packet.MarshalMsg()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet)
	}
	r := testReader(f, map[string]string{"users": testUsers})
	u := r.users["guest"]
	for _, engine := range []string{"", r.engine.id, "\x80device"} {
		p := families()[0].packet
		p.Version, p.SecurityModel, p.MsgFlags, p.PDUType = gosnmp.Version3, gosnmp.UserSecurityModel, gosnmp.Reportable, gosnmp.InformRequest
		p.SecurityParameters = u.parameters(engine, userKeys{})
		packet, err := p.MarshalMsg()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet)
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		m, reply, result := r.Read(string(packet), sender)
		if reply != nil {
			reply.Packet()
		}
		if result != Accepted {
			return
		}
		if m.OID == "" || m.Name == "" || m.IP == "" || len(m.P) > MaxValues || !json.Valid([]byte(m.Varbinds)) || !utf8.ValidString(m.Info) {
			t.Errorf("%x: %+v", packet, m)
		}
		for _, p := range m.P {
			if !utf8.ValidString(p) || len(p) > maxText {
				t.Errorf("%x: %q", packet, p)
			}
		}
	})
}

func FuzzTrapHint(f *testing.F) {
	f.Add("*1x:/1x:", []byte("\x02\x01\x02\x03\x04"))
	f.Add(hintDate, []byte("\x07\xea\x0b\x0f\x0d\x1e\x0f\x05+\x01\x00"))
	f.Fuzz(func(t *testing.T, hint string, b []byte) {
		if text, ok := hintOctets(hint, b); ok && !printable(text) {
			t.Errorf("%q as %q is %q", b, hint, text)
		}
		dateText(b, hint)
	})
}

func FuzzTrapUsers(f *testing.F) {
	f.Add(testUsers)
	f.Fuzz(func(t *testing.T, text string) {
		users, err := parseUsers(text)
		if err != nil && !strings.HasPrefix(err.Error(), "line ") {
			t.Error(err)
		}
		for _, u := range users {
			if u.name == "" || u.auth != "none" && len(u.authPassword) < minPassword {
				t.Errorf("%q: %+v", text, u)
			}
		}
	})
}

// TestTrapZeros: octets that are all zero are not shown as an empty text, whether or not a MIB has a hint.
func TestTrapZeros(t *testing.T) {
	f := func(octets, want string) {
		t.Helper()
		for _, s := range []*mib.Syntax{nil, {}, {Hint: "255a"}} {
			if plain, words := formatOctets([]byte(octets), s); plain != want || words != want {
				t.Errorf("%q with %v: %q, %q; want %q", octets, s, plain, words, want)
			}
		}
	}
	f("", "")
	f("\x00", "00")
	f("\x00\x00\x00\x00\x00\x00", "00:00:00:00:00:00")
	f("AP-Lobby\x00", "AP-Lobby")
	f(" \x00", " ")
}
