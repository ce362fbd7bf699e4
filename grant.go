package belfry

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Grant is what a customer may listen on: an address, or all that the machine has, and a range of ports. The customer named
// default needs none.
type Grant struct {
	Host     string // as netip writes it; empty: all addresses
	From, To uint16
}

// ParseGrant reads HOST:PORT or HOST:PORT-PORT. Every way to write all addresses means the same.
func ParseGrant(text string) (g Grant, err error) {
	bad := func(why string) (Grant, error) {
		return Grant{}, Errorf(BadParameter, "%.100q is nothing to listen on: %s; write HOST:PORT or HOST:PORT-PORT, as 192.0.2.1:514 or 0.0.0.0:5514-5520", text, why)
	}
	host, ports, err := net.SplitHostPort(text)
	if err != nil {
		return bad("there is no port, or no brackets around an address of IPv6")
	}
	if g.Host, err = listenHost(host); err != nil {
		return bad("the host must be an address")
	}
	from, to, isRange := strings.Cut(ports, "-")
	if !isRange {
		to = from
	}
	a, err1 := strconv.ParseUint(from, 10, 16)
	b, err2 := strconv.ParseUint(to, 10, 16)
	if err1 != nil || err2 != nil || a < 1 || b < a {
		return bad("ports are numbers from 1 to 65535, the lower one first")
	}
	g.From, g.To = uint16(a), uint16(b)
	return g, nil
}

// listenHost writes an address in one way; empty means all of them.
func listenHost(host string) (string, error) {
	if host == "" {
		return "", nil
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return host, err
	}
	if a = a.Unmap(); a.IsUnspecified() {
		return "", nil
	}
	return a.String(), nil
}

// String writes the grant as ParseGrant reads it.
func (g Grant) String() string {
	host := g.Host
	if host == "" {
		host = "0.0.0.0"
	}
	ports := strconv.Itoa(int(g.From))
	if g.To > g.From {
		ports += "-" + strconv.Itoa(int(g.To))
	}
	return net.JoinHostPort(host, ports)
}

// Covers reports whether the grant allows to listen on HOST:PORT.
func (g Grant) Covers(listen string) bool {
	at, ok := listenAt(listen)
	return ok && (g.Host == "" || g.Host == at.Host) && g.From <= at.From && at.From <= g.To
}

// Overlaps reports whether there is something to listen on that both allow.
func (g Grant) Overlaps(o Grant) bool {
	return (g.Host == "" || o.Host == "" || g.Host == o.Host) && g.From <= o.To && o.From <= g.To
}

// ListensOverlap reports whether two places to listen on, HOST:PORT each, are in each other's way. A name in the place of an
// address may be any address.
func ListensOverlap(a, b string) bool {
	x, ok1 := listenAt(a)
	y, ok2 := listenAt(b)
	return ok1 && ok2 && x.Overlaps(y)
}

// listenAt reads HOST:PORT. A host that is not an address means all.
func listenAt(listen string) (g Grant, ok bool) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return g, false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return g, false
	}
	if g.Host, err = listenHost(host); err != nil {
		g.Host = ""
	}
	g.From, g.To = uint16(n), uint16(n)
	return g, true
}

// DefaultCustomer is the customer that may listen on every port, and that a new service has.
const DefaultCustomer = "default"

// MayListen reports whether a customer may listen on HOST:PORT.
func (c *Customer) MayListen(listen string) bool {
	if c.Name == DefaultCustomer {
		return true
	}
	for _, text := range c.Listen {
		if g, err := ParseGrant(text); err == nil && g.Covers(listen) {
			return true
		}
	}
	return false
}
