package ping

import (
	"time"

	"belfry"
)

// echoPace limits the bytes that each customer sends in echo requests. All replies arrive at one socket, whose buffer may hold
// only three of the largest: a customer with thousands of large ones would make the kernel drop the replies of others, who
// would see false losses.
type echoPace struct {
	free map[belfry.CustomerID]time.Time // when the customer may send again
}

const (
	echoRate     = 4 << 20 // bytes per second and customer: 7,000 small requests, or 64 of the largest
	echoOverhead = 512     // overhead per packet
	echoBurst    = 20 * time.Millisecond
)

// reserve reserves the next free time for the customer and returns how long it is until then; if not above 0 it may send now.
func (e *echoPace) reserve(c belfry.CustomerID, bytes int, now time.Time) time.Duration {
	if e.free == nil {
		e.free = map[belfry.CustomerID]time.Time{}
	}
	at := e.free[c]
	if at.Before(now.Add(-echoBurst)) {
		at = now.Add(-echoBurst)
	}
	e.free[c] = at.Add(time.Duration(bytes+echoOverhead) * time.Second / echoRate)
	return at.Sub(now)
}

// forget removes all customers.
func (e *echoPace) forget() {
	e.free = nil
}
