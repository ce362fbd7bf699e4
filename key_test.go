package belfry

import (
	"strings"
	"testing"
)

func TestParseNetwork(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		p, err := ParseNetwork(text)
		if err != nil || NetworkText(p) != want {
			t.Errorf("%s: %s %v, want %s", text, NetworkText(p), err, want)
		}
		if again, err := ParseNetwork(want); again != p || err != nil {
			t.Errorf("%s is not read back: %s %v", want, again, err)
		}
	}
	f("192.0.2.7", "192.0.2.7")
	f("192.0.2.7/32", "192.0.2.7")
	f("10.0.0.0/8", "10.0.0.0/8")
	f("0.0.0.0/0", "0.0.0.0/0")
	f("2001:DB8::/32", "2001:db8::/32")
	f("2001:db8::1", "2001:db8::1")
	f("::ffff:192.0.2.7", "192.0.2.7")
	f("::ffff:192.0.2.0/120", "192.0.2.0/24")
	bad := func(text, want string) {
		t.Helper()
		_, err := ParseNetwork(text)
		if CodeOf(err) != BadParameter || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "192.0.2.0/24") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	bad("", `"" is neither`)
	bad("localhost", `"localhost" is neither`)
	bad("10.0.0.0/33", "cannot be read")
	bad("10.1.2.3/8", "the network is 10.0.0.0/8")
	bad("fe80::1%eth0", "zone")
	bad("::ffff:0.0.0.0/90", "shorter")
	bad("192.0.2.1:443", "cannot be read")
}
