package intake

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/engine"
)

// shortfalls counts, by customer, rows that were not stored, requests that were refused before their rows were read, and how long senders were held up. TellShortfalls makes events of it: a
// customer hears of its own alone.
type shortfalls struct {
	mu sync.Mutex
	of map[belfry.CustomerID]shortfall
}

type shortfall struct {
	lost   [lostReasons]int
	away   [len(awayReasons)]int
	waits  int
	waited time.Duration
}

// leastWait is the total waiting time from which an event reports that senders were slowed down.
const leastWait = time.Second

var lostWords = [lostReasons]string{
	lostBroken: "their body broke off", lostOverloaded: "too much was waiting already",
	lostStorage: "they could not be written", lostRate: "the customer has sent more than it may",
	lostRefused: "the request was refused",
}

// awayReasons are the codes of requests that are refused for now.
var awayReasons = [...]struct {
	code  belfry.Code
	words string
}{
	{belfry.RateLimited, "the customer has sent more than it may"},
	{belfry.Overloaded, "the service had too much to do"},
	{belfry.StorageUnavailable, "nothing could be written"},
}

func (f *shortfalls) add(c belfry.CustomerID, more shortfall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[belfry.CustomerID]shortfall{}
	}
	s := f.of[c]
	for i := range s.lost {
		s.lost[i] += more.lost[i]
	}
	for i := range s.away {
		s.away[i] += more.away[i]
	}
	s.waits, s.waited = s.waits+more.waits, s.waited+more.waited
	f.of[c] = s
}

// drain returns what was counted, and starts from zero.
func (f *shortfalls) drain() map[belfry.CustomerID]shortfall {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.of
	f.of = nil
	return all
}

// Waited counts a request that was held up before its rows were taken.
func (in *Intake) Waited(c belfry.CustomerID, d time.Duration) {
	in.shortfalls.add(c, shortfall{waits: 1, waited: d})
}

// CountRefused counts a request of rows that was refused before any of them was read, if the reason is one that passes.
func (in *Intake) CountRefused(c belfry.CustomerID, err error) {
	for i, reason := range awayReasons {
		if err != nil && belfry.CodeOf(err) == reason.code {
			var f shortfall
			f.away[i] = 1
			in.shortfalls.add(c, f)
		}
	}
}

// TellShortfalls writes events about what was not stored for each customer since the last call. What cannot be written is reported the next time.
func (in *Intake) TellShortfalls() error {
	var failed error
	for c, f := range in.shortfalls.drain() {
		texts := f.texts()
		if len(texts) == 0 {
			continue
		}
		err := in.engine.Do(&engine.Command{Customer: c, Decide: func(t *engine.Tx) error {
			for _, text := range texts {
				t.Event("system", "internal", text, "")
			}
			return nil
		}})
		if err != nil && !errors.Is(err, engine.ErrGone) {
			failed = err
			in.shortfalls.add(c, f)
		}
	}
	return failed
}

// texts are those of the events.
func (f *shortfall) texts() (list []string) {
	var why, whyAway []string
	rows, away := 0, 0
	for i, n := range f.lost {
		if n > 0 {
			rows += n
			why = append(why, fmt.Sprintf("%d as %s (%s)", n, lostWords[i], LostReasons[i]))
		}
	}
	if rows > 0 {
		list = append(list, fmt.Sprintf("%d rows were not stored, none of which was acknowledged: %s", rows, strings.Join(why, ", ")))
	}
	for i, n := range f.away {
		if n > 0 {
			away += n
			whyAway = append(whyAway, fmt.Sprintf("%d as %s (%s)", n, awayReasons[i].words, awayReasons[i].code))
		}
	}
	if away > 0 {
		list = append(list, fmt.Sprintf("%d requests were refused before their rows were read, so those are not counted: %s", away, strings.Join(whyAway, ", ")))
	}
	if f.waited >= leastWait {
		list = append(list, fmt.Sprintf("senders were slowed down: %d requests waited %s in all", f.waits, f.waited.Round(100*time.Millisecond)))
	}
	return list
}
