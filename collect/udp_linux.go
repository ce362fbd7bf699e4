package collect

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// growBuffer enlarges the receive buffer, beyond the limit of the system if permitted, and returns its size. The kernel doubles
// the size for its own overhead.
func growBuffer(u *net.UDPConn, bytes int) (granted int) {
	u.SetReadBuffer(bytes)
	control(u, func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bytes) })
	control(u, func(fd int) (err error) {
		granted, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
		return err
	})
	return granted
}

// dropNewPackets makes the kernel drop, and count, every packet that arrives from now on. It reports whether that works.
func dropNewPackets(u *net.UDPConn) bool {
	nothing := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0}
	err := control(u, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing})
	})
	return err == nil
}

// readable reports whether a packet waits.
func readable(u *net.UDPConn) (yes bool) {
	control(u, func(fd int) error {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		yes = n > 0
		return err
	})
	return yes
}

// kernelDrops returns how many packets the kernel has dropped at a socket.
func kernelDrops(u *net.UDPConn) (drops uint32, ok bool) {
	const dropsAt = 8 // index in SO_MEMINFO
	err := control(u, func(fd int) error {
		var info [16]uint32
		size := uint32(unsafe.Sizeof(info))
		_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		if failed != 0 {
			return failed
		}
		if size > dropsAt*4 {
			drops, ok = info[dropsAt], true
		}
		return nil
	})
	return drops, ok && err == nil
}

func control(u *net.UDPConn, f func(fd int) error) error {
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
