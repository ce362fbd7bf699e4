package query

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // the zones, where the machine has none

	"belfry"
)

func bucketIn(t *testing.T, length, zone string, from, to string) Bucket {
	t.Helper()
	b, err := parseBucket(length)
	if err != nil {
		t.Fatal(err)
	}
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return b.inZone(z, moment(t, from), moment(t, to))
}

func moment(t *testing.T, text string) belfry.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return belfry.At(at)
}

func TestBucketStart(t *testing.T) {
	f := func(length, zone, at, want string) {
		t.Helper()
		for _, span := range [][2]string{{at, at}, {"1970-01-01T00:00:00Z", "2036-01-01T00:00:00Z"}} {
			b := bucketIn(t, length, zone, span[0], span[1])
			if got := belfry.Time(b.start(int64(moment(t, at)))); got != moment(t, want) {
				t.Errorf("%s of %s in %s (%d offsets) is %s, want %s", length, at, zone, len(b.Offsets), got, want)
			}
		}
	}
	f("5m", "UTC", "2026-11-15T11:59:59Z", "2026-11-15T11:55:00Z")
	f("1d", "UTC", "2026-11-15T00:00:00Z", "2026-11-15T00:00:00Z")
	f("1d", "UTC", "1969-12-31T23:00:00Z", "1969-12-31T00:00:00Z")
	f("1w", "UTC", "2026-11-15T23:59:59Z", "2026-11-09T00:00:00Z")
	f("2w", "UTC", "1970-01-19T00:00:00Z", "1970-01-19T00:00:00Z")

	// In spring the clock goes from 2 to 3 at 1:00 UTC: a day of 23 hours.
	f("1d", "Europe/Paris", "2026-03-29T00:30:00Z", "2026-03-28T23:00:00Z")
	f("1d", "Europe/Paris", "2026-03-29T21:59:59Z", "2026-03-28T23:00:00Z")
	f("1d", "Europe/Paris", "2026-03-29T22:00:00Z", "2026-03-29T22:00:00Z")
	f("1h", "Europe/Paris", "2026-03-29T00:59:59Z", "2026-03-29T00:00:00Z")
	f("1h", "Europe/Paris", "2026-03-29T01:30:00Z", "2026-03-29T01:00:00Z")
	f("4h", "Europe/Paris", "2026-03-29T01:30:00Z", "2026-03-28T23:00:00Z")
	f("1w", "Europe/Paris", "2026-03-29T12:00:00Z", "2026-03-22T23:00:00Z")

	// In autumn it goes from 3 to 2 at 1:00 UTC: a day of 25 hours, and an hour that occurs twice.
	f("1d", "Europe/Paris", "2026-10-25T00:30:00Z", "2026-10-24T22:00:00Z")
	f("1d", "Europe/Paris", "2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z")
	f("1d", "Europe/Paris", "2026-10-25T23:00:00Z", "2026-10-25T23:00:00Z")
	f("1h", "Europe/Paris", "2026-10-25T00:30:00Z", "2026-10-25T00:00:00Z")
	f("1h", "Europe/Paris", "2026-10-25T01:30:00Z", "2026-10-25T01:00:00Z")
	f("1w", "Europe/Paris", "2026-10-25T22:59:59Z", "2026-10-18T22:00:00Z")
	f("200d", "Europe/Paris", "2026-11-15T12:00:00Z", "2026-05-26T22:00:00Z")

	f("1h", "Asia/Kathmandu", "2026-11-15T12:00:00Z", "2026-11-15T11:15:00Z")
	f("1d", "Asia/Kathmandu", "2026-11-15T12:00:00Z", "2026-11-14T18:15:00Z")
	f("1d", "Australia/Lord_Howe", "2026-10-03T16:00:00Z", "2026-10-03T13:30:00Z") // half an hour of change
}

// TestBucketsNeverOverlap walks over the offset changes of a year: buckets are adjacent, and each begins at its own start.
func TestBucketsNeverOverlap(t *testing.T) {
	f := func(length, zone string) {
		t.Helper()
		b := bucketIn(t, length, zone, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
		before := int64(0)
		for at := moment(t, "2026-01-01T00:00:00Z"); at < moment(t, "2027-01-01T00:00:00Z"); at += belfry.Time(15 * 60 * second) {
			start := b.start(int64(at))
			if start < before || start > int64(at) || b.start(start) != start {
				t.Fatalf("%s in %s: %s begins at %s, which begins at %s; the part before at %s", length, zone, at, belfry.Time(start),
					belfry.Time(b.start(start)), belfry.Time(before))
			}
			before = start
		}
	}
	for _, zone := range []string{"UTC", "Europe/Paris", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Casablanca"} {
		for _, length := range []string{"15m", "1h", "6h", "1d", "1w", "30d"} {
			f(length, zone)
		}
	}
}

func TestBucketLength(t *testing.T) {
	for _, text := range []string{"1s", "90s", "5m", "1h", "36h", "1d", "366d", "1w", "52w"} {
		b, err := parseBucket(text)
		again, err2 := parseBucket(b.length())
		if err != nil || err2 != nil || again.Length != b.Length || again.Origin != b.Origin {
			t.Errorf("%s prints as %s (%v, %v)", text, b.length(), err, err2)
		}
	}
	for _, text := range []string{"", "w", "0w", "-1w", "+1w", "53w", "1", "5x", "367d", "1e3s", "5 m", "99999999999999999999w"} {
		if b, err := parseBucket(text); err == nil {
			t.Errorf("%q is a length: %+v", text, b)
		}
	}
}

// TestOffsetsAreFew: the number of offsets in a plan is bounded, however long the span.
func TestOffsetsAreFew(t *testing.T) {
	b := bucketIn(t, "1d", "Europe/Paris", "1970-01-01T00:00:00Z", "2036-01-01T00:00:00Z")
	if n, size := len(b.Offsets), len(b.sql("t")); n < 100 || n > 150 || size > 100_000 {
		t.Errorf("%d offsets, written in %d bytes", n, size)
	}
}

// TestBucketOfLeapYears: after the listed years a zone follows a rule, also over the end of a leap year.
func TestBucketOfLeapYears(t *testing.T) {
	f := func(zone, from, to string, want ...string) {
		t.Helper()
		var got []string
		for _, o := range bucketIn(t, "1d", zone, from, to).Offsets[1:] {
			got = append(got, o.From.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %s the clock changes at %v, want %v", zone, got, want)
		}
	}
	f("Europe/Paris", "2040-07-01T00:00:00Z", "2041-07-01T00:00:00Z", "2040-10-28T01:00:00.000000Z", "2041-03-31T01:00:00.000000Z")
	f("Australia/Lord_Howe", "2044-12-31T12:00:00Z", "2045-07-01T00:00:00Z", "2045-04-01T15:00:00.000000Z")
	f("Asia/Kathmandu", "2040-07-01T00:00:00Z", "2041-07-01T00:00:00Z")
}
