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

// dropNewPackets is not supported.
func dropNewPackets(*net.UDPConn) bool { return false }

// readable is not supported: packets that wait when a port is closed are lost.
func readable(*net.UDPConn) bool { return false }

// kernelDrops is not supported.
func kernelDrops(*net.UDPConn) (uint32, bool) { return 0, false }

// recordDestination is not supported: the system chooses the source address of replies.
func recordDestination(*net.UDPConn) int { return 0 }

func destination([]byte) netip.Addr { return netip.Addr{} }

func replyFrom(u *net.UDPConn, to netip.AddrPort, _ netip.Addr, packet []byte) error {
	_, err := u.WriteToUDPAddrPort(packet, to)
	return err
}
