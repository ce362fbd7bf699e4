package status

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
)

// A timeline is a story of what happens to objects and what they show afterwards:
//
//	at 2m data web01/cpu          data arrive
//	at 3m silent web01/cpu        the source reports that it got no answer
//	at 4m late 1m web01/cpu       data arrive that are as old as 1m
//	want web01/cpu - since 3m     status, and since when it has been so
//	want web01 -                  a resource, or MAIN
//	events web01/cpu:?>0 …        the transitions since the last such line, in order
type timeline struct {
	states map[string]belfry.Standing
	counts map[string]Counts
	events []string
}

// parent gives where an item stands: an object in its resource, a resource in MAIN.
func parent(name string) string {
	if i := strings.LastIndex(name, "/"); i >= 0 {
		return name[:i]
	}
	if name == belfry.Main {
		return ""
	}
	return belfry.Main
}

func (l *timeline) happen(name string, in Input) {
	if _, ok := l.states[name]; !ok { // every item counts above from its beginning
		for up := name; up != ""; up = parent(up) {
			if _, ok := l.states[up]; !ok {
				l.states[up] = belfry.Standing{}
				l.add(parent(up), belfry.Unknown, 1)
			}
		}
	}
	next, c := Next(l.states[name], in, &Rules{})
	for at := in.Time; ; {
		old := l.states[name]
		l.states[name] = next
		if !c.Moved {
			return
		}
		l.events = append(l.events, fmt.Sprintf("%s:%s>%s", name, old.Status, next.Status))
		up := parent(name)
		if up == "" {
			return
		}
		l.add(up, old.Status, -1)
		l.add(up, next.Status, 1)
		name = up
		next, c = AddUp(l.states[name], l.counts[name], &Rules{}, at, at)
	}
}

func (l *timeline) add(name string, s belfry.Status, n int32) {
	c := l.counts[name]
	c[s] += n
	l.counts[name] = c
}

func instant(t *testing.T, s string) belfry.Time {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return belfry.Time(d.Microseconds()) + 1 // the zero time means never
}

func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no timelines", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runTimeline(t, file) })
	}
}

func runTimeline(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &timeline{states: map[string]belfry.Standing{}, counts: map[string]Counts{}}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if problem := l.line(t, words); problem != "" {
			t.Errorf("%s:%d: %s", file, n, problem)
		}
	}
}

func (l *timeline) line(t *testing.T, w []string) string {
	switch {
	case w[0] == "at" && len(w) == 4 && w[2] == "data":
		l.happen(w[3], Input{Time: instant(t, w[1])})
	case w[0] == "at" && len(w) == 4 && w[2] == "silent":
		l.happen(w[3], Input{Time: instant(t, w[1]), NoResponse: true})
	case w[0] == "at" && len(w) == 5 && w[2] == "late":
		l.happen(w[4], Input{Time: instant(t, w[3])})
	case w[0] == "want" && len(w) >= 3:
		s := l.states[w[1]]
		if s.Status.String() != w[2] {
			return fmt.Sprintf("%s shows %s, want %s", w[1], s.Status, w[2])
		}
		if len(w) == 5 && s.Since != instant(t, w[4]) {
			return fmt.Sprintf("%s has been so since %s, want %s", w[1], s.Since, w[4])
		}
	case w[0] == "events":
		got := strings.Join(l.events, " ")
		l.events = nil
		if want := strings.Join(w[1:], " "); got != want {
			return fmt.Sprintf("events are %q, want %q", got, want)
		}
	default:
		return "cannot be understood"
	}
	return ""
}

func TestWorst(t *testing.T) {
	f := func(want belfry.Status, present ...belfry.Status) {
		t.Helper()
		var c Counts
		for _, s := range present {
			c[s]++
		}
		if got := Worst.Of(c); got != want {
			t.Errorf("%v: got %s, want %s", present, got, want)
		}
	}
	f(belfry.Unknown)
	f(belfry.Unknown, belfry.Unknown)
	f(belfry.OK, belfry.Unknown, belfry.OK)
	f(belfry.Critical, belfry.Major, belfry.Critical, belfry.Warning)
	f(belfry.Unavailable, belfry.Critical, belfry.Unavailable)
}
