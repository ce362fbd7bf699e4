package snmp

import "github.com/gosnmp/gosnmp"

// maxPacket is the largest packet that we announce.
const maxPacket = 65507

// header is what precedes the PDU. It is read first, so that packets for others are cheap.
type header struct {
	version   string
	community []byte // versions 1 and 2c
	pdu       int    // versions 1 and 2c: offset of the PDU

	// of version 3
	id          uint32
	flags       gosnmp.SnmpV3MsgFlags
	model       uint32
	engine      string
	boots, time uint32
	user        string
	authParams  []byte
	authOffset  int
	request     uint32 // zero if the PDU is encrypted
}

// ber decodes BER. After an error it is empty.
type ber struct {
	rest []byte
	bad  bool
}

// next returns the next value, which must have the tag, or any if tag is zero.
func (b *ber) next(tag byte) (body []byte) {
	r := b.rest
	if len(r) < 2 || tag != 0 && r[0] != tag {
		b.bad, b.rest = true, nil
		return nil
	}
	length, head := int(r[1]), 2
	if r[1] >= 0x80 {
		n := int(r[1] & 0x7f)
		if head += n; n == 0 || n > 4 || len(r) < head {
			b.bad, b.rest = true, nil
			return nil
		}
		length = 0
		for _, c := range r[2:head] {
			length = length<<8 | int(c)
		}
	}
	if length < 0 || length > len(r)-head {
		b.bad, b.rest = true, nil
		return nil
	}
	b.rest = r[head+length:]
	return r[head : head+length]
}

// number returns an integer from 0 to 2³¹-1.
func (b *ber) number() (n uint32) {
	body := b.next(0x02)
	if len(body) == 0 || len(body) > 4 || body[0] >= 0x80 {
		b.bad = true
		return 0
	}
	for _, c := range body {
		n = n<<8 | uint32(c)
	}
	return n
}

const (
	berOctets   = 0x04
	berSequence = 0x30
)

// readHeader parses the header of a packet.
func readHeader(packet []byte) (h header, ok bool) {
	all := ber{rest: packet}
	in := ber{rest: all.next(berSequence)}
	if all.bad || len(all.rest) > 0 {
		return h, false
	}
	switch in.number() {
	case 0:
		h.version = "1"
	case 1:
		h.version = "2c"
	case 3:
		h.version = "3"
		h.readV3(&in, packet)
		return h, !in.bad
	default:
		return h, false
	}
	h.community = in.next(berOctets)
	h.pdu = len(packet) - len(in.rest)
	return h, !in.bad && len(in.rest) > 0
}

func (h *header) readV3(in *ber, packet []byte) {
	global := ber{rest: in.next(berSequence)}
	h.id = global.number()
	global.next(0x02) // msgMaxSize
	flags := global.next(berOctets)
	h.model = global.number()
	outer := ber{rest: in.next(berOctets)}
	usm := ber{rest: outer.next(berSequence)}
	h.engine = string(usm.next(berOctets))
	h.boots, h.time = usm.number(), usm.number()
	h.user = string(usm.next(berOctets))
	h.authParams = usm.next(berOctets)
	if in.bad = in.bad || global.bad || outer.bad || usm.bad || len(flags) != 1 || len(h.engine) > 32 || len(h.user) > maxUserName; in.bad {
		return
	}
	h.flags = gosnmp.SnmpV3MsgFlags(flags[0])
	h.authOffset = cap(packet) - cap(h.authParams) // both slices have the same end
	scoped := ber{rest: in.rest}
	inner := ber{rest: scoped.next(berSequence)}
	inner.next(berOctets)
	inner.next(berOctets)
	pdu := ber{rest: inner.next(0)}
	if n := pdu.number(); !pdu.bad {
		h.request = n
	}
}
