package duck

import (
	"time"

	"belfry"
	"belfry/catalog"
)

// period is the span of time whose rows share a file: from inclusive, to exclusive.
type period struct{ from, to belfry.Time }

// endOfTime is the year 10,000. Neither its rows nor those before 1970 can be asked for, so they are not stored.
const endOfTime = belfry.Time(253_402_300_800_000_000)

const dayLength = belfry.Time(24 * time.Hour / time.Microsecond)

// periodOf finds the period of a moment in UTC.
func periodOf(c *catalog.Collection, t belfry.Time) period {
	if c.Period == catalog.Month {
		std := t.Std()
		first := time.Date(std.Year(), std.Month(), 1, 0, 0, 0, 0, time.UTC)
		return period{belfry.At(first), belfry.At(first.AddDate(0, 1, 0))}
	}
	day := t / dayLength
	if t%dayLength < 0 { // before 1970
		day--
	}
	return period{day * dayLength, (day + 1) * dayLength}
}

func (p period) contains(t belfry.Time) bool { return p.from <= t && t < p.to }

// overlaps tells whether the period has a moment of the span, both ends of which count.
func (p period) overlaps(from, to belfry.Time) bool { return p.from <= to && from < p.to }

const fileSuffix = ".duckdb"

// layout is how the periods of a collection are written in file names.
func layout(c *catalog.Collection) string {
	if c.Period == catalog.Month {
		return "2006-01"
	}
	return time.DateOnly
}

// fileName names the file of a period.
func fileName(c *catalog.Collection, p period) string {
	return p.from.Std().Format(layout(c)) + fileSuffix
}

// parseFileName reads what fileName wrote.
func parseFileName(c *catalog.Collection, name string) (period, bool) {
	t, err := time.Parse(layout(c)+fileSuffix, name)
	if err != nil {
		return period{}, false
	}
	p := periodOf(c, belfry.At(t))
	return p, fileName(c, p) == name
}
