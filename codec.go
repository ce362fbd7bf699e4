package belfry

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// The encoding of a Record is its format version and then sections, each a tag, a length and a body:
//
//	version │ head │ batch … │ items │ states │ docs │ answer
//	   1    │ 1 4 …│ 1 4  …  │        (absent when empty)
//
// Sections are in the order of their tags, each at most once, batches excepted. Whatever a reader does not know is
// an error and not skipped: a record that was understood in part would change the state in part.
//
// Numbers are little-endian. Single ones are varints, columns are plain arrays.
const recordVersion = 2

// The tags of the sections.
const (
	headSection = iota + 1
	batchSection
	itemsSection
	statesSection
	docsSection
	answerSection
)

// SetPos sets the position in the journal of the record and of its batches.
func (r *Record) SetPos(pos Position) {
	r.Pos = pos
	for _, b := range r.Batches {
		b.Pos = pos
	}
}

// Append encodes the record, all but its position, behind dst. Batches without rows say nothing and are left out.
//
// It panics when a record could not be read back: a column that does not fit its batch, a status that does not exist.
// Only a bug makes such a record, and the last moment to notice is before it is on disk.
func (r *Record) Append(dst []byte) []byte {
	dst = append(dst, recordVersion)
	dst = section(dst, headSection, func(dst []byte) []byte {
		dst = binary.AppendVarint(dst, int64(r.Time))
		return binary.AppendUvarint(dst, uint64(r.Customer))
	})
	for _, b := range r.Batches {
		if b.Len() > 0 {
			dst = section(dst, batchSection, b.append)
		}
	}
	dst = appendList(dst, itemsSection, r.Items, appendItem)
	dst = appendList(dst, statesSection, r.States, appendStateChange)
	dst = appendList(dst, docsSection, r.Docs, appendDoc)
	if r.Answer != nil {
		dst = section(dst, answerSection, r.Answer.append)
	}
	return dst
}

// section writes a tag, room for the length, and the body; then it fills in the length.
func section(dst []byte, tag byte, body func([]byte) []byte) []byte {
	dst = append(dst, tag, 0, 0, 0, 0)
	start := len(dst)
	dst = body(dst)
	n := len(dst) - start
	if n > math.MaxUint32 {
		panic(fmt.Sprintf("belfry: section %d of a record has %d bytes; the journal takes no such record", tag, n))
	}
	binary.LittleEndian.PutUint32(dst[start-4:], uint32(n))
	return dst
}

func appendList[T any](dst []byte, tag byte, list []T, one func([]byte, *T) []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	return section(dst, tag, func(dst []byte) []byte {
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for i := range list {
			dst = one(dst, &list[i])
		}
		return dst
	})
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendStatus(dst []byte, s Status) []byte {
	if s >= statuses {
		panic(fmt.Sprintf("belfry: status %d does not exist", s))
	}
	return append(dst, byte(s))
}

func appendItem(dst []byte, it *Item) []byte {
	dst = binary.AppendUvarint(dst, uint64(it.ID))
	dst = binary.AppendUvarint(dst, uint64(it.Customer))
	dst = append(dst, byte(it.Kind))
	dst = appendText(dst, it.Name)
	dst = binary.AppendUvarint(dst, uint64(it.Parent))
	dst = binary.AppendUvarint(dst, uint64(it.Resource))
	dst = appendText(dst, it.Class)
	dst = appendText(dst, it.Package)
	dst = binary.AppendVarint(dst, int64(it.Created))
	dst = binary.AppendVarint(dst, int64(it.Removed))
	if it.Details == nil {
		return append(dst, 0)
	}
	if it.Details.Author == nil {
		return it.Details.append(append(dst, 1))
	}
	return it.Details.Author.append(it.Details.append(append(dst, detailsWithAuthor)))
}

// detailsWithAuthor precedes details that are followed by an author; details without an author begin with 1.
const detailsWithAuthor = 2

func (a *Author) append(dst []byte) []byte {
	dst = appendText(dst, a.User)
	dst = binary.AppendVarint(dst, int64(a.Created))
	dst = binary.AppendUvarint(dst, uint64(len(a.Views)))
	for _, v := range a.Views {
		dst = appendText(dst, v)
	}
	return dst
}

func (d *Details) append(dst []byte) []byte {
	dst = appendText(dst, d.IP)
	dst = appendText(dst, d.Host)
	for _, c := range d.Constants {
		dst = appendText(dst, c)
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.Answers)))
	if len(d.Answers) == 0 { // most have none, and sorting nothing still costs
		return dst
	}
	for _, k := range slices.Sorted(maps.Keys(d.Answers)) { // sorted: equal records have equal encodings
		dst = appendText(dst, k)
		dst = appendText(dst, d.Answers[k])
	}
	return dst
}

func appendStateChange(dst []byte, s *StateChange) []byte {
	return s.State.append(binary.AppendUvarint(dst, uint64(s.Item)))
}

func appendDoc(dst []byte, d *Doc) []byte {
	dst = appendText(dst, d.Kind)
	dst = binary.AppendUvarint(dst, uint64(d.Customer))
	dst = appendText(dst, d.Name)
	if d.Body == nil { // removed, which is not the same as empty
		return append(dst, 0)
	}
	dst = append(dst, 1)
	return append(binary.AppendUvarint(dst, uint64(len(d.Body))), d.Body...)
}

func (a *Answer) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(a.Customer))
	dst = appendText(dst, a.Key)
	dst = append(dst, a.Request[:]...)
	dst = binary.AppendVarint(dst, int64(a.Status))
	dst = append(binary.AppendUvarint(dst, uint64(len(a.Body))), a.Body...)
	return binary.AppendVarint(dst, int64(a.Time))
}

// DecodeRecord reads what Append wrote. The record shares no memory with data. Whatever the bytes are, it takes no more
// than a small multiple of their length in memory. Empty lists and bodies come back as nil.
func DecodeRecord(data []byte) (*Record, error) {
	if len(data) == 0 {
		return nil, errors.New("record is empty")
	}
	if data[0] != recordVersion {
		return nil, fmt.Errorf("record has format %d, this program knows format %d", data[0], recordVersion)
	}
	r := &Record{}
	d := decoder{data: data[1:]}
	last := byte(0)
	for d.err == nil && len(d.data) > 0 {
		tag := d.byte()
		body := decoder{data: d.bytes(uint64(d.uint32()))}
		if d.err != nil {
			break
		}
		if tag < last || tag == last && tag != batchSection || last == 0 && tag != headSection {
			return nil, fmt.Errorf("section %d of the record is out of place after section %d", tag, last)
		}
		last = tag
		r.decodeSection(tag, &body)
		if body.err == nil && len(body.data) > 0 {
			body.fail("%d bytes too many", len(body.data))
		}
		if body.err != nil {
			return nil, fmt.Errorf("section %d of the record: %w", tag, body.err)
		}
	}
	if d.err == nil && last == 0 {
		d.fail("no sections")
	}
	if d.err != nil {
		return nil, fmt.Errorf("record: %w", d.err)
	}
	return r, nil
}

// RecordTime reads only the time of what Append wrote.
func RecordTime(data []byte) (Time, error) {
	if len(data) == 0 || data[0] != recordVersion {
		return 0, errors.New("record has another format, or none")
	}
	d := decoder{data: data[1:]}
	if tag := d.byte(); tag != headSection {
		d.fail("begins with section %d", tag)
	}
	head := decoder{data: d.bytes(uint64(d.uint32()))}
	at := Time(head.varint())
	if err := cmp.Or(d.err, head.err); err != nil {
		return 0, fmt.Errorf("record: %w", err)
	}
	return at, nil
}

func (r *Record) decodeSection(tag byte, d *decoder) {
	switch tag {
	case headSection:
		r.Time = Time(d.varint())
		r.Customer = d.customer()
	case batchSection:
		r.Batches = append(r.Batches, d.batch())
	case itemsSection:
		r.Items = decodeList(d, 11, (*decoder).item)
	case statesSection:
		r.States = decodeList(d, 9, (*decoder).stateChange)
	case docsSection:
		r.Docs = decodeList(d, 4, (*decoder).doc)
	case answerSection:
		r.Answer = d.answer()
	default:
		d.fail("is not known to this program")
	}
}

// decodeList reads a list whose elements take at least size bytes each, so that a wrong count cannot ask for more
// memory than the bytes could fill.
func decodeList[T any](d *decoder, size int, one func(*decoder, *T)) []T {
	list := make([]T, d.count(size))
	if len(list) == 0 {
		d.fail("list without elements")
	}
	for i := range list {
		if one(d, &list[i]); d.err != nil {
			return nil
		}
	}
	return list
}

func (d *decoder) item(it *Item) {
	it.ID = ID(d.uvarint())
	it.Customer = d.customer()
	it.Kind = Kind(d.byte())
	it.Name = d.text()
	it.Parent = ID(d.uvarint())
	it.Resource = ID(d.uvarint())
	it.Class = d.repeated(&d.class)
	it.Package = d.repeated(&d.pkg)
	it.Created = Time(d.varint())
	it.Removed = Time(d.varint())
	switch have := d.byte(); have {
	case 0:
	case 1:
		it.Details = d.details()
	case detailsWithAuthor:
		it.Details = d.details()
		it.Details.Author = d.author()
	default:
		d.fail("details of kind %d", have)
	}
}

func (d *decoder) author() *Author {
	a := &Author{User: d.text(), Created: Time(d.varint())}
	n := d.count(1)
	for i := 0; i < n && d.err == nil; i++ {
		a.Views = append(a.Views, d.text())
	}
	return a
}

func (d *decoder) details() *Details {
	det := &Details{IP: d.text(), Host: d.text()}
	for i := range det.Constants {
		det.Constants[i] = d.text()
	}
	n := d.count(2)
	if n > 0 {
		det.Answers = make(map[string]string)
	}
	for i := 0; i < n && d.err == nil; i++ {
		k := d.text()
		if _, twice := det.Answers[k]; twice {
			d.fail("answer %q twice", k)
		}
		det.Answers[k] = d.text()
	}
	return det
}

func (d *decoder) stateChange(s *StateChange) {
	s.Item = ID(d.uvarint())
	d.state(&s.State)
}

func (d *decoder) doc(doc *Doc) {
	doc.Kind = d.text()
	doc.Customer = d.customer()
	doc.Name = d.text()
	if d.bool() {
		doc.Body = append([]byte{}, d.bytes(d.uvarint())...)
	}
}

func (d *decoder) answer() *Answer {
	a := &Answer{Customer: d.customer(), Key: d.text()}
	copy(a.Request[:], d.bytes(uint64(len(a.Request))))
	a.Status = int(d.varint())
	a.Body = append([]byte(nil), d.bytes(d.uvarint())...)
	a.Time = Time(d.varint())
	return a
}
