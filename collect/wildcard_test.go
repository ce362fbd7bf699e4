package collect

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"
)

// testInform is an inform of version 2c.
func testInform(t *testing.T, request uint32) []byte {
	t.Helper()
	x := gosnmp.GoSNMP{Version: gosnmp.Version2c, Community: "public"}
	b, err := (&gosnmp.SnmpPacket{
		Version: gosnmp.Version2c, Community: "public", PDUType: gosnmp.InformRequest, RequestID: request, Logger: x.Logger,
		Variables: trapVariables(".1.3.6.1.6.3.1.1.5.1"),
	}).MarshalMsg()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wildcards are the ways to write all addresses of a machine.
var wildcards = []string{"", "0.0.0.0", "[::]"}

// A receiver on all addresses replies to an inform from the address it was sent to: agents, and connected sockets,
// ignore every other reply.
func TestWildcardInform(t *testing.T) {
	for _, host := range wildcards {
		t.Run(host, func(t *testing.T) {
			h := newFixture(t, Kinds)
			_, port, _ := net.SplitHostPort(freePort(t, "udp"))
			h.provision("log-trap-receiver", "name,listen,allow", "T,"+host+":"+port+`,"127.0.0.1, ::1"`)
			h.up("T")
			request := uint32(0)
			f := func(from, to string) {
				t.Helper()
				c := dial(t, "udp", from, net.JoinHostPort(to, port))
				request++
				if _, err := c.Write(testInform(t, request)); err != nil {
					t.Fatal(err)
				}
				c.SetReadDeadline(time.Now().Add(testTimeout))
				if n, err := c.Read(make([]byte, 1000)); n == 0 || err != nil {
					t.Errorf("%s asked %s and got no answer: %v", from, to, err)
				}
			}
			f("127.0.0.1", "127.0.0.1")
			f("127.0.0.1", "127.0.0.5")
			f("127.0.0.1", "127.7.7.7")
			f("::1", "::1")
			h.holds("trap", []string{"127.0.0.1", "127.0.0.1", "127.0.0.1", "::1"}, "ip")
		})
	}
}

// Receivers on all addresses, in any spelling, share a port and are distinguished by the addresses of senders, also of
// IPv4 although they arrive at an IPv6 socket.
func TestWildcardAllow(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			h := newFixture(t, Kinds)
			_, port, _ := net.SplitHostPort(freePort(t, network))
			h.provision("log-syslog-receiver", "name,protocol,listen,allow,script",
				"A,"+network+",:"+port+",127.0.0.1,"+cell(`function message(m) { m.category = "A"; return m }`),
				"B,"+network+",0.0.0.0:"+port+",::ffff:127.0.0.0/120,"+cell(`function message(m) { m.category = "B"; return m }`),
				"C,"+network+",[::]:"+port+",::1,"+cell(`function message(m) { m.category = "C"; return m }`))
			h.up("A", "B", "C")
			for from, to := range map[string]string{"127.0.0.1": "127.0.0.1", "127.0.0.5": "127.0.0.1", "127.9.0.1": "127.0.0.5", "::1": "::1"} {
				c := dial(t, network, from, net.JoinHostPort(to, port))
				if _, err := c.Write([]byte("<13>a line\n")); err != nil {
					t.Fatal(err)
				}
			}
			h.holds("syslog", []string{"127.0.0.1|A", "127.0.0.5|B", "::1|C"}, "ip", "category")
			h.await("the stranger is counted", func() bool { return h.env.Totals.Dropped[DropSource].Load() == 1 })
		})
	}
}

func TestNetworksMapped(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		all, err := parseNetworks(text)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, p := range all {
			words = append(words, p.String())
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s is read as %s", text, got)
		}
	}
	f("::ffff:10.1.0.0/112", "10.1.0.0/16")
	f("::ffff:10.1.2.3", "10.1.2.3/32")
	f("::ffff:0:0/96", "0.0.0.0/0")
	f("::/0", "::/0")
}
