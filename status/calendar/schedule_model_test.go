package calendar

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// model is a simple implementation of a rule and a window: it walks day by day and checks every condition again.
type model struct {
	freq             string
	interval, count  int
	until            string // a date, compared as text
	months, dates    []int
	weekdays         []weekday
	weekStart        time.Weekday
	start            time.Time // civil, as if in UTC
	length           time.Duration
	zone             *time.Location
	monthsAreWritten bool
}

// String returns the rule.
func (m *model) String() string {
	parts := []string{"FREQ=" + m.freq, fmt.Sprint("INTERVAL=", m.interval), "WKST=" + weekdayNames[m.weekStart]}
	if m.count > 0 {
		parts = append(parts, fmt.Sprint("COUNT=", m.count))
	}
	if m.until != "" {
		parts = append(parts, "UNTIL="+strings.ReplaceAll(m.until, "-", ""))
	}
	list := func(name string, values []int) {
		if len(values) > 0 {
			parts = append(parts, name+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ","), "[]"))
		}
	}
	list("BYMONTH", m.months)
	list("BYMONTHDAY", m.dates)
	var days []string
	for _, w := range m.weekdays {
		n := ""
		if w.number != 0 {
			n = fmt.Sprint(w.number)
		}
		days = append(days, n+weekdayNames[w.day])
	}
	if len(days) > 0 {
		parts = append(parts, "BYDAY="+strings.Join(days, ","))
	}
	return strings.Join(parts, ";")
}

// random makes a rule that may be refused.
func random(rng *rand.Rand, zones []*time.Location) *model {
	pick := func(n int) int { return rng.IntN(n) }
	m := &model{
		freq: []string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}[pick(4)], interval: 1 + max(0, pick(6)-2),
		weekStart: time.Weekday(pick(7)), zone: zones[pick(len(zones))],
		start:  time.Date(2025+pick(2), time.Month(1+pick(12)), 1+pick(31), pick(24), 15*pick(4), 0, 0, time.UTC),
		length: time.Duration(1+pick(96)) * 15 * time.Minute,
	}
	if pick(8) == 0 {
		m.length *= time.Duration(1 + pick(10))
	}
	switch pick(6) {
	case 0:
		m.count = 1 + pick(20)
	case 1:
		m.until = m.start.AddDate(0, pick(20), pick(30)).Format("2006-01-02")
	}
	for range max(0, pick(5)-2) {
		m.months = append(m.months, 1+pick(12))
	}
	if m.freq != "WEEKLY" {
		for range max(0, pick(6)-2) {
			m.dates = append(m.dates, []int{1, -1}[pick(2)]*(1+pick(31)))
		}
	}
	for range max(0, pick(6)-2) {
		w := weekday{day: time.Weekday(pick(7))}
		if pick(2) == 0 && (m.freq == "MONTHLY" || m.freq == "YEARLY") {
			most := 5
			if m.freq == "YEARLY" && len(m.months) == 0 {
				most = 53
			}
			w.number = []int{1, -1}[pick(2)] * (1 + pick(most))
		}
		m.weekdays = append(m.weekdays, w)
	}
	m.monthsAreWritten = len(m.months) > 0
	return m
}

// meets reports whether the rule matches a day, apart from its end.
func (m *model) meets(d time.Time) bool {
	first := m.start.Truncate(24 * time.Hour)
	months, dates, weekdays := m.months, m.dates, m.weekdays
	if len(dates) == 0 && len(weekdays) == 0 { // taken from the start
		switch m.freq {
		case "YEARLY":
			if len(months) == 0 {
				months = []int{int(first.Month())}
			}
			dates = []int{first.Day()}
		case "MONTHLY":
			dates = []int{first.Day()}
		case "WEEKLY":
			weekdays = []weekday{{day: first.Weekday()}}
		}
	}
	return m.onInterval(first, d) &&
		(len(months) == 0 || slices.Contains(months, int(d.Month()))) &&
		(len(dates) == 0 || slices.Contains(dates, d.Day()) || slices.Contains(dates, d.Day()-1-d.AddDate(0, 1, -d.Day()).Day())) &&
		(len(weekdays) == 0 || slices.ContainsFunc(weekdays, func(w weekday) bool { return m.isWeekday(w, d) }))
}

// onInterval reports whether the number of days, weeks, months or years since the start is a multiple of the interval.
func (m *model) onInterval(first, d time.Time) bool {
	n := 0
	switch m.freq {
	case "DAILY":
		n = int(d.Sub(first).Hours()) / 24
	case "WEEKLY":
		begin := func(d time.Time) time.Time {
			for d.Weekday() != m.weekStart {
				d = d.AddDate(0, 0, -1)
			}
			return d
		}
		n = int(begin(d).Sub(begin(first)).Hours()) / 24 / 7
	case "MONTHLY":
		n = 12*(d.Year()-first.Year()) + int(d.Month()) - int(first.Month())
	case "YEARLY":
		n = d.Year() - first.Year()
	}
	return n%m.interval == 0
}

// isWeekday counts the days of the same name in the month or year, up to d or from d on.
func (m *model) isWeekday(w weekday, d time.Time) bool {
	if w.day != d.Weekday() {
		return false
	}
	same := func(o time.Time) bool {
		return o.Year() == d.Year() && (o.Month() == d.Month() || m.freq == "YEARLY" && !m.monthsAreWritten)
	}
	fromStart, fromEnd := 0, 0
	for o := d; same(o); o = o.AddDate(0, 0, -7) {
		fromStart++
	}
	for o := d; same(o); o = o.AddDate(0, 0, 7) {
		fromEnd++
	}
	return w.number == 0 || w.number == fromStart || w.number == -fromEnd
}

// reached looks for the first quarter of an hour at which the clocks show a time or a later one.
func reached(wall time.Time, zone *time.Location) time.Time {
	at := wall.Add(-16 * time.Hour)
	for {
		local := at.In(zone)
		shown := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
		if !shown.Before(wall) {
			return at
		}
		at = at.Add(15 * time.Minute)
	}
}

type occurrence struct{ from, to time.Time }

// occurrences are all until the end of a year.
func (m *model) occurrences(year int) (list []occurrence) {
	n := 0
	for d := m.start; d.Year() <= year; d = d.AddDate(0, 0, 1) {
		if m.until != "" && d.Format("2006-01-02") > m.until || m.count > 0 && n == m.count {
			break
		}
		if !m.meets(d.Truncate(24 * time.Hour)) {
			continue
		}
		n++
		s := occurrence{reached(d, m.zone), reached(d.Add(m.length), m.zone)}
		if s.from.Before(s.to) {
			list = append(list, s)
		}
	}
	return list
}

// TestScheduleAgainstModel compares schedules with the model at random moments, in the zones that change their clocks
// most strangely and some others.
func TestScheduleAgainstModel(t *testing.T) {
	t.Parallel()
	var zones []*time.Location
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Africa/Cairo", "Africa/Casablanca",
		"America/Santiago", "Asia/Kathmandu", "Pacific/Chatham", "Pacific/Kiritimati", "America/St_Johns", "Asia/Beirut", "Europe/Dublin",
	} {
		zones = append(zones, zone(t, name))
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	taken, open := 0, 0
	for range 300 {
		m := random(rng, zones)
		s, err := ParseSchedule(m.start.Format("2006-01-02T15:04"), m.start.Add(m.length).Format("2006-01-02T15:04"), m.String(), m.zone)
		want := m.occurrences(2028)
		if err != nil {
			m.checkRefused(t, err, want)
			continue
		}
		taken++
		for range 20 {
			at := m.start.Add(time.Duration(rng.IntN(2*365*24*4)-1000) * 15 * time.Minute)
			if len(want) > 0 && rng.IntN(2) == 0 { // near an end
				w := want[rng.IntN(len(want))]
				at = []time.Time{w.from, w.to}[rng.IntN(2)].Add(time.Duration(rng.IntN(3)-1) * time.Nanosecond)
			}
			if at.Year() > 2027 {
				continue
			}
			if m.check(t, s, want, at) {
				open++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if taken < 100 || open < 200 {
		t.Errorf("only %d schedules were taken, and open %d times", taken, open)
	}
}

// checkRefused checks that a rejected rule never matches or overlaps.
func (m *model) checkRefused(t *testing.T, err error, want []occurrence) {
	t.Helper()
	switch {
	case strings.Contains(err.Error(), "never comes true") && len(want) == 0:
	case strings.Contains(err.Error(), "longer than it takes to the next") && m.length > 24*time.Hour:
	default:
		t.Errorf("%s from %v for %v in %s: %v", m, m.start, m.length, m.zone, err)
	}
}

// check compares with the first occurrence of the list that ends after a moment, and reports whether it is open.
func (m *model) check(t *testing.T, s Schedule, list []occurrence, at time.Time) bool {
	t.Helper()
	i := slices.IndexFunc(list, func(w occurrence) bool { return w.to.After(at) })
	from, to, ok := s.Next(at)
	if i < 0 {
		if ok && from.Year() < 2028 { // the list ends there
			t.Errorf("%s at %v: %v to %v, want none", s, at, from, to)
		}
		return false
	}
	if !ok || !from.Equal(list[i].from) || !to.Equal(list[i].to) {
		t.Errorf("%s at %v: %v to %v (%v), want %v to %v", s, at, from, to, ok, list[i].from.In(m.zone), list[i].to.In(m.zone))
	}
	open := !list[i].from.After(at)
	if s.Open(at) != open {
		t.Errorf("%s at %v: open is %v", s, at, !open)
	}
	return open
}
