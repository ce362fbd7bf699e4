package api

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/api/browser"
	"belfry/meta"
)

// cookieName is the cookie that carries the secret of a session.
const cookieName = "belfry_session"

// cookie is the hash of the session that the client says it has.
func cookie(r *http.Request) (hash belfry.Hash, ok bool) {
	c, err := r.Cookie(cookieName)
	if err != nil || c.Value == "" {
		return hash, false
	}
	return belfry.HashOf(c.Value), true
}

// session finds a valid session: one that has neither expired nor reached the maximum age, and whose user the provider still
// vouches for.
func (s *Server) session(ctx context.Context, hash belfry.Hash) (l meta.Login, ok bool) {
	now := belfry.At(s.Trusted())
	if l, ok = s.Tree.Access().Session(hash); !ok || l.Session.Over(now) {
		return l, false
	}
	if age := s.limits.Load().SessionAge; age > 0 && l.Session.Created+belfry.Time(age.Microseconds()) <= now {
		return l, false // the limit was higher when the session was last renewed
	}
	if l.User.Subject != "" && (s.Provider == nil || !s.Provider.Vouches(ctx, l)) {
		return l, false
	}
	l.NoteUse(now)
	return l, true
}

// recognise sets the session of a request, if there is one.
func (s *Server) recognise(r *request, hash belfry.Hash) bool {
	l, ok := s.session(r.ctx(), hash)
	if !ok {
		return false
	}
	r.login, r.customer, r.home, r.level, r.who = &l, l.Customer, l.Customer, l.User.Level(), l.User.Name
	r.customerRemoved = false
	if to := l.Session.Acting; to != 0 && r.level == belfry.LevelInstance {
		r.customer, r.who = to, accounts.ActingName(r.who)
		r.customerRemoved = s.Tree.Access().CustomerName(to) == ""
	}
	// Idempotency answers belong to the user, so the next session finds them too, and never to a key, another user of the name, or the
	// same with other rights. In another customer the user has another identity.
	r.key = belfry.HashOf(r.who + "\n" + l.User.Identity()).String()
	return true
}

// sameSite refuses requests that a browser sends for another site. The browser adds the cookie by itself, so it does not prove
// that the user wants the change; a GET changes nothing.
func (s *Server) sameSite(r *http.Request) error {
	if err := s.origins.Check(r); err != nil || otherScheme(r) {
		return belfry.Errorf(belfry.CrossSite, "a browser sent this for another site, so the session does not count; open the web interface itself, or use an API key")
	}
	return nil
}

// otherScheme reports that a page came over plain HTTP and sends to this service over TLS. It has the same name, but anyone between the
// browser and us could have written it. Behind a proxy that does not say how the browser speaks, nothing is known.
func otherScheme(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return r.Method != http.MethodGet && r.Method != http.MethodHead && secure(r) && len(origin) >= 5 && strings.EqualFold(origin[:5], "http:")
}

// renew extends a session that is in use. If that fails, the next request tries again.
func (s *Server) renew(w *answer, r *request) {
	now := belfry.At(s.Trusted())
	if r.login == nil || !accounts.Renewable(r.login.Session, now, r.limits.SessionAge) {
		return
	}
	if err := s.Accounts.Renew(r.login.Hash); err != nil {
		s.Log.Debug("session not renewed", "request", w.id, "err", err)
		return
	}
	if c, err := r.Cookie(cookieName); err == nil {
		end := accounts.SessionEnd(r.login.Session.Created, now, r.limits.SessionAge)
		setCookie(w, r.Request, c.Value, time.Duration(end-now)*time.Microsecond)
	}
}

// setCookie sends the secret of a session; an empty one deletes the cookie.
func setCookie(w http.ResponseWriter, r *http.Request, secret string, last time.Duration) {
	c := &http.Cookie{
		Name: cookieName, Value: secret, Path: "/", MaxAge: int(last.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		// A proxy that speaks TLS for us says so; who lies about it only hides their own cookie.
		Secure: secure(r),
	}
	if secret == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// logIn begins a session. A page of another site must not log its visitors in as another user, either.
func (s *Server) logIn(w *answer, r *request) error {
	if err := s.sameSite(r.Request); err != nil {
		return err
	}
	var l login
	if err := s.fields(w, r, &l); err != nil {
		return err
	}
	if r.Header.Get("Idempotency-Key") != "" {
		return belfry.Errorf(belfry.BadParameter, "a login takes no Idempotency-Key: the session it starts is returned only once; log in again instead")
	}
	ticket, pause, err := s.tryLogin(w, r, l.Customer, l.User)
	if err != nil {
		return err
	}
	known := s.logins.tries.Knows(s.Now(), ticket)
	leave, err := s.awaitLogin(r, ticket, pause, known)
	if err != nil {
		s.logins.tries.Return(s.Now(), ticket)
		return err
	}
	defer leave()
	var secret string
	err = s.checking(r, known, func() (err error) {
		secret, err = s.Accounts.LogIn(placeOf(r), l.Customer, l.User, l.Password)
		return err
	})
	if belfry.CodeOf(err) == belfry.InvalidLogin {
		s.meter.LoginsRefused.Inc()
		return err
	}
	s.logins.tries.Return(s.Now(), ticket)
	if err != nil {
		return err
	}
	s.logins.tries.Succeeded(s.Now(), ticket)
	if !s.recognise(r, belfry.HashOf(secret)) {
		return belfry.Errorf(belfry.InvalidLogin, "the password is right, but the session was ended before this answer, for example by a change of the user; log in again")
	}
	setCookie(w, r.Request, secret, accounts.SessionTime)
	writeJSON(w, http.StatusOK, s.person(r))
	return nil
}

// peer is where a request comes from, for limits per client: with IPv6 every client has a whole network.
func peer(r *http.Request) string {
	text := browser.Address(r)
	if ip, err := netip.ParseAddr(text); err == nil && ip.Is6() {
		p, _ := ip.Prefix(64)
		return p.String()
	}
	return text
}

// person describes the session to its user.
func (s *Server) person(r *request) sessionInfo {
	person := sessionInfo{
		User: r.login.User.Name, Role: r.login.User.RoleName(), Customer: s.Tree.Access().CustomerName(r.customer),
		Expires: r.login.Session.Expires.String(),
	}
	if r.customerRemoved {
		person.Customer = r.login.Session.ActingIn
	}
	if r.home != r.customer {
		home := s.Tree.Access().CustomerName(r.home)
		person.Home = &home
	}
	if r.scope().Limited() {
		person.Views = r.scope().Views
	}
	return person
}

func (s *Server) whoAmI(w *answer, r *request) error {
	if r.login != nil {
		if l, ok := s.Tree.Access().Session(r.login.Hash); ok {
			r.login = &l // it may just have been renewed
		}
		writeJSON(w, http.StatusOK, s.person(r))
		return nil
	}
	if r.local {
		writeJSON(w, http.StatusOK, sessionInfo{User: r.who, Role: belfry.InstanceAdministrator, Customer: s.Tree.Access().CustomerName(r.customer)})
		return nil
	}
	writeJSON(w, http.StatusOK, keyHolder{Key: r.who, Level: r.level, Customer: s.Tree.Access().CustomerName(r.customer), Views: r.narrowed.Views, Addresses: r.narrowed.Addresses})
	return nil
}

// logOut ends the session of the cookie, if there is one, and deletes the cookie.
func (s *Server) logOut(w *answer, r *request) error {
	if hash, ok := cookie(r.Request); ok {
		if err := s.sameSite(r.Request); err != nil {
			return err
		}
		end := s.Accounts.LogOut
		if everywhere, err := r.flag("everywhere"); err != nil {
			return err
		} else if everywhere {
			end = s.Accounts.LogOutEverywhere
		}
		if err := end(hash, placeOf(r)); err != nil {
			return err
		}
		setCookie(w, r.Request, "", 0)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}
