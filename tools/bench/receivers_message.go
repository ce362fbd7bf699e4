package main

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/gosnmp/gosnmp"
)

// syslogBytes is how long a syslog message is, with everything before its text.
const syslogBytes = 200

// trapCommunity is what the traps carry and the receiver asks for.
const trapCommunity = "bench"

// messages makes what a flood sends.
func (f *flood) messages() ([][]byte, error) {
	if f.Traps {
		return trapPackets(floodMessages / 8)
	}
	return syslogMessages(floodMessages), nil
}

// syslogMessages makes messages of a few hundred hosts: three of four as RFC 5424 has them, every fourth in the older form.
func syslogMessages(n int) [][]byte {
	lines := newStory(time.Time{}, 0)
	r := lines.random
	all := make([][]byte, 0, n)
	var text []byte
	for i := range n {
		text = lines.line(text[:0])
		m := strconv.AppendInt([]byte{'<'}, r.Int64N(192), 10)
		if i%4 == 3 {
			m = append(m, ">Nov 15 10:11:12 host"...)
		} else {
			m = appendPadded(append(m, ">1 2026-11-15T10:11:12."...), r.IntN(1000), 3)
			m = append(m, "Z host"...)
		}
		m = append(appendPadded(m, r.IntN(500), 3), ' ')
		word := logWords[r.IntN(len(logWords))]
		if i%4 == 3 {
			m = strconv.AppendInt(append(append(m, word...), '['), r.Int64N(30_000), 10)
			m = append(m, "]: "...)
		} else {
			m = strconv.AppendInt(append(append(m, word...), ' '), r.Int64N(30_000), 10)
			m = append(m, " ID47 - "...)
		}
		m = append(m, text...)
		for len(m) < syslogBytes {
			m = append(m, '.')
		}
		all = append(all, m[:syslogBytes])
	}
	return all
}

// trapPackets makes traps of version 2c: a link that went down or came up, with number, states and name of the interface.
func trapPackets(n int) ([][]byte, error) {
	r := rand.New(rand.NewPCG(9, 10))
	all := make([][]byte, 0, n)
	for i := range n {
		link, status := r.IntN(4000)+1, r.IntN(2)
		row := "." + strconv.Itoa(link)
		p := gosnmp.SnmpPacket{
			Version: gosnmp.Version2c, Community: trapCommunity, PDUType: gosnmp.SNMPv2Trap, RequestID: uint32(i + 1),
			Variables: []gosnmp.SnmpPDU{
				{Name: ".1.3.6.1.2.1.1.3.0", Type: gosnmp.TimeTicks, Value: uint32(i)},
				{Name: ".1.3.6.1.6.3.1.1.4.1.0", Type: gosnmp.ObjectIdentifier, Value: ".1.3.6.1.6.3.1.1.5." + strconv.Itoa(3+status)},
				{Name: ".1.3.6.1.2.1.2.2.1.1" + row, Type: gosnmp.Integer, Value: link},
				{Name: ".1.3.6.1.2.1.2.2.1.7" + row, Type: gosnmp.Integer, Value: 1},
				{Name: ".1.3.6.1.2.1.2.2.1.8" + row, Type: gosnmp.Integer, Value: 2 - status},
				{Name: ".1.3.6.1.2.1.2.2.1.2" + row, Type: gosnmp.OctetString, Value: "GigabitEthernet1/0/" + strconv.Itoa(link)},
			},
		}
		packet, err := p.MarshalMsg()
		if err != nil {
			return nil, err
		}
		all = append(all, packet)
	}
	return all, nil
}
