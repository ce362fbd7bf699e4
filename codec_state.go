package belfry

import (
	"encoding/binary"
	"math"
)

// The bits of the byte that says which parts of a state are present.
const (
	quietBit = 1 << iota
	marksBit
	operatorBit
	_
	ackBit
	_
	worseBit

	stateBits = quietBit | marksBit | operatorBit | ackBit | worseBit
)

// windowsMark is set in the mode of an operator state that has windows.
const windowsMark = 0x80

// The bits of the first byte of a window.
const (
	windowOpen = 1 << iota
	windowAtOnce
)

// append encodes a state. Most have no marks and no operator state, and LastSeen mostly equals Since.
func (s *State) append(dst []byte) []byte {
	dst = appendStatus(appendStatus(appendStatus(dst, s.Status), s.Evaluated), s.Alarmed)
	dst = append(appendMode(dst, s.Mode), s.bits())
	dst = binary.AppendVarint(dst, int64(s.Since))
	dst = binary.AppendVarint(dst, int64(s.LastSeen-s.Since))
	dst = appendText(dst, s.Info)
	if len(s.Marks) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(s.Marks)))
		for _, m := range s.Marks {
			dst = binary.LittleEndian.AppendUint64(dst, m.Rule)
			dst = binary.AppendUvarint(dst, uint64(m.Count))
		}
	}
	if s.Operator != nil {
		dst = s.Operator.append(dst)
	}
	return dst
}

func (s *State) bits() (b byte) {
	set := func(bit byte, is bool) {
		if is {
			b |= bit
		}
	}
	set(quietBit, s.OffHours)
	set(marksBit, len(s.Marks) > 0)
	if c := s.Operator; c != nil {
		set(operatorBit, true)
		set(ackBit, c.Ack != nil)
		set(worseBit, c.Ack != nil && c.Ack.UntilWorse)
	}
	return b
}

func appendMode(dst []byte, m Mode) []byte {
	if m >= modes {
		panic("belfry: a mode that does not exist")
	}
	return append(dst, byte(m))
}

func (c *OperatorState) append(dst []byte) []byte {
	dst = appendMode(dst, c.Mode)
	if len(c.Windows) > 0 {
		dst[len(dst)-1] |= windowsMark
	}
	dst = binary.AppendVarint(dst, int64(c.From))
	dst = appendText(appendText(dst, c.UnmanageNote), c.Note)
	if len(c.Windows) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(c.Windows)))
	}
	for i := range c.Windows {
		dst = c.Windows[i].append(dst)
	}
	if a := c.Ack; a != nil {
		dst = appendText(appendText(dst, a.Text), a.By)
		dst = appendStatus(dst, a.Status)
		for _, t := range []Time{a.Time, a.Until, a.Sticky, a.Left} {
			dst = binary.AppendVarint(dst, int64(t))
		}
	}
	return dst
}

func (w *Window) append(dst []byte) []byte {
	bits := byte(0)
	if w.Open {
		bits |= windowOpen
	}
	if w.AtOnce {
		bits |= windowAtOnce
	}
	dst = appendMode(append(dst, bits), w.Mode)
	dst = binary.AppendVarint(binary.AppendVarint(dst, int64(w.From)), int64(w.To))
	for _, text := range []string{w.Name, w.Schedule, w.Zone, w.By} {
		dst = appendText(dst, text)
	}
	return dst
}

// state reads what append wrote.
func (d *decoder) state(s *State) {
	s.Status, s.Evaluated, s.Alarmed, s.Mode = d.status(), d.status(), d.status(), d.mode()
	bits := d.presence()
	s.OffHours = bits&quietBit != 0
	s.Since = Time(d.varint())
	s.LastSeen = s.Since + Time(d.varint())
	s.Info = d.text()
	if bits&marksBit != 0 {
		s.Marks = decodeList(d, 9, (*decoder).mark)
	}
	if bits&operatorBit != 0 {
		s.Operator = d.operatorState(bits)
	}
}

// presence reads which parts follow. Unknown bits, and a part of something absent, are errors.
func (d *decoder) presence() byte {
	b := d.byte()
	without := func(whole, parts byte) bool { return b&whole == 0 && b&parts != 0 }
	if b&^stateBits != 0 || without(operatorBit, ackBit) || without(ackBit, worseBit) {
		d.fail("%#x is no valid set of the parts of a state", b)
	}
	return b
}

func (d *decoder) mark(m *Streak) {
	m.Rule = d.uint64()
	n := d.uvarint()
	if n > math.MaxUint16 {
		d.fail("%d values in a row", n)
	}
	m.Count = uint16(n)
}

func (d *decoder) operatorState(bits byte) *OperatorState {
	marked := len(d.data) > 0 && d.data[0]&windowsMark != 0
	c := &OperatorState{Mode: d.markedMode(), From: Time(d.varint()), UnmanageNote: d.text(), Note: d.text()}
	if marked {
		c.Windows = decodeList(d, leastWindow, (*decoder).window)
	}
	if bits&ackBit != 0 {
		c.Ack = &Ack{
			Text: d.text(), By: d.text(), Status: d.status(), Time: Time(d.varint()), Until: Time(d.varint()),
			Sticky: Time(d.varint()), Left: Time(d.varint()), UntilWorse: bits&worseBit != 0,
		}
	}
	return c
}

// leastWindow is how many bytes a window has at least.
const leastWindow = 8

func (d *decoder) window(w *Window) {
	bits := d.byte()
	if bits&^(windowOpen|windowAtOnce) != 0 {
		d.fail("%#x is no valid set of the flags of a window", bits)
	}
	*w = Window{
		Open: bits&windowOpen != 0, AtOnce: bits&windowAtOnce != 0, Mode: d.mode(), From: Time(d.varint()), To: Time(d.varint()),
		Name: d.text(), Schedule: d.text(), Zone: d.text(), By: d.text(),
	}
}

// markedMode reads a mode that may have the windowsMark.
func (d *decoder) markedMode() Mode {
	if len(d.data) > 0 && d.data[0]&windowsMark != 0 {
		m := Mode(d.byte() &^ windowsMark)
		if m >= modes {
			d.fail("mode %d does not exist", m)
			return 0
		}
		return m
	}
	return d.mode()
}

func (d *decoder) mode() Mode {
	m := Mode(d.byte())
	if m >= modes {
		d.fail("mode %d does not exist", m)
		return 0
	}
	return m
}
