//go:build !linux

package collect

import "net"

func growBuffer(u *net.UDPConn, bytes int) { u.SetReadBuffer(bytes) }

// grantedBuffer and kernelDrops: other systems do not tell.
func grantedBuffer(*net.UDPConn) int          { return 0 }
func kernelDrops(*net.UDPConn) (uint32, bool) { return 0, false }
