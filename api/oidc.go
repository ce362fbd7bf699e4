package api

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"belfry/accounts"

	"belfry"
	"belfry/api/input"
)

const (
	roundCookie = "belfry_oidc"
	roundPath   = "/api/session/oidc"
	roundTime   = 10 * time.Minute
)

// loginOptionsBody is how one can log in.
type loginOptionsBody struct {
	Name string `json:"name,omitempty" help:"Its name."`
	OIDC bool   `json:"oidc" help:"There is an OpenID Connect provider."`
}

// loginOptions returns the ways to log in, for the login page.
func (s *Server) loginOptions(w *answer, _ *request) error {
	options := loginOptionsBody{OIDC: s.Provider != nil}
	if s.Provider != nil {
		options.Name = s.Provider.Name()
	}
	writeJSON(w, http.StatusOK, options)
	return nil
}

func (s *Server) noProvider() error {
	if s.Provider != nil {
		return nil
	}
	return belfry.Errorf(belfry.UnknownItem, "no OpenID Connect provider is configured; log in with a user and a password")
}

// deniedCookie carries the reason for a refused login to the page on which people log in. A cookie, and not the address: what
// is in an address anyone can write there.
const (
	deniedCookie = "belfry_denied"
	deniedTime   = time.Minute
	deniedLength = 500
)

// toPeople leads a person back to the login page when something is wrong; a program gets the error.
func toPeople(w *answer, r *request, err error) error {
	e, ours := errors.AsType[*belfry.Error](err)
	if !ours || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return err
	}
	text := e.Message
	if len(text) > deniedLength {
		text = strings.ToValidUTF8(text[:deniedLength], "") + "…"
	}
	http.SetCookie(w, &http.Cookie{
		Name: deniedCookie, Value: url.PathEscape(text), Path: "/ui/", MaxAge: int(deniedTime.Seconds()),
		SameSite: http.SameSiteLaxMode, Secure: secure(r.Request), // for the page to read
	})
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r.Request, "/ui/", http.StatusSeeOther)
	return nil
}

// oidcBegin sends the browser to the provider.
func (s *Server) oidcBegin(w *answer, r *request) error {
	if err := s.toProvider(w, r); err != nil {
		return toPeople(w, r, err)
	}
	return nil
}

func (s *Server) toProvider(w *answer, r *request) error {
	if err := s.noProvider(); err != nil {
		return err
	}
	round := accounts.Round{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Redirect: ownAddress(r.Request) + roundPath + "/callback"}
	to, err := s.Provider.Address(r.ctx(), round)
	if err != nil {
		return err
	}
	setRound(w, r.Request, round.State+"."+round.Nonce+"."+round.Verifier, roundTime)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r.Request, to, http.StatusFound)
	return nil
}

// ownAddress is how the browser knows us.
func ownAddress(r *http.Request) string {
	if secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// secure reports whether the browser speaks TLS, with us or with a proxy before us that says so.
func secure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

func setRound(w http.ResponseWriter, r *http.Request, value string, last time.Duration) {
	c := &http.Cookie{
		Name: roundCookie, Value: value, Path: roundPath, MaxAge: int(last.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure(r), // lax: the provider's page leads back to us
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// errRound is for a browser that comes back from a way it did not begin here, or not lately.
func errRound() error {
	return belfry.Errorf(belfry.InvalidLogin, "this login was not started in this browser, or too long ago; start it again at %s", roundPath)
}

// oidcEnd takes the browser back from the provider. The cookie of the way goes, whatever comes of it.
func (s *Server) oidcEnd(w *answer, r *request) error {
	if err := s.fromProvider(w, r); err != nil {
		return toPeople(w, r, err)
	}
	return nil
}

func (s *Server) fromProvider(w *answer, r *request) error {
	if err := s.noProvider(); err != nil {
		return err
	}
	round, err := roundOf(r)
	if err != nil {
		return err
	}
	setRound(w, r.Request, "", 0)
	if said := r.params.Get("error"); said != "" {
		return belfry.Errorf(belfry.InvalidLogin, "the provider refused the login: %.64q", input.Mask(said))
	}
	code := r.params.Get("code")
	if code == "" {
		return belfry.Errorf(belfry.BadParameter, "the parameter code is missing")
	}
	ticket, pause := s.logins.tries.TryAddress(s.Now(), peer(r.Request)) // it is not known yet who it is
	leave, err := s.awaitLogin(r, ticket, pause, false)
	if err != nil {
		s.logins.tries.Return(s.Now(), ticket)
		return err
	}
	defer leave()
	secret, err := s.Provider.LogIn(r.ctx(), placeOf(r), round, code)
	if belfry.CodeOf(err) == belfry.InvalidLogin {
		s.meter.LoginsRefused.Inc()
		return err
	}
	s.logins.tries.Return(s.Now(), ticket)
	if err != nil {
		return wholeRequest(err)
	}
	setCookie(w, r.Request, secret, accounts.SessionTime)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r.Request, "/ui/", http.StatusSeeOther)
	return nil
}

// roundOf finds the way that the browser has begun, and compares it with the one it comes back from.
func roundOf(r *request) (accounts.Round, error) {
	c, err := r.Cookie(roundCookie)
	if err != nil {
		return accounts.Round{}, errRound()
	}
	parts := strings.Split(c.Value, ".")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return accounts.Round{}, errRound()
	}
	if subtle.ConstantTimeCompare([]byte(r.params.Get("state")), []byte(parts[0])) != 1 {
		return accounts.Round{}, errRound()
	}
	return accounts.Round{State: parts[0], Nonce: parts[1], Verifier: parts[2], Redirect: ownAddress(r.Request) + roundPath + "/callback"}, nil
}
