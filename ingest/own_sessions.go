package ingest

import (
	"context"
	"net/http"
	"slices"

	"belfry"
)

// EndSessionOnce ends one session of a user of the sender's customer, which is named by the id with which it is shown, for
// a client that may repeat its request, and gives the answer.
func (s *Sequencer) EndSessionOnce(ctx context.Context, who Sender, user, id string, r Repeat) (code int, answer []byte, err error) {
	if r.Key == "" {
		return s.endOne(who, user, id, r)
	}
	return s.once(ctx, who, r, func() (int, []byte, error) { return s.endOne(who, user, id, r) })
}

func (s *Sequencer) endOne(who Sender, user, id string, r Repeat) (code int, answer []byte, err error) {
	c := who.Customer
	code, answer = http.StatusOK, encode(map[string]string{"ended": id})
	err = s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
		have := s.cfg.Tree.Logins(c, user)
		at := slices.IndexFunc(have, func(h belfry.Hash) bool { return belfry.SessionID(h) == id })
		if at < 0 {
			return belfry.Errorf(belfry.NotFound, "there is no such session")
		}
		t.endSession(c, have[at])
		t.login("session ended", user)
		t.answer(who, r, code, answer)
		return nil
	}})
	if err != nil {
		return 0, nil, err
	}
	return code, answer, nil
}

// SessionsUsed stores when sessions were last used, of those that were since it last did.
func (s *Sequencer) SessionsUsed() error {
	for part := range slices.Chunk(s.cfg.Tree.SessionsUsed(), usesAtOnce) {
		err := s.do(&command{alone: true, decide: func(t *tx) error {
			for _, hash := range part {
				if l, ok := s.cfg.Tree.Session(hash); ok { // else it has ended meanwhile
					t.rec.Docs = append(t.rec.Docs, belfry.Doc{Kind: belfry.DocSession, Customer: l.Customer, Name: hash.String(), Body: encode(l.Session)})
				}
			}
			return nil
		}})
		if err != nil {
			return err
		}
	}
	return nil
}
