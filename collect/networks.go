package collect

import (
	"fmt"
	"net/netip"
	"strings"
)

// networks are those from which a receiver takes messages; none means from everywhere.
type networks []netip.Prefix

// mappedBits are those before an address of IPv4 that is written as one of IPv6.
const mappedBits = 96

// parseNetworks reads a list of networks and addresses, with commas, blanks or lines between them.
func parseNetworks(text string) (all networks, err error) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", ;\t\r\n", r) }) {
		p, err := netip.ParsePrefix(word)
		if err != nil {
			a, bad := netip.ParseAddr(word)
			if bad != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network; write 192.0.2.7 or 10.1.0.0/16, with commas between several", word)
			}
			p = netip.PrefixFrom(a.Unmap().WithZone(""), a.Unmap().BitLen())
		}
		if p.Addr().Is4In6() && p.Bits() >= mappedBits { // senders are known by their addresses of IPv4
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
		}
		if p.Masked() != p {
			return nil, fmt.Errorf("%q has bits behind its mask; write %s", word, p.Masked())
		}
		all = append(all, p)
	}
	return all, nil
}

// match tells how closely an address fits: the length of the longest network that holds it, and -1 when none does.
func (n networks) match(a netip.Addr) (bits int) {
	if len(n) == 0 {
		return 0
	}
	bits = -1
	a = a.WithZone("") // a network has none
	for _, p := range n {
		if p.Contains(a) {
			bits = max(bits, p.Bits())
		}
	}
	return bits
}
