package rowfmt

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"belfry"
)

// ParseNumber reads a finite decimal: a point, a sign and an exponent are optional, blanks around it are ignored. Its
// result is the float64 nearest to what is written, bit for bit the one of strconv.ParseFloat, which it spares for
// numbers as people and agents write them. Only -0 differs: it is 0.
func ParseNumber(b []byte) (float64, bool) {
	b = TrimBlanks(b)
	mantissa, exp, exact, ok := scanDecimal(b)
	if !ok {
		return 0, false
	}
	if !exact || exp < -22 || exp > 22 {
		// The text is a plain decimal by now, so a range error is the only one possible.
		f, err := strconv.ParseFloat(string(b), 64)
		return f + 0, err == nil // -0 + 0 is 0
	}
	// Both operands are exact, so the one operation rounds once, and correctly.
	f := float64(mantissa)
	if exp < 0 {
		f /= powersOfTen[-exp]
	} else if exp > 0 {
		f *= powersOfTen[exp]
	}
	if b[0] == '-' && f != 0 {
		f = -f
	}
	return f, true
}

// lastWhole is 2^53: up to there a float64 holds every whole number.
const lastWhole = 1 << 53

// Rounded reports whether b, which is the number f, is a whole number that is written in full and may not be held as it is: an
// identifier or a counter, of which other digits would be stored than were sent. One with a point or an exponent is a measured
// value, and may be rounded.
func Rounded(b []byte, f float64) bool {
	return (f <= -lastWhole || f >= lastWhole) && manyDigits(b) // of most values the first is inlined and decides
}

func manyDigits(b []byte) bool {
	if bytes.ContainsAny(b, ".eE") {
		return false
	}
	digits := bytes.TrimLeft(TrimBlanks(b), "+-0")
	return string(digits) != "9007199254740992"
}

// powersOfTen are those that a float64 holds exactly.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// scanDecimal checks that b is a decimal and takes it apart: it is ±mantissa times ten to the exp. Unless exact, the
// mantissa or the exponent is too large for these and only the form has been checked.
func scanDecimal(b []byte) (mantissa uint64, exp int, exact, ok bool) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	first := i
	for ; i < len(b) && isDigit(b[i]); i++ {
		mantissa = mantissa*10 + uint64(b[i]-'0')
	}
	digits := i - first
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for ; i < len(b) && isDigit(b[i]); i++ {
			mantissa = mantissa*10 + uint64(b[i]-'0')
		}
		exp = point - i
		digits -= exp
	}
	if digits == 0 {
		return 0, 0, false, false
	}
	// Nineteen digits always fit a uint64; with more it may have overflowed.
	exact = digits <= 19 && mantissa < 1<<53
	if i == len(b) {
		return mantissa, exp, exact, true
	}
	e, small, ok := scanExponent(b[i:])
	return mantissa, exp + e, exact && small, ok
}

// scanExponent reads the exponent of a decimal; small means that e is its value.
func scanExponent(b []byte) (e int, small, ok bool) {
	if b[0] != 'e' && b[0] != 'E' {
		return 0, false, false
	}
	b = b[1:]
	negative := len(b) > 0 && b[0] == '-'
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	for _, d := range b {
		if !isDigit(d) {
			return 0, false, false
		}
		e = min(e*10+int(d-'0'), 10_000)
	}
	small = e < 10_000
	if negative {
		e = -e
	}
	return e, small, len(b) > 0
}

func isDigit(b byte) bool { return b-'0' <= 9 }

func TrimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// The bounds of a timestamp given as a number: below the first it counts seconds, else milliseconds, up to the end of
// the year 9999. Anything later is a clock that counts microseconds or nanoseconds, and is refused.
const (
	firstMillis = 100_000_000_000
	endOfMillis = 253_402_300_800_000
)

// ParseTimestamp reads an RFC 3339 time with any offset, or the seconds (below 1e11) or milliseconds since 1970; blanks
// around it are ignored. What is finer than a microsecond is cut off.
func ParseTimestamp(b []byte) (belfry.Time, bool) {
	b = TrimBlanks(b)
	if len(b) > 4 && b[4] == '-' && isDigit(b[0]) {
		return parseRFC3339(b)
	}
	return parseEpoch(b)
}

func parseEpoch(b []byte) (belfry.Time, bool) {
	i, whole := 0, int64(0)
	for ; i < len(b) && isDigit(b[i]); i++ {
		if whole = whole*10 + int64(b[i]-'0'); whole >= endOfMillis {
			return 0, false
		}
	}
	micros, n := int64(0), 0
	if i > 0 && i < len(b) && b[i] == '.' {
		micros, n = scanMicros(b[i:])
	}
	if i == 0 || i+n != len(b) {
		return parseRareEpoch(b)
	}
	if whole < firstMillis {
		return belfry.Time(whole*1_000_000 + micros), true
	}
	return belfry.Time(whole*1000 + micros/1000), true
}

// parseRareEpoch reads numbers with a sign or an exponent.
func parseRareEpoch(b []byte) (belfry.Time, bool) {
	f, ok := ParseNumber(b)
	switch {
	case !ok, f < 0, f >= endOfMillis:
		return 0, false
	case f < firstMillis:
		return belfry.Time(math.Round(f * 1e6)), true
	}
	return belfry.Time(math.Round(f * 1e3)), true
}

// scanMicros reads the fraction of a second at the start of b, which begins with the point, and says how many bytes it
// takes; 0 when no digit follows.
func scanMicros(b []byte) (micros int64, n int) {
	unit := int64(100_000)
	for n = 1; n < len(b) && isDigit(b[n]); n++ {
		micros += unit * int64(b[n]-'0')
		unit /= 10
	}
	if n == 1 {
		return 0, 0
	}
	return micros, n
}

// parseRFC3339 reads 2006-01-02T15:04:05[.999999](Z|±15:04). A small t or z and a blank for the T are taken, as the
// RFC allows; its leap second counts as the second after it.
func parseRFC3339(b []byte) (belfry.Time, bool) {
	if len(b) < len("2006-01-02T15:04:05Z") {
		return 0, false
	}
	if b[4] != '-' || b[7] != '-' || b[13] != ':' || b[16] != ':' || b[10] != 'T' && b[10] != 't' && b[10] != ' ' {
		return 0, false
	}
	century, year, month, day := twoDigits(b), twoDigits(b[2:]), twoDigits(b[5:]), twoDigits(b[8:])
	hour, minute, second := twoDigits(b[11:]), twoDigits(b[14:]), twoDigits(b[17:])
	if century < 0 || year < 0 || month < 1 || month > 12 || day < 1 ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return 0, false
	}
	micros, n := int64(0), 0
	b = b[19:]
	if b[0] == '.' {
		if micros, n = scanMicros(b); n == 0 {
			return 0, false
		}
	}
	offset, ok := parseOffset(b[n:])
	if !ok {
		return 0, false
	}
	date := time.Date(century*100+year, time.Month(month), day, hour, minute, 0, 0, time.UTC)
	if date.Day() != day { // the 30th of February has become a day in March
		return 0, false
	}
	date = date.Add(-offset)
	if second == 60 && (date.Hour() != 23 || date.Minute() != 59) {
		return 0, false
	}
	return belfry.Time((date.Unix()+int64(second))*1_000_000 + micros), true
}

func parseOffset(b []byte) (time.Duration, bool) {
	if len(b) == 1 {
		return 0, b[0] == 'Z' || b[0] == 'z'
	}
	if len(b) != len("+15:04") || b[3] != ':' || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	hours, minutes := twoDigits(b[1:]), twoDigits(b[4:])
	if hours < 0 || hours > 23 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if b[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// twoDigits reads two digits, -1 when they are none.
func twoDigits(b []byte) int {
	if !isDigit(b[0]) || !isDigit(b[1]) {
		return -1
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}
