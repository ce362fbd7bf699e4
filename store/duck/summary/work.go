package summary

import (
	"belfry"
	"belfry/catalog"
)

// Work is a number of hours or days that are summarised in one transaction, in one file.
type Work struct {
	To    *catalog.Collection
	Spans []belfry.Span
	Rows  int64
	alone bool // nothing else may be made with it
}

// Task is an hour or a day to be summarised.
type Task struct {
	belfry.Span
	rows  int64
	alone bool
}

// Queue is the work to be done, oldest first.
type Queue struct {
	Limit       int64 // maximum rows of a piece of work with more than one hour or day
	Hours, Days []*Work
}

// Add adds tasks, oldest first. Those of few rows are done together, because a transaction costs much more than they do.
func (a *Queue) Add(d *Tracker, hours, days []Task) {
	a.Hours = a.arrange(a.Hours, d.Hour, hours)
	a.Days = a.arrange(a.Days, d.Day, days)
}

func (a *Queue) arrange(list []*Work, to *catalog.Collection, spans []Task) []*Work {
	for _, sp := range spans {
		var last *Work
		if len(list) > 0 {
			last = list[len(list)-1]
		}
		if last == nil || last.alone || sp.alone || last.Rows+sp.rows > a.Limit || !to.PeriodOf(last.Spans[0].From).Contains(sp.From) {
			last = &Work{To: to, alone: sp.alone}
			list = append(list, last)
		}
		last.Spans = append(last.Spans, sp.Span)
		last.Rows += sp.rows
	}
	return list
}

// First returns the oldest work. The days of a month come after its hours, from which they are made.
func (a *Queue) First() *Work {
	switch {
	case len(a.Hours) == 0 && len(a.Days) == 0:
		return nil
	case len(a.Hours) == 0, len(a.Days) > 0 && a.Days[0].Spans[0].From < a.Hours[0].To.PeriodOf(a.Hours[0].Spans[0].From).From:
		return a.Days[0]
	}
	return a.Hours[0]
}

// A failure is an hour or a day that could not be summarised, or a day whose rows could not be read.
type failure struct {
	of *catalog.Collection
	at belfry.Time
}

// Fail records a failure. What failed together with others is tried alone; what failed alone waits until everything else is done.
func (d *Tracker) Fail(of *catalog.Collection, at belfry.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed[failure{of, at}]++
}

func (d *Tracker) Attempts(of *catalog.Collection, at belfry.Time) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed[failure{of, at}]
}

// retry allows failed tasks to be tried again. The caller holds the mutex.
func (d *Tracker) retry() {
	for f := range d.failed {
		if f.of == d.Raw {
			delete(d.failed, f)
		} else {
			d.failed[f] = 1
		}
	}
}

// Ready returns the tasks that may be tried now.
func (d *Tracker) Ready(of *catalog.Collection, list []Task) []Task {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.failed) == 0 {
		return list
	}
	var left []Task
	for _, sp := range list {
		n := d.failed[failure{of, sp.From}]
		if n < 2 {
			sp.alone = sp.alone || n > 0
			left = append(left, sp)
		}
	}
	return left
}

// Finish records that work has been done.
func (d *Tracker) Finish(w *Work) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range w.Spans {
		delete(d.failed, failure{w.To, p.From})
	}
}

func (d *Tracker) Counted(day belfry.Span) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dayCounts(day.From).known
}
