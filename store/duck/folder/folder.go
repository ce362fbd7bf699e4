// Package folder knows the folder of a store: the names of its files, and the notes that are not databases. The
// manifest lists the files that must exist; a watermark says what has been dropped, and a list of kept periods what is
// an exception from it; markers name incomplete days.
//
// Every note has a checksum, because a start deletes files by what it reads there. A damaged one counts as none.
package folder

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

// EndOfTime is the year 10,000. Queries can reach neither rows from then on nor rows before 1970, so they are not
// stored.
const EndOfTime = belfry.Time(253_402_300_800_000_000)

// FileSuffix is the suffix of database files.
const FileSuffix = ".duckdb"

// Layout returns the time layout of the periods of a collection in file names.
func Layout(c *catalog.Collection) string {
	if c.Period == catalog.Month {
		return "2006-01"
	}
	return time.DateOnly
}

// FileName returns the name of the file of a period.
func FileName(c *catalog.Collection, p belfry.Span) string {
	return p.From.Std().Format(Layout(c)) + FileSuffix
}

// Names returns the names of periods, shortened if there are many.
func Names(c *catalog.Collection, periods []belfry.Span) string {
	var names []string
	for _, p := range periods {
		names = append(names, p.From.Std().Format(Layout(c)))
	}
	if n := len(names); n > 4 {
		return names[0] + " … " + names[n-1]
	}
	return strings.Join(names, ", ")
}

// ParseFileName is the inverse of FileName.
func ParseFileName(c *catalog.Collection, name string) (belfry.Span, bool) {
	t, err := time.Parse(Layout(c)+FileSuffix, name)
	if err != nil {
		return belfry.Span{}, false
	}
	p := c.PeriodOf(belfry.At(t))
	return p, FileName(c, p) == name
}

// Cause returns the system's error without the path, which callers report themselves.
func Cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// logSuffixes are those of what the engine keeps beside a database file.
var logSuffixes = []string{".wal.recovery", ".wal.checkpoint", ".wal"}

// HasLog reports whether a database file has a log, which a crash may have left.
func HasLog(path string) bool {
	return slices.ContainsFunc(logSuffixes, func(suffix string) bool {
		_, err := os.Lstat(path + suffix)
		return err == nil
	})
}

// Unlink removes a database file and what the engine keeps beside it. The file itself goes last, so that an interrupted
// removal is found again.
func Unlink(path string) error {
	var errs []error
	for _, suffix := range append(slices.Clip(logSuffixes), "") {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
