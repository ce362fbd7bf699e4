package listen

import (
	"net"
	"net/netip"
)

// addressOf returns the address that a connection counts for.
func addressOf(a net.Addr) string {
	if a == nil {
		return ""
	}
	return sourceOf(a.String())
}

func sourceOf(address string) string {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := ap.Addr().Unmap()
	if ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}
