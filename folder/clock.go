package folder

import (
	"fmt"
	"strings"
	"time"

	"belfry/journal"
)

const (
	// ClockFile is the file with the last known time.
	ClockFile = "clock"
	// FaultClock is the id of the fault that the clock is suspect.
	FaultClock = "clock"
	// MaxClockStep is how far the clock may be from the expected time before it is suspect.
	MaxClockStep = 24 * time.Hour
)

// ReadClock reads the last known time, and the time of the last confirmation; zero if there was none.
func ReadClock(path string) (known, confirmed time.Time, err error) {
	text, err := journal.ReadChecked(path)
	if err != nil {
		return known, confirmed, err
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if known, err = time.Parse(time.RFC3339, first); err == nil && second != "" {
		confirmed, err = time.Parse(confirmedLayout, second)
	}
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	return known, confirmed, nil
}

const confirmedLayout = "confirmed " + time.RFC3339

// WriteClock writes the last known time and the time of the last confirmation.
func WriteClock(path string, known, confirmed time.Time) error {
	return journal.WriteChecked(path, clockLines(known, confirmed))
}

// ClockText returns what WriteClock writes.
func ClockText(known, confirmed time.Time) []byte {
	return journal.Checked(ClockFile, clockLines(known, confirmed))
}

func clockLines(known, confirmed time.Time) []byte {
	text := known.UTC().Format(time.RFC3339) + "\n"
	if !confirmed.IsZero() {
		text += confirmed.UTC().Format(confirmedLayout) + "\n"
	}
	return []byte(text)
}

// Distance formats the difference of two times, in years if it is several: a time.Duration ends at 292 years.
func Distance(a, b time.Time) string {
	if years := max(a.UTC().Year()-b.UTC().Year(), b.UTC().Year()-a.UTC().Year()); years > 2 {
		return fmt.Sprintf("about %d years", years)
	}
	return a.Sub(b).Abs().Round(time.Minute).String()
}
