package engine

import (
	"context"
	"strconv"
	"time"

	"belfry"
)

// AnswersKept is how long an answer under an Idempotency-Key is remembered.
const AnswersKept = 24 * time.Hour

// Once answers a request under an Idempotency-Key: the first time by running it, afterwards from memory. A repeat that
// comes while the first is at work waits for it.
func (s *Sequencer) Once(ctx context.Context, who Sender, r Repeat, run func() (int, []byte, error)) (int, []byte, error) {
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
			return 0, nil, err
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
		return 0, nil, err
	}
	if had != nil && had.Time > belfry.At(s.cfg.Oldest()) {
		if had.Request != r.Digest {
			return 0, nil, belfry.Errorf(belfry.IdempotencyMismatch,
				"the Idempotency-Key was used for another request (method, path, query or body differ); choose a new one")
		}
		return had.Status, had.Body, nil
	}
	if most := s.cfg.Limits().Answers; s.cfg.Count(who.Customer) >= most {
		return 0, nil, belfry.Errorf(belfry.RateLimited, "%d requests with an Idempotency-Key are remembered, as many as may be; send larger bodies, or wait until the oldest is %s old", most, AnswersKept)
	}
	return run()
}

// name is the key under which the answer is kept: another API key of the customer has its own. What clients send is kept
// as a hash: it may be anything, an API key in the wrong place included.
func (r Repeat) name(who Sender) string { return who.Key + " " + belfry.HashOf(r.Key).String() }

// Reply makes what is answered part of the record. A report repeats what it complains of, a key in it is not kept. Its time is the
// one by which it will be too old: the clock may be wrong now and right when the request is repeated.
func (t *Tx) Reply(who Sender, r Repeat, code int, body []byte) {
	if r.Key != "" {
		t.rec.Answer = &belfry.Answer{
			Customer: who.Customer, Key: r.name(who), Request: r.Digest, Status: code, Body: t.seq.cfg.Tree.MaskKeys(body), Time: belfry.At(t.seq.cfg.Trusted()),
		}
	}
}

// Remember commits an answer that stands for no effect at all.
func (s *Sequencer) Remember(who Sender, r Repeat, code int, body []byte) error {
	if r.Key == "" {
		return nil
	}
	return s.Do(&Command{Customer: who.Customer, Decide: func(t *Tx) error {
		t.Reply(who, r, code, body)
		return nil
	}})
}
