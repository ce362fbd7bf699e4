package ingest

import (
	"context"
	"sync"
	"time"

	"belfry"
)

// creation limits how many items a customer creates per second while other customers are at work. Each new item is written to the
// journal, the metadata and the row store and is garbage to collect in all of them, so one customer that creates as fast as it can keeps
// the machine busy, also between its turns at the sequencer. A customer that is alone creates as fast as it can.
type creation struct {
	pace pace

	mu    sync.Mutex
	last  visit // the customer that was active last
	other visit // the last one before it that was another
}

type visit struct {
	customer belfry.CustomerID
	at       time.Time
}

const (
	createRate = 5000        // items per second and customer
	activeFor  = time.Second // how long a customer counts as being at work
)

// Active notes that a customer is at work, whatever it does.
func (s *Sequencer) Active(c belfry.CustomerID) {
	if c == 0 { // the service itself
		return
	}
	n := &s.creation
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last.customer != c {
		n.other = n.last
	}
	n.last = visit{c, time.Now()}
}

// othersActive tells whether a customer other than c is at work.
func (n *creation) othersActive(c belfry.CustomerID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	v := n.last
	if v.customer == c {
		v = n.other
	}
	return v.customer != 0 && time.Since(v.at).Abs() < activeFor
}

// OthersActive tells whether a customer other than c is at work.
func (s *Sequencer) OthersActive(c belfry.CustomerID) bool { return s.creation.othersActive(c) }

// giveWay books items that a turn may create to the customer, if others are at work. It waits as long as the customer has created too many.
func (s *Sequencer) giveWay(ctx context.Context, c belfry.CustomerID, items int) (booked int, err error) {
	for items > 0 && s.creation.othersActive(c) {
		wait := s.creation.pace.take(c, items, createRate, time.Now())
		if wait <= 0 {
			return items, nil
		}
		wait = min(wait, activeFor) // others may be gone then
		s.Waited(c, wait)
		select {
		case <-time.After(wait):
		case <-s.closing:
			return 0, errStopped
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return 0, nil
}

// GiveWay counts items to the customer, if others are at work, and waits as long as the customer has created too many.
func (s *Sequencer) GiveWay(ctx context.Context, c belfry.CustomerID, items int) error {
	_, err := s.giveWay(ctx, c, items)
	return err
}

// created settles what was booked for a turn, by what it has created.
func (s *Sequencer) created(c belfry.CustomerID, booked, items int) {
	if booked > 0 {
		s.creation.pace.giveBack(c, booked-items)
	}
}
