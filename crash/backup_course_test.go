package crash

import (
	"slices"
	"sync/atomic"
)

// course is what a client has done, one request after the other, and what must be shown after each.
type course struct {
	name   string
	client *client
	clock  *atomic.Int64 // of all courses
	step   func() bool   // sends one request; false when the program is gone
	ended  func() error  // settles a request without an answer
	model  func() listed // what must be shown now
	shown  func(*client) ([]string, error)
	fail   func(format string, args ...any)
	most   int // requests of a run; 0: any number

	past     []moment // the first is what the last backup that was compared has
	later    int      // requests that came after that backup
	open     int64    // when the request that has no answer yet was sent; 0: there is none
	requests int
	sent     atomic.Int64 // when the last request that was answered was sent
	over     atomic.Bool  // run has ended
}

// listed is a model.
type listed interface {
	listing() []string
}

// moment is a request that had an effect, and what must be shown after it.
type moment struct {
	sent, answered int64 // on the clock
	want           listed
}

// run sends requests until the program is gone, stop says so, or it is enough.
func (c *course) run(stop *atomic.Bool) {
	defer c.over.Store(true)
	for n := 0; n != c.most && !stop.Load() && c.once(); n++ {
	}
}

func (c *course) once() bool {
	if c.open == 0 {
		c.open = c.clock.Add(1)
	}
	alive := c.step()
	c.requests++
	c.note()
	if alive {
		c.sent.Store(c.open)
		c.open = 0
	}
	return alive
}

// note adds a moment if the model has changed.
func (c *course) note() {
	if now := c.model(); now != c.past[len(c.past)-1].want {
		c.past = append(c.past, moment{c.open, c.clock.Add(1), now})
	}
}

// settle finds out what became of a request without an answer.
func (c *course) settle() error {
	err := c.ended()
	c.note()
	c.open = 0
	return err
}

// find finds the moment that a copy shows. It must be one at which the backup may have been: after all requests that were
// answered before it began, and before all that were sent after its end. It returns when the last request that is in the
// copy was sent, and when the first one that is not was answered.
func (c *course) find(copied *server, m *made) (within, without int64, err error) {
	got, err := c.shown(&client{s: copied, key: c.client.key})
	if err != nil {
		return 0, 0, err
	}
	oldest, newest := 0, 0
	for i, at := range c.past {
		if at.answered <= m.begin {
			oldest = i
		}
		if at.sent <= m.end {
			newest = i
		}
	}
	first, last := -1, -1
	for i := oldest; i <= newest; i++ {
		if slices.Equal(c.past[i].want.listing(), got) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		c.fail("%s: what %s has is at no moment between its begin and its end, %d requests; at its begin:\n%sat its end:\n%s", c.name, m.path, newest-oldest,
			difference(got, c.past[oldest].want.listing()), difference(got, c.past[newest].want.listing()))
		return 0, c.clock.Load(), nil
	}
	within, without = c.past[first].sent, c.clock.Load()
	if c.later = len(c.past) - 1 - last; c.later > 0 {
		without = c.past[last+1].answered
	}
	c.past = c.past[first:]
	return within, without, nil
}

// course is that of an architect.
func (a *architect) course(clock *atomic.Int64) *course {
	return &course{
		name: a.name, client: a.client, clock: clock, fail: a.fail, past: []moment{{want: a.model}},
		step:  func() bool { return a.send(a.compose()) },
		ended: a.compare,
		model: func() listed { return a.model },
		shown: func(c *client) ([]string, error) {
			at := &architect{client: c}
			list, rows, err := at.shown()
			for _, fault := range rollUp(rows) {
				a.fail("%s: %s", a.name, fault)
			}
			return list, err
		},
	}
}

// course is that of an operator.
func (o *operator) course(clock *atomic.Int64) *course {
	return &course{
		name: o.name, client: o.client, clock: clock, fail: o.fail, past: []moment{{want: o.model}},
		step:  func() bool { return o.send(o.choose()) },
		ended: o.compare,
		model: func() listed { return o.model },
		shown: func(c *client) ([]string, error) {
			at := &operator{client: c, name: o.name, fail: o.fail}
			return at.shown()
		},
	}
}
