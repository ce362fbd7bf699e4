package intake

import (
	"sync"

	"belfry"
	"belfry/engine"
)

// A body with atomic, dryrun or an Idempotency-Key is decoded completely before any of it is applied, and then decided
// in one turn of the sequencer, because its effects are one record. So it is bounded twice: in memory, also together
// with other such bodies, and in rows, because no other rows are decided at the same time.
const (
	defaultHeldRows   = 100_000
	defaultHeldMemory = 256 << 20

	// undecidedWeight is as how many ready rows one counts that is left to the sequencer, where rows of a body are limited.
	undecidedWeight = 10

	// undecidedCost is how many ready rows take as much time in the sequencer as one that is left to it. Such a row usually
	// creates something. A chunk full of them fills a round.
	undecidedCost = 50
)

// weight is the size of a body that is applied as a whole, see limits.rows_held.
func (c *chunk) weight() int { return c.rows + (undecidedWeight-1)*c.undecided.len() }

// cost is the time of a chunk in the sequencer, in ready rows.
func (c *chunk) cost() int { return c.rows + (undecidedCost-1)*c.undecided.len() }

// HeldMemory counts what bodies take that are in memory as a whole. The zero value is ready for use.
type HeldMemory struct {
	mu   sync.Mutex
	used int64
	by   map[belfry.CustomerID]int64
}

// grow counts bytes for a customer, unless that exceeds the limit, see belfry.SharedLimit.
func (h *HeldMemory) grow(c belfry.CustomerID, bytes, limit int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.by[c] + bytes
	one, all := belfry.SharedLimit(limit, own)
	if own > one || h.used+bytes > all {
		return false
	}
	if h.by == nil {
		h.by = map[belfry.CustomerID]int64{}
	}
	h.used += bytes
	h.by[c] = own
	return true
}

// release returns back what grow has reserved.
func (h *HeldMemory) release(c belfry.CustomerID, bytes int64) {
	if bytes == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used -= bytes
	if h.by[c] -= bytes; h.by[c] == 0 {
		delete(h.by, c)
	}
}

// Body begins to count a body of a customer.
func (h *HeldMemory) Body(c belfry.CustomerID, limit int64) *HeldBody {
	return &HeldBody{memory: h, customer: c, limit: limit}
}

// HeldBody is the booking of one body.
type HeldBody struct {
	memory   *HeldMemory
	customer belfry.CustomerID
	limit    int64
	reserved int64
}

// Hold begins to count a body that is in memory as a whole before it comes here.
func (in *Intake) Hold(c belfry.CustomerID) *HeldBody {
	return in.held.Body(c, filled(in.engine.Limits()).HeldMemory)
}

// Grow books more memory for the body.
func (h *HeldBody) Grow(bytes int64) error {
	switch {
	case bytes <= 0:
		return nil
	case h.reserved+bytes > h.limit/2:
		return belfry.Errorf(belfry.BodyTooLarge, "the body takes more than %d bytes of memory (half of limits.memory_held); send it in parts", h.limit/2)
	case !h.memory.grow(h.customer, bytes, h.limit):
		return belfry.Errorf(belfry.Overloaded, "bodies that are held in memory as a whole take as much as they may already (limits.memory_held: %d bytes, half of it for one customer); send it again shortly", h.limit)
	}
	h.reserved += bytes
	return nil
}

// Release ends the booking.
func (h *HeldBody) Release() {
	h.memory.release(h.customer, h.reserved)
	h.reserved = 0
}

// wholeBody is a body that is decoded completely before any of it is applied.
type wholeBody struct {
	*HeldBody
	limits engine.Limits
}

func (in *Intake) newWholeBody(c belfry.CustomerID) *wholeBody {
	return &wholeBody{in.Hold(c), filled(in.engine.Limits())}
}

// filled returns limits that are not set their defaults.
func filled(l engine.Limits) engine.Limits {
	if l.HeldRows == 0 {
		l.HeldRows = defaultHeldRows
	}
	if l.HeldMemory == 0 {
		l.HeldMemory = defaultHeldMemory
	}
	if l.ChunkBytes == 0 {
		l.ChunkBytes = chunkBytes
	}
	return l
}

// check refuses a body that has become too large. text is how many bytes its fields have.
func (h *wholeBody) check(c *chunk, text int) error {
	if c.weight() > h.limits.HeldRows {
		return belfry.Errorf(belfry.BodyTooLarge, "a body with atomic, dryrun or Idempotency-Key may have %d rows (limits.rows_held), where one that is not about a known object counts as %d; "+
			"this one has more after %d rows; send it in parts", h.limits.HeldRows, undecidedWeight, c.rows)
	}
	need := int64(2*c.memory() + text) // slices grow by doubling
	if need > h.limit/2 {
		return belfry.Errorf(belfry.BodyTooLarge, "the first %d rows of the body take more than %d bytes of memory (half of limits.memory_held); "+
			"send fewer at a time, or without atomic, dryrun and Idempotency-Key", c.rows, h.limit/2)
	}
	return h.Grow(need - h.reserved)
}
