package journal

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"belfry"
)

// Damage is a place where a segment does not have what was written.
type Damage struct {
	Segment string // file name
	Offset  int64
	From    belfry.Position // first position lost; 0 if none was, or unknown
	To      belfry.Position // last position lost; 0 if unknown
	Torn    bool            // at the end of the newest segment, as after a crash: most likely nothing acknowledged
	Reason  string
}

// Number returns the number of the segment.
func (d Damage) Number() uint64 {
	n, _ := parseName(d.Segment)
	return n
}

func (d Damage) String() string {
	lost := "no record lost"
	switch {
	case d.From != 0 && d.To != 0:
		lost = fmt.Sprintf("lost %s to %s", d.From, d.To)
	case d.From != 0:
		lost = fmt.Sprintf("lost from %s on", d.From)
	}
	return fmt.Sprintf("%s at %d: %s, %s", d.Segment, d.Offset, d.Reason, lost)
}

// scanner reads the records of one segment and skips damaged places.
//
// A record with a valid header and a damaged payload is skipped by its length. A damaged header does not show where the
// next record is; then the scan continues at the next marker of a record of this segment, with a higher index and both
// checksums valid.
type scanner struct {
	r          io.ReaderAt
	number     uint64
	instance   uint32 // see segment
	size       int64  // end of the scan
	limit      uint32 // index of the last valid record; math.MaxUint32 if unknown
	name       string // for the damage
	newest     bool   // the last segment: a damaged end may be torn
	acked      uint32 // index of the last acknowledged record, if known
	ackedKnown bool   // acked is known

	damaged []Damage
	end     int64 // offset after the last valid record

	next         uint32 // index that the next record should have
	pending      *Damage
	countUnknown bool   // the number of records in the pending damage is unknown
	truncated    bool   // the file ends inside a record
	buf          []byte // window of the file
	bufOff       int64  // offset of the window
}

// windowSize is how much is read at once; larger records are read whole.
const windowSize = 1 << 20

// view returns n bytes at off, which must be within size. They are valid until the next call.
func (s *scanner) view(off int64, n int64) ([]byte, error) {
	if off >= s.bufOff && off+n <= s.bufOff+int64(len(s.buf)) {
		return s.buf[off-s.bufOff:][:n], nil
	}
	want := min(max(n, windowSize), s.size-off)
	if int64(cap(s.buf)) < want {
		s.buf = make([]byte, want)
	}
	s.buf, s.bufOff = s.buf[:want], off
	if got, err := s.r.ReadAt(s.buf, off); got < len(s.buf) {
		s.buf = s.buf[:0]
		return nil, fmt.Errorf("read journal segment %s at %d: %w", s.name, off, err)
	}
	return s.buf[:n], nil
}

// rest returns the window from off on, and moves the window if that is too short for a header.
func (s *scanner) rest(off int64) ([]byte, error) {
	if b := off - s.bufOff; b >= 0 && b+recordHeaderSize <= int64(len(s.buf)) {
		return s.buf[b:], nil
	}
	return s.view(off, min(windowSize, s.size-off))
}

// run calls f for every valid record, in order. It stops at the limit, at the end of the file, and if only zeros follow.
func (s *scanner) run(f func(pos belfry.Position, payload []byte) error) error {
	s.next, s.end = 1, headerSize
	for off := int64(headerSize); off >= 0 && s.next <= s.limit; {
		r, err := s.record(off)
		if err != nil {
			return err
		}
		switch r.quality {
		case goodRecord:
			off += recordHeaderSize + r.length
			s.addRecord(r.pos, off)
			err = f(r.pos, r.payload)
		case badPayload:
			s.addDamage(off, r.pos, "payload does not match its checksum")
			off += recordHeaderSize + r.length
		case noRecord:
			if s.truncated, err = s.isTruncated(off); err == nil {
				off, err = s.resync(off)
			}
		}
		if err != nil {
			return err
		}
	}
	s.finish()
	return nil
}

// record is the result of reading at an offset.
type record struct {
	recordHeader
	quality quality
	payload []byte
}

type quality int

const (
	noRecord   quality = iota // no valid header
	badPayload                // only the header is valid
	goodRecord
)

func (s *scanner) record(off int64) (r record, err error) {
	if off+recordHeaderSize > s.size {
		return r, nil
	}
	b, err := s.view(off, recordHeaderSize)
	if err != nil {
		return r, err
	}
	h, ok := parseRecordHeader(b, s.instance)
	if !ok || !s.fits(h, off) {
		return r, nil
	}
	r = record{recordHeader: h, quality: badPayload}
	r.payload, err = s.view(off+recordHeaderSize, h.length)
	if err == nil && checksum(r.payload) == h.crc {
		r.quality = goodRecord
	}
	return r, err
}

// fits reports whether a record with that header can be at off in this segment, after the records read so far.
func (s *scanner) fits(h recordHeader, off int64) bool {
	i := uint32(h.pos)
	return h.pos.Epoch() == s.number && i >= s.next && i <= s.limit && off+recordHeaderSize+h.length <= s.size
}

// isTruncated reports whether a record begins at off that exceeds the end of the file.
func (s *scanner) isTruncated(off int64) (bool, error) {
	if off >= s.size {
		return false, nil
	}
	b, err := s.view(off, min(recordHeaderSize, s.size-off))
	if err != nil || len(b) < recordHeaderSize {
		n := min(len(b), len(marker))
		return string(b[:n]) == marker[:n], err
	}
	h, ok := parseRecordHeader(b, s.instance)
	return ok && h.pos == s.pos(s.next) && off+recordHeaderSize+h.length > s.size, nil
}

// resync searches from off on for the next valid record and returns its offset; -1 if there is none. Only zeros up to
// the end are the normal end of a segment that was not sealed.
func (s *scanner) resync(off int64) (int64, error) {
	clean := true
	for start := off; off < s.size; {
		b, err := s.rest(off)
		if err != nil {
			return -1, err
		}
		if clean && !zero(b) {
			clean = false
			s.addDamage(start, 0, "record header is damaged")
			s.countUnknown = true
		}
		i := bytes.Index(b, []byte(marker))
		if i < 0 {
			off += max(int64(len(b)-len(marker)+1), 1) // a marker may cross the edge
			continue
		}
		off += int64(i)
		r, err := s.record(off)
		if err != nil || r.quality == goodRecord {
			return off, err
		}
		if r.quality == badPayload {
			s.addDamage(off, r.pos, "payload does not match its checksum")
		}
		off++
	}
	return -1, nil
}

// zero compares b with itself, shifted by one: that is the fastest loop.
func zero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}

// pos returns the position of a record of this segment.
func (s *scanner) pos(index uint32) belfry.Position {
	return belfry.PositionOf(s.number, index)
}

// addDamage begins or extends the pending damage; lost is the position that was there, if known.
func (s *scanner) addDamage(off int64, lost belfry.Position, reason string) {
	if s.pending == nil {
		s.pending = &Damage{Segment: s.name, Offset: off, From: s.pos(s.next), Reason: reason}
	}
	s.pending.To = max(s.pending.To, lost)
}

// addRecord adds a valid record; the indexes since the last one are lost.
func (s *scanner) addRecord(pos belfry.Position, end int64) {
	i := uint32(pos)
	if i > s.next {
		s.addDamage(s.end, 0, "records are missing")
	}
	if d := s.pending; d != nil {
		d.To = pos - 1
		if i == s.next {
			d.From, d.To = 0, 0
		}
		s.flushDamage()
	}
	s.next, s.end = i+1, end
}

// finish checks the end of the segment.
func (s *scanner) finish() {
	known := s.limit != math.MaxUint32
	least := s.acked // minimum number of records
	if known {
		least = s.limit
	}
	if s.next <= least {
		s.addDamage(s.end, s.pos(least), "segment ends too early")
	}
	if d := s.pending; d != nil {
		acknowledged := s.next <= s.acked
		// A file is allocated before records are written, so a killed process does not leave one that ends inside a record.
		d.Torn = s.newest && !acknowledged && (s.ackedKnown || !s.truncated)
		if s.countUnknown && !known && !acknowledged {
			d.To = 0
		}
		s.flushDamage()
	}
}

// flushDamage adds the pending damage to the list.
func (s *scanner) flushDamage() {
	s.damaged = append(s.damaged, *s.pending)
	s.pending, s.countUnknown = nil, false
}
