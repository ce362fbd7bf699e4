//go:build !linux

package collect

import "net"

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
