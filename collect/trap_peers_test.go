//go:build peers

package collect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

// run sends with snmptrap or snmpinform and reports whether it succeeded: snmpinform does once it has a response.
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

func TestPeerTrapCommunity(t *testing.T) {
	h := newFixture(t, Kinds)
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
	h.await("all is booked", func() bool { return h.env.Totals.Kept.Load() == 4 && h.env.Totals.Received.Load() == 7 })
}

func TestPeerTrapUsers(t *testing.T) {
	h := newFixture(t, Kinds)
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
	if d := &h.env.Totals.Dropped; d[DropAccess].Load()+d[DropMalformed].Load() != 0 {
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
	sums := &h.env.Totals
	h.await("all is booked", func() bool {
		return sums.Received.Load() == sums.Kept.Load()+sums.Filtered.Load()+sums.Dropped[DropAccess].Load() && sums.Kept.Load() == 10
	})
	if n := sums.Filtered.Load(); n < 5 { // each inform asked for the engine before
		t.Errorf("%d questions", n)
	}
}

// net-snmp sends numbers of 64 bits and with fractions inside an Opaque.
func TestPeerTrapOpaque(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen", "T,"+addr)
	h.up("T")
	s := newSender(t, addr)
	const at = " 1.3.6.1.4.1.32473.9."
	s.trap("-v 2c -c any", " 0 1.3.6.1.4.1.32473.9.0.1"+at+"1 U 18446744073709551615"+at+"2 I -9223372036854775807"+at+"3 I 128"+at+"4 F 36.6"+at+"5 D -123.456"+at+"6 C 18446744073709551615")
	h.holds("trap", []string{"18446744073709551615|-9223372036854775807|128|36.6|-123.456|18446744073709551615"}, "p1", "p2", "p3", "p4", "p5", "p6")
}

// Discovery reveals the engine id, as the protocol requires, but not the users.
func TestPeerTrapInformRefused(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-trap-receiver", "name,listen,users", "T,"+addr+","+cell(testUsers))
	h.up("T")
	s := newSender(t, addr)
	if s.run("snmpinform", "-r 0 -v 3 -l authNoPriv -u level -a SHA-512 -A proof-of-nobody", testLinkDown+"stranger") {
		t.Error("an inform with a wrong password was answered")
	}
	h.await("it is counted", func() bool { return h.env.Totals.Dropped[DropAccess].Load() > 0 })
	if got := h.stored("trap", "p3"); len(got) > 0 {
		t.Errorf("stored %q", got)
	}
}

func TestPeerTrapTwoReceivers(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	if err := os.CopyFS(filepath.Join(h.env.Dir, "mibs"), os.DirFS("mib/testdata")); err != nil {
		t.Fatal(err)
	}
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
	h.await("one is filtered", func() bool { return h.env.Totals.Filtered.Load() == 1 })
}

// dropped waits until this many packets were dropped for a reason.
func (h *fixture) dropped(why Drop, n int64) {
	h.t.Helper()
	h.await(fmt.Sprintf("%d dropped for %s", n, why), func() bool { return h.env.Totals.Dropped[why].Load() == n })
}
