package api

import (
	"net/http"

	"belfry"
)

// passwordChange is the body of changePassword.
type passwordChange struct {
	Password string `json:"password" help:"The old one."`
	New      string `json:"new" help:"At least 10 characters, at most 1,024 bytes."`
}

// customerChoice is the body of switchCustomer.
type customerChoice struct {
	Customer string `json:"customer" help:"Customer to act in; the user's own customer ends it."`
}

// ownSession rejects an API key on routes about the account of a user.
func (r *request) ownSession() error {
	if r.login == nil {
		return belfry.Errorf(belfry.BadParameter, "%s %s is for sessions of the web interface: a key has neither password nor sessions", r.Method, r.URL.Path)
	}
	return nil
}

// changePassword changes the user's own password. It needs the old one, with the same limit on attempts as a login: a browser
// left logged in must not be enough to take over the account.
func (s *Server) changePassword(w *answer, r *request) error {
	if err := r.ownSession(); err != nil {
		return err
	}
	var change passwordChange
	if err := s.fields(w, r, &change); err != nil {
		return err
	}
	ticket, _, err := s.tryLogin(w, r, s.Tree.Access().CustomerName(r.home), r.login.User.Name)
	if err != nil {
		return err
	}
	err = s.Accounts.ChangePassword(placeOf(r), *r.login, change.Password, change.New, s.hashing(r))
	if belfry.CodeOf(err) == belfry.InvalidLogin {
		s.meter.LoginsRefused.Inc()
		return err
	}
	s.logins.tries.Return(s.Now(), ticket)
	if err != nil {
		return wholeRequest(err)
	}
	return s.whoAmI(w, r)
}

// switchCustomer lets an instance administrator act in another customer.
func (s *Server) switchCustomer(w *answer, r *request) error {
	if err := r.ownSession(); err != nil {
		return err
	}
	var to customerChoice
	if err := s.fields(w, r, &to); err != nil {
		return err
	}
	if err := s.Accounts.SwitchCustomer(r.login.Hash, to.Customer, placeOf(r)); err != nil {
		return notFound("customer", to.Customer, err)
	}
	if !s.recognise(r, r.login.Hash) {
		return errUnidentified()
	}
	writeJSON(w, http.StatusOK, s.person(r))
	return nil
}
