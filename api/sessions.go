package api

import (
	"net/http"

	"belfry"
	"belfry/accounts"
	"belfry/meta"
)

// ownSession is what may be shown of a session to the user whose it is.
type ownSession struct {
	ID      string `json:"id" help:"Identifies the session; not its secret."`
	Created string `json:"created" schema:"format=date-time"`
	LastUse string `json:"lastuse,omitempty" schema:"format=date-time"`
	Expires string `json:"expires" schema:"format=date-time"`
	Address string `json:"address,omitempty" help:"Address from which the user logged in."`
	Browser string `json:"browser,omitempty" help:"User agent at login, if it sent one." schema:"maxLength=60"`
	Current bool   `json:"current" help:"Whether it is the session of this request."`
}

// sessionList is where a user is logged in.
type sessionList struct {
	Sessions []ownSession `json:"sessions"`
}

func sessionOf(l meta.Login, asking belfry.Hash) ownSession {
	s := l.Session
	return ownSession{
		ID: belfry.SessionID(l.Hash), Created: moment(s.Created), LastUse: moment(s.LastUse), Expires: moment(s.Expires),
		Address: s.Address, Browser: s.Browser, Current: l.Hash == asking,
	}
}

// listSessions lists the sessions of the user. Users have few, so there are no pages.
func (s *Server) listSessions(w *answer, r *request) error {
	if err := r.ownSession(); err != nil {
		return err
	}
	found := s.Tree.Access().SessionsOf(r.login.Customer, r.login.User.Name, belfry.At(s.Trusted()))
	list := make([]ownSession, 0, len(found))
	for _, l := range found {
		list = append(list, sessionOf(l, r.login.Hash))
	}
	writeJSON(w, http.StatusOK, sessionList{list})
	return nil
}

// endSession ends a session of the user. One of another user is as unknown as one that does not exist.
func (s *Server) endSession(w *answer, r *request) error {
	if err := r.ownSession(); err != nil {
		return err
	}
	id := r.PathValue("id")
	who, err := s.caller(w, r)
	if err != nil {
		return err
	}
	who.Customer = r.login.Customer // also while another one is acted in
	reply, err := s.once(r, who, sessionEnded{id}, func(c accounts.Caller) error {
		return s.Accounts.EndSession(c, r.login.User.Name, id)
	})
	if err != nil {
		return notFound("session of yours", id, err)
	}
	if id == belfry.SessionID(r.login.Hash) {
		setCookie(w, r.Request, "", 0)
	}
	writeBody(w, reply.Status, reply.Body)
	return nil
}
