package collect

import (
	"time"

	"belfry"
)

// echoPace bounds what each customer sends in echo requests. All answers come in through one socket, whose buffer may hold no more than
// three of the largest: a customer with thousands of large ones would have the kernel drop the answers of others, who would
// then see losses that there are not.
type echoPace struct {
	free map[belfry.CustomerID]time.Time // when the customer may send again
}

const (
	echoRate     = 4 << 20 // bytes per second and customer: 7,000 small requests, or 64 of the largest
	echoOverhead = 512     // what a packet takes beside its content
	echoBurst    = 20 * time.Millisecond
)

// book gives the customer the next free time, and tells how long it is until then; not above 0: it may send now.
func (e *echoPace) book(c belfry.CustomerID, bytes int, now time.Time) time.Duration {
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

// forget is for when nobody pings any more.
func (e *echoPace) forget() {
	e.free = nil
}
