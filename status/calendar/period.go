package calendar

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"belfry"
	"belfry/catalog"
)

// Period is a monitoring period: a union of schedules. It is immutable. The zero Period is no restriction: always open.
type Period struct {
	zone  *time.Location
	times []Schedule
	texts []string // short form of each time; empty if it was not written so
}

const (
	maxTimes       = 50
	maxPeriodBytes = 64 << 10
	periodExample  = `a period is written like {"timezone": "Europe/Berlin", "times": ["mon-fri 08:00-18:00", "sat 10:00-14:00"]}`
)

// periodJSON is the form of a period in a document.
type periodJSON struct {
	Zone  string            `json:"timezone,omitempty"`
	Times []json.RawMessage `json:"times"`
}

// ParsePeriod reads a period from JSON. Each of its times is a text (mon-fri 08:00-18:00) or an object with from, to and
// rrule. Without a timezone its times are in the server's zone.
func ParsePeriod(data []byte, server *time.Location) (Period, error) {
	if len(data) > maxPeriodBytes {
		return Period{}, belfry.Errorf(belfry.BadParameter, "period: %d bytes are too long; the longest has %d", len(data), maxPeriodBytes)
	}
	var w periodJSON
	if err := decodeFields(data, &w, "period", "timezone", "times"); err != nil {
		return Period{}, err
	}
	zone, err := ParseZone(w.Zone, server)
	if err != nil {
		return Period{}, err
	}
	if len(w.Times) == 0 || len(w.Times) > maxTimes {
		return Period{}, belfry.Errorf(belfry.BadParameter, "period: times has %d entries, and needs 1 to %d; %s", len(w.Times), maxTimes, periodExample)
	}
	p := Period{zone: zone}
	for i, raw := range w.Times {
		s, text, err := parseTime(raw, zone)
		if err != nil {
			return Period{}, withPlace(err, "period: times[%d]: ", i)
		}
		p.times, p.texts = append(p.times, s), append(p.texts, text)
	}
	return p, nil
}

// parseTime reads one of the times; text is its short form, if it has one.
func parseTime(raw json.RawMessage, zone *time.Location) (s Schedule, text string, err error) {
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return s, "", belfry.Errorf(belfry.BadParameter, "%v", err)
		}
		s, err = parseHours(text, zone)
		return s, text, err
	}
	var w scheduleJSON
	if err := decodeFields(raw, &w, "time", "from", "to", "rrule"); err != nil {
		return s, "", err
	}
	s, err = ParseSchedule(w.From, w.To, w.Rule, zone)
	return s, "", err
}

// decodeFields decodes an object that may have only the known fields.
func decodeFields(data []byte, into any, what string, known ...string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return belfry.Errorf(belfry.BadParameter, "%s: %.60q is not a JSON object; %s", what, bytes.TrimSpace(data), periodExample)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			hint := ""
			if near := catalog.Nearest(name, known); near != "" {
				hint = "; nearest is " + near
			}
			return belfry.Errorf(belfry.BadParameter, "%s: there is no field %.60q%s; %s", what, name, hint, periodExample)
		}
	}
	if err := json.Unmarshal(data, into); err != nil {
		return belfry.Errorf(belfry.BadParameter, "%s: a field is of the wrong type (%v); %s", what, err, periodExample)
	}
	return nil
}

// withPlace prefixes the message of an error with the place where it occurred.
func withPlace(err error, format string, args ...any) error {
	place := belfry.Errorf(belfry.CodeOf(err), format, args...)
	if e, ok := err.(*belfry.Error); ok {
		place.Message += e.Message
	}
	return place
}

// IsZero reports whether there is no restriction.
func (p Period) IsZero() bool { return len(p.times) == 0 }

// Times returns the schedules of which the period is the union.
func (p Period) Times() []Schedule { return append([]Schedule(nil), p.times...) }

// Open reports whether one of the schedules is open.
func (p Period) Open(at time.Time) bool {
	for _, s := range p.times {
		if s.Open(at) {
			return true
		}
	}
	return p.IsZero()
}

// Change returns the next time at which the result of Open changes; ok is false if it never does. For a period that
// stays open for more than a month it returns a time after that at which nothing changes, so that the caller asks again:
// only a walk through the whole period could prove that it is always open.
func (p Period) Change(after time.Time) (at time.Time, ok bool) {
	if p.IsZero() {
		return at, false
	}
	if !p.Open(after) {
		return p.opens(after)
	}
	const month = 32 * 24 * time.Hour
	for at = after; at.Sub(after) < month; {
		end, open, ever := p.end(at)
		if !open || ever {
			return at, !ever
		}
		at = end
	}
	return at, true
}

// opens returns the next beginning.
func (p Period) opens(after time.Time) (at time.Time, ok bool) {
	for _, s := range p.times {
		if from, _, more := s.Next(after); more && (!ok || from.Before(at)) {
			at, ok = from, true
		}
	}
	return at, ok
}

// end returns the latest end of the occurrences that are open at a time. ever is true if one of them has no end.
func (p Period) end(at time.Time) (end time.Time, open, ever bool) {
	for _, s := range p.times {
		from, to, ok := s.Next(at)
		if !ok || from.After(at) {
			continue
		}
		open, ever = true, ever || to.IsZero()
		if to.After(end) {
			end = to
		}
	}
	return end, open, ever
}

// Equal reports whether two periods have the same zone and the same times, however they were written.
func (p Period) Equal(o Period) bool {
	if len(p.times) != len(o.times) {
		return false
	}
	for i := range p.times {
		if !p.times[i].Equal(o.times[i]) {
			return false
		}
	}
	return true
}

// MarshalJSON writes the period as it was read.
func (p Period) MarshalJSON() ([]byte, error) {
	if p.IsZero() {
		return []byte("null"), nil
	}
	w := periodJSON{Zone: p.zone.String()}
	for i, s := range p.times {
		var entry any = p.texts[i]
		if entry == "" {
			parts := s.jsonForm()
			parts.Zone = ""
			entry = parts
		}
		raw, err := json.Marshal(entry)
		if err != nil {
			return nil, err
		}
		w.Times = append(w.Times, raw)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote. Like that of Schedule it accepts any zone name that Go knows.
func (p *Period) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*p = Period{}
		return nil
	}
	server := time.UTC
	var w periodJSON
	if json.Unmarshal(data, &w) == nil && w.Zone == "Local" {
		server, w.Zone = time.Local, ""
		data, _ = json.Marshal(w) // of what has just been read
	}
	var err error
	*p, err = ParsePeriod(data, server)
	return err
}
