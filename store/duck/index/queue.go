package index

import (
	"slices"
	"sync"
)

// Queue has what lacks filters, in the order of requests. NewQueue makes one.
type Queue[J comparable] struct {
	Wake chan struct{} // has a value when something was added

	mu      sync.Mutex
	waiting []J
}

// NewQueue returns an empty queue.
func NewQueue[J comparable]() *Queue[J] { return &Queue[J]{Wake: make(chan struct{}, 1)} }

// Add adds a job unless it is waiting already.
func (q *Queue[J]) Add(j J) {
	q.mu.Lock()
	if !slices.Contains(q.waiting, j) {
		q.waiting = append(q.waiting, j)
	}
	q.mu.Unlock()
	select {
	case q.Wake <- struct{}{}:
	default:
	}
}

// Next removes and returns the job that has waited longest.
func (q *Queue[J]) Next() (j J, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return j, false
	}
	j = q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return j, true
}

// Clear removes all jobs.
func (q *Queue[J]) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = nil
}

// Waiting reports whether there are jobs.
func (q *Queue[J]) Waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0
}
