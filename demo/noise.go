package demo

import (
	"math"
	"time"
)

// mix hashes numbers to a pseudo-random one.
func mix(parts ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h ^= p
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 29
		h *= 0x94d049bb133111eb
		h ^= h >> 32
	}
	return h
}

// fraction maps a number to 0 up to 1.
func fraction(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// noise returns a pseudo-random number from -1 to 1 for a time.
func noise(t time.Time, parts ...uint64) float64 {
	return 2*fraction(mix(append(parts, uint64(t.Unix()))...)) - 1
}

// drift returns a number from -1 to 1 that changes smoothly, from one random value to the next within the given time.
func drift(t time.Time, within time.Duration, parts ...uint64) float64 {
	at := float64(t.Unix()) / within.Seconds()
	i := math.Floor(at)
	a := 2*fraction(mix(append(parts, uint64(i))...)) - 1
	b := 2*fraction(mix(append(parts, uint64(i)+1)...)) - 1
	part := at - i
	part = part * part * (3 - 2*part) // smooth where two intervals meet
	return a + (b-a)*part
}

// rhythm returns the load, from 0 at night to 1 in the late morning; at weekends half of it.
func rhythm(t time.Time) float64 {
	h := float64(t.Hour()) + float64(t.Minute())/60
	busy := 0.08 + 0.92*(bump(h, 10.5, 3)+0.85*bump(h, 15.5, 2.5)+0.45*bump(h, 20, 1.8))
	if d := t.Weekday(); d == time.Saturday || d == time.Sunday {
		busy *= 0.5
	}
	return min(busy, 1)
}

func bump(h, at, width float64) float64 {
	d := (h - at) / width
	return math.Exp(-d * d)
}
