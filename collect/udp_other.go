//go:build !linux

package collect

import (
	"net"
	"net/netip"
)

func growBuffer(u *net.UDPConn, bytes int) (granted int) {
	if u.SetReadBuffer(bytes) != nil {
		return 0
	}
	return bytes
}

// shutOut: other systems have no way that is worth it.
func shutOut(*net.UDPConn) bool { return false }

// waiting: what waits when a port is closed is lost there.
func waiting(*net.UDPConn) bool { return false }

// kernelDrops: other systems do not tell.
func kernelDrops(*net.UDPConn) (uint32, bool) { return 0, false }

// noteArrival: other systems answer from the address that they choose.
func noteArrival(*net.UDPConn) int { return 0 }

func arrivedAt([]byte) netip.Addr { return netip.Addr{} }

func answerFrom(u *net.UDPConn, to netip.AddrPort, _ netip.Addr, packet []byte) error {
	_, err := u.WriteToUDPAddrPort(packet, to)
	return err
}
