package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"filippo.io/age"
)

// ParseRecipients parses public keys. An error does not quote one: it may be a private key by mistake.
func ParseRecipients(names []string) (list []age.Recipient, err error) {
	for i, name := range names {
		r, err := age.ParseX25519Recipient(name)
		switch {
		case err == nil:
			list = append(list, r)
		case strings.Contains(strings.ToUpper(name), "SECRET"):
			return nil, fmt.Errorf("key %d is a private key; backups are encrypted for public keys, which begin with age1. Name the public one, and keep the private one elsewhere", i+1)
		default:
			return nil, fmt.Errorf("key %d is not a public key (X25519) of age, which begins with age1 and is printed by belfry backup --new-key", i+1)
		}
	}
	return list, nil
}

// check returns all errors, also if no backups are made: a wrong value would show up when it is needed.
func (b *Backup) check() error {
	errs := []error{
		inRange("backup.every", b.Every, Duration(time.Hour), Duration(366*day)),
		inRange("backup.keep", b.Keep, 1, 100_000),
		inRange("backup.rate", b.Rate, 0, 1<<40),
	}
	if b.Every > 0 && day%time.Duration(b.Every) != 0 && time.Duration(b.Every)%day != 0 {
		errs = append(errs, fmt.Errorf("backup.every: %v is neither a part of a day nor whole days; write 1h, 2h, 3h, 4h, 6h, 8h, 12h, 1d or a number of days", b.Every))
	}
	if _, err := b.TimeOfDay(); err != nil {
		errs = append(errs, err)
	}
	if _, err := ParseRecipients(b.PublicKeys()); err != nil {
		errs = append(errs, fmt.Errorf("backup.recipients: %w", err))
	}
	return errors.Join(errs...)
}

// TimeOfDay returns the hour and minute of At as a duration.
func (b *Backup) TimeOfDay() (time.Duration, error) {
	t, err := time.Parse("15:04", b.At)
	if err != nil {
		return 0, fmt.Errorf("backup.at: %q is not a time of day; write it as 02:30", b.At)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// Next returns the time of the first backup after a time, in the zone of that time. Backups of a day are Every apart, counted from At;
// if a change of the clock removes or repeats an hour, two are closer or further apart on that day.
func (b *Backup) Next(after time.Time) time.Time {
	at, err := b.TimeOfDay()
	if err != nil || b.Every <= 0 {
		return time.Time{}
	}
	every := time.Duration(b.Every)
	if every >= day {
		return b.nextDay(after, at, int(every/day))
	}
	first := at % every // of each day
	for d := -1; ; d++ {
		for clock := first; clock < day; clock += every {
			if t := onDay(after, d, clock); t.After(after) {
				return t
			}
		}
	}
}

// nextDay is Next for intervals of whole days. They are counted from 1970, so that they do not depend on when the service started.
func (b *Backup) nextDay(after time.Time, at time.Duration, days int) time.Time {
	for d := 0; ; d++ {
		t := onDay(after, d, at)
		date := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		if t.After(after) && int(date.Unix()/int64(day/time.Second))%days == 0 {
			return t
		}
	}
}

// onDay returns a time of day, days after that of t.
func onDay(t time.Time, days int, clock time.Duration) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, int(clock/time.Hour), int(clock%time.Hour/time.Minute), 0, 0, t.Location())
}

// PublicKeys returns the recipients.
func (b *Backup) PublicKeys() (list []string) {
	for name := range strings.SplitSeq(b.Recipients, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}
