package store

import "time"

// Waiting is since when the oldest row has waited to get into the store; the zero time when none does.
func (m *Mover) Waiting() (since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == 0 {
		return since
	}
	since = m.oldest
	if !m.held.empty() && m.held.since.Before(since) {
		since = m.held.since
	}
	return since
}
