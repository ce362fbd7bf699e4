// Package status determines what data mean: which status an item has after an event, and how statuses roll up along the
// tree. It decides and never writes; its decisions become part of a record.
//
// The functions of this picture map a state to the next one and depend on their arguments alone, so a history can be
// replayed in a test:
//
//	rows ─► Next    rules change ─► Reassess     Own: the result of data or content
//	time ─► Expire  content      ─► AddUp              │
//	                                                   ▼  management and monitoring periods may hide it
//	operators ─► Manage, Acknowledge ───────────►   Status: shown, counted by the parent and reported by alarms
package status

import (
	"cmp"
	"slices"

	"belfry"
	"belfry/catalog"
)

// Rules decide the status of an item: those of its class, and of the policies on it and on its ancestors.
type Rules struct {
	Thresholds []catalog.Rule
	Interval   belfry.Time // microseconds between two rows; 0: no data is expected
	Rollup     Rollup      // of a view or resource
	Watch      *Watch      // of an object; nil: always monitored
}

// Input is one event of an object: a row, or a report that there was no response.
type Input struct {
	Time       belfry.Time // of the row
	Now        belfry.Time // of the decision
	NoResponse bool        // the source got no response; there are no values
	Reason     string      // why there was no response, if the source knows
	Values     Values      // of the row
}

// Values are the indicators of a row, or the last ones of an object. The bool is false if there is no value.
type Values interface {
	Number(n int) (float64, bool)
	Text(n int) (string, bool)
}

// Change describes what a step did, in addition to the resulting state.
type Change struct {
	Kept    bool // the state changed and must be recorded
	Moved   bool // the shown status changed
	Alarm   bool // an alarm must be written
	From    belfry.Status
	Cleared string // why the acknowledgment ended; empty if it did not
	Ended   string // for an alarm that an object is OK: the present value of the indicator that caused its error
}

const noResponse = "no response"

// Next returns the state after the input. A late input, see belfry.Late, changes nothing: it is history.
func Next(s belfry.State, in Input, r *Rules) (belfry.State, Change) {
	if belfry.Late(in.Time, s.LastSeen, in.Now) {
		return s, Change{}
	}
	s.LastSeen = in.Time
	if in.NoResponse {
		info := cmp.Or(in.Reason, noResponse)
		if s.Evaluated == belfry.Unavailable {
			s.Info = info // same status, perhaps for another reason
		}
		next, c := setOwn(s, belfry.Unavailable, info, in.Time, in.Now)
		c.Kept = true // no data row records the time
		return next, c
	}
	if len(r.Thresholds) == 0 && len(s.Marks) == 0 {
		if s.Evaluated == belfry.OK && s.Operator == nil {
			return s, Change{} // by far the most frequent case
		}
		return setOwn(s, belfry.OK, "", in.Time, in.Now)
	}
	v := assess(s.Marks, in.Values, r.Thresholds, false)
	if v.changed && v.own == s.Evaluated && DecidingRule(s.Marks, r.Thresholds) != v.rule {
		s.Info = v.info // same status for another reason
	}
	before, was := s.Marks, s.Evaluated
	s.Marks = v.marks
	next, c := setOwn(s, v.own, v.info, in.Time, in.Now)
	c.Kept = c.Kept || v.changed
	if c.Alarm && c.Recovered(&next) && was != belfry.Unavailable {
		c.Ended = ended(before, in.Values, r.Thresholds)
	}
	return next, c
}

// Recovered reports whether the step led from an error to OK.
func (c *Change) Recovered(s *belfry.State) bool { return c.From.IsError() && s.Status == belfry.OK }

// ended describes the present value of the indicator whose threshold decided before; "" if there is none.
func ended(before []belfry.Streak, v Values, rules []catalog.Rule) string {
	i := DecidingRule(before, rules)
	if i < 0 {
		return ""
	}
	r := &rules[i]
	if r.When.IsText {
		if text, _ := v.Text(r.N); text != "" {
			return r.Value(text)
		}
	} else if n, ok := v.Number(r.N); ok {
		return r.Value(belfry.FormatNumber(n))
	}
	return ""
}

// verdict is the result of comparing values with thresholds.
type verdict struct {
	marks   []belfry.Streak
	changed bool // marks changed
	own     belfry.Status
	rule    int // index of the deciding threshold; -1 if none is in force
	info    string
}

// assess compares values with thresholds: the worst one in force determines the status. Thresholds of indicators without
// a value keep their count. With again, the values are not new, and thresholds that were met before keep their count,
// too.
func assess(before []belfry.Streak, v Values, rules []catalog.Rule, again bool) verdict {
	out := verdict{marks: before, own: belfry.OK, rule: -1}
	kept := 0 // number of unchanged marks; nearly always all, and then nothing is copied
	value := ""
	for i := range rules {
		r := &rules[i]
		was := Count(before, r.Key)
		now, text := updateCount(r, was, v)
		if again && was > 0 {
			now = was
		}
		if now == 0 {
			continue
		}
		m := belfry.Streak{Rule: r.Key, Count: now}
		switch {
		case out.changed:
			out.marks = append(out.marks, m)
		case kept < len(before) && before[kept] == m:
			kept++
		default:
			out.marks, out.changed = append(slices.Clip(before[:kept]), m), true
		}
		if r.Holds(now) && r.Status > out.own {
			out.own, out.rule, value = r.Status, i, text
		}
	}
	if !out.changed && kept < len(before) {
		out.marks, out.changed = slices.Clone(before[:kept]), true
	}
	if out.rule >= 0 {
		out.info = rules[out.rule].Describe(value)
	}
	return out
}

// DecidingRule returns the index of the threshold that determines the status by marks alone, or -1 if none is in force.
func DecidingRule(marks []belfry.Streak, rules []catalog.Rule) int {
	worst, own := -1, belfry.OK
	for i := range rules {
		if r := &rules[i]; r.Status > own && r.Holds(Count(marks, r.Key)) {
			worst, own = i, r.Status
		}
	}
	return worst
}

// updateCount returns the new count of a threshold that was met was times, and the value it was compared with. Without a
// value the count stays.
func updateCount(r *catalog.Rule, was uint16, v Values) (now uint16, value string) {
	if r.When.IsText {
		if t, ok := v.Text(r.N); ok {
			return r.Count(was, 0, t), t
		}
		return was, ""
	}
	n, ok := v.Number(r.N)
	if !ok {
		return was, ""
	}
	if now = r.Count(was, n, ""); now == 0 {
		return 0, ""
	}
	return now, belfry.FormatNumber(n)
}

// Count returns how many values in a row have met the threshold with this key.
func Count(marks []belfry.Streak, key uint64) uint16 {
	for _, m := range marks {
		if m.Rule == key {
			return m.Count
		}
	}
	return 0
}

// setOwn sets an item's own status and updates what it shows.
func setOwn(s belfry.State, own belfry.Status, info string, at, now belfry.Time) (belfry.State, Change) {
	kept := own != s.Evaluated
	if kept {
		s.Evaluated, s.Info = own, info
	}
	next, c := updateShown(s, at, now)
	if c.Kept = c.Kept || kept; c.Moved || needsAlarm(next) {
		next, c = raiseAlarm(next, c)
	}
	return next, c
}

// needsAlarm reports whether an item that is not hidden shows a status that no alarm has reported.
func needsAlarm(s belfry.State) bool { return !s.Unmanaged() && s.Status != s.Alarmed }

// raiseAlarm makes a step an alarm. If the shown status did not move in this step, the alarm counts as a change from the
// status that was reported last.
func raiseAlarm(s belfry.State, c Change) (belfry.State, Change) {
	if !c.Moved {
		c.From = s.Alarmed
	}
	s.Alarmed, c.Alarm, c.Kept = s.Status, true, true
	return s, c
}

// updateShown sets the status that the item shows, and ends or keeps its acknowledgment accordingly.
func updateShown(s belfry.State, at, now belfry.Time) (belfry.State, Change) {
	c := Change{From: s.Status}
	to := s.Evaluated
	if s.OffHours || s.Unmanaged() {
		to = belfry.Unknown
	}
	if to != s.Status {
		s.Status, s.Since = to, at
		c.Moved, c.Kept = true, true
	}
	if s.Operator != nil && s.Operator.Ack != nil {
		operator := *s.Operator
		if operator.Ack, c.Cleared = updateAck(operator.Ack, to, now); operator.Ack != s.Operator.Ack {
			s.Operator, c.Kept = trim(operator), true
		}
	}
	return s, c
}

// trim returns a pointer to c, or nil if it is empty.
func trim(c belfry.OperatorState) *belfry.OperatorState {
	if c.IsZero() {
		return nil
	}
	return &c
}

// updateAck returns the acknowledgment after its item shows a status. If it ends, the result is nil and the reason.
func updateAck(a *belfry.Ack, shown belfry.Status, now belfry.Time) (*belfry.Ack, string) {
	waiting := a.Left != 0
	if waiting && now < a.Left { // the clock was set back: the remaining time starts again
		b := *a
		b.Left = now
		a = &b
	}
	switch {
	case a.Until != 0 && now >= a.Until:
		return nil, "its time is over"
	case waiting && now >= a.Left+a.Sticky:
		return nil, "recovered"
	case !shown.IsError() && a.Sticky == 0:
		return nil, "recovered"
	case shown.IsError() && a.UntilWorse && shown > a.Status:
		return nil, "got worse, from " + a.Status.Name() + " to " + shown.Name()
	case shown.IsError() == !waiting:
		return a, ""
	}
	b := *a
	if b.Left = 0; !shown.IsError() {
		b.Left = now
	}
	return &b, ""
}

// Expire applies the passing of time: an object without data for three intervals becomes Unknown, and an acknowledgment
// may end. since is when this program began to receive data; the three intervals never begin before it.
func Expire(s belfry.State, r *Rules, since, now belfry.Time) (belfry.State, Change) {
	if stale := Stale(s, r, since, now); stale != 0 && now >= stale && s.Evaluated != belfry.Unknown {
		return setOwn(s, belfry.Unknown, "no data since "+s.LastSeen.String(), stale, now)
	}
	return updateShown(s, now, now)
}

// Stale returns when an object becomes Unknown if no more data arrives; 0 if it does not. Data that came in the future,
// while the clock was ahead, counts as received at since, when the clock was corrected.
func Stale(s belfry.State, r *Rules, since, now belfry.Time) belfry.Time {
	const intervals = 3
	if r.Interval == 0 || s.LastSeen == 0 || s.Evaluated == belfry.Unknown {
		return 0
	}
	heard := s.LastSeen
	if heard > now+belfry.Time(Ahead.Microseconds()) {
		heard = since
	}
	return max(heard, since) + intervals*r.Interval
}

// Due returns the next time at which Expire would change something; 0 if there is none.
func Due(s belfry.State, r *Rules, since, now belfry.Time) belfry.Time {
	due := Stale(s, r, since, now)
	if s.Operator != nil && s.Operator.Ack != nil {
		due = earlier(due, s.Operator.Ack.Until)
		if left := s.Operator.Ack.Left; left != 0 {
			if left > now { // the clock was set back
				return earlier(due, now)
			}
			due = earlier(due, left+s.Operator.Ack.Sticky)
		}
	}
	return due
}

func earlier(a, b belfry.Time) belfry.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Reassess applies changed rules to an object, using its last values. A threshold that existed before keeps its count.
func Reassess(s belfry.State, r *Rules, last Values, lastData, since, now belfry.Time) (belfry.State, Change) {
	v := assess(s.Marks, last, r.Thresholds, true)
	s.Marks = v.marks
	alive := s
	if alive.Evaluated == belfry.Unknown { // it may have become Unknown under another interval
		alive.Evaluated, since = belfry.OK, 0 // and the start of the program must not make it known again
	}
	stale := Stale(alive, r, since, now)
	switch {
	case s.LastSeen == 0 || stale != 0 && now >= stale:
		v.own, v.info = belfry.Unknown, s.Info
	case s.Evaluated == belfry.Unavailable || s.LastSeen > lastData:
		v.own, v.info = belfry.Unavailable, noResponse
	}
	if v.own == s.Evaluated && v.info != s.Info {
		s.Info, v.changed = v.info, true
	}
	next, c := setOwn(s, v.own, v.info, now, now)
	c.Kept = c.Kept || v.changed
	return next, c
}
