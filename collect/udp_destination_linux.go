package collect

import (
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// recordDestination makes the kernel pass the destination address with each packet. A host with several addresses must reply
// from the one that was asked, and the kernel would choose another. It returns the size of the control message; 0 if that is
// not possible.
func recordDestination(u *net.UDPConn) int {
	err := control(u, func(fd int) error { // covers IPv4, too
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	})
	if err != nil { // no IPv6
		err = control(u, func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1) })
	}
	if err != nil {
		return 0
	}
	return unix.CmsgSpace(unix.SizeofInet6Pktinfo) + unix.CmsgSpace(unix.SizeofInet4Pktinfo)
}

// destination reads the destination address from the control message of a packet.
func destination(notes []byte) (at netip.Addr) {
	for len(notes) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(notes)
		if err != nil {
			return at
		}
		switch {
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
			return netip.AddrFrom16([16]byte(data[:16])).Unmap()
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
			return netip.AddrFrom4([4]byte(data[8:12])) // after ipi_ifindex and ipi_spec_dst
		}
		notes = rest
	}
	return at
}

// replyFrom sends a packet from an address of this host. If that is unknown or multicast, or cannot be used, the kernel chooses
// one.
func replyFrom(u *net.UDPConn, to netip.AddrPort, as netip.Addr, packet []byte) error {
	if as.IsValid() && !as.IsMulticast() {
		if _, _, err := u.WriteMsgUDPAddrPort(packet, sourceControl(u, as), to); err == nil {
			return nil
		}
	}
	_, err := u.WriteToUDPAddrPort(packet, to)
	return err
}

// sourceControl returns the control message that sets the source address, for the family of the socket.
func sourceControl(u *net.UDPConn, as netip.Addr) []byte {
	if local, ok := u.LocalAddr().(*net.UDPAddr); ok && local.IP.To4() != nil {
		return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: as.As4()})
	}
	return unix.PktInfo6(&unix.Inet6Pktinfo{Addr: as.As16()})
}
