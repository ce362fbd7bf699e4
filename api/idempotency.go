package api

import (
	"errors"
	"net/http"

	"belfry"
	"belfry/accounts"
	"belfry/engine"
)

// removed is the answer to a removal.
type removed struct {
	Name   string `json:"name"`
	Result string `json:"result" schema:"enum=removed"`
}

func removedAnswer(name string) removed { return removed{name, "removed"} }

// revoked is the answer to the revocation of a key.
type revoked struct {
	Revoked string `json:"revoked" help:"Name of the key."`
}

// sessionEnded is the answer to the end of a session.
type sessionEnded struct {
	Ended string `json:"ended" help:"Id of the session."`
}

// once makes a change and returns its reply, done. With an Idempotency-Key the reply is stored with the change, and a repeat
// of the request gets the stored one.
func (s *Server) once(r *request, c accounts.Caller, done any, change func(accounts.Caller) error) (engine.Reply, error) {
	c.Repeat.Done = engine.Reply{Status: http.StatusOK, Body: mustJSON(done)}
	return s.Engine.Once(r.ctx(), c.Sender, c.Repeat, func() (engine.Reply, error) {
		if err := change(c); err != nil {
			return s.storeRefusal(c, err)
		}
		return c.Repeat.Done, nil
	})
}

// storeRefusal stores a refusal that does not depend on the state of the service, so that a repeat gets it again. Without an
// Idempotency-Key, and for other errors, it returns the error.
func (s *Server) storeRefusal(c accounts.Caller, err error) (engine.Reply, error) {
	e, ok := errors.AsType[*belfry.Error](err)
	if !ok || c.Repeat.Key == "" || e.Code != belfry.BadParameter && e.Code != belfry.UnknownItem {
		return engine.Reply{}, err
	}
	info, _ := codeInfo(e.Code)
	reply := engine.Reply{Status: info.Status, Body: mustJSON(errorAnswer{errorBody{Code: e.Code, Message: e.Message}})}
	return reply, s.Engine.Remember(c.Sender, c.Repeat, reply)
}
