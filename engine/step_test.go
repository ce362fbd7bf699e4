package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

// A timeline is a story of what happens to items, and what they show afterwards. It is told to the whole engine and to
// the model of its rules, which have to agree after every line. Items are called web01 (a resource), web01/cpu (an
// object), web01:rack (a view inside), @hall (a view outside) and MAIN; times are counted from the beginning.
//
//	class cpu every 60s; i1 >= 80 is 1; i1 >= 95 is 3 recover < 90 after 2; i2 text <> ok is 2
//	at 1m place web01:rack in web01      creates an item, or moves it; rows create what they name, in its resource
//	at 2m data web01/cpu i1=97 at 30s    a row, here with a time of its own; the class is the name without digits
//	at 3m silent web01/cpu               the source reports that it got no answer
//	at 4m unmanage store web01 from 5m to 1h      or ifred, discard, stop
//	at 4m manage web01                   the same with times
//	at 4m unmanage store web01 window a  and any of these with the name of the window; - is the one without a name
//	at 5m ack "seen" web01 until 1h sticky 5m untilworse
//	at 5m unack web01                    takes that back
//	at 6m note "text" web01
//	at 7m restart 10m                    the process ends, and another one begins so much later
//	at 7m clock -2h                      the clock is set back, or forward; later times are what it shows then
//	at 8m policy night {…}               sets a policy, in JSON; without one it is removed
//	at 8m                                time passes
//	want web01/cpu critical acknowledged since 2m info "i1 97 (>= 95)"     unmanaged, note "…", window 5m to 1h
//	events alarm web01 0>3, note web01 3 by op    all since the last such line, in any order
//	want discarded 3                     rows, since the beginning
//	explain MAIN because web01           words of the sentence that says why
type step struct {
	verb  string
	at    belfry.Time
	item  string
	in    string
	rules *ruleset

	values   []belfry.Cell
	dated    bool
	mode     belfry.Mode
	from, to belfry.Time // to is until of an acknowledgment
	down     belfry.Time // sticky of an acknowledgment, the pause of a restart
	worse    bool
	text     string
	window   string
}

// ruleset is the definition of a class.
type ruleset struct {
	text  string
	every belfry.Time
	rules []rule
	def   *catalog.Class
}

// rule is a threshold.
type rule struct {
	text          string
	n             int
	when, recover []string // an operator and a value
	status        belfry.Status
	after         int
}

var modeWords = map[string]belfry.Mode{
	"ifred": belfry.UnmanagedIfDown, "store": belfry.UnmanagedKeep, "discard": belfry.UnmanagedDrop, "stop": belfry.CollectorStopped,
}

// parseRules reads the definition of a class.
func parseRules(name, text string) (*ruleset, error) {
	set := &ruleset{text: text}
	var numbers, texts []string
	yaml := "name: " + name + "\n"
	for clause := range strings.SplitSeq(text, ";") {
		w := strings.Fields(clause)
		if len(w) == 2 && w[0] == "every" {
			every, err := duration(w[1])
			if err != nil {
				return nil, err
			}
			set.every = every
			yaml += "interval: " + w[1] + "\n"
			continue
		}
		if len(w) == 0 {
			continue
		}
		r := rule{text: strings.Join(w, " "), after: 1}
		r.n, _ = strconv.Atoi(w[0][1:])
		isText := w[1] == "text"
		if isText {
			w = w[1:]
		}
		r.when = w[1:3]
		line := fmt.Sprintf("{when: '%s %s', status: %s", w[1], w[2], w[4])
		code, _ := belfry.ParseStatus(w[4])
		r.status = code
		for rest := w[5:]; len(rest) > 1; rest = rest[1:] {
			switch rest[0] {
			case "recover":
				r.recover = rest[1:3]
				line += fmt.Sprintf(", recover: '%s %s'", rest[1], rest[2])
			case "after":
				r.after, _ = strconv.Atoi(rest[1])
				line += ", after: " + rest[1]
			}
		}
		if set.rules = append(set.rules, r); isText {
			texts = append(texts, line+"}")
		} else {
			numbers = append(numbers, line+"}")
		}
	}
	yaml += fmt.Sprintf("indicators: [{n: 1, thresholds: [%s]}, {n: 2, type: string, thresholds: [%s]}]\n",
		strings.Join(numbers, ", "), strings.Join(texts, ", "))
	var err error
	set.def, err = catalog.ParseClass([]byte(yaml))
	return set, err
}

func duration(text string) (belfry.Time, error) {
	d, err := time.ParseDuration(text)
	return belfry.Time(d.Microseconds()), err
}

// words cuts a line; what stands in quotes is one word, and keeps the first quote.
func words(line string) (list []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		end := strings.IndexByte(line+" ", ' ')
		if line[0] == '"' {
			if i := strings.IndexByte(line[1:], '"'); i >= 0 {
				list, line = append(list, line[:i+1]), line[i+2:]
				continue
			}
		}
		list, line = append(list, line[:end]), line[end:]
	}
	return list
}

// parseStep reads a line that makes something happen, without its time.
func parseStep(line string) (*step, error) {
	w := words(line)
	if len(w) == 0 {
		return &step{verb: "wait"}, nil
	}
	s := &step{verb: w[0]}
	if s.verb == "class" {
		s.item = w[1]
		var err error
		s.rules, err = parseRules(w[1], strings.TrimSpace(strings.SplitN(line, w[1], 2)[1]))
		return s, err
	}
	w = w[1:]
	switch s.verb {
	case "unmanage":
		s.verb, s.mode, w = "manage", modeWords[w[0]], w[1:]
	case "ack", "note":
		s.text, w = w[0][1:], w[1:]
	case "restart", "clock":
		if len(w) == 0 {
			return s, nil
		}
		w = []string{"", "down", w[0]}
	}
	s.item = w[0]
	return s, s.options(w[1:])
}

// options reads what may follow the name of an item.
func (s *step) options(w []string) (err error) {
	for ; len(w) > 0 && err == nil; w = w[1:] {
		if n, v, ok := strings.Cut(w[0], "="); ok {
			i, _ := strconv.Atoi(n[1:])
			s.values = append(s.values, belfry.Cell{N: i, Text: v})
			continue
		}
		if w[0] == "untilworse" {
			s.worse = true
			continue
		}
		if len(w) < 2 {
			return fmt.Errorf("%q needs a value", w[0])
		}
		switch w[0] {
		case "window":
			s.window = w[1]
		case "in":
			s.in = w[1]
		case "at", "from":
			s.dated = w[0] == "at"
			s.from, err = duration(w[1])
		case "to", "until":
			s.to, err = duration(w[1])
		case "sticky", "down":
			s.down, err = duration(w[1])
		default:
			return fmt.Errorf("%q cannot be understood", w[0])
		}
		w = w[1:]
	}
	return err
}

// String writes the step as it is read.
func (s *step) String() string {
	at := func(word string, t belfry.Time) string {
		if t == 0 {
			return ""
		}
		return " " + word + " " + since(t)
	}
	text := "at " + since(s.at) + " " + s.verb
	switch s.verb {
	case "wait":
		return "at " + since(s.at)
	case "class":
		return text + " " + s.item + " " + s.rules.text
	case "place":
		return text + " " + s.item + " in " + s.in
	case "restart", "clock":
		return text + " " + since(s.down)
	case "data":
		text += " " + s.item
		for _, v := range s.values {
			text += fmt.Sprintf(" i%d=%s", v.N, v.Text)
		}
		if s.dated {
			text += " at " + since(s.from)
		}
		return text
	case "manage":
		for word, m := range modeWords {
			if m == s.mode {
				text = "at " + since(s.at) + " unmanage " + word
			}
		}
		text += " " + s.item + at("from", s.from) + at("to", s.to)
		if s.window != "" {
			text += " window " + s.window
		}
		return text
	case "ack":
		text += ` "` + s.text + `" ` + s.item + at("until", s.to) + at("sticky", s.down)
		if s.worse {
			text += " untilworse"
		}
		return text
	case "note":
		return text + ` "` + s.text + `" ` + s.item
	}
	return text + " " + s.item
}

func since(t belfry.Time) string { return (time.Duration(t) * time.Microsecond).String() }
