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

// Once runs a request, or returns the stored reply if its Idempotency-Key was used before.
func (s *Sequencer) Once(ctx context.Context, who Sender, r Repeat, run func() (Reply, error)) (Reply, error) {
	stored, err := s.BeginOnce(ctx, who, r)
	if err != nil {
		return Reply{}, err
	}
	if stored != nil {
		return *stored, nil
	}
	defer s.EndOnce(who, r)
	return run()
}

// BeginOnce returns the stored reply to a request if its Idempotency-Key was used before. If it returns neither a reply nor an
// error, the request may run, and EndOnce must be called after it. A repeat that arrives while the first request is in flight
// waits for it.
func (s *Sequencer) BeginOnce(ctx context.Context, who Sender, r Repeat) (stored *Reply, err error) {
	if r.Key == "" {
		return nil, nil
	}
	if err := s.waitForFirst(ctx, who, r); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun {
			s.EndOnce(who, r)
		}
	}()
	had, err := s.cfg.Answers(ctx, who.Customer, r.name(who))
	if err != nil {
		return nil, err
	}
	if had != nil && had.Time > belfry.At(s.cfg.Oldest()) {
		if had.Request != r.Digest {
			return nil, belfry.Errorf(belfry.IdempotencyMismatch,
				"the Idempotency-Key was used for another request (method, path, query or body differ); choose a new one")
		}
		return &Reply{had.Status, had.Body}, nil
	}
	if most := s.cfg.Limits().Answers; s.cfg.Count(who.Customer) >= most {
		return nil, belfry.Errorf(belfry.RateLimited, "%d requests with an Idempotency-Key are remembered, as many as may be; send larger bodies, or wait until the oldest is %s old", most, AnswersKept)
	}
	begun = true
	return nil, nil
}

// EndOnce ends a request that BeginOnce has let run.
func (s *Sequencer) EndOnce(who Sender, r Repeat) {
	if r.Key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := r.inFlight(who)
	close(s.answering[at])
	delete(s.answering, at)
}

// waitForFirst waits until no other request with the Idempotency-Key is in flight, and marks this one as such.
func (s *Sequencer) waitForFirst(ctx context.Context, who Sender, r Repeat) error {
	at := r.inFlight(who)
	for {
		s.mu.Lock()
		busy := s.answering[at]
		if busy == nil {
			s.answering[at] = make(chan struct{})
		}
		s.mu.Unlock()
		if busy == nil {
			return nil
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
			return err
		}
	}
}

// inFlight is the key in Sequencer.answering.
func (r Repeat) inFlight(who Sender) string {
	return strconv.FormatUint(uint64(who.Customer), 10) + " " + r.name(who)
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
