package accounts

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"belfry"
	"belfry/meta"
)

// vouched is a session of a user who logged in through the provider. The refresh token is kept only in memory: after a restart
// such users log in again, which takes one click while they are logged in at the provider.
type vouched struct {
	mu      sync.Mutex // held during a request to the provider, so that there is one at a time
	refresh string
	checked time.Time // when the provider last confirmed the user
	silent  time.Time // when it last did not answer
}

const (
	// recheckRetry is the pause after the provider did not answer.
	recheckRetry = time.Minute
	// silentFor is how long its last confirmation counts while it does not answer.
	silentFor = time.Hour
)

// roster holds the sessions of users who logged in through the provider.
type roster struct {
	mu   sync.Mutex
	of   map[belfry.Hash]*vouched
	most int // when there are more, those that have ended are forgotten
}

func (r *roster) find(hash belfry.Hash) *vouched {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[hash]
}

// put adds a session, or removes it if v is nil.
func (r *roster) put(hash belfry.Hash, v *vouched, lives func(belfry.Hash) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v == nil {
		delete(r.of, hash)
		return
	}
	if r.of[hash] = v; len(r.of) <= r.most {
		return
	}
	for old := range r.of {
		if !lives(old) {
			delete(r.of, old)
		}
	}
	r.most = 2*len(r.of) + 100
}

// admit adds a new session.
func (p *Provider) admit(hash belfry.Hash, refresh string) {
	p.people.put(hash, &vouched{refresh: refresh, checked: p.now()}, p.lives)
}

func (p *Provider) lives(hash belfry.Hash) bool {
	_, ok := p.users.tree.Access().Session(hash)
	return ok
}

// Vouches reports whether the provider still confirms the user of a session. The provider is asked if its last confirmation is
// older than oidc.recheck. The session ends if it refuses, or if the user has another role now.
func (p *Provider) Vouches(ctx context.Context, l meta.Login) bool {
	recheck := p.cfg.Recheck
	v := p.people.find(l.Hash)
	if v == nil { // begun before the last restart
		if p.now().Sub(l.Session.Created.Std()) < recheck {
			return true
		}
		return p.end(l, "the service was restarted, and cannot ask the provider about it")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := p.now()
	switch {
	case now.Sub(v.checked) < recheck:
		return true
	case v.refresh == "":
		return p.end(l, "the provider gave no refresh token, so its word counts for "+p.cfg.Recheck.String())
	case now.Sub(v.silent) >= recheckRetry:
		// If the client disconnects, the new token must not be lost, because the old one is used up.
		why, err := p.confirm(context.WithoutCancel(ctx), l, v)
		if why != "" {
			return p.end(l, why)
		}
		if err == nil {
			v.checked = now
			return true
		}
		v.silent = now
		p.log.Warn("the OpenID Connect provider cannot be asked about a session", "user", l.User.Name, "err", plainError(err))
	}
	if now.Sub(v.checked) < max(silentFor, recheck) {
		return true
	}
	return p.end(l, "the provider did not answer for "+silentFor.String())
}

// end ends a session.
func (p *Provider) end(l meta.Login, why string) bool {
	p.people.put(l.Hash, nil, nil)
	p.log.Info("a session through OpenID Connect ends", "user", l.User.Name, "why", why)
	if err := p.users.expel(l.Hash, why); err != nil {
		p.log.Warn("the end of a session could not be stored", "user", l.User.Name, "err", err)
	}
	return false
}

// confirm asks the provider for a new token. why is the reason why the session ends; err: the provider did not answer.
func (p *Provider) confirm(ctx context.Context, l meta.Login, v *vouched) (why string, err error) {
	known, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(known, Round{}).TokenSource(ctx, &oauth2.Token{RefreshToken: v.refresh}).Token()
	if err != nil {
		if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refusedByProvider(said) {
			return "the provider no longer vouches for the user", nil
		}
		return "", err
	}
	v.refresh = token.RefreshToken
	subject, claims, err := p.claims(ctx, known, token)
	switch {
	case err != nil:
		return "", err
	case subject != l.User.Subject:
		return "the provider speaks of another user", nil
	case p.role(claims) != l.User.Role:
		return "the provider gives the user another role", nil
	}
	return "", nil
}

// refusedByProvider reports whether an answer revokes the access, as opposed to a failure of the provider.
func refusedByProvider(said *oauth2.RetrieveError) bool {
	if said.Response == nil {
		return false
	}
	switch said.Response.StatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return true
	}
	return false
}

// claims returns the claims of a new token, or those of the user-info endpoint if it has none.
func (p *Provider) claims(ctx context.Context, known *oidc.Provider, token *oauth2.Token) (subject string, claims map[string]any, err error) {
	if raw, _ := token.Extra("id_token").(string); raw != "" {
		id, err := known.Verifier(&oidc.Config{ClientID: p.cfg.ClientID}).Verify(ctx, raw)
		if err != nil {
			return "", nil, err
		}
		err = id.Claims(&claims)
		return id.Issuer + " " + id.Subject, claims, err
	}
	info, err := known.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return "", nil, err
	}
	err = info.Claims(&claims)
	return p.cfg.Issuer + " " + info.Subject, claims, err
}
