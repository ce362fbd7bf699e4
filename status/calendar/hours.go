package calendar

import (
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

const hoursExample = "write days and hours like mon-fri 08:00-18:00, sat,sun 10:00-14:00, fri 22:00-06:00 or 00:00-24:00"

// hoursWeek is the Monday of the week in which the schedules of hours begin.
const hoursWeek day = 4 // 1970-01-05

// dayNames begin with Monday.
var dayNames = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// parseHours reads the short form of a weekly schedule: days, hours or both. Without days it means every day, without
// hours the whole day. Hours that end before they begin end on the next day.
func parseHours(text string, zone *time.Location) (Schedule, error) {
	const maxLen = 100
	words := strings.Fields(strings.ToLower(text))
	if len(text) > maxLen || len(words) < 1 || len(words) > 2 {
		return Schedule{}, belfry.Errorf(belfry.BadParameter, "%.60q are no hours; %s", text, hoursExample)
	}
	if hours := strings.ContainsRune(words[0], ':'); hours && len(words) == 1 {
		words = []string{"mon-sun", words[0]}
	} else if len(words) == 1 {
		words = append(words, "00:00-24:00")
	}
	days, err := parseDays(words[0])
	if err != nil {
		return Schedule{}, err
	}
	begin, end, err := parseClocks(words[1])
	if err != nil {
		return Schedule{}, err
	}
	first := (hoursWeek + day(slices.Index(days[:], true))).start()
	return ParseSchedule((first + begin).String(), (first + end).String(), daysRule(days), zone)
}

// weekDays has the selected days of a week, from Monday on.
type weekDays [7]bool

func daysRule(days weekDays) string {
	var names []string
	for i, selected := range days {
		if selected {
			names = append(names, weekdayNames[(i+1)%7])
		}
	}
	return "FREQ=WEEKLY;BYDAY=" + strings.Join(names, ",")
}

// parseDays reads mon, mon-fri, fri-mon, mon,wed-thu.
func parseDays(text string) (days weekDays, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := parseDay(first)
		if err != nil {
			return days, err
		}
		to, err := parseDay(last)
		if err != nil {
			return days, err
		}
		for i := from; ; i = (i + 1) % 7 {
			days[i] = true
			if i == to {
				break
			}
		}
	}
	return days, nil
}

// parseDay reads the name of a day, in full or as its first three letters.
func parseDay(name string) (int, error) {
	for i, full := range dayNames {
		if name == full || name == full[:3] {
			return i, nil
		}
	}
	hint := ""
	if near := catalog.Nearest(name, dayNames); near != "" {
		hint = "; nearest is " + near[:3]
	}
	return 0, belfry.Errorf(belfry.BadParameter, "%.60q is no day of the week%s; %s", name, hint, hoursExample)
}

// parseClocks reads 08:00-18:00. The end is counted from the same midnight as the beginning.
func parseClocks(text string) (begin, end civil, err error) {
	first, last, _ := strings.Cut(text, "-")
	begin, okBegin := parseClock(first)
	end, okEnd := parseClock(last)
	if !okBegin || !okEnd || begin == aDay {
		return 0, 0, belfry.Errorf(belfry.BadParameter, "%.60q are no hours from 00:00 to 24:00; %s", text, hoursExample)
	}
	if begin == end {
		return 0, 0, belfry.Errorf(belfry.BadParameter, "%q begins and ends at the same time; write 00:00-24:00 for whole days", text)
	}
	if end < begin {
		end += aDay
	}
	return begin, end, nil
}

// parseClock reads 08:00 or 8:00, up to 24:00.
func parseClock(text string) (civil, bool) {
	if len(text) == 4 {
		text = "0" + text
	}
	if len(text) != 5 || !hasPattern(text, "00:00") {
		return 0, false
	}
	hours, minutes := parseDigits(text[:2]), parseDigits(text[3:])
	at := civil(hours)*anHour + civil(minutes)*aMinute
	return at, minutes <= 59 && at <= aDay
}
