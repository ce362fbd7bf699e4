package meta

import "belfry"

// CountSessions tells how many sessions of a customer, or with customer 0 of all of them, are good at a moment.
func (t *Tree) CountSessions(c belfry.CustomerID, now belfry.Time) (count int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, s := range t.registry.sessions {
		if (c == 0 || s.customer == c) && !s.Over(now) && t.userOf(s) != nil {
			count++
		}
	}
	return count
}
