package rowfmt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry"
)

func TestParseNumber(t *testing.T) {
	f := func(in string, want float64) {
		t.Helper()
		got, ok := ParseNumber([]byte(in))
		if !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q: got %v, %t, want %v", in, got, ok, want)
		}
	}
	f("0", 0)
	f("-0", 0)
	f("-0.0", 0)
	f("-0e5", 0)
	f("-1e-400", 0)
	f("-0."+strings.Repeat("0", 30), 0)
	f("17", 17)
	f("+17", 17)
	f("-1.25", -1.25)
	f(".5", 0.5)
	f("5.", 5)
	f(" \t1.5\t ", 1.5)
	f("1e3", 1000)
	f("1E+3", 1000)
	f("125e-2", 1.25)
	f("007", 7)
	f("0.1", 0.1)
	f("9007199254740993", 9007199254740992)
	f("9007199254740991", 9007199254740991)
	f("123456789012345678901234567890", 123456789012345678901234567890)
	f("0.30000000000000004", 0.30000000000000004)
	f("1e22", 1e22)
	f("1e23", 1e23)
	f("1.7976931348623157e308", math.MaxFloat64)
	f("5e-324", 5e-324)
	f("1e-400", 0)
	f("0e99999999999999999999", 0)
	f("1e-99999999999999999999", 0)
	f("0."+strings.Repeat("0", 1000)+"1e1001", 1)

	bad := func(in string) {
		t.Helper()
		if got, ok := ParseNumber([]byte(in)); ok {
			t.Errorf("%q: got %v, want none", in, got)
		}
	}
	for _, in := range strings.Split("|NaN|nan|Inf|-inf|+Infinity|0x10|0x1p4|1_000|1,5|1.5.2|--1|+-1|-|+|.|-.|e5|.e5|1e|1e+|1e-|1e5.5|1 2|"+
		"1e309|-1e309|1e99999999999999999999|N/A|12px|１|1\x00|1\u00a0|\n1", "|") {
		bad(in)
	}
	bad("   ")
}

var decimal = regexp.MustCompile(`^[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$`)

// checkNumber: what has the form of a decimal reads as strconv reads it, but for -0; nothing else is a number.
func checkNumber(t *testing.T, in string) {
	t.Helper()
	want, err := strconv.ParseFloat(strings.Trim(in, " \t"), 64)
	wantOK := err == nil && decimal.MatchString(in)
	if want == 0 {
		want = 0
	}
	got, ok := ParseNumber([]byte(in))
	if ok != wantOK || ok && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q: got %v, %t, want %v, %t", in, got, ok, want, wantOK)
	}
}

func TestParseNumberAsStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		digits := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
		point := r.IntN(len(digits) + 1)
		in := digits[:point] + "." + digits[point:]
		if r.IntN(2) == 0 {
			in += fmt.Sprintf("e%d", r.IntN(60)-30)
		}
		checkNumber(t, in)
		checkNumber(t, strconv.FormatFloat(math.Float64frombits(r.Uint64()), 'g', -1, 64))
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1.25", "-0", " .5e-3 ", "1e23", "9007199254740993", "0x1p4", "1_0", "inf", "NaN", "1e400", "18446744073709551616"} {
		f.Add(s)
	}
	f.Fuzz(checkNumber)
}

func TestParseTimestamp(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, ok := ParseTimestamp([]byte(in))
		if !ok || got.String() != want {
			t.Errorf("%q: got %v, %t, want %s", in, got, ok, want)
		}
	}
	f("2026-11-15T02:14:07Z", "2026-11-15T02:14:07.000000Z")
	f(" 2026-11-15T02:14:07Z\t", "2026-11-15T02:14:07.000000Z")
	f("2026-11-15t02:14:07z", "2026-11-15T02:14:07.000000Z")
	f("2026-11-15 02:14:07Z", "2026-11-15T02:14:07.000000Z")
	f("2026-11-15T02:14:07.5Z", "2026-11-15T02:14:07.500000Z")
	f("2026-11-15T02:14:07.123456999Z", "2026-11-15T02:14:07.123456Z")
	f("2026-11-15T02:14:07+02:00", "2026-11-15T00:14:07.000000Z")
	f("2026-11-15T02:14:07.25-05:30", "2026-11-15T07:44:07.250000Z")
	f("2026-11-15T02:14:07-00:00", "2026-11-15T02:14:07.000000Z")
	f("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z")
	f("1969-12-31T23:59:59.75Z", "1969-12-31T23:59:59.750000Z")
	f("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z")
	f("2017-01-01T01:59:60.5+02:00", "2017-01-01T00:00:00.500000Z")
	f("1794708847", "2026-11-15T02:14:07.000000Z")
	f("1794708847.25", "2026-11-15T02:14:07.250000Z")
	f("1794708847.1234569", "2026-11-15T02:14:07.123456Z")
	f("1794708847.", "2026-11-15T02:14:07.000000Z")
	f("1794708847250", "2026-11-15T02:14:07.250000Z")
	f("1794708847250.5", "2026-11-15T02:14:07.250500Z")
	f("+1.794708847e9", "2026-11-15T02:14:07.000000Z")
	f("1.79470884725e12", "2026-11-15T02:14:07.250000Z")
	f("0", "1970-01-01T00:00:00.000000Z")
	f("99999999999", "5138-11-16T09:46:39.000000Z")
	f("100000000000", "1973-03-03T09:46:40.000000Z")
	f("253402300799999", "9999-12-31T23:59:59.999000Z")

	for _, in := range strings.Split("|now|-1|-1794708847|1794708847000000|1794708847000000000|1e300|NaN|0x5|1794708847 5|1794708847.5.5|17947-8847|"+
		"2026-11-15|2026-11-15T02:14|2026-11-15T02:14:07|2026-11-15T02:14:07.Z|2026-11-15T02:14:07,5Z|2026-11-15T02:14:07+0200|2026-11-15T02:14:07+24:00|"+
		"2026-11-15T02:14:07+02:60|2026-13-15T02:14:07Z|2026-00-15T02:14:07Z|2026-02-29T02:14:07Z|2026-11-31T02:14:07Z|2026-11-00T02:14:07Z|"+
		"2026-11-15T24:00:00Z|2026-11-15T02:60:07Z|2026-11-15T02:14:61Z|2026-11-15T02:14:60Z|2026-11-15T02:14:07ZZ|2026-11-15x02:14:07Z|"+
		"2026-1-15T02:14:07Z|12026-11-15T02:14:07Z|2026-11-15T2:14:07Z0|+026-11-15T02:14:07Z|2026-11-15T02:14:07.5", "|") {
		if got, ok := ParseTimestamp([]byte(in)); ok {
			t.Errorf("%q: got %v, want none", in, got)
		}
	}
}

// FuzzTimestamp holds RFC 3339 against the strict reader of package time, and numbers against their value.
func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{"2026-11-15T02:14:07.25+02:00", "2016-12-31T23:59:60Z", "1794708847.25", "1794708847250", "1e9", "0000-01-01t00:00:00z", "-5"} {
		f.Add(s)
	}
	f.Add("2026-11-15T02:14:07,25+02:00")
	f.Add("2020-11-15T02:14:07.25+02:60")
	// Package time takes more than RFC 3339 has: a comma for the point, sixty minutes in an offset.
	strict := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := ParseTimestamp([]byte(in))
		var std time.Time
		if strict.MatchString(in) && std.UnmarshalText([]byte(in)) == nil && (!ok || got != belfry.At(std)) {
			t.Fatalf("%q: got %v, %t, want %v", in, got, ok, belfry.At(std))
		}
		if !ok {
			return
		}
		in = strings.Trim(in, " \t")
		if number, isNumber := ParseNumber([]byte(in)); isNumber {
			scale := 1e6
			if number >= firstMillis {
				scale = 1e3
			}
			if want := number * scale; math.Abs(float64(got)-want) > 2+want*1e-15 {
				t.Fatalf("%q: got %d µs", in, got)
			}
			return
		}
		text := []byte(strings.ToUpper(in))
		text[10] = 'T'
		if leap := text[17] == '6'; leap {
			text[17], text[18] = '5', '9'
			got -= 1_000_000
		}
		if err := std.UnmarshalText(text); err != nil || belfry.At(std) != got {
			t.Fatalf("%q: got %v, package time says %v, %v", in, got, std, err)
		}
	})
}

func BenchmarkParseNumber(b *testing.B) {
	for _, in := range []string{"17", "1.25", "-0.125", "1794708847.25", "0.30000000000000004"} {
		b.Run(in, func(b *testing.B) {
			text := []byte(in)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := ParseNumber(text); !ok {
					b.Fatal("not a number")
				}
			}
		})
	}
}

func BenchmarkParseTimestamp(b *testing.B) {
	for _, in := range []string{"2026-11-15T02:14:07.25+02:00", "1794708847.25", "1794708847250"} {
		b.Run(in, func(b *testing.B) {
			text := []byte(in)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := ParseTimestamp(text); !ok {
					b.Fatal("not a time")
				}
			}
		})
	}
}
