package collect

import (
	"net"
	"net/netip"
	"testing"
)

// A link-local address of a sender keeps its zone, without which a reply cannot be sent. Networks and stored rows have
// no zones.
func TestLinkAddress(t *testing.T) {
	f := func(a net.Addr, want string, bits int) {
		t.Helper()
		got := addrOf(a)
		if got.String() != want {
			t.Errorf("%s is %s", a, got)
		}
		if n := (networks{netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("192.0.2.0/24")}).match(got.Addr()); n != bits {
			t.Errorf("%s fits %d bits", a, n)
		}
	}
	f(&net.UDPAddr{IP: net.ParseIP("fe80::7"), Zone: "lan0", Port: 162}, "[fe80::7%lan0]:162", 10)
	f(&net.TCPAddr{IP: net.ParseIP("fe80::7"), Zone: "lan0", Port: 514}, "[fe80::7%lan0]:514", 10)
	f(&net.UDPAddr{IP: net.ParseIP("::ffff:192.0.2.7"), Port: 162}, "192.0.2.7:162", 24)
	f(&net.UDPAddr{IP: net.ParseIP("2001:db8::7"), Port: 162}, "[2001:db8::7]:162", -1)
}
