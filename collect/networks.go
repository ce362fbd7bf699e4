package collect

import (
	"fmt"
	"net/netip"
	"strings"
)

// networks are those from which a receiver accepts messages; none means all.
type networks []netip.Prefix

// mappedBits is the length of the prefix of IPv4-mapped IPv6 addresses.
const mappedBits = 96

// parseNetworks parses a list of networks and addresses, separated by commas, blanks or newlines.
func parseNetworks(text string) (all networks, err error) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", ;\t\r\n", r) }) {
		p, err := netip.ParsePrefix(word)
		if err != nil {
			a, addrErr := netip.ParseAddr(word)
			if addrErr != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network; write 192.0.2.7 or 10.1.0.0/16, with commas between several", word)
			}
			p = netip.PrefixFrom(a.Unmap().WithZone(""), a.Unmap().BitLen())
		}
		if p.Addr().Is4In6() && p.Bits() >= mappedBits { // addresses of senders are unmapped
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
		}
		if p.Masked() != p {
			return nil, fmt.Errorf("%q has bits behind its mask; write %s", word, p.Masked())
		}
		all = append(all, p)
	}
	return all, nil
}

// match returns the length of the longest network that contains an address; -1 if none does.
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
