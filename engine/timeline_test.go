package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/meta/sqlite"
	"belfry/status/explain"
)

// story is a timeline that is being told.
type story struct {
	stage *stage
	model *model
	told  []telling
	at    belfry.Time
}

func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/timeline/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal("no timelines", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runTimeline(t, file, string(text), nil)
		})
		if !strings.Contains(string(text), " restart") {
			continue
		}
		t.Run(name+" with a database", func(t *testing.T) {
			t.Parallel()
			db, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "meta.db"), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			runTimeline(t, file, string(text), db)
		})
	}
}

// runTimeline runs a timeline. With a database, a process that starts finds a part of the records in it.
func runTimeline(t *testing.T, file, text string, db *sqlite.DB) {
	g, err := newStage(&enginetest.Memory{}, begun)
	if err != nil {
		t.Fatal(err)
	}
	g.db = db
	l := &story{stage: g, model: newModel()}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := l.line(line); err != nil {
			t.Fatalf("%s:%d: %s\n%v", file, n, line, err)
		}
	}
}

func (l *story) line(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "want":
		return l.want(words(rest))
	case "events":
		return l.events(rest)
	case "explain":
		return l.explain(rest)
	case "at":
		clock, what, _ := strings.Cut(rest, " ")
		at, err := duration(clock)
		if err != nil {
			return err
		}
		if at < l.at {
			return fmt.Errorf("%s has been already", clock)
		}
		l.at, line = at, what
	}
	if rest, ok := strings.CutPrefix(line, "policy "); ok {
		return l.policy(rest)
	}
	s, err := parseStep(line)
	if err != nil {
		return err
	}
	s.at = l.at
	if s.verb == "restart" || s.verb == "clock" {
		l.at += s.down
	}
	if l.model == nil {
		return l.alone(func() error { return l.stage.do(s) })
	}
	difference, err := together(l.stage, l.model, s)
	l.told = append(l.told, l.stage.events...)
	if err == nil && difference != "" {
		err = fmt.Errorf("the model disagrees:\n%s", difference)
	}
	return err
}

// policy sets a policy, or removes it when nothing follows its name. The model knows none, so that from then on the story
// alone says what has to be.
func (l *story) policy(text string) error {
	l.model = nil
	name, def, _ := strings.Cut(text, " ")
	return l.alone(func() (err error) {
		l.stage.ring(begun + l.at)
		if def == "" {
			l.stage.run(func() { err = l.stage.Definitions().DeletePolicy(l.stage.who, name, engine.Repeat{}) })
			return err
		}
		text, err := catalog.ReadPolicy(name, []byte(def))
		if err != nil {
			return err
		}
		p, err := l.stage.Definitions().ReadPolicy(l.stage.who.Customer, text)
		if err != nil {
			return err
		}
		l.stage.run(func() { _, err = l.stage.Definitions().PutPolicy(l.stage.who, p) })
		return err
	})
}

// alone lets something happen to the engine without the model.
func (l *story) alone(f func() error) error {
	l.stage.events = nil
	err := f()
	l.told = append(l.told, l.stage.events...)
	if err == nil && len(l.stage.faults) > 0 {
		err = errors.New(strings.Join(l.stage.faults, "\n"))
	}
	return err
}

// explain looks for a text in the sentence that says why an item shows what it does.
func (l *story) explain(text string) error {
	name, want, _ := strings.Cut(text, " ")
	kind, resource, own := apart(name)
	if kind != belfry.KindObject && resource == own {
		resource = ""
	}
	if own == "" {
		own = name
	}
	e, err := explain.Item(l.stage.tree, l.stage.who.Scope, explain.Wanted{Kind: kind, Name: own, Resource: resource}, l.stage.Since(), l.stage.now)
	if err == nil && !strings.Contains(e.Text, want) {
		err = fmt.Errorf("it says: %s", e.Text)
	}
	return err
}

func (l *story) events(text string) error {
	var want, got []string
	for e := range strings.SplitSeq(text, ",") {
		if e = strings.TrimSpace(e); e != "" {
			want = append(want, e)
		}
	}
	for _, e := range l.told {
		got = append(got, e.String())
	}
	l.told = nil
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Errorf("got    %s\nwanted %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
	return nil
}

// windowShown is the window that decides, if it has an end, else the one that opens next, else one without an end.
func windowShown(c *belfry.OperatorState) (shown *belfry.Window) {
	for i := range c.Windows {
		switch w := &c.Windows[i]; {
		case w.Open, shown == nil, shown.Open && shown.To == 0, !shown.Open && w.From < shown.From:
			shown = w
		}
	}
	return shown
}

func (l *story) want(w []string) error {
	if w[0] == "discarded" {
		if got := strconv.FormatInt(l.stage.Counters().Discarded.Load(), 10); got != w[1] {
			return fmt.Errorf("%s rows were discarded", got)
		}
		return nil
	}
	n := l.stage.item(w[0])
	if n == nil {
		return fmt.Errorf("there is no %s", w[0])
	}
	s := &n.State
	got := words(strings.ToLower(s.Status.Name()))
	if s.Acknowledged() {
		got = append(got, "acknowledged")
	}
	if s.Unmanaged() {
		got = append(got, "unmanaged")
	}
	care := belfry.OperatorState{}
	if s.Operator != nil {
		care = *s.Operator
	}
	values := map[string]string{"since": since(s.Since - begun), "info": `"` + s.Info, "note": `"` + care.Note, "window": "none"}
	if care.Ack != nil {
		values["ack"] = `"` + care.Ack.Text
	}
	if w := windowShown(&care); w != nil {
		values["window"] = since(w.From - begun)
		values["to"] = since(w.To - begun)
	}
	var plain []string
	for i := 1; i < len(w); i++ {
		v, ok := values[w[i]]
		if !ok {
			plain = append(plain, w[i])
			continue
		}
		wanted := w[i+1]
		if d, err := time.ParseDuration(wanted); err == nil {
			wanted = d.String()
		}
		if v != wanted {
			return fmt.Errorf("%s of %s is %s, wanted %s", w[i], w[0], v, wanted)
		}
		i++
	}
	if !slices.Equal(got, plain) {
		return fmt.Errorf("%s is %s", w[0], strings.Join(got, " "))
	}
	return nil
}
