package belfry

import (
	"encoding/binary"
	"fmt"
	"math"
)

// decoder takes values off the front of data. After the first error it gives zeros, so that callers check err where it
// suits them, and never reads on.
type decoder struct {
	data       []byte
	err        error
	class, pkg string // the last ones read: neighbours mostly share them
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
		d.data = nil
	}
}

// bytes takes n bytes; they still belong to the input.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.data)) {
		d.fail("%d bytes wanted, %d left", n, len(d.data))
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) byte() byte {
	if len(d.data) == 0 {
		d.fail("ends too early")
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

func (d *decoder) bool() bool {
	b := d.byte()
	if b > 1 {
		d.fail("%d is neither yes nor no", b)
	}
	return b == 1
}

func (d *decoder) uint32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.fail("number ends too early or is too large")
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.data)
	if n <= 0 {
		d.fail("number ends too early or is too large")
		return 0
	}
	d.data = d.data[n:]
	return v
}

// count reads how many elements follow, of at least size bytes each. More than there are bytes for is an error.
func (d *decoder) count(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.data)/size) {
		d.fail("%d elements in %d bytes", n, len(d.data))
		return 0
	}
	return int(n)
}

func (d *decoder) text() string { return string(d.bytes(d.uvarint())) }

// repeated reads a text that is often the same as the one before, and then shares its memory.
func (d *decoder) repeated(last *string) string {
	b := d.bytes(d.uvarint())
	if string(b) != *last {
		*last = string(b)
	}
	return *last
}

func (d *decoder) customer() CustomerID {
	n := d.uvarint()
	if n > math.MaxUint32 {
		d.fail("customer %d does not exist", n)
		return 0
	}
	return CustomerID(n)
}

func (d *decoder) status() Status {
	s := Status(d.byte())
	if s >= statuses {
		d.fail("status %d does not exist", s)
		return 0
	}
	return s
}
