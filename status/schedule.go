package status

import (
	"encoding/json"
	"fmt"
	"time"

	"belfry"
)

// Schedule is a stretch of time that comes once, or again and again by a rule. It does not change after it was made,
// and knows no clock: what it says depends on the moment that it is asked about.
//
// A stretch has its beginning and not its end: at its end it is over. Occurrences of a rule are set by what the clocks
// of the zone show, beginning and end, each on its own day; in a night in which the clocks are changed a window is
// therefore shorter or longer by an hour than in others. See civil.in for times that are skipped or come twice. An
// occurrence of which nothing is left, because all of it was skipped, does not take place.
//
// Occurrences are in order and never overlap; they may touch.
type Schedule struct {
	from, to Moment // of the first occurrence, which need not be one of the rule
	zone     *time.Location
	rule     string      // as rule.String writes it; empty: once
	repeat   *recurrence // of the rule
	begin    civil       // time of the day at which occurrences begin
	length   civil       // of an occurrence, on the wall
}

// longestWindow is the limit of an occurrence that comes again.
const longestWindow = 366 * aDay

// ParseZone finds a zone by its IANA name. An empty name is the zone of the server.
func ParseZone(name string, server *time.Location) (*time.Location, error) {
	if name == "" {
		return server, nil
	}
	const longestName = 64
	if len(name) <= longestName && name != "Local" { // which Go knows, and would be another zone on another machine
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, belfry.Errorf(belfry.BadParameter, "timezone: there is no zone %.80q; write its IANA name, as Europe/Vienna or UTC", name)
}

// ParseSchedule makes a schedule of what somebody wrote: two moments, of which one may be empty if there is no rule, a
// recurrence rule (RFC 5545) or none, and the zone for local times.
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

// recur makes the schedule one that comes again.
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
	case s.length > longestWindow:
		return belfry.Errorf(belfry.BadParameter, "the window from %s to %s is too long to come again; the longest has 366 days", s.from, s.to)
	}
	c := r.from(from, s.zone)
	s.repeat = &c
	first, ok := c.next(c.first)
	if !ok {
		return badRule("%s never comes true from %s on; change its parts, or the beginning", r, s.from)
	}
	return s.checkOverlap(first)
}

// checkOverlap refuses occurrences that last until the next: whoever wrote that has mistaken an end, and would never
// see the window close. What depends on the week alone shows that within two turns; the rest is looked at for thirty
// years, in which weekdays and leap days fall in every way.
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

// Next is the first occurrence that ends after a moment: the one that is open then, or else the one to come. A
// beginning or end that is not set is the zero time. Without ok there is none any more.
func (s Schedule) Next(after time.Time) (from, to time.Time, ok bool) {
	if s.zone == nil {
		return from, to, false
	}
	if s.repeat == nil {
		return s.once(after)
	}
	// What ended on the wall has ended in truth, so that earlier days need not be looked at. The opposite is not so in
	// the hour that comes twice, hence the loop.
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

// occurrence is the one that begins on a day. It ends at the latest when the next begins.
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

// Open tells whether a moment is in an occurrence.
func (s Schedule) Open(at time.Time) bool {
	from, _, ok := s.Next(at)
	return ok && !from.After(at)
}

// Recurs tells whether the schedule has a rule.
func (s Schedule) Recurs() bool { return s.repeat != nil }

// IsZero tells whether there is no schedule. It has no occurrences.
func (s Schedule) IsZero() bool { return s.zone == nil }

// Zone is the zone of its local times, nil if there is no schedule.
func (s Schedule) Zone() *time.Location { return s.zone }

// ZoneName is the name of the zone in which its times were given: UTC for instants, and none for the local time of a server whose zone has none.
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

// zoneName leaves out the name that Go has for the zone of the machine: it says nothing anywhere else.
func zoneName(name string) string {
	if name == "Local" {
		return ""
	}
	return name
}

// Parts are what ParseSchedule makes an equal schedule of: all that needs to be kept.
func (s Schedule) Parts() (from, to, rrule, zone string) {
	if s.zone == nil {
		return "", "", "", ""
	}
	return s.from.String(), s.to.String(), s.rule, s.zone.String()
}

// Equal tells whether two schedules were written alike, apart from the order of a rule's parts.
func (s Schedule) Equal(o Schedule) bool {
	return s.written() == o.written()
}

// String is for people: 2026-01-05T08:00 to 2026-01-05T18:00, FREQ=DAILY, Europe/Berlin.
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

// scheduleJSON is the form that records keep.
type scheduleJSON struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Rule string `json:"rrule,omitempty"`
	Zone string `json:"timezone,omitempty"`
}

func (s Schedule) written() (w scheduleJSON) {
	w.From, w.To, w.Rule, w.Zone = s.Parts()
	return w
}

// MarshalJSON writes the parts.
func (s Schedule) MarshalJSON() ([]byte, error) { return json.Marshal(s.written()) }

// UnmarshalJSON reads what MarshalJSON wrote. It trusts the names of zones, unlike ParseZone: a record may have been
// made on a server that used its machine's.
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
