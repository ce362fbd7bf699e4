package duck

import (
	"sync"

	"belfry"
)

// arrival is which rows of a customer were stored since the store was opened: ids grow, so what has a smaller id than
// the first was there before.
type arrival struct{ first, last belfry.RowID }

// arrivals are those of all customers.
type arrivals struct {
	mu sync.Mutex
	by map[belfry.CustomerID]arrival
}

// note remembers rows that have been stored.
func (a *arrivals) note(batches []*belfry.Batch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[belfry.CustomerID]arrival{}
	}
	for _, b := range batches {
		if b.Collection == belfry.Dimension || b.Len() == 0 {
			continue
		}
		known, ok := a.by[b.Customer]
		if !ok {
			known.first = b.FirstID
		}
		known.last = max(known.last, b.FirstID+belfry.RowID(b.Len()-1))
		known.first = min(known.first, b.FirstID)
		a.by[b.Customer] = known
	}
}

func (a *arrivals) of(c belfry.CustomerID) arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[c]
}
