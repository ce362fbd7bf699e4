package sqlite

import (
	"context"
	"database/sql"
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

// Answer finds what was answered under an idempotency key; nil when nothing was.
func (db *DB) Answer(ctx context.Context, customer belfry.CustomerID, key string) (*belfry.Answer, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	rows, err := db.read.QueryContext(ctx, `SELECT `+answerColumns+` FROM answer WHERE customer = $1 AND key = $2`, int64(customer), key)
	if err != nil {
		return nil, db.readError("read answer", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	a, err := scanAnswer(rows)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return a, nil
}

const answerColumns = `customer, key, request, status, body, time, sum`

// scanAnswer reads a row of answerColumns.
func scanAnswer(rows *sql.Rows) (*belfry.Answer, error) {
	a := &belfry.Answer{}
	var request sql.RawBytes
	var sum any
	if err := scan(rows, "answer", &a.Customer, &a.Key, &request, &a.Status, &a.Body, &a.Time, &sum); err != nil {
		return nil, err
	}
	c := columns{}.number(int64(a.Customer)).text(a.Key).bytes(request).number(int64(a.Status)).bytes(a.Body).number(int64(a.Time))
	if !c.match(sum) || copy(a.Request[:], request) != len(a.Request) {
		return nil, mismatch("answer", a.Customer, a.Key)
	}
	a.Body = notNull(a.Body)
	return a, nil
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
