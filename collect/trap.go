package collect

import (
	"fmt"
	"log/slog"
	"strconv"

	"belfry"
	"belfry/collect/snmp"
)

// trapFormat is the format of receivers of SNMP traps.
type trapFormat struct{}

func (trapFormat) configure(e *Env, answers map[string]string) (messageReader[snmp.Trap], portSpec, error) {
	spec := portSpec{protocol: "udp", addr: answers["listen"], agreed: "trap", replies: true}
	r, err := e.snmp.Reader(answers)
	return &trapReader{r, e.Log}, spec, err
}

func (trapFormat) check(answers map[string]string) (column string, err error) {
	return snmp.Check(answers)
}

// parse refuses a text: a trap has none.
func (trapFormat) parse(*Env, map[string]string, string) (m snmp.Trap, err error) {
	return m, belfry.Errorf(belfry.BadParameter, `sample must be the fields of a trap, as in {"oid": "1.3.6.1.6.3.1.1.5.3", "name": "linkDown", "p": ["2"]}; SELECT * FROM trap shows some that have come`)
}

func (trapFormat) unparsed(raw) (m snmp.Trap, ok bool) { return m, false }

func (trapFormat) sender(m *snmp.Trap) *string { return &m.IP }

func (trapFormat) size(m *snmp.Trap) int {
	n := len(m.IP) + len(m.Host) + len(m.Version) + len(m.OID) + len(m.Name) + len(m.Category) + len(m.Info) + len(m.Varbinds)
	for _, v := range m.P {
		n += len(v)
	}
	return n
}

func (trapFormat) blank(m *snmp.Trap) { m.Generic, m.Specific, m.Severity = -1, -1, -1 }

func (trapFormat) validate(m *snmp.Trap) error {
	if err := checkRange("severity", m.Severity, -1, 7); err != nil {
		return err
	}
	if len(m.P) > snmp.MaxValues {
		return fmt.Errorf("p has %d values, and there are fields for %d", len(m.P), snmp.MaxValues)
	}
	return nil
}

// trapReader reads the packets of one receiver.
type trapReader struct {
	snmp *snmp.Reader
	log  *slog.Logger
}

func (r *trapReader) read(in raw) (m snmp.Trap, reply *informReply, why Drop, ok bool) {
	m, answer, result := r.snmp.Read(in.text, in.from)
	if answer != nil {
		reply = &informReply{reply: answer, in: in, log: r.log}
	}
	switch result {
	case snmp.Denied:
		return m, nil, DropAccess, false
	case snmp.Malformed:
		return m, nil, DropMalformed, false
	case snmp.Answered:
		reply.send()
		return m, nil, dropNone, false
	}
	return m, reply, 0, true
}

// informReply is the response to an inform. It is sent once the inform is stored or filtered out.
type informReply struct {
	reply *snmp.Reply
	in    raw
	log   *slog.Logger
}

// send sends the response. One that cannot be sent is no loss: the sender asks again.
func (i *informReply) send() {
	packet, err := i.reply.Packet()
	if err == nil && i.in.socket != nil {
		err = i.in.socket.reply(i.in.from, i.in.to, packet)
	}
	if err != nil {
		i.log.Debug("a packet was not answered", "err", err, "from", i.in.from.Addr())
	}
}

func (trapFormat) batch(traps []snmp.Trap) belfry.Batch {
	texts := func(name string, of func(*snmp.Trap) string) belfry.Column { return textColumn(name, traps, of) }
	ints := func(name string, of func(*snmp.Trap) int64) belfry.Column { return intColumn(name, traps, of) }
	all := []belfry.Column{
		texts("ip", func(m *snmp.Trap) string { return m.IP }),
		texts("host", func(m *snmp.Trap) string { return m.Host }),
		texts("version", func(m *snmp.Trap) string { return m.Version }),
		texts("oid", func(m *snmp.Trap) string { return m.OID }),
		texts("name", func(m *snmp.Trap) string { return m.Name }),
		ints("generic", func(m *snmp.Trap) int64 { return presentInt(m.Generic) }),
		ints("specific", func(m *snmp.Trap) int64 { return presentInt(m.Specific) }),
		texts("category", func(m *snmp.Trap) string { return m.Category }),
		ints("severity", func(m *snmp.Trap) int64 { return presentInt(m.Severity) }),
		texts("info", func(m *snmp.Trap) string { return m.Info }),
		texts("varbinds", func(m *snmp.Trap) string { return m.Varbinds }),
		ints("devicetime", func(m *snmp.Trap) int64 { return timeOf(m.DeviceTime) }),
	}
	most := 0
	for i := range traps {
		most = min(max(most, len(traps[i].P)), snmp.MaxValues)
	}
	for n := range most {
		all = append(all, texts("p"+strconv.Itoa(n+1), func(m *snmp.Trap) string {
			if n < len(m.P) {
				return m.P[n]
			}
			return ""
		}))
	}
	return belfry.Batch{Collection: "trap", Columns: all}
}

// presentInt returns the value for a column; negative numbers mean none.
func presentInt(n int) int64 {
	if n < 0 {
		return belfry.AbsentInt
	}
	return int64(n)
}
