package collect

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"belfry/ingest"
)

// sender runs net-snmp, which keeps its own state in a folder of the test.
type sender struct {
	t    *testing.T
	home string
	addr string
}

func newSender(t *testing.T, addr string) *sender {
	t.Helper()
	return &sender{t: t, home: t.TempDir(), addr: addr}
}

// run sends with snmptrap or snmpinform and tells whether it was satisfied: snmpinform is once it has an answer.
func (s *sender) run(program, options, what string) bool {
	s.t.Helper()
	args := append(append(strings.Fields(options), "-m", "", "-t", "1", "-r", "5", s.addr), strings.Fields(what)...)
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SNMP_PERSISTENT_DIR="+s.home, "SNMPCONFPATH="+s.home, "MIBDIRS="+s.home)
	out, err := cmd.CombinedOutput()
	if _, missing := err.(*exec.Error); missing {
		s.t.Fatalf("%v; scripts/setup installs it", err)
	}
	if err != nil {
		s.t.Logf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return err == nil
}

func (s *sender) trap(options, what string) {
	s.t.Helper()
	if !s.run("snmptrap", options, what) {
		s.t.Errorf("snmptrap %s failed", options)
	}
}

const testLinkDown = " 0 1.3.6.1.6.3.1.1.5.3 1.3.6.1.2.1.2.2.1.1.3 i 3 1.3.6.1.2.1.2.2.1.7.3 i 2 1.3.6.1.2.1.2.2.1.2.3 s "

// dropped waits until so many packets were dropped for a reason.
func (h *house) dropped(why Drop, n int64) {
	h.t.Helper()
	h.await(fmt.Sprintf("%d dropped for %s", n, why), func() bool { return h.env.Sums.Dropped[why].Load() == n })
}

func (h *house) holds(collection string, want []string, fields ...string) {
	h.t.Helper()
	slices.Sort(want)
	for end := time.Now().Add(hang); !slices.Equal(h.stored(collection, fields...), want); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("stored\n%s\nwant\n%s", strings.Join(h.stored(collection, fields...), "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestTrapCommunity(t *testing.T) {
	h := newHouse(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen,community", "T,"+addr+",open sesame")
	h.up("T")
	s := newSender(t, addr)
	send := func(program, version, community, what string) bool {
		t.Helper()
		args := append([]string{"-v", version, "-c", community, "-m", "", "-t", "1", "-r", "1", addr}, strings.Fields(what)...)
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "SNMP_PERSISTENT_DIR="+s.home, "SNMPCONFPATH="+s.home, "MIBDIRS="+s.home)
		out, err := cmd.CombinedOutput()
		if err != nil && program == "snmptrap" {
			t.Errorf("%v: %s", err, out)
		}
		return err == nil
	}
	send("snmptrap", "2c", "open sesame", testLinkDown+"Gi0/3")
	send("snmptrap", "1", "open sesame", "1.3.6.1.4.1.32473.1.4 192.0.2.9 6 5 1234 1.3.6.1.4.1.32473.1.4.1.0 i 2")
	send("snmptrap", "1", "open sesame", "1.3.6.1.4.1.32473.1.4 0.0.0.0 2 0 1234 1.3.6.1.2.1.2.2.1.1.4 i 4")
	if !send("snmpinform", "2c", "open sesame", testLinkDown+"inform") {
		t.Error("an inform was not answered")
	}
	if send("snmpinform", "2c", "wrong", testLinkDown+"stranger") {
		t.Error("an inform with a wrong community was answered")
	}
	send("snmptrap", "1", "public", "1.3.6.1.4.1.32473.1.4 192.0.2.9 6 5 1234")
	h.dropped(DropAccess, 3) // the inform came twice
	h.holds("trap", []string{
		"127.0.0.1|2c|1.3.6.1.6.3.1.1.5.3|linkDown|||3|2|Gi0/3|linkDown: ifIndex.3 = 3, ifAdminStatus.3 = down(2), ifDescr.3 = Gi0/3|" +
			`{"ifIndex.3":"3","ifAdminStatus.3":"down(2)","ifDescr.3":"Gi0/3"}`,
		"127.0.0.1|2c|1.3.6.1.6.3.1.1.5.3|linkDown|||3|2|inform|linkDown: ifIndex.3 = 3, ifAdminStatus.3 = down(2), ifDescr.3 = inform|" +
			`{"ifIndex.3":"3","ifAdminStatus.3":"down(2)","ifDescr.3":"inform"}`,
		"192.0.2.9|1|1.3.6.1.4.1.32473.1.4.0.5|1.3.6.1.4.1.32473.1.4.0.5|6|5|2|||1.3.6.1.4.1.32473.1.4.0.5: 1.3.6.1.4.1.32473.1.4.1.0 = 2|" +
			`{"1.3.6.1.4.1.32473.1.4.1.0":"2"}`,
		`127.0.0.1|1|1.3.6.1.6.3.1.1.5.3|linkDown|2|0|4|||linkDown: ifIndex.4 = 4|{"ifIndex.4":"4"}`,
	}, "ip", "version", "oid", "name", "generic", "specific", "p1", "p2", "p3", "info", "varbinds")
	h.await("all is booked", func() bool { return h.env.Sums.Kept.Load() == 4 && h.env.Sums.Received.Load() == 7 })
}

const (
	testUsers = "ops, sha, proof-of-ops, aes, secret-of-ops\nnoc, SHA-256, \"proof, of noc\", aes, secret-of-noc\n\nguest, none\nlevel, sha512, proof-of-level\nlong, sha, proof-of-long, aes256, secret-of-long"
	asOps     = "-v 3 -l authPriv -u ops -a SHA -A proof-of-ops -x AES -X secret-of-ops "
	asGuest   = "-v 3 -l noAuthNoPriv -u guest "
	asLevel   = "-v 3 -l authNoPriv -u level -a SHA-512 -A proof-of-level "
	asLong    = "-v 3 -l authPriv -u long -a SHA -A proof-of-long -x AES-256 -X secret-of-long "
	asDevice  = "-e 0x8000000001020304 "
)

func TestTrapUsers(t *testing.T) {
	h := newHouse(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen,users", "T,"+addr+","+cell(strings.Replace(testUsers, `"proof, of noc"`, "proof-of-noc", 1)))
	h.up("T")
	s := newSender(t, addr)
	asNoc := "-v 3 -l authPriv -u noc -a SHA-256 -A proof-of-noc -x AES -X secret-of-noc "
	s.trap(asDevice+asOps, testLinkDown+"ops")
	s.trap(asDevice+asNoc, testLinkDown+"noc")
	s.trap(asDevice+asGuest, testLinkDown+"guest")
	s.trap(asDevice+asLevel, testLinkDown+"level")
	s.trap(asDevice+asLong, testLinkDown+"long")
	h.holds("trap", []string{"3|ops", "3|noc", "3|guest", "3|level", "3|long"}, "version", "p3")
	for _, as := range []string{asOps, asNoc, asGuest, asLevel, asLong} {
		if !s.run("snmpinform", as, testLinkDown+"inform") {
			t.Errorf("an inform was not answered: %s", as)
		}
	}
	inform := "3|inform"
	h.holds("trap", []string{"3|ops", "3|noc", "3|guest", "3|level", "3|long", inform, inform, inform, inform, inform}, "version", "p3")
	if d := &h.env.Sums.Dropped; d[DropAccess].Load()+d[DropMalformed].Load() != 0 {
		t.Errorf("%d for access, %d malformed", d[DropAccess].Load(), d[DropMalformed].Load())
	}
	// Wrong ones: the user, a password, the other password, no proof, no privacy.
	for i, as := range []string{
		"-v 3 -l authPriv -u oops -a SHA -A proof-of-ops -x AES -X secret-of-ops ",
		"-v 3 -l authPriv -u ops -a SHA -A proof-of-opa -x AES -X secret-of-ops ",
		"-v 3 -l authPriv -u ops -a SHA -A proof-of-ops -x AES -X secret-of-opa ",
		"-v 3 -l authPriv -u ops -a MD5 -A proof-of-ops -x AES -X secret-of-ops ",
		"-v 3 -l noAuthNoPriv -u ops ",
		"-v 3 -l authNoPriv -u ops -a SHA -A proof-of-ops ",
		"-v 3 -l authNoPriv -u guest -a SHA -A proof-of-ops ",
	} {
		s.trap(asDevice+as, testLinkDown+"stranger")
		h.dropped(DropAccess, int64(i+1))
	}
	if n := len(h.stored("trap", "p3")); n != 10 {
		t.Errorf("%d are stored", n)
	}
	sums := &h.env.Sums
	h.await("all is booked", func() bool {
		return sums.Received.Load() == sums.Kept.Load()+sums.Filtered.Load()+sums.Dropped[DropAccess].Load() && sums.Kept.Load() == 10
	})
	if n := sums.Filtered.Load(); n < 5 { // each inform asked for the engine before
		t.Errorf("%d questions", n)
	}
}

// A sender that knows the engine from before sets its clock by what it is told, and sends again.
func TestTrapInformOutOfTime(t *testing.T) {
	h := newHouse(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen,users", "T,"+addr+","+cell(testUsers))
	h.up("T")
	e, err := h.env.trapEngine()
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(addr)
	f := func(engine string) error {
		t.Helper()
		x := &gosnmp.GoSNMP{
			Target: at.Addr().String(), Port: at.Port(), Version: gosnmp.Version3, SecurityModel: gosnmp.UserSecurityModel, MsgFlags: gosnmp.AuthPriv,
			Timeout: 30 * time.Second, Retries: 3, MaxOids: 10,
			SecurityParameters: &gosnmp.UsmSecurityParameters{
				UserName: "ops", AuthoritativeEngineID: engine, AuthoritativeEngineBoots: e.boots + 7, AuthoritativeEngineTime: 12345,
				AuthenticationProtocol: gosnmp.SHA, AuthenticationPassphrase: "proof-of-ops", PrivacyProtocol: gosnmp.AES, PrivacyPassphrase: "secret-of-ops",
			},
		}
		if err := x.Connect(); err != nil {
			t.Fatal(err)
		}
		defer x.Conn.Close()
		_, err := x.SendTrap(gosnmp.SnmpTrap{IsInform: true, Variables: []gosnmp.SnmpPDU{
			typed(oidUpTime, gosnmp.TimeTicks, uint32(1)), typed(oidTrapOID, gosnmp.ObjectIdentifier, ".1.3.6.1.6.3.1.1.5.1"),
		}})
		return err
	}
	if err := f(e.id); err != nil {
		t.Error(err)
	}
	h.holds("trap", []string{"coldStart"}, "name")
	if e.late.Load() != 1 {
		t.Errorf("%d were out of time", e.late.Load())
	}
	if err := f("\x80\x00\x00\x00\x05another"); err == nil || e.unknown.Load() == 0 {
		t.Errorf("an inform for another engine: %v, %d reports", err, e.unknown.Load())
	}
	h.holds("trap", []string{"coldStart"}, "name")
}

// An inform that comes again, as its answer was lost, is answered again and stored once.
func TestTrapInformRepeated(t *testing.T) {
	h := newHouse(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen", "T,"+addr)
	h.up("T")
	inform := func(request uint32) []byte {
		x := gosnmp.GoSNMP{Version: gosnmp.Version2c, Community: "public"}
		b, err := (&gosnmp.SnmpPacket{
			Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.InformRequest, RequestID: request, Logger: x.Logger,
			Variables: []gosnmp.SnmpPDU{typed(oidUpTime, gosnmp.TimeTicks, uint32(1)), typed(oidTrapOID, gosnmp.ObjectIdentifier, ".1.3.6.1.6.3.1.1.5.1")},
		}).MarshalMsg()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	from := func() func(request uint32) {
		c := dial(t, "udp", "127.0.0.1", addr)
		return func(request uint32) {
			t.Helper()
			if _, err := c.Write(inform(request)); err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Now().Add(hang))
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
	h.await("all is booked", func() bool { return h.env.Sums.Kept.Load() == 3 && h.env.Sums.Filtered.Load() == 2 })
}

// What is remembered of informs is bounded in time and number.
func TestInforms(t *testing.T) {
	var i informs
	now := time.Now()
	k := func(n uint32) inform { return inform{request: n} }
	i.keep(k(1), now)
	i.keep(k(2), now.Add(informsFor+time.Second))
	if !i.known(k(1)) || !i.known(k(2)) || i.known(k(3)) {
		t.Error("forgotten too soon")
	}
	i.keep(k(3), now.Add(3*informsFor))
	if i.known(k(1)) || !i.known(k(2)) {
		t.Error("remembered for too long")
	}
	for n := range uint32(3 * informsMost) {
		i.keep(k(n), now.Add(3*informsFor))
	}
	if n := len(i.young) + len(i.old); n > 2*informsMost {
		t.Errorf("%d are remembered", n)
	}
}

// A stranger who asks gets to know which engine this is, as the protocol wants, and not which users it has.
func TestTrapInformRefused(t *testing.T) {
	h := newHouse(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen,users", "T,"+addr+","+cell(testUsers))
	h.up("T")
	s := newSender(t, addr)
	if s.run("snmpinform", "-r 0 -v 3 -l authNoPriv -u level -a SHA-512 -A proof-of-nobody", testLinkDown+"stranger") {
		t.Error("an inform with a wrong password was answered")
	}
	h.await("it is counted", func() bool { return h.env.Sums.Dropped[DropAccess].Load() > 0 })
	if got := h.stored("trap", "p3"); len(got) > 0 {
		t.Errorf("stored %q", got)
	}
}

// Informs go on after a restart, and a sender that still has the old time learns the new one.
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
		if got := b.inTime(&trapHeader{boots: boots, time: at}); got != want {
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

func TestTrapTwoReceivers(t *testing.T) {
	h := newHouse(t, Kinds)
	addr := freePort(t, "udp")
	copyMIBs(t, filepath.Join(h.env.Dir, "mibs"))
	h.provision("log-trap-receiver", "name,listen,allow,version,filter,script",
		"Near,"+addr+",127.0.0.1,2c,"+cell(`name startsWith "acme"`)+",",
		"Far,"+addr+",127.0.0.9,1,,"+cell(`function message(m) { m.category = "rocket"; m.severity = 2; m.host = m.p.length + " values"; return m }`))
	h.up("Near", "Far")
	s := newSender(t, addr)
	s.trap("-v 2c -c any", " 0 1.3.6.1.4.1.32473.20.0.1 1.3.6.1.4.1.32473.20.1.1.1.2.7 i 3 1.3.6.1.4.1.32473.20.1.1.1.3.7 i -15 1.3.6.1.4.1.32473.20.1.3.0 x 00005E0053AF")
	s.trap("-v 2c -c any", testLinkDown+"filtered")
	s.trap("-v 1 -c any", "1.3.6.1.4.1.32473.1.4 0.0.0.0 6 5 1234") // Near takes version 2c alone
	far := newSender(t, addr)
	far.trap("-v 1 -c any --clientaddr=127.0.0.9", "1.3.6.1.4.1.32473.1.4 0.0.0.0 6 5 1234 1.3.6.1.4.1.32473.1.4.1.0 i 2")
	stranger := newSender(t, addr)
	stranger.trap("-v 2c -c any --clientaddr=127.0.0.8", testLinkDown+"stranger")
	h.holds("trap", []string{
		"127.0.0.1|acmePowerFailed||||acmePowerFailed: acmePowerState.7 = burning(3), acmePowerTemperature.7 = -1.5, acmePowerAddress.0 = 00:00:5e:00:53:af",
		"127.0.0.9|acmeRocketLost|rocket|2|1 values|acmeRocketLost: acmeRocketFuel.0 = low(2)",
	}, "ip", "name", "category", "severity", "host", "info")
	h.dropped(DropAccess, 1)
	h.dropped(DropSource, 1)
	h.await("one is filtered", func() bool { return h.env.Sums.Filtered.Load() == 1 })
}

func TestTrapChecks(t *testing.T) {
	h := newHouse(t, nil)
	f := func(columns, values, want string) {
		t.Helper()
		_, answer, err := h.seq.Provision(t.Context(), h.who, "log-trap-receiver", strings.NewReader("name,"+columns+"\nX,"+values+"\n"), ingest.Options{})
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
