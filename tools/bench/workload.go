package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

const (
	perResource = 100 // objects of a resource
	values      = 5   // of a row
)

// workload makes rows as agents send them, for all objects in turn: a walk with two decimals, a whole number from 0 to
// 100, a constant, a number with three decimals, a counter that rises. Its state is in hundredths, so that no number is
// ever rounded. Instead, all values can be whole numbers of two to six random digits, which compress badly. Or the second value
// crosses the threshold of thresholdClass with each row of an object; in every round one half of the objects is above it.
type workload struct {
	walk, counter []int32
	first         int // number of the first object
	next          int // object
	round         int // of rows, the first is 0
	digits        bool
	change        bool
	random        *rand.Rand
}

func newWorkload(objects int) *workload {
	w := &workload{round: -1, walk: make([]int32, objects), counter: make([]int32, objects), random: rand.New(rand.NewPCG(1, 2))}
	for i := range w.walk {
		w.walk[i], w.counter[i] = w.random.Int32N(10_000), w.random.Int32N(1_000_000)
	}
	return w
}

const (
	knownHeader = "type,resname,object,i1,i2,i3,i4,i5\n"
	newHeader   = "type,resname,object,class,view,i1,i2,i3,i4,i5\n"
)

// body appends a header and rows to dst; create gives the rows what it takes to make their objects.
func (w *workload) body(dst []byte, rows int, create bool) []byte {
	if create {
		dst = append(dst, newHeader...)
	} else {
		dst = append(dst, knownHeader...)
	}
	for range rows {
		dst = w.row(dst, w.turn(), create)
	}
	return dst
}

// turn is the object whose row is next.
func (w *workload) turn() int {
	object := w.next
	if object == 0 {
		w.round++
	}
	w.next = (w.next + 1) % len(w.walk)
	return object
}

func (w *workload) row(dst []byte, object int, create bool) []byte {
	number := w.first + object
	dst = append(dst, "data,"...)
	dst = appendPadded(append(dst, "res"...), number/perResource, 5)
	dst = appendPadded(append(dst, ",obj"...), number, 7)
	if create {
		dst = appendPadded(append(dst, ",bench,res"...), number/perResource, 5)
	}
	for n := 1; n <= values; n++ {
		dst = w.value(append(dst, ','), object, n)
	}
	return append(dst, '\n')
}

// value writes value n of an object's next row.
func (w *workload) value(dst []byte, object, n int) []byte {
	switch {
	case w.digits:
		least := int64(10)
		for range w.random.IntN(5) {
			least *= 10
		}
		return strconv.AppendInt(dst, least+w.random.Int64N(9*least), 10)
	case w.change && n == 2 && (object+w.round)%2 == 1:
		return append(dst, "500"...)
	}
	switch n {
	case 1:
		w.walk[object] += w.random.Int32N(201) - 100
		return appendDecimal(dst, w.walk[object], 2)
	case 2:
		return strconv.AppendInt(dst, int64(w.random.Int32N(101)), 10)
	case 3:
		return append(dst, "42"...)
	case 4:
		return appendDecimal(dst, w.random.Int32N(100_000), 3)
	}
	w.counter[object] += w.random.Int32N(1500)
	return strconv.AppendInt(dst, int64(w.counter[object]), 10)
}

// appendPadded writes n with zeros in front.
func appendPadded(dst []byte, n, width int) []byte {
	var b [8]byte
	for i := width - 1; i >= 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
	return append(dst, b[:width]...)
}

// appendDecimal writes n / 10^places, without zeros at the end of the fraction, as a program would print it.
func appendDecimal(dst []byte, n int32, places int) []byte {
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	unit := int32(1)
	for range places {
		unit *= 10
	}
	dst = strconv.AppendInt(dst, int64(n/unit), 10)
	rest := n % unit
	if rest == 0 {
		return dst
	}
	for rest%10 == 0 {
		rest, places = rest/10, places-1
	}
	return appendPadded(append(dst, '.'), int(rest), places)
}

// resourceNames is the body that provisions the resources of so many objects.
func resourceNames(objects int) []byte {
	b := []byte("name\n")
	for i := 0; i*perResource < objects; i++ {
		b = fmt.Appendf(b, "res%05d\n", i)
	}
	return b
}
