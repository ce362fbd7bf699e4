package api

import (
	"net/http"

	"belfry"
	"belfry/meta"
)

// sessionInfo is what may be shown of a session to the user whose it is.
type sessionInfo struct {
	ID      string `json:"id"` // ends it, and is good for nothing else
	Created string `json:"created"`
	LastUse string `json:"lastuse,omitempty"`
	Expires string `json:"expires"`
	Address string `json:"address,omitempty"`
	Browser string `json:"browser,omitempty"`
	Current bool   `json:"current"` // the one that asks
}

func sessionOf(l meta.Login, asking belfry.Hash) sessionInfo {
	s := l.Session
	return sessionInfo{
		ID: belfry.SessionID(l.Hash), Created: moment(s.Created), LastUse: moment(s.LastUse), Expires: moment(s.Expires),
		Address: s.Address, Browser: s.Browser, Current: l.Hash == asking,
	}
}

// listSessions tells people where they are logged in. Nobody has many sessions, so there is one page of them.
func (s *Server) listSessions(w *answer, r *request) error {
	if err := r.ownSession(); err != nil {
		return err
	}
	found := s.Tree.SessionsOf(r.login.Customer, r.login.User.Name, belfry.At(s.Trusted()))
	list := make([]sessionInfo, 0, len(found))
	for _, l := range found {
		list = append(list, sessionOf(l, r.login.Hash))
	}
	writeJSON(w, http.StatusOK, map[string]any{"sessions": list})
	return nil
}

// endSession ends a session of the user who asks. That of somebody else is as unknown as one that never was.
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
	status, body, err := s.Accounts.EndSession(r.ctx(), who, r.login.User.Name, id)
	if err != nil {
		return noSuch("session of yours", id, err)
	}
	if id == belfry.SessionID(r.login.Hash) {
		setCookie(w, r.Request, "", 0)
	}
	writeBody(w, status, body)
	return nil
}
