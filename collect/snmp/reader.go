package snmp

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/netip"
	"sync/atomic"

	"github.com/gosnmp/gosnmp"
)

// Result says what became of a packet.
type Result int

const (
	Accepted  Result = iota // a trap; an inform has a reply, to be sent once the trap is stored or filtered out
	Answered                // contains no trap to keep; the reply is to be sent at once
	Denied                  // wrong version, community, user or password
	Malformed               // cannot be parsed
)

// Reader reads the packets of one receiver.
type Reader struct {
	entity    *Entity
	versions  map[string]bool
	community string
	users     map[string]*user
	engine    *engine // set if version 3 is accepted
	faults    atomic.Int64
	informs   informs
}

// newReader makes the reader for the answers of a resource. The column is the one that is wrong.
func newReader(answers map[string]string) (r *Reader, column string, err error) {
	lines, err := parseUsers(answers["users"])
	if err != nil {
		return nil, "users", err
	}
	r = &Reader{community: answers["community"], users: map[string]*user{}}
	if r.versions, err = parseVersions(answers["version"], len(lines) > 0); err != nil {
		return nil, "version", err
	}
	for i := range lines {
		r.users[lines[i].name] = lines[i].user()
	}
	return r, "", nil
}

func (r *Reader) accepts(version string) bool { return r.versions[version] }

// Read parses a packet.
func (r *Reader) Read(packet string, from netip.AddrPort) (t Trap, reply *Reply, result Result) {
	defer func() {
		if fault := recover(); fault != nil {
			if r.faults.Add(1) == 1 {
				r.entity.Log.Warn("a packet could not be read", "fault", fault, "from", from.Addr())
			}
			t, reply, result = Trap{}, nil, Malformed
		}
	}()
	b := []byte(packet)
	b = b[:len(b):len(b)]
	h, ok := readHeader(b)
	if !ok {
		return t, nil, Malformed
	}
	if !r.accepts(h.version) {
		return t, nil, Denied
	}
	reply = &Reply{reader: r, packet: packet, from: from, pdu: h.pdu}
	if h.version == "3" {
		result = r.readV3(reply, &h, b)
	} else {
		result = r.readCommunity(reply, &h, b)
	}
	switch result {
	case Accepted:
	case Answered:
		return t, reply, Answered
	default:
		return t, nil, result
	}
	names, err := r.entity.names()
	if err != nil {
		return t, nil, Malformed
	}
	if t, ok = newTrap(reply.inform, h.version, names); !ok {
		return t, nil, Malformed
	}
	if t.IP == "" {
		t.IP = from.Addr().WithZone("").String()
	}
	if reply.inform.PDUType != gosnmp.InformRequest {
		return t, nil, Accepted
	}
	reply.key = informOf(from, reply.inform.RequestID, &t)
	if r.informs.known(reply.key) {
		return Trap{}, reply, Answered
	}
	return t, reply, Accepted
}

// readCommunity reads a packet of version 1 or 2c.
func (r *Reader) readCommunity(reply *Reply, h *header, packet []byte) Result {
	if r.community != "" {
		want, got := sha256.Sum256([]byte(r.community)), sha256.Sum256(h.community)
		if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			return Denied
		}
	}
	p, err := (&gosnmp.GoSNMP{}).UnmarshalTrap(packet, false)
	if err != nil {
		return Malformed
	}
	reply.inform = p
	return Accepted
}

// readV3 reads a packet of version 3, or answers the discovery that precedes it.
func (r *Reader) readV3(reply *Reply, h *header, packet []byte) Result {
	e := r.engine
	reportable := h.flags&gosnmp.Reportable != 0
	if gosnmp.SnmpV3SecurityModel(h.model) != gosnmp.UserSecurityModel {
		return Malformed
	}
	if len(h.engine) < 5 {
		if reportable {
			return reply.report(e.report(h))
		}
		return Malformed
	}
	u := r.users[h.user]
	if u == nil || h.flags&gosnmp.AuthPriv != u.level() {
		return Denied
	}
	k, ok := u.authentic(h, packet)
	if !ok {
		return Denied
	}
	if h.engine == e.id && u.auth != gosnmp.NoAuth && !e.inTimeWindow(h) {
		if reportable {
			return reply.report(e.reportTime(h, u, k))
		}
		return Denied
	}
	x := &gosnmp.GoSNMP{Version: gosnmp.Version3, SecurityModel: gosnmp.UserSecurityModel, MsgFlags: u.level(), SecurityParameters: u.parameters(h.engine, k)}
	p, err := x.UnmarshalTrap(packet, true)
	if err != nil {
		if u.privacy != gosnmp.NoPriv { // authenticated but not readable: the privacy password is wrong
			return Denied
		}
		return Malformed
	}
	if p.PDUType == gosnmp.InformRequest && h.engine != e.id {
		return reply.report(e.report(h))
	}
	reply.inform, reply.user, reply.keys = p, u, k
	return Accepted
}

// Reply is the answer to a packet.
type Reply struct {
	reader *Reader
	packet string // that is answered
	from   netip.AddrPort

	key    inform
	inform *gosnmp.SnmpPacket
	pdu    int   // versions 1 and 2c: offset of the PDU in the packet
	user   *user // version 3
	keys   userKeys

	reported bool // the answer is a report, of version 3
	answer   []byte
	err      error
}

// report makes a report the answer.
func (a *Reply) report(packet []byte, err error) Result {
	a.reported, a.answer, a.err = true, packet, err
	return Answered
}

var errPanic = errors.New("the packet could not be made")

// Packet returns the packet to send to the sender. An inform is remembered, so that a retransmission is not stored again.
func (a *Reply) Packet() (packet []byte, err error) {
	if a.reported {
		return a.answer, a.err
	}
	r := a.reader
	defer func() {
		if fault := recover(); fault != nil {
			if r.faults.Add(1) == 1 {
				r.entity.Log.Warn("a packet could not be answered", "fault", fault, "from", a.from.Addr())
			}
			packet, err = nil, errPanic
		}
	}()
	r.informs.keep(a.key, r.entity.Now())
	if a.user != nil {
		return r.engine.acknowledge(a.inform, a.user, a.keys)
	}
	packet = []byte(a.packet)
	packet[a.pdu] = byte(gosnmp.GetResponse) // the rest is returned unchanged (RFC 3416, 4.2.7)
	return packet, nil
}
