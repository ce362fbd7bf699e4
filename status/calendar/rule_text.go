package calendar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

// frequencies are the names of the frequencies, each with its longest interval. Ten years are enough and keep searches
// short.
var frequencies = []struct {
	name     string
	interval int
}{daily: {"DAILY", 3660}, weekly: {"WEEKLY", 520}, monthly: {"MONTHLY", 120}, yearly: {"YEARLY", 10}}

// weekdayNames begin with Sunday, as time.Weekday does.
var weekdayNames = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

var ruleParts = []string{"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYMONTH", "BYMONTHDAY", "BYDAY", "WKST"}

const (
	ruleExample  = "a rule is written like FREQ=WEEKLY;BYDAY=MO,FR or FREQ=MONTHLY;BYDAY=1SU"
	maxRuleBytes = 500   // of a rule
	maxCount     = 10000 // of occurrences
)

func badRule(format string, args ...any) error {
	return belfry.Errorf(belfry.BadParameter, "rrule: "+format, args...)
}

// parseRule reads the part of RFC 5545 that selects days. Times of day are not part of the rule: each occurrence begins
// at the same time as the first one.
func parseRule(text string) (rule, error) {
	r := rule{interval: 1, weekStart: time.Monday}
	text = strings.ToUpper(strings.TrimSpace(text))
	text = strings.TrimPrefix(text, "RRULE:")
	if len(text) > maxRuleBytes {
		return r, badRule("%d bytes are too long for a rule; the longest has %d", len(text), maxRuleBytes)
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return r, badRule("%.60q is not of the form NAME=VALUE; %s", part, ruleExample)
		}
		if seen[name] {
			return r, badRule("%s is there twice; leave out one of them", name)
		}
		if err := r.set(name, value); err != nil {
			return r, err
		}
		seen[name] = true
	}
	if !seen["FREQ"] {
		return r, badRule("%.60q has no FREQ; %s", text, ruleExample)
	}
	return r, r.check()
}

// set sets one part of a rule.
func (r *rule) set(name, value string) error {
	switch name {
	case "FREQ":
		return r.setFrequency(value)
	case "INTERVAL":
		return setNumber(&r.interval, name, value, frequencies[daily].interval)
	case "COUNT":
		return setNumber(&r.count, name, value, maxCount)
	case "UNTIL":
		return r.setUntil(value)
	case "BYMONTH":
		return eachValue(value, r.addMonth)
	case "BYMONTHDAY":
		return eachValue(value, r.addMonthDay)
	case "BYDAY":
		return eachValue(value, r.addWeekday)
	case "WKST":
		i := slices.Index(weekdayNames, value)
		if i < 0 {
			return badRule("WKST is %.60q; write one of MO, TU, WE, TH, FR, SA, SU", value)
		}
		r.weekStart = time.Weekday(i)
		return nil
	}
	hint := ""
	if near := catalog.Nearest(name, ruleParts); near != "" {
		hint = "; nearest is " + near
	}
	return badRule("there is no part %.60q here%s; the parts are %s", name, hint, strings.Join(ruleParts, ", "))
}

func (r *rule) setFrequency(value string) error {
	var names []string
	for i, f := range frequencies {
		if f.name == value {
			r.freq = frequency(i)
			return nil
		}
		names = append(names, f.name)
	}
	switch value {
	case "HOURLY", "MINUTELY", "SECONDLY":
		return badRule("FREQ=%s is not taken, windows recur by days; write FREQ=DAILY, once for each time of the day", value)
	}
	hint := ""
	if near := catalog.Nearest(value, names); near != "" {
		hint = "nearest is " + near + "; "
	}
	return badRule("there is no FREQ %.60q; %sit is one of %s", value, hint, strings.Join(names, ", "))
}

func setNumber(n *int, name, value string, limit int) error {
	v, err := strconv.Atoi(value)
	if err != nil || v < 1 || v > limit || value[0] == '+' {
		return badRule("%s is a number from 1 to %d, got %.60q", name, limit, value)
	}
	*n = v
	return nil
}

func eachValue(list string, add func(string) error) error {
	for value := range strings.SplitSeq(list, ",") {
		if err := add(value); err != nil {
			return err
		}
	}
	return nil
}

func (r *rule) addMonth(value string) error {
	var m int
	err := setNumber(&m, "BYMONTH", value, 12)
	r.months |= 1 << m
	return err
}

func (r *rule) addMonthDay(value string) error {
	var d int
	back, fromEnd := strings.CutPrefix(value, "-")
	if setNumber(&d, "", strings.TrimPrefix(back, "+"), 31) != nil || fromEnd && strings.HasPrefix(back, "+") {
		return badRule("BYMONTHDAY is a list of days from 1 to 31, or from the end of the month from -1 to -31, got %.60q", value)
	}
	if fromEnd {
		r.fromEnd |= 1 << d
	} else {
		r.monthDays |= 1 << d
	}
	return nil
}

func (r *rule) addWeekday(value string) error {
	split := max(0, len(value)-2)
	i := slices.Index(weekdayNames, value[split:])
	w := weekday{day: time.Weekday(i)}
	if n := value[:split]; n != "" {
		v, err := strconv.Atoi(n)
		if err != nil || v == 0 || v < -53 || v > 53 {
			i = -1
		}
		w.number = v
	}
	if i < 0 {
		return badRule("BYDAY is a list of MO, TU, WE, TH, FR, SA, SU, with numbers as in 1MO and -1FR, got %.60q", value)
	}
	if !slices.Contains(r.weekdays, w) {
		r.weekdays = append(r.weekdays, w)
	}
	return nil
}

// setUntil reads 20261231, 20261231T235959 or 20261231T235959Z.
func (r *rule) setUntil(value string) error {
	err := badRule("UNTIL is a day as 20261231, or a time as 20261231T220000 or 20261231T220000Z, got %.60q", value)
	if !hasPattern(value, "00000000") {
		return err
	}
	text := value[:4] + "-" + value[4:6] + "-" + value[6:8]
	clock, zone := "T00:00", ""
	if rest := value[8:]; rest != "" {
		if !hasPattern(rest, "T000000") || rest[7:] != "" && rest[7:] != "Z" {
			return err
		}
		clock, zone = rest[:3]+":"+rest[3:5]+":"+rest[5:7], rest[7:]
	}
	m, parseErr := ParseMoment(text + clock + zone)
	if parseErr != nil {
		return err
	}
	r.until = until{m, len(value) == 8}
	return nil
}

// check validates the combination of parts and sorts the lists.
func (r *rule) check() error {
	f := frequencies[r.freq]
	numbered := 0
	for _, w := range r.weekdays {
		numbered = max(numbered, w.number, -w.number)
	}
	switch {
	case r.interval > f.interval:
		return badRule("INTERVAL of a %s rule is a number from 1 to %d, got %d", f.name, f.interval, r.interval)
	case r.count > 0 && !r.until.IsZero():
		return badRule("COUNT and UNTIL both say when it ends; leave out one of them")
	case r.freq == weekly && (r.monthDays != 0 || r.fromEnd != 0):
		return badRule("BYMONTHDAY has no meaning in a WEEKLY rule; write FREQ=MONTHLY, or BYDAY for days of the week")
	case r.freq < monthly && numbered > 0:
		return badRule("BYDAY has numbers (1MO, -1FR), which have no meaning in a %s rule; write FREQ=MONTHLY", f.name)
	case numbered > 5 && (r.freq == monthly || r.months != 0):
		return badRule("a month has no more than 5 of a weekday; numbers in BYDAY are 1 to 5 or -1 to -5, got %d", numbered)
	}
	slices.SortFunc(r.weekdays, func(a, b weekday) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare((a.day+6)%7, (b.day+6)%7))
	})
	return nil
}

// String returns the rule with its parts in a fixed order, so that rules with the same parts are the same text.
func (r rule) String() string {
	out := []string{"FREQ=" + frequencies[r.freq].name}
	add := func(name string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			out = append(out, name+"="+strings.Join(values, ","))
		}
	}
	if r.interval > 1 {
		add("INTERVAL", strconv.Itoa(r.interval))
	}
	if r.count > 0 {
		add("COUNT", strconv.Itoa(r.count))
	}
	add("UNTIL", r.until.String())
	add("BYMONTH", bits(uint32(r.months), "")...)
	add("BYMONTHDAY", slices.Concat(bits(r.monthDays, ""), bits(r.fromEnd, "-"))...)
	var days []string
	for _, w := range r.weekdays {
		name := weekdayNames[w.day]
		if w.number != 0 {
			name = strconv.Itoa(w.number) + name
		}
		days = append(days, name)
	}
	add("BYDAY", days...)
	if r.weekStart != time.Monday {
		add("WKST", weekdayNames[r.weekStart])
	}
	return strings.Join(out, ";")
}

// bits lists the numbers of the bits that are set.
func bits(set uint32, sign string) (list []string) {
	for i := range 32 {
		if set&(1<<i) != 0 {
			list = append(list, sign+strconv.Itoa(i))
		}
	}
	return list
}

func (u until) String() string {
	switch {
	case u.IsZero():
		return ""
	case u.date:
		return u.wall.std().Format("20060102")
	case u.instant:
		return u.wall.std().Format("20060102T150405Z")
	}
	return u.wall.std().Format("20060102T150405")
}
