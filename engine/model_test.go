package engine_test

import (
	"cmp"
	"maps"
	"slices"

	"belfry"
)

// settle works out what everything shows, after a word that counts from a moment, for some things from their own. What
// operators acted on, and all inside, has its event already; out of hiding it tells only what nobody has been told yet.
func (m *model) settle(when belfry.Time, own map[*thing]belfry.Time, acted bool) {
	things := m.outerFirst()
	for _, x := range things {
		was := x.mode
		if x.mode = max(x.own(), x.around()); acted && x.mode == was { // modes stand in the order of their strength
			delete(own, x) // to act on it changes nothing
		}
	}
	for _, x := range slices.Backward(things) {
		status, latest := x.says, belfry.Time(0)
		for _, y := range m.things {
			if y.in == x {
				status = max(status, y.shows) // the worst wins
				latest = max(latest, y.lastMove())
			}
		}
		hidden := x.mode >= belfry.UnmanagedKeep || x.mode == belfry.UnmanagedIfDown && status == belfry.Unavailable
		if hidden {
			status = belfry.Unknown
		}
		top := x.outermost(own)
		at, covered, was := cmp.Or(own[top], latest, when), acted && top != nil, x.shows
		if x.moved = status != was; x.moved {
			x.shows, x.since = status, at
		} else {
			was = x.told // nothing to see, but perhaps news
		}
		x.alarmed = x.moved && !covered || !hidden && status != x.told
		if x.alarmed {
			m.tell("alarm", x, at, was, "")
			x.told = status
		}
		if x.ack != nil && x.ackEnds(m.now) && (!covered || top == x) {
			m.tell("acknowledge", x, at, nothing, map[bool]string{true: operator}[covered])
		}
	}
}

// ackEnds lets the acknowledgment of a thing end, or wait for the error to come back. It tells whether it has ended.
func (x *thing) ackEnds(now belfry.Time) bool {
	a, bad := x.ack, x.shows.IsError()
	switch {
	case a.Until != 0 && now >= a.Until, a.Left != 0 && now >= a.Left+a.Sticky, // its time is over
		bad && a.UntilWorse && x.shows > a.Status, !bad && a.Sticky == 0:
		x.ack = nil
	case bad:
		a.Left = 0
	case a.Left == 0:
		a.Left = now
	}
	return x.ack == nil
}

// row applies values, or a report that there are none, to an object.
func (m *model) row(x *thing, at belfry.Time, values map[int]string, silent bool) {
	if x.mode >= belfry.UnmanagedDrop {
		m.discarded++
		return
	}
	if !silent && !m.late(at, x.data) {
		x.data = at
		maps.Copy(x.values, values)
	}
	if m.late(at, x.heard) {
		return // history
	}
	x.heard = at
	for _, r := range m.rules(x).rules {
		v, ok := values[r.n]
		switch holds := x.met[r.text] >= r.after; {
		case !ok, holds && (meets(v, r.when) || r.recover != nil && !meets(v, r.recover)): // stays
		case meets(v, r.when):
			x.met[r.text]++
		default:
			x.met[r.text] = 0
		}
	}
	if x.says = m.worst(x); silent {
		x.says = belfry.Unavailable
	}
	m.settle(at, nil, false)
}

// late tells whether a row is history beside one known before. What has no time of its own never is; nor is anything
// beside what is so far ahead that the clock must have been wrong.
func (m *model) late(at, known belfry.Time) bool {
	return at != m.now && at < known && !m.incredible(known)
}

func (m *model) incredible(heard belfry.Time) bool { return heard-m.now > 5*60*1_000_000 }

// redefine gives a class other rules. They judge by the last values; a threshold that was there before goes on counting.
func (m *model) redefine(class string, rules *ruleset) {
	m.classes[class] = rules
	for _, x := range m.objectsOf(class) {
		before, listening := x.met, m.listening(x)
		x.met = map[string]int{}
		for _, r := range rules.rules {
			if x.met[r.text] = before[r.text]; x.met[r.text] == 0 && meets(x.values[r.n], r.when) {
				x.met[r.text] = 1
			}
		}
		if x.says == belfry.Unknown {
			if listening = x.heard; m.incredible(x.heard) { // it was given up already
				listening = 0
			}
		}
		switch {
		case x.heard == 0 || rules.every != 0 && m.now >= listening+3*rules.every:
			x.says = belfry.Unknown
		case x.says == belfry.Unavailable || x.heard > x.data:
			x.says = belfry.Unavailable
		default:
			x.says = m.worst(x)
		}
	}
	m.settle(m.now, nil, false)
}

// manage asks for a mode, at once or for a window, which takes the place of an earlier one of its name.
func (m *model) manage(x *thing, w modelWindow, alone bool) {
	switch same := func(o modelWindow) bool { return o.name == w.name }; {
	case w.mode == belfry.Managed && w.from == 0 && w.to == 0 && w.name == "" && !alone:
		x.open, x.coming = nil, nil
	case w.mode == belfry.Managed && w.from == 0 && w.to == 0:
		x.coming = slices.DeleteFunc(x.coming, same)
		for i := len(x.open) - 1; i >= 0; i-- {
			if i < len(x.open) && same(x.open[i]) && !x.open[i].lasting() {
				x.shut(i)
			}
		}
	case w.from == 0 || x.newest(w.name) != w:
		x.coming = slices.DeleteFunc(x.coming, same)
		for i := len(x.open) - 1; i >= 0; i-- {
			if i < len(x.open) && same(x.open[i]) && (x.open[i].to != 0 || w.from == 0 && w.to == 0) {
				x.shut(i)
			}
		}
		if w.from == 0 {
			w.from, w.atOnce = m.now, true
		}
		x.coming = append(x.coming, w)
	}
	was := x.shows
	m.turn(x)
	m.settle(m.now, map[*thing]belfry.Time{x: m.now}, true)
	m.tellManaged(x, m.now, was)
}

// shut ends a window that is open. One that was to unmanage takes along those of its name that were open before it.
func (x *thing) shut(i int) {
	w := x.open[i]
	x.open = slices.Delete(x.open, i, i+1)
	if w.mode == belfry.Managed {
		return
	}
	below := slices.DeleteFunc(slices.Clone(x.open[:i]), func(o modelWindow) bool { return o.name == w.name })
	x.open = append(below, x.open[i:]...)
}

// tellManaged tells that a thing is managed otherwise, and what it shows then, unless an alarm of the same moment tells that.
func (m *model) tellManaged(x *thing, at belfry.Time, was belfry.Status) {
	m.tell("manage", x, at, was, operator)
	if x.alarmed {
		m.events[len(m.events)-1].status = was
	}
}

// turn opens and closes windows as far as their time has come, and tells when.
func (m *model) turn(x *thing) (moments []belfry.Time) {
	for {
		at, closes, i := x.turns()
		if at > m.now {
			return moments
		}
		if moments = append(moments, at); closes {
			x.shut(i)
		} else {
			x.open, x.coming = append(x.open, x.coming[i]), slices.Delete(x.coming, i, i+1)
		}
	}
}

// rewind closes windows that begin in the future, now that the clock was set back. Those that have lost their place to another are gone.
func (m *model) rewind() {
	turned, news := map[*thing]belfry.Time{}, []func(){}
	for _, x := range m.things {
		was, own, waits := x.shows, x.own(), false
		for i := len(x.open) - 1; i >= 0; i-- {
			w := x.open[i]
			if w.atOnce || w.from <= m.now {
				continue
			}
			same := func(o modelWindow) bool { return o.name == w.name }
			replaced := slices.ContainsFunc(x.open[i+1:], same) || slices.ContainsFunc(x.coming, same)
			if x.open = slices.Delete(x.open, i, i+1); !replaced {
				x.coming, waits = slices.Insert(x.coming, 0, w), true
			}
		}
		if !waits && x.own() == own {
			continue
		}
		turned[x] = m.now
		news = append(news, func() { m.tellManaged(x, m.now, was) })
	}
	m.settle(m.now, turned, true)
	for _, tell := range news {
		tell()
	}
}

// happen lets what is due happen: first silence and the end of acknowledgments, then windows.
func (m *model) happen() {
	silent, turned, news := map[*thing]belfry.Time{}, map[*thing]belfry.Time{}, []func(){}
	for _, x := range m.things {
		if at := m.stale(x); at <= m.now {
			x.says, silent[x] = belfry.Unknown, at
		}
	}
	m.settle(m.now, silent, false)
	for _, x := range m.things {
		was := x.shows
		moments := m.turn(x)
		for i, at := range moments {
			if turned[x] = at; i == len(moments)-1 {
				news = append(news, func() { m.tellManaged(x, at, was) })
			} else {
				m.tell("manage", x, at, was, operator) // it shows still what it did
			}
		}
	}
	m.settle(m.now, turned, true)
	for _, tell := range news {
		tell()
	}
}

// acknowledge marks the error that a thing is in as known, and those of the objects inside it.
func (m *model) acknowledge(x *thing, a belfry.Ack) {
	for _, y := range m.things {
		if y == x || y.object && y.inside(x) && y.shows.IsError() {
			b := a
			b.Time, b.Status = m.now, y.shows
			y.ack = &b
		}
	}
	m.tell("acknowledge", x, m.now, nothing, operator)
}

// unacknowledge takes acknowledgments back, of a thing and of all inside it.
func (m *model) unacknowledge(x *thing) {
	for _, y := range m.things {
		if y.inside(x) {
			y.ack = nil
		}
	}
	m.tell("acknowledge", x, m.now, nothing, operator)
}

// worst is what the thresholds say that are in force.
func (m *model) worst(x *thing) belfry.Status {
	worst := belfry.OK
	for _, r := range m.rules(x).rules {
		if x.met[r.text] >= r.after {
			worst = max(worst, r.status)
		}
	}
	return worst
}

// stale is when an object is given up: three intervals after it was heard of, or after somebody began to listen.
func (m *model) stale(x *thing) belfry.Time {
	if every := m.rules(x).every; every != 0 && x.says != belfry.Unknown {
		return m.listening(x) + 3*every
	}
	return never
}

// listening is since when an object has been silent.
func (m *model) listening(x *thing) belfry.Time {
	if m.incredible(x.heard) {
		return m.began
	}
	return max(x.heard, m.began)
}
