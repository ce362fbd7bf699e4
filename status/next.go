// Package status says what data mean: which status an item has after what happened to it, and how statuses add up along
// the tree. It decides and never writes; what it decides becomes part of a record.
//
// Every function here takes a standing and gives the next one, depending on its arguments alone, so that a history can
// be played again in a test:
//
//	rows ─► Next    rules change ─► Reassess     Own: what data, or the content, say
//	time ─► Lapse   content      ─► Add up             │
//	                                                   ▼  management and monitoring periods may hide it
//	operators ─► Manage, Acknowledge ───────────►   Status: what is shown, counted above and told by alarms
package status

import (
	"cmp"
	"slices"

	"belfry"
	"belfry/catalog"
)

// Rules are what decides about an item: those of its class, and of the policies on it and around it.
type Rules struct {
	Thresholds []catalog.Rule
	Interval   belfry.Time // microseconds between two rows; 0: nothing is expected
	Rollup     Rollup      // of a view or resource
	Watch      *Watch      // of an object; nil: it is always monitored
}

// Input is one thing that happens to an object.
type Input struct {
	Time       belfry.Time // of the row
	Now        belfry.Time // of the decision
	NoResponse bool        // the source reports that it got no answer, instead of data
	Reason     string      // why there was none, if the source knows
	Values     Values      // of the row
}

// Values are the indicators of a row, or the last ones of an object. A value that is not there gives false.
type Values interface {
	Number(n int) (float64, bool)
	Text(n int) (string, bool)
}

// Change says what a step did, beside the standing that it led to.
type Change struct {
	Kept    bool // something is different that a record has to carry
	Moved   bool // another status is shown
	Alarm   bool // and it is to be told
	From    belfry.Status
	Cleared string // why the acknowledgment ended; empty when it did not
	Ended   string // of an alarm that tells that an object is OK: the value that was the reason for its error, as it is now
}

const noResponse = "no response"

// Next gives the standing after the input. A late input, see belfry.Late, changes nothing: it is history.
func Next(s belfry.State, in Input, r *Rules) (belfry.State, Change) {
	if belfry.Late(in.Time, s.LastSeen, in.Now) {
		return s, Change{}
	}
	s.LastSeen = in.Time
	if in.NoResponse {
		info := cmp.Or(in.Reason, noResponse)
		if s.Evaluated == belfry.Unavailable {
			s.Info = info // as before, perhaps for another reason
		}
		next, c := shift(s, belfry.Unavailable, info, in.Time, in.Now)
		c.Kept = true // no row tells that it was heard of
		return next, c
	}
	if len(r.Thresholds) == 0 && len(s.Marks) == 0 {
		if s.Evaluated == belfry.OK && s.Operator == nil {
			return s, Change{} // most rows by far
		}
		return shift(s, belfry.OK, "", in.Time, in.Now)
	}
	v := assess(s.Marks, in.Values, r.Thresholds, false)
	if v.changed && v.own == s.Evaluated && decides(s.Marks, r.Thresholds) != v.worst {
		s.Info = v.info // as bad as before, for another reason
	}
	before, was := s.Marks, s.Evaluated
	s.Marks = v.marks
	next, c := shift(s, v.own, v.info, in.Time, in.Now)
	c.Kept = c.Kept || v.changed
	if c.Alarm && c.Recovered(&next) && was != belfry.Unavailable {
		c.Ended = ended(before, in.Values, r.Thresholds)
	}
	return next, c
}

// Recovered tells whether the step led from an error to OK.
func (c *Change) Recovered(s *belfry.State) bool { return c.From.IsError() && s.Status == belfry.OK }

// ended names the value whose threshold decided before; empty when there is none.
func ended(before []belfry.Mark, v Values, rules []catalog.Rule) string {
	i := decides(before, rules)
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

// verdict is what values say about an object.
type verdict struct {
	marks   []belfry.Mark
	changed bool // marks are others than before
	own     belfry.Status
	worst   int // which threshold says so; -1 when none is in force
	info    string
}

// assess lets values meet thresholds: the worst that is in force gives the status. Thresholds of indicators that have
// no value now stay as they are. So does one that has been met before when the values are not new, but seen again.
func assess(before []belfry.Mark, v Values, rules []catalog.Rule, again bool) verdict {
	out := verdict{marks: before, own: belfry.OK, worst: -1}
	kept := 0 // so many marks are as they were; nearly always all of them, and then nothing is copied
	value := ""
	for i := range rules {
		r := &rules[i]
		was := count(before, r.Key)
		now, text := meet(r, was, v)
		if again && was > 0 {
			now = was
		}
		if now == 0 {
			continue
		}
		m := belfry.Mark{Rule: r.Key, Count: now}
		switch {
		case out.changed:
			out.marks = append(out.marks, m)
		case kept < len(before) && before[kept] == m:
			kept++
		default:
			out.marks, out.changed = append(slices.Clip(before[:kept]), m), true
		}
		if r.Holds(now) && r.Status > out.own {
			out.own, out.worst, value = r.Status, i, text
		}
	}
	if !out.changed && kept < len(before) {
		out.marks, out.changed = slices.Clone(before[:kept]), true
	}
	if out.worst >= 0 {
		out.info = rules[out.worst].Describe(value)
	}
	return out
}

// decides finds the threshold that gives the status by marks alone; -1 when none is in force.
func decides(marks []belfry.Mark, rules []catalog.Rule) int {
	worst, own := -1, belfry.OK
	for i := range rules {
		if r := &rules[i]; r.Status > own && r.Holds(count(marks, r.Key)) {
			worst, own = i, r.Status
		}
	}
	return worst
}

// meet lets the value of an indicator, if there is one, meet a threshold that was met so many times before.
func meet(r *catalog.Rule, was uint16, v Values) (now uint16, value string) {
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

func count(marks []belfry.Mark, key uint64) uint16 {
	for _, m := range marks {
		if m.Rule == key {
			return m.Count
		}
	}
	return 0
}

// shift gives an item another status of its own, and lets what follows from that show.
func shift(s belfry.State, own belfry.Status, info string, at, now belfry.Time) (belfry.State, Change) {
	kept := own != s.Evaluated
	if kept {
		s.Evaluated, s.Info = own, info
	}
	next, c := show(s, at, now)
	if c.Kept = c.Kept || kept; c.Moved || untold(next) {
		next, c = tell(next, c)
	}
	return next, c
}

// untold tells whether an item that nothing hides shows what no alarm has said.
func untold(s belfry.State) bool { return !s.Unmanaged() && s.Status != s.Alarmed }

// tell makes a step an alarm. Out of hiding an item may come with nothing to see: then it is from what was told last that
// it has moved.
func tell(s belfry.State, c Change) (belfry.State, Change) {
	if !c.Moved {
		c.From = s.Alarmed
	}
	s.Alarmed, c.Alarm, c.Kept = s.Status, true, true
	return s, c
}

// show lets an item show what it has to, and ends or keeps its acknowledgment accordingly.
func show(s belfry.State, at, now belfry.Time) (belfry.State, Change) {
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
		care := *s.Operator
		if care.Ack, c.Cleared = keepAck(care.Ack, to, now); care.Ack != s.Operator.Ack {
			s.Operator, c.Kept = trim(care), true
		}
	}
	return s, c
}

// trim gives what has been said about an item; nil when that is nothing.
func trim(c belfry.OperatorState) *belfry.OperatorState {
	if c.IsZero() {
		return nil
	}
	return &c
}

// keepAck decides what becomes of an acknowledgment when its item shows a status: it may end, and then it says why.
func keepAck(a *belfry.Ack, shown belfry.Status, now belfry.Time) (*belfry.Ack, string) {
	waiting := a.Left != 0
	if waiting && now < a.Left { // the clock was set back: the time that is left begins again
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

// Lapse lets time pass: an object of which nothing was heard for three intervals is Unknown, and an acknowledgment may
// end. Nothing counts as heard before the moment since, at which this program began to listen.
func Lapse(s belfry.State, r *Rules, since, now belfry.Time) (belfry.State, Change) {
	if stale := Stale(s, r, since, now); stale != 0 && now >= stale && s.Evaluated != belfry.Unknown {
		return shift(s, belfry.Unknown, "no data since "+s.LastSeen.String(), stale, now)
	}
	return show(s, now, now)
}

// Stale is the moment at which an object becomes Unknown when nothing more is heard of it; 0 when it does not. What was
// heard in the future, while the clock was ahead, counts as heard when the clock was put right, which is since.
func Stale(s belfry.State, r *Rules, since, now belfry.Time) belfry.Time {
	const patience = 3
	if r.Interval == 0 || s.LastSeen == 0 || s.Evaluated == belfry.Unknown {
		return 0
	}
	heard := s.LastSeen
	if heard > now+belfry.Time(Ahead.Microseconds()) {
		heard = since
	}
	return max(heard, since) + patience*r.Interval
}

// Due is the next moment at which Lapse would make a difference; 0 when there is none.
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

// Reassess lets changed rules decide about an object by the last values it had. A threshold that was there before keeps
// what it has counted.
func Reassess(s belfry.State, r *Rules, last Values, lastData, since, now belfry.Time) (belfry.State, Change) {
	v := assess(s.Marks, last, r.Thresholds, true)
	s.Marks = v.marks
	alive := s
	if alive.Evaluated == belfry.Unknown { // it may have been given up under another interval
		alive.Evaluated, since = belfry.OK, 0 // and to have begun to listen is no reason to believe in it again
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
	next, c := shift(s, v.own, v.info, now, now)
	c.Kept = c.Kept || v.changed
	return next, c
}
