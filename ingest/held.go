package ingest

import (
	"sync"

	"belfry"
)

// A body with atomic, dryrun or an Idempotency-Key is decoded completely before any of it is applied, and then decided
// in one turn of the sequencer, because its effects are one record. So it is bounded twice: in memory, also together
// with other such bodies, and in rows, because nobody else's rows are decided meanwhile.
const (
	defaultHeldRows   = 100_000
	defaultHeldMemory = 256 << 20

	// openWeight is as how many ready rows one counts that is left to the sequencer, where rows of a body are limited.
	openWeight = 10

	// openCost is how many ready rows take as much time in the sequencer as one that is left to it. Such a row usually
	// creates something. A chunk full of them fills a round.
	openCost = 50
)

// weight is the size of a body that is applied as a whole, see limits.rows_held.
func (c *chunk) weight() int { return c.rows + (openWeight-1)*c.open.len() }

// cost is the time of a chunk in the sequencer, in ready rows.
func (c *chunk) cost() int { return c.rows + (openCost-1)*c.open.len() }

// heldMemory counts what the bodies that are held take, decoded.
type heldMemory struct {
	mu   sync.Mutex
	used int64
	by   map[belfry.CustomerID]int64
}

// grow books bytes to a customer, if neither all customers together get more than limit nor this one more than half.
func (h *heldMemory) grow(c belfry.CustomerID, bytes, limit int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.used+bytes > limit || h.by[c]+bytes > limit/2 {
		return false
	}
	if h.by == nil {
		h.by = map[belfry.CustomerID]int64{}
	}
	h.used += bytes
	h.by[c] += bytes
	return true
}

// release gives back what grow has booked.
func (h *heldMemory) release(c belfry.CustomerID, bytes int64) {
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

// heldBody is the booking of one body.
type heldBody struct {
	memory   *heldMemory
	customer belfry.CustomerID
	limits   Limits
	booked   int64
}

func (s *Sequencer) newHeldBody(c belfry.CustomerID) *heldBody {
	return &heldBody{memory: &s.held, customer: c, limits: s.cfg.Limits().filled()}
}

// filled gives limits that are not set their defaults.
func (l Limits) filled() Limits {
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
func (h *heldBody) check(c *chunk, text int) error {
	if c.weight() > h.limits.HeldRows {
		return belfry.Errorf(belfry.BodyTooLarge, "a body with atomic, dryrun or Idempotency-Key may have %d rows (limits.rows_held), where one that is not about a known object counts as %d; "+
			"this one has more after %d rows; send it in parts", h.limits.HeldRows, openWeight, c.rows)
	}
	need := int64(2*c.memory() + text) // slices grow by doubling
	if need > h.limits.HeldMemory/2 {
		return belfry.Errorf(belfry.BodyTooLarge, "the first %d rows of the body take more than %d bytes of memory (half of limits.memory_held); "+
			"send fewer at a time, or without atomic, dryrun and Idempotency-Key", c.rows, h.limits.HeldMemory/2)
	}
	if grown := need - h.booked; grown > 0 {
		if !h.memory.grow(h.customer, grown, h.limits.HeldMemory) {
			return belfry.Errorf(belfry.Overloaded, "bodies with atomic, dryrun or Idempotency-Key take %d bytes of memory already, as much as they may (limits.memory_held); send it again shortly", h.limits.HeldMemory)
		}
		h.booked = need
	}
	return nil
}

func (h *heldBody) release() { h.memory.release(h.customer, h.booked) }
