//go:build !linux

package collect

import "net"

func growBuffer(u *net.UDPConn, bytes int) { u.SetReadBuffer(bytes) }

// kernelDrops: other systems do not tell.
func kernelDrops(*net.UDPConn) (uint32, bool) { return 0, false }
