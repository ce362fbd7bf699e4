package collect

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync/atomic"

	"github.com/gosnmp/gosnmp"
)

// trapLargest is the largest packet that we announce.
const trapLargest = 65507

// trapHeader is what precedes the PDU. It is read first, so that packets for others are cheap.
type trapHeader struct {
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

// readTrapHeader parses the header of a packet.
func readTrapHeader(packet []byte) (h trapHeader, ok bool) {
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

func (h *trapHeader) readV3(in *ber, packet []byte) {
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
	if in.bad = in.bad || global.bad || outer.bad || usm.bad || len(flags) != 1 || len(h.engine) > 32 || len(h.user) > trapUserName; in.bad {
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

// trapReader reads the packets of one receiver.
type trapReader struct {
	env       *Env
	versions  map[string]bool
	community string
	users     map[string]*trapUser
	engine    *snmpEngine // set if version 3 is accepted
	faults    atomic.Int64
	informs   informs
}

// newTrapReader makes the reader for the answers of a resource. The column is the one that is wrong.
func newTrapReader(answers map[string]string) (r *trapReader, column string, err error) {
	lines, err := parseUsers(answers["users"])
	if err != nil {
		return nil, "users", err
	}
	r = &trapReader{community: answers["community"], users: map[string]*trapUser{}}
	if r.versions, err = parseVersions(answers["version"], len(lines) > 0); err != nil {
		return nil, "version", err
	}
	for i := range lines {
		r.users[lines[i].name] = lines[i].user()
	}
	return r, "", nil
}

func (r *trapReader) takes(version string) bool { return r.versions[version] }

// read parses a packet. Packets are hostile: a panic in the library counts as a malformed packet.
func (r *trapReader) read(in raw) (m Trap, reply *informReply, why Drop, ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			if r.faults.Add(1) == 1 {
				r.env.Log.Warn("a packet could not be read", "fault", fault, "from", in.from.Addr())
			}
			m, reply, why, ok = Trap{}, nil, DropMalformed, false
		}
	}()
	packet := []byte(in.text)
	packet = packet[:len(packet):len(packet)]
	h, ok := readTrapHeader(packet)
	if !ok {
		return m, nil, DropMalformed, false
	}
	if !r.takes(h.version) {
		return m, nil, DropAccess, false
	}
	reply = &informReply{reader: r, in: in, pdu: h.pdu}
	if h.version == "3" {
		why, ok = r.readV3(reply, &h, packet)
	} else {
		why, ok = r.readCommunity(reply, &h, packet)
	}
	if !ok {
		return m, nil, why, false
	}
	names, err := r.env.trapNames()
	if err != nil {
		return m, nil, DropMalformed, false
	}
	if m, ok = trapOf(reply.inform, h.version, names); !ok {
		return m, nil, DropMalformed, false
	}
	if m.IP == "" {
		m.IP = in.from.Addr().WithZone("").String()
	}
	if reply.inform.PDUType != gosnmp.InformRequest {
		return m, nil, 0, true
	}
	reply.key = informOf(in.from, reply.inform.RequestID, &m)
	if r.informs.known(reply.key) {
		reply.send()
		return m, nil, dropNone, false
	}
	return m, reply, 0, true
}

// informReply is the response to an inform. It is sent once the inform is stored or filtered out.
type informReply struct {
	reader *trapReader
	in     raw
	key    inform
	inform *gosnmp.SnmpPacket
	pdu    int       // versions 1 and 2c: offset of the PDU in the packet
	user   *trapUser // version 3
	keys   trapKeys
}

// send sends the response, and remembers the inform so that a retransmission is not stored again.
func (i *informReply) send() {
	r := i.reader
	defer func() {
		if fault := recover(); fault != nil && r.faults.Add(1) == 1 {
			r.env.Log.Warn("a packet could not be answered", "fault", fault, "from", i.in.from.Addr())
		}
	}()
	r.informs.keep(i.key, r.env.Now())
	packet, err := []byte(i.in.text), error(nil)
	if i.user == nil {
		packet[i.pdu] = byte(gosnmp.GetResponse) // the rest is returned unchanged (RFC 3416, 4.2.7)
	} else {
		packet, err = r.engine.acknowledge(i.inform, i.user, i.keys)
	}
	r.answer(i.in, packet, err)
}

// answer sends a packet to a sender. One that cannot be sent is no loss: the sender asks again.
func (r *trapReader) answer(in raw, packet []byte, err error) {
	if err == nil && in.socket != nil {
		err = in.socket.reply(in.from, in.to, packet)
	}
	if err != nil {
		r.env.Log.Debug("a packet was not answered", "err", err, "from", in.from.Addr())
	}
}

// readCommunity reads a packet of version 1 or 2c.
func (r *trapReader) readCommunity(reply *informReply, h *trapHeader, packet []byte) (why Drop, ok bool) {
	if r.community != "" {
		want, got := sha256.Sum256([]byte(r.community)), sha256.Sum256(h.community)
		if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			return DropAccess, false
		}
	}
	p, err := (&gosnmp.GoSNMP{}).UnmarshalTrap(packet, false)
	reply.inform = p
	return DropMalformed, err == nil
}

// readV3 reads a packet of version 3, or answers the discovery that precedes it.
func (r *trapReader) readV3(reply *informReply, h *trapHeader, packet []byte) (why Drop, ok bool) {
	e := r.engine
	report := func() (Drop, bool) {
		p, err := e.report(h)
		r.answer(reply.in, p, err)
		return dropNone, false
	}
	asks := h.flags&gosnmp.Reportable != 0
	if gosnmp.SnmpV3SecurityModel(h.model) != gosnmp.UserSecurityModel {
		return DropMalformed, false
	}
	if len(h.engine) < 5 {
		if asks {
			return report()
		}
		return DropMalformed, false
	}
	u := r.users[h.user]
	if u == nil || h.flags&gosnmp.AuthPriv != u.level() {
		return DropAccess, false
	}
	k, ok := u.authentic(h, packet)
	if !ok {
		return DropAccess, false
	}
	if h.engine == e.id && u.auth != gosnmp.NoAuth && !e.inTimeWindow(h) {
		if asks {
			p, err := e.reportTime(h, u, k)
			r.answer(reply.in, p, err)
			return dropNone, false
		}
		return DropAccess, false
	}
	x := &gosnmp.GoSNMP{Version: gosnmp.Version3, SecurityModel: gosnmp.UserSecurityModel, MsgFlags: u.level(), SecurityParameters: u.parameters(h.engine, k)}
	p, err := x.UnmarshalTrap(packet, true)
	if err != nil {
		if u.privacy != gosnmp.NoPriv { // authenticated but not readable: the privacy password is wrong
			return DropAccess, false
		}
		return DropMalformed, false
	}
	if p.PDUType == gosnmp.InformRequest && h.engine != e.id {
		return report()
	}
	reply.inform, reply.user, reply.keys = p, u, k
	return 0, true
}
