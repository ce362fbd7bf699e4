package collect

import (
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// A machine has many addresses, and a port may be open on all of them. Whoever asks one of them takes an answer from that one
// alone, and the system would choose another. So it is asked to note where each packet arrived.

// recordDestination makes the system do so, and tells how many bytes that takes for each packet; 0 when it does not.
func recordDestination(u *net.UDPConn) int {
	err := control(u, func(fd int) error { // of packets of IPv4 as well
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	})
	if err != nil { // a machine without IPv6
		err = control(u, func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1) })
	}
	if err != nil {
		return 0
	}
	return unix.CmsgSpace(unix.SizeofInet6Pktinfo) + unix.CmsgSpace(unix.SizeofInet4Pktinfo)
}

// destination reads from the notes about a packet at which address it arrived.
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
			return netip.AddrFrom4([4]byte(data[8:12])) // behind the interface and the address that the system would answer from
		}
		notes = rest
	}
	return at
}

// replyFrom sends a packet from one of the machine's addresses; from the one that the system chooses if it is not known, or
// is one that stands for many, as that of a broadcast.
func replyFrom(u *net.UDPConn, to netip.AddrPort, as netip.Addr, packet []byte) error {
	if as.IsValid() && !as.IsMulticast() {
		if _, _, err := u.WriteMsgUDPAddrPort(packet, sourceControl(u, as), to); err == nil {
			return nil
		}
	}
	_, err := u.WriteToUDPAddrPort(packet, to)
	return err
}

// sourceControl tells the system from which address to send, in the way of the socket's family.
func sourceControl(u *net.UDPConn, as netip.Addr) []byte {
	if local, ok := u.LocalAddr().(*net.UDPAddr); ok && local.IP.To4() != nil {
		return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: as.As4()})
	}
	return unix.PktInfo6(&unix.Inet6Pktinfo{Addr: as.As16()})
}
