//go:build peers

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agent sends with the programs of Net-SNMP, which keep what they remember in a folder of the test.
type agent struct {
	t    *testing.T
	home string
	to   string // address and port, perhaps with udp6: in front
}

// send runs snmptrap or snmpinform. It tells whether the program was content: snmpinform is once it has an answer.
func (a *agent) send(name, options, what string) bool {
	a.t.Helper()
	args := append(append([]string{"-m", ""}, strings.Fields(options)...), a.to)
	cmd := exec.Command(program(a.t, name), append(args, strings.Fields(what)...)...)
	cmd.Env = append(os.Environ(), "SNMP_PERSISTENT_DIR="+a.home, "SNMPCONFPATH="+a.home, "MIBDIRS="+a.home)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (name == "snmptrap" || !errors.As(err, &exit) || !strings.Contains(string(out), "Timeout")) {
		a.t.Fatalf("%s %s: %v: %s", name, args, err, out)
	}
	return err == nil
}

func (a *agent) trap(options, what string) {
	a.t.Helper()
	a.send("snmptrap", options, what)
}

// informed sends an inform and expects that it is answered. It has so much patience that it never sends it twice.
func (a *agent) informed(options, what string) {
	a.t.Helper()
	if !a.send("snmpinform", "-t 60 -r 1 "+options, what) {
		a.t.Errorf("an inform is not answered: %s", options)
	}
}

// ignored sends an inform once, and expects that it is not answered.
func (a *agent) ignored(options, what string) {
	a.t.Helper()
	if a.send("snmpinform", "-t 1 -r 0 "+options, what) {
		a.t.Errorf("an inform is answered: %s", options)
	}
}

// trapUsers has all sorts of users; those that begin with as are how they send.
const (
	trapUsers = "ops, sha, proof-of-ops, aes, secret-of-ops\nwatch, md5, proof-of-watch, des, secret-of-watch\n" +
		"vault, sha512, proof-of-vault, aes256, secret-of-vault\ngate, sha256, proof-of-gate\nguest, none\n"
	asOps   = "-v 3 -l authPriv -u ops -a SHA -A proof-of-ops -x AES -X secret-of-ops "
	asWatch = "-v 3 -l authPriv -u watch -a MD5 -A proof-of-watch -x DES -X secret-of-watch "
	asVault = "-v 3 -l authPriv -u vault -a SHA-512 -A proof-of-vault -x AES-256 -X secret-of-vault "
	asGate  = "-v 3 -l authNoPriv -u gate -a SHA-256 -A proof-of-gate "
	asGuest = "-v 3 -l noAuthNoPriv -u guest "

	asDevice = "-e 0x8000000001020304 " // the engine of a device, without which snmptrap asks for ours
	linkDown = " 1 1.3.6.1.6.3.1.1.5.3 1.3.6.1.2.1.2.2.1.1.3 i 3 1.3.6.1.2.1.2.2.1.2.3 s "
)

func (c *collecting) agent(to string) *agent {
	c.t.Helper()
	return &agent{t: c.t.(*testing.T), home: c.home, to: to}
}

// TestPeerTraps sends traps and informs of every version.
func TestPeerTraps(t *testing.T) {
	t.Parallel()
	c := startCollecting(t)
	four, six := "127.0.0.1:"+freePort(t, "127.0.0.1"), "[::1]:"+freePort(t, "::1")
	c.provision("log-trap-receiver", "name,listen,community,users", cells("Four", four, "open-sesame", trapUsers), cells("Six", six, "", ""))
	c.up("Four - Receiver", "Six - Receiver")
	a := c.agent(four)
	a.trap("-v 1 -c open-sesame", "1.3.6.1.4.1.32473.1 192.0.2.7 2 0 1 1.3.6.1.2.1.2.2.1.1.4 i 4 1.3.6.1.2.1.2.2.1.2.4 s one")
	a.trap("-v 1 -c open-sesame", "1.3.6.1.4.1.32473.1 192.0.2.7 6 5 1 1.3.6.1.4.1.32473.1.9.0 i 5 1.3.6.1.4.1.32473.1.8.0 s special")
	a.trap("-v 2c -c open-sesame", linkDown+"two")
	a.informed("-v 2c -c open-sesame", linkDown+"inform")
	c.agent("udp6:"+six).trap("-v 2c -c any", linkDown+"six")
	c.agent("udp6:"+six).informed("-v 2c -c any", linkDown+"inform")
	for _, as := range []string{asOps, asWatch, asVault, asGate, asGuest} {
		user := strings.Fields(as)[5]
		a.trap(asDevice+as, linkDown+user)
		a.trap(as, linkDown+"ours-"+user) // it asks for the engine first
		a.informed(as, linkDown+"inform-"+user)
	}
	want := []string{
		"Four,192.0.2.7,1,linkDown,2,0,4,one", "Four,192.0.2.7,1,1.3.6.1.4.1.32473.1.0.5,6,5,5,special",
		"Four,127.0.0.1,2c,linkDown,,,3,two", "Four,127.0.0.1,2c,linkDown,,,3,inform", "Six,::1,2c,linkDown,,,3,six", "Six,::1,2c,linkDown,,,3,inform",
	}
	for _, user := range []string{"ops", "watch", "vault", "gate", "guest"} {
		for _, what := range []string{"", "ours-", "inform-"} {
			want = append(want, "Four,127.0.0.1,3,linkDown,,,3,"+what+user)
		}
	}
	const all = "SELECT resource, ip, version, name, generic, specific, p1, p2 FROM trap"
	c.holds(all, want...)
	received, kept, filtered, dropped := c.booked()
	if kept != len(want) || dropped != 0 {
		t.Errorf("received %d, kept %d, filtered %d, dropped %d", received, kept, filtered, dropped)
	}

	// Strangers are counted, and neither stored nor answered.
	f := func(options string) {
		t.Helper()
		before := c.dropped("access")
		a.trap(asDevice+options, linkDown+"stranger")
		c.until("the trap is counted", func() bool { return c.dropped("access") == before+1 })
		c.until("the inform is counted", func() bool { // on a busy machine it may not have come to that: it asks for our engine first
			a.ignored(options, linkDown+"stranger")
			return c.dropped("access") > before+1
		})
	}
	f("-v 2c -c wrong")
	f("-v 2c -c open-sesame2")
	f("-v 3 -l authPriv -u nobody -a SHA -A proof-of-ops -x AES -X secret-of-ops")                // no such user
	f("-v 3 -l authPriv -u ops -a SHA -A proof-of-others -x AES -X secret-of-ops")                // the password of the proof
	f("-v 3 -l authPriv -u ops -a SHA -A proof-of-ops -x AES -X secret-of-others")                // the password of privacy
	f("-v 3 -l authPriv -u vault -a SHA-512 -A proof-of-vault -x AES-256 -X secret-of-strangers") // of a longer key
	f("-v 3 -l authNoPriv -u gate -a SHA-256 -A proof-of-others")                                 // where there is no privacy
	f("-v 3 -l authNoPriv -u ops -a SHA -A proof-of-ops")                                         // readable, but must not be
	f("-v 3 -l noAuthNoPriv -u ops")
	before := c.dropped("access")
	a.trap("-v 1 -c public", "1.3.6.1.4.1.32473.1 192.0.2.7 6 5 1")
	c.until("the last one is counted", func() bool { return c.dropped("access") == before+1 })
	c.holds(all, want...)
	if _, kept, _, dropped := c.booked(); kept != len(want) || dropped != c.dropped("access") {
		t.Errorf("kept %d, dropped %d, %d of them strangers", kept, dropped, c.dropped("access"))
	}
	if log := c.logged(); strings.Contains(log, "secret-of") || strings.Contains(log, "proof-of") || strings.Contains(log, "sesame") {
		t.Error("a password is in the log")
	}
	c.figures("log-trap-receiver", "Six", "2,2,0,0,0")
}

// TestPeerTrapSources: receivers that share a port are told apart by where a trap comes from, and a file names what a vendor
// sends.
func TestPeerTrapSources(t *testing.T) {
	t.Parallel()
	c := startCollecting(t)
	mibs := filepath.Join(c.data, "mibs")
	if err := os.MkdirAll(mibs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mibs, "acme.my"), []byte(acmeMIB), 0o600); err != nil {
		t.Fatal(err)
	}
	at := "127.0.0.1:" + freePort(t, "127.0.0.1")
	c.provision("log-trap-receiver", "name,listen,allow,community,filter",
		cells("Near", at, "127.0.0.1", "near", ""), cells("Far", at, "127.0.0.2, 127.0.1.0/24", "far", `name != "coldStart"`))
	c.up("Near - Receiver", "Far - Receiver")
	near, far := c.agent(at), c.agent(at)
	const moved = " 1 1.3.6.1.4.1.32473.0.1 1.3.6.1.4.1.32473.1.0 i 1"
	near.informed("-v 2c -c near", moved)
	far.informed("-v 2c -c far --clientaddr=127.0.0.2", moved)
	far.trap("-v 1 -c far --clientaddr=127.0.1.9", "1.3.6.1.4.1.32473 0.0.0.0 6 1 1 1.3.6.1.4.1.32473.1.0 i 2")
	far.informed("-v 2c -c far --clientaddr=127.0.0.2", " 1 1.3.6.1.6.3.1.1.5.1")         // filtered: received all the same
	near.ignored("-v 2c -c far", moved)                                                   // the community of the other one
	near.ignored("-v 2c -c near --clientaddr=127.0.0.3", moved)                           // from neither
	near.trap("-v 1 -c near --clientaddr=127.0.0.3", "1.3.6.1.4.1.32473 127.0.0.1 6 1 1") // whatever it says it is
	want := []string{
		"Near,127.0.0.1,2c,acmeDoorMoved,1,acmeDoorMoved: acmeDoor.0 = open(1)",
		"Far,127.0.0.2,2c,acmeDoorMoved,1,acmeDoorMoved: acmeDoor.0 = open(1)",
		"Far,127.0.1.9,1,acmeDoorMoved,2,acmeDoorMoved: acmeDoor.0 = closed(2)",
	}
	c.holds("SELECT resource, ip, version, name, p1, info FROM trap", want...)
	c.until("strangers are counted", func() bool { return c.dropped("access") == 1 && c.dropped("source") == 2 })
	if received, kept, filtered, dropped := c.booked(); received != 7 || kept != 3 || filtered != 1 || dropped != 3 {
		t.Errorf("received %d, kept %d, filtered %d, dropped %d", received, kept, filtered, dropped)
	}
	c.figures("log-trap-receiver", "Near", "4,1,0,3,0")
	c.figures("log-trap-receiver", "Far", "3,2,1,0,0")
}

const acmeMIB = `ACME-MIB DEFINITIONS ::= BEGIN
IMPORTS MODULE-IDENTITY, OBJECT-TYPE, NOTIFICATION-TYPE, enterprises FROM SNMPv2-SMI;
acme MODULE-IDENTITY
    LAST-UPDATED "202611010000Z" ORGANIZATION "Acme" CONTACT-INFO "None" DESCRIPTION "Made up."
    ::= { enterprises 32473 }
acmeDoor OBJECT-TYPE
    SYNTAX INTEGER { open(1), closed(2) } MAX-ACCESS read-only STATUS current DESCRIPTION "The door."
    ::= { acme 1 }
acmeDoorMoved NOTIFICATION-TYPE
    OBJECTS { acmeDoor } STATUS current DESCRIPTION "The door was opened."
    ::= { acme 0 1 }
END
`
