package duck

import (
	"time"

	"belfry"
	"belfry/catalog"
)

// endOfTime is the year 10,000. Queries can reach neither rows from then on nor rows before 1970, so they are not
// stored.
const endOfTime = belfry.Time(253_402_300_800_000_000)

const fileSuffix = ".duckdb"

// layout returns the time layout of the periods of a collection in file names.
func layout(c *catalog.Collection) string {
	if c.Period == catalog.Month {
		return "2006-01"
	}
	return time.DateOnly
}

// fileName returns the name of the file of a period.
func fileName(c *catalog.Collection, p belfry.Span) string {
	return p.From.Std().Format(layout(c)) + fileSuffix
}

// parseFileName is the inverse of fileName.
func parseFileName(c *catalog.Collection, name string) (belfry.Span, bool) {
	t, err := time.Parse(layout(c)+fileSuffix, name)
	if err != nil {
		return belfry.Span{}, false
	}
	p := c.PeriodOf(belfry.At(t))
	return p, fileName(c, p) == name
}
