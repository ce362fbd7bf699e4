package journal

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"belfry"
)

// Damage is a place where a segment does not hold what was written.
type Damage struct {
	Segment string // file name
	Offset  int64
	From    belfry.Position // first position lost; 0 if nothing was, or nobody can tell
	To      belfry.Position // last position lost; 0 if not known
	Torn    bool            // at the end of the newest segment, as a crash leaves it: most likely nothing acknowledged
	Reason  string
}

// Number is that of the segment.
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

// scanner walks through the records of one segment and gets over damaged places.
//
// A record whose header is whole but whose payload is not is skipped by its length. A damaged header says nothing about
// where the next record is; then the next marker counts that begins a record of this segment, further on, with both
// checksums right.
type scanner struct {
	r      io.ReaderAt
	number uint64
	size   int64  // nothing is read beyond
	limit  uint32 // index of the last record that counts; math.MaxUint32 if not known
	name   string // for the damage
	newest bool   // nothing comes after this segment: a bad end may be torn
	acked  uint32 // index of the last record that was acknowledged, as far as that is known
	marked bool   // it is known

	damaged []Damage
	end     int64 // behind the last good record

	next    uint32 // index that the next record should have
	pending *Damage
	open    bool   // nobody knows how many records the pending damage has hit
	cut     bool   // the file ends inside a record
	buf     []byte // window on the file
	at      int64  // offset of the window
}

// windowSize is how much is read at once; records larger than that are read whole.
const windowSize = 1 << 20

// view gives n bytes at off, which must lie within size. They are valid until the next call.
func (s *scanner) view(off int64, n int64) ([]byte, error) {
	if off >= s.at && off+n <= s.at+int64(len(s.buf)) {
		return s.buf[off-s.at:][:n], nil
	}
	want := min(max(n, windowSize), s.size-off)
	if int64(cap(s.buf)) < want {
		s.buf = make([]byte, want)
	}
	s.buf, s.at = s.buf[:want], off
	if got, err := s.r.ReadAt(s.buf, off); got < len(s.buf) {
		s.buf = s.buf[:0]
		return nil, fmt.Errorf("read journal segment %s at %d: %w", s.name, off, err)
	}
	return s.buf[:n], nil
}

// rest gives what the window holds from off on, and moves the window when that is too little to judge a header.
func (s *scanner) rest(off int64) ([]byte, error) {
	if b := off - s.at; b >= 0 && b+recordHeaderSize <= int64(len(s.buf)) {
		return s.buf[b:], nil
	}
	return s.view(off, min(windowSize, s.size-off))
}

// run calls f for every good record, in order. It stops at the limit, at the end of the file, and when only zeros follow.
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
			s.good(r.pos, off)
			err = f(r.pos, r.payload)
		case badPayload:
			s.bad(off, r.pos, "payload does not match its checksum")
			off += recordHeaderSize + r.length
		case noRecord:
			if s.cut, err = s.ends(off); err == nil {
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

// record is what stands at some offset.
type record struct {
	recordHeader
	quality quality
	payload []byte
}

type quality int

const (
	noRecord   quality = iota // no header that could be trusted
	badPayload                // the header is good
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
	h, ok := parseRecordHeader(b)
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

// fits tells whether a record with that header can stand at off in this segment, behind the records seen so far.
func (s *scanner) fits(h recordHeader, off int64) bool {
	i := uint32(h.pos)
	return h.pos.Epoch() == s.number && i >= s.next && i <= s.limit && off+recordHeaderSize+h.length <= s.size
}

// ends tells whether a record begins at off for which the file is too short.
func (s *scanner) ends(off int64) (bool, error) {
	if off >= s.size {
		return false, nil
	}
	b, err := s.view(off, min(recordHeaderSize, s.size-off))
	if err != nil || len(b) < recordHeaderSize {
		n := min(len(b), len(marker))
		return string(b[:n]) == marker[:n], err
	}
	h, ok := parseRecordHeader(b)
	return ok && h.pos == s.pos(s.next) && off+recordHeaderSize+h.length > s.size, nil
}

// resync looks from off on for the next good record and gives its offset; -1 if there is none. Nothing but zeros up to
// the end is where a segment that was not sealed ends.
func (s *scanner) resync(off int64) (int64, error) {
	clean := true
	for start := off; off < s.size; {
		b, err := s.rest(off)
		if err != nil {
			return -1, err
		}
		if clean && !zero(b) {
			clean = false
			s.bad(start, 0, "record header is damaged")
			s.open = true
		}
		i := bytes.Index(b, []byte(marker))
		if i < 0 {
			off += max(int64(len(b)-len(marker)+1), 1) // a marker may lie across the edge
			continue
		}
		off += int64(i)
		r, err := s.record(off)
		if err != nil || r.quality == goodRecord {
			return off, err
		}
		if r.quality == badPayload {
			s.bad(off, r.pos, "payload does not match its checksum")
		}
		off++
	}
	return -1, nil
}

// zero compares b with itself, shifted by one: that is the fastest loop there is.
func zero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}

// pos is the position of a record of this segment.
func (s *scanner) pos(index uint32) belfry.Position {
	return belfry.PositionOf(s.number, index)
}

// bad notes a damaged place, or makes the one just noted longer; lost is the position that was there, if known.
func (s *scanner) bad(off int64, lost belfry.Position, reason string) {
	if s.pending == nil {
		s.pending = &Damage{Segment: s.name, Offset: off, From: s.pos(s.next), Reason: reason}
	}
	s.pending.To = max(s.pending.To, lost)
}

// good notes a record; the indexes since the last one are lost.
func (s *scanner) good(pos belfry.Position, end int64) {
	i := uint32(pos)
	if i > s.next {
		s.bad(s.end, 0, "records are missing")
	}
	if d := s.pending; d != nil {
		d.To = pos - 1
		if i == s.next {
			d.From, d.To = 0, 0
		}
		s.settle()
	}
	s.next, s.end = i+1, end
}

// finish notes what is known about the end.
func (s *scanner) finish() {
	known := s.limit != math.MaxUint32
	least := s.acked // how many records there must be
	if known {
		least = s.limit
	}
	if s.next <= least {
		s.bad(s.end, s.pos(least), "segment ends too early")
	}
	if d := s.pending; d != nil {
		acknowledged := s.next <= s.acked
		// A file is allocated before records are written into it, so a process that was killed leaves none that ends inside one.
		d.Torn = s.newest && !acknowledged && (s.marked || !s.cut)
		if s.open && !known && !acknowledged {
			d.To = 0
		}
		s.settle()
	}
}

// settle puts the pending damage on the list.
func (s *scanner) settle() {
	s.damaged = append(s.damaged, *s.pending)
	s.pending, s.open = nil, false
}
