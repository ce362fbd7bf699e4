package belfry

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Key is an API key as it is stored: the secret itself is not part of it.
type Key struct {
	Name     string     `json:"name"`
	Customer CustomerID `json:"customer"`
	Hash     string     `json:"hash"` // SHA-256 of the key, in hexadecimal
	Last4    string     `json:"last4"`
	Level    Level      `json:"level"`
	Creator  string     `json:"creator"`
	Created  Time       `json:"created"`
	Expires  Time       `json:"expires,omitempty"`
	LastUse  Time       `json:"lastuse,omitempty"`
	Narrowing

	// Set by a rotation, which gives the key another secret.
	First   string      `json:"first,omitempty"`   // hash of the first secret
	Rotated Time        `json:"rotated,omitempty"` // when the present secret was made
	Old     []OldSecret `json:"old,omitempty"`     // earlier secrets, the latest first
}

// OldSecret is a secret that a key had before a rotation. It is accepted until the overlap ends.
type OldSecret struct {
	Hash    string `json:"hash"`
	Last4   string `json:"last4"`
	Until   Time   `json:"until"`
	LastUse Time   `json:"lastuse,omitempty"`
}

// Identity names the key whichever of its secrets is used, so that a request which is repeated with the new secret is recognised.
func (k *Key) Identity() string { return cmp.Or(k.First, k.Hash) }

// Narrowing restricts a key to less than its level allows. An empty list restricts nothing.
type Narrowing struct {
	// Only lists kinds of requests, see OnlySend; Views is as in Scope; Addresses are networks, as ParseNetwork reads them.
	Only      []string `json:"only,omitempty" help:"send: the key may only use POST /api/send, GET /d, GET /l and GET /cv, and cannot read anything."`
	Views     []string `json:"views,omitempty" help:"Views or resources to which the key is limited, with their content." schema:"maxItems=100"`
	Addresses []string `json:"addresses,omitempty" help:"Addresses and networks from which the key is accepted, as 192.0.2.7 or 10.0.0.0/8; from others it is unknown." schema:"maxItems=100"`
}

// OnlySend in Narrowing.Only restricts a key to the paths that send rows. It reads nothing.
const OnlySend = "send"

// SendsOnly reports whether the key may do nothing but send rows.
func (n Narrowing) SendsOnly() bool { return slices.Contains(n.Only, OnlySend) }

// String describes the restrictions for lists and events; it is empty when there are none.
func (n Narrowing) String() string {
	var parts []string
	if len(n.Only) > 0 {
		parts = append(parts, "only "+strings.Join(n.Only, ", "))
	}
	if len(n.Views) > 0 {
		parts = append(parts, "views "+strings.Join(n.Views, ", "))
	}
	if len(n.Addresses) > 0 {
		parts = append(parts, "addresses "+strings.Join(n.Addresses, ", "))
	}
	return strings.Join(parts, "; ")
}

// ParseNetwork reads a network as 192.0.2.0/24, or a single address. IPv4 addresses that are written as IPv6 become IPv4, because
// connections are compared in that form.
func ParseNetwork(text string) (netip.Prefix, error) {
	bad := func(why string) (netip.Prefix, error) {
		return netip.Prefix{}, Errorf(BadParameter, "%.100q is neither an address nor a network: %s; write it as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32", text, why)
	}
	if a, err := netip.ParseAddr(text); err == nil {
		if a.Zone() != "" {
			return bad("it has a zone")
		}
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return bad("it cannot be read")
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return bad("its prefix is shorter than that of all IPv4 addresses, which is 96")
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p != p.Masked() {
		return bad("it has bits behind its prefix, the network is " + p.Masked().String())
	}
	return p, nil
}

// NetworkText writes a network as people do: a single address without its prefix.
func NetworkText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
