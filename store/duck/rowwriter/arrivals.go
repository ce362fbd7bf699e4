package rowwriter

import (
	"sync"

	"belfry"
)

// Arrival is the range of row ids of a customer that were stored since the store was opened. Ids grow, so rows with
// smaller ids were there before.
type Arrival struct{ First, Last belfry.RowID }

// Arrivals are those of all customers.
type Arrivals struct {
	mu sync.Mutex
	by map[belfry.CustomerID]Arrival
}

// Note records rows that have been stored.
func (a *Arrivals) Note(batches []*belfry.Batch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[belfry.CustomerID]Arrival{}
	}
	for _, b := range batches {
		if b.Collection == belfry.Dimension || b.Len() == 0 {
			continue
		}
		known, ok := a.by[b.Customer]
		if !ok {
			known.First = b.FirstID
		}
		known.Last = max(known.Last, b.FirstID+belfry.RowID(b.Len()-1))
		known.First = min(known.First, b.FirstID)
		a.by[b.Customer] = known
	}
}

// Of returns those of a customer.
func (a *Arrivals) Of(c belfry.CustomerID) Arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[c]
}
