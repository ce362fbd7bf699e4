package engine

import (
	"context"
	"strconv"
	"time"

	"belfry"
)

// Repeat identifies a request that may be sent again.
type Repeat struct {
	Key    string   // the client's Idempotency-Key; empty for none
	Digest [32]byte // of method, path, query and body
	Done   Reply    // the reply to a change that succeeds, if it is known beforehand
}

// Reply is the answer to a request, stored under its Idempotency-Key. The engine does not interpret it.
type Reply struct {
	Status int
	Body   []byte
}

// AnswersKept is how long a reply is stored under an Idempotency-Key.
const AnswersKept = 24 * time.Hour

// Once runs a request, or returns the stored reply if its Idempotency-Key was used before. A repeat that arrives while the
// first request is in flight waits for it.
func (s *Sequencer) Once(ctx context.Context, who Sender, r Repeat, run func() (Reply, error)) (Reply, error) {
	if r.Key == "" {
		return run()
	}
	at := strconv.FormatUint(uint64(who.Customer), 10) + " " + r.name(who)
	for {
		s.mu.Lock()
		busy := s.answering[at]
		if busy == nil {
			s.answering[at] = make(chan struct{})
		}
		s.mu.Unlock()
		if busy == nil {
			break
		}
		err := who.Pause(ctx, func(ctx context.Context) error {
			select {
			case <-busy:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			return Reply{}, err
		}
	}
	defer func() {
		s.mu.Lock()
		close(s.answering[at])
		delete(s.answering, at)
		s.mu.Unlock()
	}()
	had, err := s.cfg.Answers(ctx, who.Customer, r.name(who))
	if err != nil {
		return Reply{}, err
	}
	if had != nil && had.Time > belfry.At(s.cfg.Oldest()) {
		if had.Request != r.Digest {
			return Reply{}, belfry.Errorf(belfry.IdempotencyMismatch,
				"the Idempotency-Key was used for another request (method, path, query or body differ); choose a new one")
		}
		return Reply{had.Status, had.Body}, nil
	}
	if most := s.cfg.Limits().Answers; s.cfg.Count(who.Customer) >= most {
		return Reply{}, belfry.Errorf(belfry.RateLimited, "%d requests with an Idempotency-Key are remembered, as many as may be; send larger bodies, or wait until the oldest is %s old", most, AnswersKept)
	}
	return run()
}

// name is the key under which the reply is stored; each API key of a customer has its own. The client's key is hashed, because
// it may be a secret sent by mistake.
func (r Repeat) name(who Sender) string { return who.Key + " " + belfry.HashOf(r.Key).String() }

// Reply adds the reply to the record. API keys in it are masked, since a report quotes what it rejects. Its time is the one by
// which it expires, because the clock may be wrong now and right when the request is repeated.
func (t *Tx) Reply(who Sender, r Repeat, reply Reply) {
	if r.Key != "" {
		t.rec.Answer = &belfry.Answer{
			Customer: who.Customer, Key: r.name(who), Request: r.Digest,
			Status: reply.Status, Body: t.seq.cfg.Tree.Access().MaskKeys(reply.Body), Time: belfry.At(t.seq.cfg.Trusted()),
		}
	}
}

// Remember stores the reply to a request that changed nothing.
func (s *Sequencer) Remember(who Sender, r Repeat, reply Reply) error {
	if r.Key == "" {
		return nil
	}
	return s.Do(&Command{Customer: who.Customer, Decide: func(t *Tx) error {
		t.Reply(who, r, reply)
		return nil
	}})
}
