package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// shift is the plain model of what operators and devices have done to the resource plant and the objects in it.
type shift struct {
	items   map[string]cared
	events  map[string]int
	windows int
}

// cared is one item. For the resource, own follows from the objects.
type cared struct {
	own, shown, told string // statuses; told is what the last alarm said
	mode             string // set on it
	ack, note, un    string
}

var strength = []string{"managed", "ifred", "stored", "discarded", "stopped"}

func newShift() *shift {
	s := &shift{items: map[string]cared{}, events: map[string]int{}}
	for _, name := range []string{"a", "b", "c", "plant"} {
		s.items[name] = cared{own: "0", shown: "0", told: "0", mode: "managed"}
		s.events["alarm "+name+" ?>0"]++
	}
	return s
}

func (s *shift) clone() *shift {
	return &shift{items: maps.Clone(s.items), events: maps.Clone(s.events), windows: s.windows}
}

// do gives the model after a deed, and the status of its answer.
func (s *shift) do(d deed) (*shift, int) {
	n := s.clone()
	it := n.items[d.item]
	switch d.kind {
	case "data", "silent":
		if n.mode(d.item) >= 3 {
			return n, 200 // neither shown nor stored
		}
		it.own = "-"
		if d.kind == "data" {
			it.own = map[int]string{1: "0", 60: "1", 95: "3"}[d.value]
		}
		n.items[d.item] = it
		n.settle("")
	case "manage":
		it.mode, it.un = d.mode, d.text
		n.items[d.item] = it
		n.events["manage "+d.item]++
		n.settle(d.item)
	case "ack":
		if !isError(it.shown) {
			return n, 409
		}
		n.events["acknowledge "+d.item]++
		for _, name := range []string{"a", "b", "c"} {
			if in := n.items[name]; d.item == "plant" && isError(in.shown) {
				in.ack = d.text
				n.items[name] = in
			}
		}
		it.ack = d.text
		n.items[d.item] = it
	case "note":
		it.note = d.text
		n.items[d.item] = it
		n.events["note "+d.item]++
	case "window":
		n.windows++
		for _, e := range []string{"window", "window opened", "window closed"} {
			n.events[e]++
		}
	}
	return n, 200
}

func isError(status string) bool { return strings.Index(worst, status) >= 2 }

// mode is the stronger of what is set on an object and on the resource.
func (s *shift) mode(name string) int {
	return max(slices.Index(strength, s.items[name].mode), slices.Index(strength, s.items["plant"].mode))
}

// settle lets everything show what it must. What the item acted on covers tells nothing, unless it comes back otherwise
// than it was last told.
func (s *shift) settle(acted string) {
	rolled := 0
	for _, name := range []string{"a", "b", "c", "plant"} {
		it := s.items[name]
		if name == "plant" {
			it.own = worst[rolled : rolled+1]
		}
		shown, mode := it.own, s.mode(name)
		hidden := mode >= 2 || mode == 1 && it.own == "-"
		if hidden {
			shown = "?"
		}
		covered := acted == name || acted == "plant"
		switch {
		case covered && !hidden && shown != it.told, !covered && shown != it.shown:
			was := it.shown
			if was == shown {
				was = it.told // nothing to see, but news all the same
			}
			s.events[fmt.Sprintf("alarm %s %s>%s", name, was, shown)]++
			it.told = shown
		}
		if it.ack != "" && !isError(shown) {
			it.ack = ""
			if !covered || acted == name {
				s.events["ended "+name]++
			}
		}
		it.shown = shown
		s.items[name] = it
		rolled = max(rolled, strings.Index(worst, shown))
	}
}

func (s *shift) listing() (list []string) {
	for _, name := range []string{"a", "b", "c", "plant"} {
		it := s.items[name]
		un := it.un
		if around := s.items["plant"]; un == "" && around.mode != "managed" {
			un = around.un
		}
		if name != "plant" {
			list = append(list, "own "+name+" "+it.own)
		}
		list = append(list, fmt.Sprintf("%s,%s,%t,%t,%s,%s,%s", name, it.shown, s.hidden(name), it.ack != "", it.ack, it.note, un))
	}
	for what, n := range s.events {
		list = append(list, fmt.Sprintf("%d × %s", n, what))
	}
	slices.Sort(list)
	return list
}

func (s *shift) hidden(name string) bool {
	mode := s.mode(name)
	return mode >= 2 || mode == 1 && s.items[name].own == "-"
}
