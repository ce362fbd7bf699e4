package accounts

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"belfry"
)

const (
	providerWait   = 10 * time.Second // for an answer of the provider
	providerRest   = 5 * time.Second  // after one that did not come
	providerAnswer = 1 << 20          // bytes of an answer at most
)

// OIDC describes an OpenID Connect provider.
type OIDC struct {
	Issuer, Name, ClientID, Secret string
	PublicURL                      string // under which browsers reach this service; empty: what the browser says
	Customer                       string // of the users who log in through it
	RoleClaim                      string
	Roles                          map[string]string // by value of the claim
	DefaultRole                    string            // empty: refused
	Scopes                         string
	Recheck                        time.Duration
}

// Round is one login at the provider. State, nonce and verifier are random and only in a cookie of the browser. So the service
// stores nothing, and a code issued for another browser is useless.
type Round struct {
	State    string // returned with the code
	Nonce    string // returned in the provider's token
	Verifier string // proves that the code is used by the browser that requested it (PKCE)
	Redirect string // where the provider sends the browser back to
}

// Provider is an OpenID Connect provider. Its configuration is fetched at the first login, so that the service starts while the
// provider is down.
type Provider struct {
	cfg    OIDC
	users  *Accounts
	client *http.Client
	log    *slog.Logger

	now    func() time.Time
	mu     sync.Mutex
	known  *oidc.Provider
	failed time.Time // when it last did not answer
	people roster    // sessions of users who logged in through it
}

// NewProvider returns a Provider.
func NewProvider(cfg OIDC, a *Accounts, log *slog.Logger) *Provider {
	return &Provider{
		cfg: cfg, users: a, log: log, now: time.Now, people: roster{of: map[belfry.Hash]*vouched{}},
		client: &http.Client{Timeout: providerWait, Transport: shortAnswers{http.DefaultTransport}},
	}
}

// shortAnswers limits the size of answers.
type shortAnswers struct{ http.RoundTripper }

func (t shortAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, providerAnswer), res.Body}
	}
	return res, err
}

// Name returns the display name of the provider.
func (p *Provider) Name() string {
	if p.cfg.Name != "" {
		return p.cfg.Name
	}
	if u, err := url.Parse(p.cfg.Issuer); err == nil {
		return u.Host
	}
	return p.cfg.Issuer
}

func errSilent() error {
	return belfry.Errorf(belfry.Overloaded, "the OpenID Connect provider does not answer; try again shortly, or log in with a user and a password")
}

// discover fetches the configuration of the provider once. After a failure it waits before it tries again.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		return p.known, nil
	}
	if time.Since(p.failed) < providerRest {
		return nil, errSilent()
	}
	known, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.cfg.Issuer)
	if err != nil {
		p.failed = time.Now()
		p.log.Warn("the OpenID Connect provider cannot be asked", "issuer", p.cfg.Issuer, "err", err)
		return nil, errSilent()
	}
	p.known = known
	return known, nil
}

func (p *Provider) oauth(known *oidc.Provider, r Round) *oauth2.Config {
	c := &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.Secret, Endpoint: known.Endpoint(), RedirectURL: r.Redirect,
		Scopes: strings.Fields(p.cfg.Scopes),
	}
	if p.cfg.PublicURL != "" {
		if u, err := url.Parse(r.Redirect); err == nil {
			c.RedirectURL = strings.TrimSuffix(p.cfg.PublicURL, "/") + u.Path
		}
	}
	return c
}

// Address returns the URL that the browser is sent to.
func (p *Provider) Address(ctx context.Context, r Round) (string, error) {
	known, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.oauth(known, r).AuthCodeURL(r.State, oidc.Nonce(r.Nonce), oauth2.S256ChallengeOption(r.Verifier)), nil
}

// LogIn exchanges the code for the identity of the user and begins a session.
func (p *Provider) LogIn(ctx context.Context, from belfry.Origin, r Round, code string) (string, error) {
	known, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(known, r).Exchange(ctx, code, oauth2.VerifierOption(r.Verifier))
	if err != nil {
		return "", p.notExchanged(err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := known.Verifier(&oidc.Config{ClientID: p.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return "", p.refuse("its token does not hold: it may be expired, or for another service", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(r.Nonce)) != 1 {
		return "", p.refuse("its token is for another login", nil)
	}
	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return "", p.refuse("its token cannot be read", err)
	}
	secret, err := p.enter(from, id, claims)
	if err == nil {
		p.admit(belfry.HashOf(secret), token.RefreshToken)
	}
	return secret, err
}

// notExchanged distinguishes a refused code from a provider that does not answer.
func (p *Provider) notExchanged(err error) error {
	if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok && said.Response != nil && said.Response.StatusCode < 500 {
		return p.refuse("it does not take the code, which may have been used already", errors.New(said.ErrorCode))
	}
	p.log.Warn("the OpenID Connect provider does not answer", "err", plainError(err))
	return errSilent()
}

// plainError removes the answer from an error, since it may contain a token.
func plainError(err error) error {
	if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return errors.New(said.ErrorCode)
	}
	return err
}

// refuse returns the error for a login that is not accepted, and logs the details.
func (p *Provider) refuse(why string, err error) error {
	p.log.Warn("a login through OpenID Connect was refused", "why", why, "err", err)
	return belfry.Errorf(belfry.InvalidLogin, "the login through %s is not accepted: %s; begin it again", p.Name(), why)
}

// enter begins the session of an authenticated user.
func (p *Provider) enter(from belfry.Origin, id *oidc.IDToken, claims map[string]any) (string, error) {
	role := p.role(claims)
	if role == "" {
		return "", p.refuse("nothing says what this user may do here; ask an administrator", nil)
	}
	c, ok := p.users.tree.Access().CustomerNamed(p.cfg.Customer)
	if !ok {
		p.log.Warn("the customer of those who log in through OpenID Connect does not exist", "customer", p.cfg.Customer)
		return "", p.refuse("its customer does not exist here; ask an administrator", nil)
	}
	secret, err := p.users.logInPerson(c.ID, person{
		Subject: id.Issuer + " " + id.Subject, Name: nameOf(claims, id.Subject), Role: role,
	}, from)
	if code := belfry.CodeOf(err); code == belfry.NameInUse || code == belfry.BadParameter {
		return "", p.refuse("there is another user of that name, or it cannot be a name here; ask an administrator", err)
	}
	return secret, err
}

// nameOf returns the user name. An e-mail address is used only if the provider has verified it.
func nameOf(claims map[string]any, subject string) string {
	text := func(name string) string { s, _ := claims[name].(string); return cleanName(s) }
	if name := text("preferred_username"); name != "" {
		return name
	}
	if verified, _ := claims["email_verified"].(bool); verified {
		if name := text("email"); name != "" {
			return name
		}
	}
	return cleanName(subject)
}

// role returns the highest role that the claims map to; empty: the user is refused.
func (p *Provider) role(claims map[string]any) string {
	var best belfry.User
	for _, value := range valuesOf(claims, p.cfg.RoleClaim) {
		if u := (belfry.User{Role: p.cfg.Roles[value]}); u.Level() > best.Level() {
			best = u
		}
	}
	return cmp.Or(best.Role, p.cfg.DefaultRole)
}

// valuesOf returns the texts of a claim: by its whole name, or as a path of nested names.
func valuesOf(claims map[string]any, name string) []string {
	if name == "" {
		return nil
	}
	v, ok := claims[name]
	if !ok {
		first, rest, more := strings.Cut(name, ".")
		if inner, ok := claims[first].(map[string]any); ok && more {
			return valuesOf(inner, rest)
		}
		return nil
	}
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		list := make([]string, 0, len(v))
		for _, x := range v {
			if s, ok := x.(string); ok {
				list = append(list, s)
			}
		}
		return slices.Clip(list)
	}
	return nil
}
