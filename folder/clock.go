package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"belfry/journal"
)

const (
	// ClockFile is the name of the file that notes the time.
	ClockFile = "clock"
	// FaultClock is the fault that the clock is in doubt.
	FaultClock = "clock"
	// MaxClockStep is how far the clock may differ from the expected time before it is in doubt.
	MaxClockStep = 24 * time.Hour
)

// ReadClock reads what the clock file says: the time up to which the clock was right, and when it was confirmed, if it ever was.
func ReadClock(path string) (known, confirmed time.Time, err error) {
	text, err := os.ReadFile(path)
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

// WriteClock notes the time up to which the clock was right, and when it was confirmed.
func WriteClock(path string, known, confirmed time.Time) error {
	text := known.UTC().Format(time.RFC3339) + "\n"
	if !confirmed.IsZero() {
		text += confirmed.UTC().Format(confirmedLayout) + "\n"
	}
	return replaceFile(path, []byte(text))
}

// replaceFile makes a file with the given text durable. A process that ends meanwhile leaves the old one, and at most one
// temporary file, however often that happens.
func replaceFile(path string, text []byte) error {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return journal.SyncDir(filepath.Dir(path))
}

// Distance says how far apart two times are, in years when it is several: a time.Duration has room for 292.
func Distance(a, b time.Time) string {
	if years := max(a.UTC().Year()-b.UTC().Year(), b.UTC().Year()-a.UTC().Year()); years > 2 {
		return fmt.Sprintf("about %d years", years)
	}
	return a.Sub(b).Abs().Round(time.Minute).String()
}
