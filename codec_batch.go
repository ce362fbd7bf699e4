package belfry

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// How the times and the columns of a batch are laid out.
const (
	oneTime     = iota + 1 // all rows have the same: one value
	manyTimes              // 8 bytes a row
	numbers64              // 8 bytes a row
	ints64                 // 8 bytes a row
	ints32                 // 4 bytes a row, all values are in 0 … 2³²-1: item ids, mostly
	textLengths            // 4 bytes a row for the length, then all texts in one piece
)

// append encodes a batch that has rows. Bodies are plain arrays: this is where the bytes of a bulk request pass, and it
// runs at about the speed of copying them.
func (b *Batch) append(dst []byte) []byte {
	dst = slices.Grow(dst, b.encodedSize())
	dst = appendText(dst, b.Collection)
	dst = binary.AppendUvarint(dst, uint64(b.Customer))
	dst = binary.AppendUvarint(dst, uint64(b.FirstID))
	dst = binary.AppendUvarint(dst, uint64(b.Len()))
	dst = b.appendTimes(dst)
	dst = binary.AppendUvarint(dst, uint64(len(b.Columns)))
	for i := range b.Columns {
		dst = b.Columns[i].append(dst, b.Len())
	}
	return dst
}

// encodedSize is an upper bound, so that a batch costs one growth of the buffer.
func (b *Batch) encodedSize() int {
	n := len(b.Collection) + 64 + 8*b.Len()
	for i := range b.Columns {
		c := &b.Columns[i]
		n += len(c.Name) + 16 + 8*b.Len()
		for _, t := range c.Texts {
			n += len(t)
		}
	}
	return n
}

func (b *Batch) appendTimes(dst []byte) []byte {
	first := b.Times[0]
	// Without columns the times alone pay for the rows: a count that nothing backs is what the decoder refuses.
	same := len(b.Columns) > 0
	for _, t := range b.Times {
		same = same && t == first
	}
	if same {
		return binary.LittleEndian.AppendUint64(append(dst, oneTime), uint64(first))
	}
	return appendInts(append(dst, manyTimes), b.Times)
}

func (c *Column) append(dst []byte, rows int) []byte {
	set := 0
	for _, n := range [...]int{len(c.Numbers), len(c.Ints), len(c.Texts)} {
		if n != 0 && n != rows {
			panic(fmt.Sprintf("belfry: column %q has %d values for %d rows", c.Name, n, rows))
		}
		set += n
	}
	if set != rows {
		panic(fmt.Sprintf("belfry: column %q must have values of exactly one type", c.Name))
	}
	dst = appendText(dst, c.Name)
	switch {
	case len(c.Numbers) > 0:
		return appendNumbers(append(dst, numbers64), c.Numbers)
	case len(c.Ints) > 0 && fit32(c.Ints):
		return appendInts32(append(dst, ints32), c.Ints)
	case len(c.Ints) > 0:
		return appendInts(append(dst, ints64), c.Ints)
	}
	return appendTexts(append(dst, textLengths), c.Texts)
}

func fit32(list []int64) bool {
	all := uint64(0)
	for _, v := range list {
		all |= uint64(v)
	}
	return all <= math.MaxUint32
}

// room makes place for n bytes behind dst and gives that place too.
func room(dst []byte, n int) (whole, part []byte) {
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	return dst, dst[at:]
}

// The loops below cut the front off instead of indexing: the compiler then needs one bounds check a value.

func appendNumbers(dst []byte, list []float64) []byte {
	dst, out := room(dst, 8*len(list))
	for _, v := range list {
		binary.LittleEndian.PutUint64(out, math.Float64bits(v))
		out = out[8:]
	}
	return dst
}

func appendInts[T ~int64](dst []byte, list []T) []byte {
	dst, out := room(dst, 8*len(list))
	for _, v := range list {
		binary.LittleEndian.PutUint64(out, uint64(v))
		out = out[8:]
	}
	return dst
}

func appendInts32(dst []byte, list []int64) []byte {
	dst, out := room(dst, 4*len(list))
	for _, v := range list {
		binary.LittleEndian.PutUint32(out, uint32(v))
		out = out[4:]
	}
	return dst
}

func appendTexts(dst []byte, list []string) []byte {
	dst, out := room(dst, 4*len(list))
	for _, t := range list {
		binary.LittleEndian.PutUint32(out, uint32(len(t)))
		out = out[4:]
	}
	for _, t := range list {
		dst = append(dst, t...)
	}
	return dst
}

func (d *decoder) batch() *Batch {
	b := &Batch{Collection: d.text(), Customer: d.customer(), FirstID: RowID(d.uvarint())}
	rows := d.count(4) // the narrowest column has 4 bytes a row
	if rows == 0 {
		d.fail("batch without rows")
		return b
	}
	form := d.byte()
	switch form {
	case oneTime:
		b.Times = slices.Repeat([]Time{Time(d.uint64())}, rows)
	case manyTimes:
		b.Times = decodeInts[Time](d.bytes(8 * uint64(rows)))
	default:
		d.fail("times in the unknown form %d", form)
	}
	n := d.count(2 + 4*rows)
	if form == oneTime && n == 0 {
		d.fail("%d rows without a value", rows)
	}
	if n > 0 {
		b.Columns = make([]Column, n)
	}
	for i := range b.Columns {
		b.Columns[i].Name = d.text()
		d.values(&b.Columns[i], rows)
	}
	return b
}

func (d *decoder) values(c *Column, rows int) {
	if d.err != nil {
		return
	}
	switch form := d.byte(); form {
	case numbers64:
		c.Numbers = decodeNumbers(d.bytes(8 * uint64(rows)))
	case ints64:
		c.Ints = decodeInts[int64](d.bytes(8 * uint64(rows)))
	case ints32:
		c.Ints = decodeInts32(d.bytes(4 * uint64(rows)))
	case textLengths:
		c.Texts = d.texts(rows)
	default:
		d.fail("column %q in the unknown form %d", c.Name, form)
	}
}

// texts copies the texts of a column once, all together: cheap, but who keeps one of them keeps them all.
func (d *decoder) texts(rows int) []string {
	lengths := d.bytes(4 * uint64(rows))
	total := uint64(0)
	for b := lengths; len(b) >= 4; b = b[4:] {
		total += uint64(binary.LittleEndian.Uint32(b))
	}
	all := string(d.bytes(total))
	if d.err != nil {
		return nil
	}
	list := make([]string, rows)
	for i := range list {
		n := binary.LittleEndian.Uint32(lengths)
		list[i], all, lengths = all[:n], all[n:], lengths[4:]
	}
	return list
}

func decodeNumbers(data []byte) []float64 {
	list := make([]float64, len(data)/8)
	for i := range list {
		list[i] = math.Float64frombits(binary.LittleEndian.Uint64(data))
		data = data[8:]
	}
	return list
}

func decodeInts[T ~int64](data []byte) []T {
	list := make([]T, len(data)/8)
	for i := range list {
		list[i] = T(binary.LittleEndian.Uint64(data))
		data = data[8:]
	}
	return list
}

func decodeInts32(data []byte) []int64 {
	list := make([]int64, len(data)/4)
	for i := range list {
		list[i] = int64(binary.LittleEndian.Uint32(data))
		data = data[4:]
	}
	return list
}
