package demo

import (
	"fmt"
	"math"
	"time"
)

// incident is a temporary fault. Incidents follow from the seed and the time alone.
type incident struct {
	id       string
	cause    *object
	affected []*object // the cause among them
	from, to time.Time
	silent   bool // the affected objects send no data
	chance   uint64
}

// Number of incidents that begin in each slot. With their durations, four are open on average.
const (
	slot     = 10 * time.Minute
	perSlot  = 2
	shortest = 6 * time.Minute
	longest  = 36 * time.Minute
)

// liable are the classes in which incidents begin. A class listed twice has twice as many.
var liable = []string{
	"cpu", "memory", "disk", "web-server", "web-server", "database", "database", "switch-port", "message-queue", "payment",
	"temperature", "ups", "printer", "tunnel", "tunnel",
}

// incidents lists the incidents open at a time.
func (p *plan) incidents(seed uint64, at time.Time) (open []incident) {
	last := at.Unix() / int64(slot.Seconds())
	first := last - int64(math.Ceil(longest.Seconds()/slot.Seconds())) - 1
	for s := first; s <= last; s++ {
		for n := range uint64(perSlot) {
			i := p.incident(seed, uint64(s), n)
			if !at.Before(i.from) && at.Before(i.to) {
				open = append(open, i)
			}
		}
	}
	return open
}

func (p *plan) incident(seed, s, n uint64) incident {
	h := func(what uint64) uint64 { return mix(seed, s, n, what, 99) }
	class := liable[h(1)%uint64(len(liable))]
	of := p.byClass[class]
	begin := time.Unix(int64(s)*int64(slot.Seconds()), 0).Add(time.Duration(h(3) % uint64(slot)))
	i := incident{
		id: fmt.Sprintf("INC-%d%d", s%100_000, n), cause: of[h(2)%uint64(len(of))], from: begin.Truncate(time.Second), chance: h(5),
	}
	i.to = i.from.Add(shortest + time.Duration(h(4)%uint64(longest-shortest)))
	i.affected = []*object{i.cause}
	switch {
	case class == "database" && h(6)%2 == 0: // objects that need the database are affected, too
		i.affected = append(append(i.affected, p.byClass["payment"]...), p.byClass["web-check"]...)
	case class == "tunnel":
		i.silent = h(6)%2 == 0
	case class == "printer":
		i.silent = h(6)%3 == 0
	}
	return i
}

// strength rises in the first tenth of an incident and falls in the last.
func (i *incident) strength(at time.Time) float64 {
	whole := i.to.Sub(i.from).Seconds()
	gone := at.Sub(i.from).Seconds() / whole
	return min(gone*10, (1-gone)*10, 1)
}

// mood is the state of the inventory at a time.
type mood struct {
	at     time.Time
	busy   float64
	open   []incident
	stress map[*object]float64
	silent map[*object]bool
}

func (d *Demo) mood(at time.Time) *mood {
	m := &mood{at: at.In(d.Zone), open: d.plan.incidents(d.Seed, at), stress: map[*object]float64{}, silent: map[*object]bool{}}
	m.busy = rhythm(m.at)
	for n := range m.open {
		i := &m.open[n]
		for k, o := range i.affected {
			s := i.strength(at)
			if k > 0 {
				s *= 0.35 // not as bad as the cause
			}
			m.stress[o] = max(m.stress[o], s)
			m.silent[o] = m.silent[o] || i.silent
		}
	}
	return m
}

// values returns the values of an object; nil while it sends none.
func (d *Demo) values(m *mood, o *object) []any {
	if m.silent[o] {
		return nil
	}
	return courses[o.class](&course{seed: d.Seed, object: o, at: m.at, busy: m.busy, stress: m.stress[o]})
}
