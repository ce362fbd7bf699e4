package belfry

import (
	"encoding/binary"
	"math"
)

// The bits of the byte that says what of a standing is present.
const (
	quietBit = 1 << iota
	marksBit
	careBit
	windowBit
	ackBit
	openBit
	worseBit
	plannedBit
)

// append encodes a standing. Most have no marks and nobody's care, and Heard is mostly Since.
func (s *Standing) append(dst []byte) []byte {
	dst = appendStatus(appendStatus(appendStatus(dst, s.Status), s.Own), s.Told)
	dst = append(appendMode(dst, s.Mode), s.bits())
	dst = binary.AppendVarint(dst, int64(s.Since))
	dst = binary.AppendVarint(dst, int64(s.Heard-s.Since))
	dst = appendText(dst, s.Info)
	if len(s.Marks) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(s.Marks)))
		for _, m := range s.Marks {
			dst = binary.LittleEndian.AppendUint64(dst, m.Rule)
			dst = binary.AppendUvarint(dst, uint64(m.Count))
		}
	}
	if s.Care != nil {
		dst = s.Care.append(dst)
	}
	return dst
}

func (s *Standing) bits() (b byte) {
	set := func(bit byte, is bool) {
		if is {
			b |= bit
		}
	}
	set(quietBit, s.Quiet)
	set(marksBit, len(s.Marks) > 0)
	if c := s.Care; c != nil {
		set(careBit, true)
		set(windowBit, c.Window != nil)
		set(openBit, c.Window != nil && c.Window.Open)
		set(plannedBit, c.Window != nil && c.Window.planned())
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

func (c *Care) append(dst []byte) []byte {
	dst = appendMode(dst, c.Mode)
	dst = binary.AppendVarint(dst, int64(c.From))
	dst = appendText(appendText(dst, c.UnmanageNote), c.Note)
	if w := c.Window; w != nil {
		dst = appendMode(appendMode(dst, w.Mode), w.Back)
		dst = binary.AppendVarint(dst, int64(w.From))
		dst = binary.AppendVarint(dst, int64(w.To))
		dst = appendText(appendText(dst, w.Schedule), w.By)
		if w.planned() {
			dst = w.appendPlanned(dst)
		}
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

// appendPlanned writes what is not as usual with a window. Its first byte has the number of bases, and AtOnce in its lowest bit.
func (w *Window) appendPlanned(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if w.AtOnce {
		dst[at] = 1
	}
	dst = binary.AppendVarint(appendMode(dst, w.Before), int64(w.Since))
	for b := w.Base; b != nil; b = b.Base {
		dst[at] += 2
		dst = binary.AppendVarint(dst, int64(b.From))
		dst = binary.AppendVarint(appendMode(dst, b.Before), int64(b.Since))
	}
	return dst
}

// standing reads what append wrote, or what the first format had in its place.
func (d *decoder) standing(s *Standing) {
	s.Status = d.status()
	if d.first {
		s.Own, s.Told = s.Status, s.Status
		s.Since = Time(d.varint())
		s.Info = d.text()
		return
	}
	s.Own, s.Told, s.Mode = d.status(), d.status(), d.mode()
	bits := d.standingBits()
	s.Quiet = bits&quietBit != 0
	s.Since = Time(d.varint())
	s.Heard = s.Since + Time(d.varint())
	s.Info = d.text()
	if bits&marksBit != 0 {
		s.Marks = decodeList(d, 9, (*decoder).mark)
	}
	if bits&careBit != 0 {
		s.Care = d.care(bits)
	}
}

// standingBits reads what is present, and refuses what cannot be: a part of something that is absent.
func (d *decoder) standingBits() byte {
	b := d.byte()
	without := func(whole, parts byte) bool { return b&whole == 0 && b&parts != 0 }
	if without(careBit, windowBit|ackBit) || without(windowBit, openBit|plannedBit) || without(ackBit, worseBit) {
		d.fail("%#x says of a standing what cannot be", b)
	}
	return b
}

func (d *decoder) mark(m *Mark) {
	m.Rule = d.uint64()
	n := d.uvarint()
	if n > math.MaxUint16 {
		d.fail("%d values in a row", n)
	}
	m.Count = uint16(n)
}

func (d *decoder) care(bits byte) *Care {
	c := &Care{Mode: d.mode(), From: Time(d.varint()), UnmanageNote: d.text(), Note: d.text()}
	if bits&windowBit != 0 {
		c.Window = &Window{
			Mode: d.mode(), Back: d.mode(), Open: bits&openBit != 0,
			From: Time(d.varint()), To: Time(d.varint()), Schedule: d.text(), By: d.text(),
		}
		d.planned(c.Window, bits&plannedBit != 0)
	}
	if bits&ackBit != 0 {
		c.Ack = &Ack{
			Text: d.text(), By: d.text(), Status: d.status(), Time: Time(d.varint()), Until: Time(d.varint()),
			Sticky: Time(d.varint()), Left: Time(d.varint()), UntilWorse: bits&worseBit != 0,
		}
	}
	return c
}

// planned reads what is not as usual with a window, if anything is. Windows of earlier versions have none of it.
func (d *decoder) planned(w *Window, is bool) {
	w.Before = w.usual()
	if !is {
		return
	}
	first := d.byte()
	if first>>1 > MaxBases {
		d.fail("a window with %d bases", first>>1)
		return
	}
	w.AtOnce, w.Before, w.Since = first&1 != 0, d.mode(), Time(d.varint())
	next := &w.Base
	for range first >> 1 {
		*next = &Base{From: Time(d.varint()), Before: d.mode(), Since: Time(d.varint())}
		next = &(*next).Base
	}
	if d.err == nil && !w.planned() {
		d.fail("a window that is as usual is said not to be")
	}
}

func (d *decoder) mode() Mode {
	m := Mode(d.byte())
	if m >= modes {
		d.fail("mode %d does not exist", m)
		return 0
	}
	return m
}
