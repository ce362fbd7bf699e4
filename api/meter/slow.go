package meter

import (
	"slices"
	"sync"
	"time"

	"belfry"
)

// Slow holds the slowest queries of the last hour, for each customer separately, so that a busy one does not displace those of
// others.
type Slow struct {
	mu sync.Mutex
	of map[belfry.CustomerID][]SlowQuery // the slowest first
}

// SlowAtLeast is how long a slow query takes at least.
const SlowAtLeast = 5 * time.Millisecond

const (
	slowKept = 50
	slowFor  = time.Hour
)

// SlowQuery is a query that took long.
type SlowQuery struct {
	Customer string  `json:"customer,omitempty" help:"For an instance administrator."`
	Query    string  `json:"q"`
	Filter   string  `json:"fq,omitempty"`
	By       string  `json:"by" help:"Name of the key or user."`
	At       string  `json:"timestamp" schema:"format=date-time"`
	Seconds  float64 `json:"seconds"`
	Rows     int     `json:"rows"`
	Failed   bool    `json:"failed,omitempty"`

	ended time.Time
}

// Add adds a query that ended now.
func (l *Slow) Add(c belfry.CustomerID, q SlowQuery, now time.Time) {
	q.ended = now
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[belfry.CustomerID][]SlowQuery{}
	}
	list := slices.DeleteFunc(l.of[c], func(o SlowQuery) bool { return q.ended.Sub(o.ended) > slowFor })
	at, _ := slices.BinarySearchFunc(list, q, slowestFirst)
	list = slices.Insert(list, at, q)
	l.of[c] = list[:min(len(list), slowKept)]
}

func slowestFirst(a, b SlowQuery) int {
	switch {
	case a.Seconds > b.Seconds:
		return -1
	case a.Seconds < b.Seconds:
		return 1
	}
	return 0
}

// List returns the slowest of a customer, or with customer 0 of all of them.
func (l *Slow) List(c belfry.CustomerID, now time.Time, name func(belfry.CustomerID) string) []SlowQuery {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []SlowQuery{}
	for of, list := range l.of {
		if c != 0 && c != of {
			continue
		}
		for _, q := range list {
			if now.Sub(q.ended) > slowFor {
				continue
			}
			if c == 0 {
				q.Customer = name(of)
			}
			all = append(all, q)
		}
	}
	slices.SortStableFunc(all, slowestFirst)
	return all[:min(len(all), slowKept)]
}
