package sqlite

import (
	"context"
	"fmt"

	"belfry"
)

// AnswerCount returns how many idempotency answers a customer has. Expired ones count until RecountAnswers.
func (m *Mover) AnswerCount(c belfry.CustomerID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counted[c]
}

// RecountAnswers asks the database how many answers there are; what has not reached it yet is added.
func (m *Mover) RecountAnswers(ctx context.Context) error {
	counted, err := m.db.countAnswers(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.answers {
		counted[k.customer]++
	}
	m.counted = counted
	return nil
}

func (db *DB) countAnswers(ctx context.Context) (map[belfry.CustomerID]int, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	rows, err := db.read.QueryContext(ctx, `SELECT customer, COUNT(*) FROM answer GROUP BY customer`)
	if err != nil {
		return nil, fmt.Errorf("count answers: %w", err)
	}
	defer rows.Close()
	counts := map[belfry.CustomerID]int{}
	for rows.Next() {
		var c belfry.CustomerID
		var n int
		if err := rows.Scan(&c, &n); err != nil {
			return nil, fmt.Errorf("count answers: %w", err)
		}
		counts[c] = n
	}
	return counts, rows.Err()
}
