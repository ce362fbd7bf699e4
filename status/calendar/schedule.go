// Package calendar says when something is to happen by the clocks of a time zone: at a moment, in the occurrences of a
// schedule, which may recur by a rule of RFC 5545, or in a monitoring period, the union of schedules. It reads no clock.
//
//	Moment ──► Schedule ──► Period
//
// Everything is computed in wall-clock time (civil) and converted to an instant last, because a day on which the clocks
// change has 23 or 25 hours.
package calendar

import (
	"encoding/json"
	"fmt"
	"time"

	"belfry"
)

// Schedule is a time interval that occurs once, or repeatedly by a rule. It is immutable and reads no clock: every
// result depends on the time passed in.
//
// An occurrence includes its beginning and excludes its end. Occurrences of a rule begin and end at the wall-clock times
// of the zone, each on its own day; in a night in which the clocks change, a window is therefore an hour shorter or
// longer than in others. See civil.in for times that are skipped or occur twice. An occurrence that is skipped
// completely does not take place.
//
// Occurrences are in order and never overlap; they may touch.
type Schedule struct {
	from, to Moment // of the first occurrence, which the rule need not match
	zone     *time.Location
	rule     string      // as rule.String writes it; empty: no repetition
	repeat   *recurrence // of the rule
	begin    civil       // time of the day at which occurrences begin
	length   civil       // of an occurrence, in wall-clock time
}

// maxWindow is the longest occurrence of a schedule with a rule.
const maxWindow = 366 * aDay

// ParseZone finds a zone by its IANA name. An empty name is the zone of the server.
func ParseZone(name string, server *time.Location) (*time.Location, error) {
	if name == "" {
		return server, nil
	}
	const maxName = 64
	if len(name) <= maxName && name != "Local" { // Go accepts Local, but it would be another zone on another machine
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, belfry.Errorf(belfry.BadParameter, "timezone: there is no zone %.80q; write its IANA name, as Europe/Vienna or UTC", name)
}

// ParseSchedule builds a schedule from two moments, of which one may be empty if there is no rule, an optional
// recurrence rule (RFC 5545), and the zone of local times.
func ParseSchedule(from, to, rrule string, zone *time.Location) (Schedule, error) {
	s := Schedule{zone: zone}
	var err error
	if from != "" {
		if s.from, err = ParseMoment(from); err != nil {
			return Schedule{}, err
		}
	}
	if to != "" {
		if s.to, err = ParseMoment(to); err != nil {
			return Schedule{}, err
		}
	}
	if rrule == "" {
		err = s.checkOnce()
	} else {
		err = s.recur(rrule)
	}
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

func (s *Schedule) checkOnce() error {
	switch {
	case s.from.IsZero() && s.to.IsZero():
		return belfry.Errorf(belfry.BadParameter, "a window needs a beginning or an end, as 2026-03-28T22:30")
	case s.from.IsZero() || s.to.IsZero() || s.from.In(s.zone).Before(s.to.In(s.zone)):
		return nil
	case s.from.local(s.zone) < s.to.local(s.zone) && !s.from.instant:
		return belfry.Errorf(belfry.BadParameter, "the window from %s to %s does not exist in %s: the clocks jump over it; give times before or after it",
			s.from, s.to, s.zone)
	}
	return belfry.Errorf(belfry.BadParameter, "the window ends at %s, which is not after its beginning at %s; give a later end", s.to, s.from)
}

// recur adds a recurrence rule to the schedule.
func (s *Schedule) recur(rrule string) error {
	r, err := parseRule(rrule)
	if err != nil {
		return err
	}
	if s.from.IsZero() || s.to.IsZero() {
		return belfry.Errorf(belfry.BadParameter, "a window with a rule (%s) needs a beginning and an end, as 2026-03-28T22:30 and 2026-03-29T04:00", r)
	}
	from, to := s.from.local(s.zone), s.to.local(s.zone)
	s.from, s.to = Moment{wall: from, set: true}, Moment{wall: to, set: true}
	s.rule, s.begin, s.length = r.String(), from.clock(), to-from
	switch {
	case !from.inRange() || !to.inRange():
		return belfry.Errorf(belfry.BadParameter, "in %s the window would be from %s to %s; give times in the years 1970 to 9999", s.zone, s.from, s.to)
	case s.length <= 0:
		return belfry.Errorf(belfry.BadParameter, "the window ends at %s, which is not after its beginning at %s; give a later end", s.to, s.from)
	case s.length > maxWindow:
		return belfry.Errorf(belfry.BadParameter, "the window from %s to %s is too long to recur; the maximum is 366 days", s.from, s.to)
	}
	c := r.startingAt(from, s.zone)
	s.repeat = &c
	first, ok := c.next(c.first)
	if !ok {
		return badRule("%s never comes true from %s on; change its parts, or the beginning", r, s.from)
	}
	return s.checkOverlap(first)
}

// checkOverlap rejects occurrences that last until the next one: such an end is a mistake, and the window would never
// close. For rules that depend on the week alone, two periods show it; others are checked for thirty years, in which
// weekdays and leap days fall in every way.
func (s *Schedule) checkOverlap(d day) error {
	if s.length <= aDay {
		return nil
	}
	end := d + 30*366
	if r := s.repeat; r.freq <= weekly && r.months == 0 && r.monthDays == 0 && r.fromEnd == 0 {
		end = d + day(2*7*r.interval)
	}
	for d < end {
		next, ok := s.repeat.next(d + 1)
		if !ok {
			return nil
		}
		if (next - d).start() < s.length {
			return belfry.Errorf(belfry.BadParameter, "the window from %s to %s is longer than it takes to the next by %s, which comes %d days after that of %.10s; "+
				"give an earlier end", s.from, s.to, s.rule, next-d, d.start())
		}
		d = next
	}
	return nil
}

// Next returns the first occurrence that ends after the given time: the open one, or else the next one. A beginning or
// end that is not set is the zero time. ok is false if there are no more.
func (s Schedule) Next(after time.Time) (from, to time.Time, ok bool) {
	if s.zone == nil {
		return from, to, false
	}
	if s.repeat == nil {
		return s.once(after)
	}
	// An occurrence whose wall-clock end has passed is over, so earlier days can be skipped. The reverse does not hold
	// in the hour that occurs twice, hence the loop.
	d := (civilOf(after.In(s.zone)) - s.length - s.begin).day()
	for {
		if d, ok = s.repeat.next(d); !ok {
			return time.Time{}, time.Time{}, false
		}
		if from, to = s.occurrence(d); to.After(after) && from.Before(to) {
			return from, to, true
		}
		d++
	}
}

func (s Schedule) once(after time.Time) (from, to time.Time, ok bool) {
	if !s.to.IsZero() {
		if to = s.to.In(s.zone); !to.After(after) {
			return time.Time{}, time.Time{}, false
		}
	}
	if !s.from.IsZero() {
		from = s.from.In(s.zone)
	}
	return from, to, true
}

// occurrence returns the occurrence that begins on a day. It ends at the latest when the next one begins.
func (s Schedule) occurrence(d day) (from, to time.Time) {
	begin := d.start() + s.begin
	end := begin + s.length
	if s.length > aDay {
		if next, ok := s.repeat.next(d + 1); ok {
			end = min(end, next.start()+s.begin)
		}
	}
	return begin.in(s.zone), end.in(s.zone)
}

// Open reports whether an occurrence includes the given time.
func (s Schedule) Open(at time.Time) bool {
	from, _, ok := s.Next(at)
	return ok && !from.After(at)
}

// Recurs reports whether the schedule has a rule.
func (s Schedule) Recurs() bool { return s.repeat != nil }

// IsZero reports whether there is no schedule. The zero schedule has no occurrences.
func (s Schedule) IsZero() bool { return s.zone == nil }

// Zone returns the zone of its local times, nil if there is no schedule.
func (s Schedule) Zone() *time.Location { return s.zone }

// ZoneName returns the name of the zone in which its times were given: UTC for instants, and "" for local times of a
// server whose zone has no name.
func (s Schedule) ZoneName() string {
	local := func(m Moment) bool { return m.set && !m.instant }
	if s.zone == nil {
		return ""
	}
	if !local(s.from) && !local(s.to) {
		return "UTC"
	}
	return zoneName(s.zone.String())
}

// zoneName omits Local, Go's name for the zone of the machine: it means nothing elsewhere.
func zoneName(name string) string {
	if name == "Local" {
		return ""
	}
	return name
}

// Parts returns the arguments from which ParseSchedule builds an equal schedule: all that must be stored.
func (s Schedule) Parts() (from, to, rrule, zone string) {
	if s.zone == nil {
		return "", "", "", ""
	}
	return s.from.String(), s.to.String(), s.rule, s.zone.String()
}

// Equal reports whether two schedules were written alike, apart from the order of a rule's parts.
func (s Schedule) Equal(o Schedule) bool {
	return s.jsonForm() == o.jsonForm()
}

// String returns a readable form: 2026-01-05T08:00 to 2026-01-05T18:00, FREQ=DAILY, Europe/Berlin.
func (s Schedule) String() string {
	from, to, rrule, zone := s.Parts()
	text := "no time"
	switch {
	case from != "" && to != "":
		text = from + " to " + to
	case from != "":
		text = "from " + from
	case to != "":
		text = "until " + to
	}
	for _, part := range []string{rrule, zone} {
		if part != "" {
			text += ", " + part
		}
	}
	return text
}

// scheduleJSON is the form in records.
type scheduleJSON struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Rule string `json:"rrule,omitempty"`
	Zone string `json:"timezone,omitempty"`
}

func (s Schedule) jsonForm() (w scheduleJSON) {
	w.From, w.To, w.Rule, w.Zone = s.Parts()
	return w
}

// MarshalJSON writes the parts.
func (s Schedule) MarshalJSON() ([]byte, error) { return json.Marshal(s.jsonForm()) }

// UnmarshalJSON reads what MarshalJSON wrote. Unlike ParseZone it accepts any zone name that Go knows: a record may come
// from a server that used the zone of its machine.
func (s *Schedule) UnmarshalJSON(data []byte) error {
	var w scheduleJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	if w == (scheduleJSON{}) {
		*s = Schedule{}
		return nil
	}
	zone, err := time.LoadLocation(w.Zone)
	if err != nil {
		return fmt.Errorf("schedule: zone %q: %w", w.Zone, err)
	}
	*s, err = ParseSchedule(w.From, w.To, w.Rule, zone)
	return err
}

// RuleAndZone returns the rule of a schedule that MarshalJSON wrote, and the name of its zone, without parsing the rule.
func RuleAndZone(schedule string) (rule, zone string, ok bool) {
	var w scheduleJSON
	if json.Unmarshal([]byte(schedule), &w) != nil {
		return "", "", false
	}
	return w.Rule, zoneName(w.Zone), true
}
