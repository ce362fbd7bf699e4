// Package browser is about browsers as clients: what they may do with an answer, whether a request comes from this machine and for it,
// and which browser it is.
package browser

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Values of headers that nearly every answer has. They are only read.
var (
	nosniff    = []string{"nosniff"}
	noReferrer = []string{"no-referrer"}
	noStore    = []string{"no-store"}
	// An answer of the API is no page: whatever it holds, a browser runs, loads and frames nothing of it.
	inertPage  = []string{"default-src 'none'; frame-ancestors 'none'"}
	sameOrigin = []string{"same-origin"}
	// A browser that has come by TLS does so for a year. Browsers ignore it where they do not trust the certificate, so it locks
	// no one out of a service with a self-signed one.
	onlyTLS = []string{"max-age=31536000"}
)

// Protect sets the headers that restrict what a browser may do with an answer. The web interface, and answers that may be
// cached, replace some of them.
func Protect(h http.Header, r *http.Request) {
	h["X-Content-Type-Options"] = nosniff
	h["Referrer-Policy"] = noReferrer // the URL may contain a key
	h["Cache-Control"] = noStore
	h["Content-Security-Policy"] = inertPage
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	if r.TLS != nil {
		h["Strict-Transport-Security"] = onlyTLS
	}
}

// OwnHost reports whether the Host of a request is this machine: an address, localhost, or one of the names. A page of another
// site whose name resolves to an address of this machine (DNS rebinding) could read the answers; its name in Host reveals it.
func OwnHost(r *http.Request, names ...string) bool {
	host := hostOf(r)
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	for _, name := range append(names, "localhost") {
		if name != "" && strings.EqualFold(host, name) {
			return true
		}
	}
	return false
}

// hostOf is the Host of a request without port, brackets and final dot.
func hostOf(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}

// Local reports whether a request comes from this machine, and not through a proxy on it.
func Local(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// Address is the other end of the connection, without its port. What a proxy says of those behind it is not believed.
func Address(r *http.Request) string {
	if ip := PeerAddress(r); ip.IsValid() {
		return ip.String()
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// PeerAddress is Address as a value; the zero Addr when the connection has none, as that of a test.
func PeerAddress(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}
