package engine_test

import (
	"math/rand/v2"
	"strings"
	"time"

	"belfry"
)

// chance makes up steps.
type chance struct {
	*rand.Rand
	world *world
	now   belfry.Time
}

const second = belfry.Time(1_000_000)

// span is some time, mostly short. Few spans make it likely that several things are due at once.
func (c *chance) span() belfry.Time {
	return []belfry.Time{1, 10, 10, 20, 30, 30, 60, 60, 120, 300}[c.IntN(10)] * second
}

func pick[T any](c *chance, list ...T) T { return list[c.IntN(len(list))] }

func (c *chance) object() string {
	return pick(c, "web01/cpu1", "web01/cpu2", "web01/disk1", "web01/disk2", "web02/cpu1", "web02/disk1", "web01/disk3", "web02/cpu4")
}

func (c *chance) item() string {
	if c.IntN(2) == 0 {
		return c.known()
	}
	return pick(c, "web01", "web02", "web01:rack", "web01:shelf", "web02:box", "@hall", "@yard", "MAIN")
}

// known is an object that exists from the beginning.
func (c *chance) known() string {
	return pick(c, "web01/cpu1", "web01/cpu2", "web01/disk1", "web01/disk2", "web02/cpu1", "web02/disk1")
}

func (c *chance) step() *step {
	c.now += c.span()
	s := &step{at: c.now, item: c.item()}
	switch n := c.IntN(100); {
	case n < 40:
		c.data(s)
	case n < 46:
		s.verb, s.item = "silent", c.object()
	case n < 58:
		s.verb, s.text = "ack", pick(c, "", "seen")
		if c.IntN(3) == 0 {
			s.to = c.now + c.span()
		}
		if c.IntN(3) == 0 {
			s.down = c.span()
		}
		s.worse = c.IntN(3) == 0
	case n < 61:
		s.verb = "unack"
	case n < 77:
		c.manage(s)
	case n < 81:
		s.verb, s.text = "note", pick(c, "", "a note")
	case n < 86:
		s.verb, s.item = "class", pick(c, "cpu", "disk")
		s.rules = pick(c, c.world.classes[s.item]...)
	case n < 93:
		c.place(s)
	case n < 97:
		s.verb, s.item, s.down = "restart", "", pick(c, 0, c.span())
	case n < 99:
		s.verb, s.item = "clock", ""
		s.down = pick(c, belfry.Time(time.Hour/time.Microsecond), belfry.Time(365*24*time.Hour/time.Microsecond)) * pick[belfry.Time](c, 1, -1)
	default:
		s.verb = "wait"
	}
	return s
}

func (c *chance) data(s *step) {
	s.verb, s.item = "data", c.object()
	if c.IntN(5) > 0 {
		s.values = append(s.values, belfry.Cell{N: 1, Text: pick(c, "10", "60", "75", "85", "92", "97", "97")})
	}
	if c.IntN(3) == 0 || s.values == nil {
		s.values = append(s.values, belfry.Cell{N: 2, Text: pick(c, "ok", "bad")})
	}
	if c.IntN(5) == 0 { // late, or of a clock that is ahead
		s.dated, s.from = true, c.now-pick(c, c.span(), c.span(), -c.span()/2)
	}
}

func (c *chance) manage(s *step) {
	s.verb = "manage"
	s.mode = pick(c, belfry.Managed, belfry.Managed, belfry.UnmanagedIfDown, belfry.UnmanagedKeep, belfry.UnmanagedDrop, belfry.CollectorStopped)
	s.window = pick(c, "", "", "a", "b", "-")
	if c.IntN(2) == 0 {
		return
	}
	if c.IntN(3) > 0 {
		s.from = max(1, c.now+pick(c, c.span(), c.span(), -c.span()))
	}
	if c.IntN(3) > 0 || s.from == 0 {
		s.to = max(c.now, s.from) + c.span()
	}
}

func (c *chance) place(s *step) {
	s.verb, s.item = "place", pick(c, c.object(), "web01:shelf", "web01", "web02", "@hall")
	switch s.item {
	case "web01:shelf":
		s.in = pick(c, "web01", "web01:rack")
	case "@hall":
		s.in = pick(c, "MAIN", "@yard")
	case "web01", "web02":
		s.in = pick(c, "MAIN", "@hall", "@yard")
	default:
		s.in = pick(c, "web01", "web01:rack", "web01:shelf")
		if strings.HasPrefix(s.item, "web02") {
			s.in = pick(c, "web02", "web02:box")
		}
	}
}
