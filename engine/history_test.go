package engine_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/engine/enginetest"
)

// With these, make test and make fuzz ask for many more histories than the package test does; the long run keeps a log.
var (
	historyCount = flag.Int("histories", 0, "random histories of TestHistories; 0 is a few")
	historyLog   = flag.String("historylog", "", "file in which TestHistories keeps what it has done, and from which it goes on")
	historyCode  = flag.String("historycode", "unknown", "state of the code, for the log")
)

const (
	historyChunk = 10_000 // seeds that are counted and logged together
	historySteps = 24
)

// TestHistories lets random things happen to a small inventory, on the stage and in the model. Each seed stands for one
// history and always for the same.
func TestHistories(t *testing.T) {
	count := *historyCount
	switch {
	case count > 0:
	case testing.Short():
		count = 500
	default:
		count = 2000
	}
	// Every history is garbage soon, but not at once: its pools keep it for two collections more. Without a limit each
	// collection would find more alive than the one before, and the next would come later and later.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(2 << 30))
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	log, next, err := openHistoryLog(*historyLog)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for next < count {
		end, start := min(next+historyChunk, count), time.Now()
		done, failed := w.seeds(next, end)
		if len(failed) > 0 {
			t.Fatalf("after %d histories: %s", done.histories, strings.Join(failed, "\n\n"))
		}
		took := time.Since(start)
		t.Logf("%d histories with %d steps, %d events and %d rows discarded in %.1f s", done.histories, done.steps, done.events, done.discarded, took.Seconds())
		if done.events < done.histories || done.discarded == 0 {
			t.Error("next to nothing happens in the histories; they have gone astray")
		}
		if log != nil {
			if _, err := fmt.Fprintf(log, "seeds %d to %d  steps %d  events %d  differences 0  seconds %.0f  code %s\n",
				next, end-1, done.steps, done.events, took.Seconds(), *historyCode); err != nil {
				t.Fatal(err)
			}
		}
		next = end
	}
}

// TestHistoriesInTurns does the same with changes that are made in turns of very few items, which must come to the same in the end.
// In a part of them the process is killed in the middle of such a change.
func TestHistoriesInTurns(t *testing.T) {
	count := 2000
	if testing.Short() {
		count = 25
	}
	for _, w := range []struct{ turn, kills int }{{1, 0}, {2, 0}, {3, 0}, {1, 5}, {2, 3}} {
		world, err := newWorld()
		if err != nil {
			t.Fatal(err)
		}
		world.turn, world.kills = w.turn, w.kills
		if _, failed := world.seeds(0, count); len(failed) > 0 {
			t.Errorf("%d items in a turn, killed after up to %d turns: %s", w.turn, w.kills, strings.Join(failed, "\n\n"))
		}
	}
}

// TestWindowsTogetherInTurns: windows of a view and of something inside it close at the same moment, and the view is covered in turns. No view
// between the two shows anything of it.
func TestWindowsTogetherInTurns(t *testing.T) {
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	var steps []*step
	for _, s := range []struct {
		at   belfry.Time
		text string
	}{{110, "silent web01/cpu1"}, {200, "unmanage discard MAIN"}, {370, "manage MAIN from 400s to 460s"}, {430, "manage web01 from 400s to 460s"}, {550, "silent web02/cpu1"}} {
		step, err := parseStep(s.text)
		if err != nil {
			t.Fatal(err)
		}
		step.at = s.at * second
		steps = append(steps, step)
	}
	for w.turn = range 4 {
		if _, difference := w.play(steps); difference != "" {
			t.Errorf("%d items in a turn: %s", w.turn, difference)
		}
	}
}

// inTurns tells whether a step may take more than one turn, and is nothing else.
func (s *step) inTurns(g *stage) bool {
	switch s.verb {
	case "manage", "ack", "unack":
		return g.item(s.item) != nil
	case "place":
		return g.item(s.item) != nil && g.item(s.in) != nil
	}
	return false
}

const historyHead = "# Random histories on which engine and model agreed, by seed. make fuzz writes it and continues where it ends.\n"

// openHistoryLog opens the log, or makes it, and gives the first seed that it does not have.
func openHistoryLog(name string) (log *os.File, next int, err error) {
	if name == "" {
		return nil, 0, nil
	}
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return nil, 0, err
	}
	whole := string(text[:strings.LastIndexByte(string(text), '\n')+1]) // a line without end was cut short
	for line := range strings.Lines(whole) {
		var first, last int
		if strings.HasPrefix(line, "#") {
			continue
		}
		if n, err := fmt.Sscanf(line, "seeds %d to %d ", &first, &last); n < 2 || first != next || last < first {
			return nil, 0, fmt.Errorf("%s: the line %q does not continue at seed %d (%v); remove the log to begin again", name, line, next, err)
		}
		next = last + 1
	}
	if whole == "" {
		whole = historyHead
	}
	if err := os.WriteFile(name, []byte(whole), 0o644); err != nil {
		return nil, 0, err
	}
	log, err = os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o644)
	return log, next, err
}

// world is where histories begin.
type world struct {
	opening []*step
	records [][]byte // what the opening left in the journal
	classes map[string][]*ruleset
	turn    int // see Config.Turn
	kills   int // the process is killed in the middle of steps, after up to so many turns
}

var openingText = `
class cpu i1 >= 80 is 1; i1 >= 95 is 3
class disk every 60s; i1 >= 80 is 1; i1 >= 95 is 3 recover < 70 after 2; i2 text <> ok is 2
place @yard in MAIN
place @hall in @yard
place web01 in @hall
place web02 in MAIN
place web01:rack in web01
place web01:shelf in web01:rack
place web02:box in web02
place web01/cpu1 in web01
place web01/cpu2 in web01:rack
place web01/disk1 in web01:shelf
place web01/disk2 in web01:shelf
place web02/cpu1 in web02
place web02/disk1 in web02:box`

var classTexts = map[string][]string{
	"cpu": {
		"i1 >= 80 is 1; i1 >= 95 is 3", "i1 >= 80 is 1; i1 >= 90 is 2 recover < 70", "every 60s; i1 >= 50 is 2 after 2",
		"i1 >= 80 is 1; i1 >= 50 is 2 after 2; i2 text = bad is 3", "every 5m; i1 < 20 is 1",
	},
	"disk": {
		"every 60s; i1 >= 80 is 1; i1 >= 95 is 3 recover < 70 after 2; i2 text <> ok is 2", "every 30s; i1 > 80 is 3 recover <= 60",
		"every 5m; i1 >= 60 is 1; i1 >= 95 is 3 recover < 70 after 2", "i1 >= 90 is 3 after 3; i1 >= 80 is 1 recover < 70; i2 text <> ok is 2", "every 10m; i2 text <> ok is 1 recover = ok after 2",
	},
}

func newWorld() (*world, error) {
	w := &world{classes: map[string][]*ruleset{}}
	for class, texts := range classTexts {
		for _, text := range texts {
			r, err := parseRules(class, text)
			if err != nil {
				return nil, err
			}
			w.classes[class] = append(w.classes[class], r)
		}
	}
	g, err := newStage(&enginetest.Memory{}, begun)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(strings.TrimSpace(openingText), "\n") {
		s, err := parseStep(line)
		if err != nil {
			return nil, err
		}
		if err := g.do(s); err != nil {
			return nil, err
		}
		w.opening = append(w.opening, s)
	}
	w.records = g.journal.Records
	return w, nil
}

// tally counts what histories did.
type historyTally struct{ histories, steps, events, discarded int }

// seeds plays histories, as many at once as there are processors.
func (w *world) seeds(first, end int) (all historyTally, failed []string) {
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		next = first
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				stop := seed >= end || len(failed) > 0
				mu.Unlock()
				if stop {
					return
				}
				steps := w.history(seed)
				one, difference := w.play(steps)
				if difference != "" {
					difference = w.explain(seed, steps, difference)
				}
				mu.Lock()
				all.histories++
				all.steps += one.steps
				all.events += one.events
				all.discarded += one.discarded
				if difference != "" {
					failed = append(failed, difference)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all, failed
}

// play tells a history and says in what engine and model differ, after the first step at which they do.
func (w *world) play(steps []*step) (done historyTally, difference string) {
	g, err := newStage(&enginetest.Memory{Records: slices.Clip(w.records)}, begun)
	if err != nil {
		return done, err.Error()
	}
	if w.turn > 0 {
		g.turn = w.turn
		g.SetTurn(w.turn)
	}
	m := newModel()
	for _, s := range w.opening {
		m.do(s)
	}
	for i, s := range steps {
		var err error
		if w.kills > 0 && s.inTurns(g) {
			difference, err = interrupted(g, m, s, 1+i%w.kills)
		} else {
			difference, err = together(g, m, s)
		}
		if err != nil {
			return done, fmt.Sprintf("%s: %v", s, err)
		}
		if difference != "" {
			return done, fmt.Sprintf("%s\n%s", s, difference)
		}
		done.steps++
		done.events += len(m.events)
	}
	done.discarded = int(m.discarded)
	return done, ""
}

// explain finds the shortest part of a history that still shows a difference, and tells it as a story.
func (w *world) explain(seed int, steps []*step, difference string) string {
	for again := true; again; {
		again = false
		for i := len(steps) - 1; i >= 0; i-- {
			fewer := slices.Delete(slices.Clone(steps), i, i+1)
			if _, d := w.play(fewer); d != "" && !strings.Contains(d, "is not placed") {
				steps, difference, again = fewer, d, true
			}
		}
	}
	text := fmt.Sprintf("seed %d: engine and model differ at the end of this story\n%s\n", seed, strings.TrimSpace(openingText))
	for _, s := range steps {
		text += s.String() + "\n"
	}
	return text + difference
}

// history makes up what happens.
func (w *world) history(seed int) (steps []*step) {
	c := &chance{rand.New(rand.NewPCG(uint64(seed), 5)), w, 0}
	for range historySteps {
		s := c.step()
		steps = append(steps, s)
		if s.verb == "restart" || s.verb == "clock" {
			c.now += s.down
		}
	}
	return steps
}
