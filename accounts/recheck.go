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

// vouched is a session whose user came in through the provider. The refresh token, with which the provider is asked again,
// is kept in memory alone: after a restart such users log in again, which takes one click where they are logged in there.
type vouched struct {
	mu      sync.Mutex // held while the provider is asked, so that one request asks
	refresh string
	checked time.Time // when the provider last vouched for the user
	silent  time.Time // when it last did not answer
}

const (
	// recheckRetry is how long a provider that did not answer is left alone.
	recheckRetry = time.Minute
	// silentFor is how long its word counts while it does not answer.
	silentFor = time.Hour
)

// roster has the sessions of users who came in through the provider.
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

// put adds a session, or removes it when v is nil.
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

// admit remembers a session that has begun.
func (p *Provider) admit(hash belfry.Hash, refresh string) {
	p.people.put(hash, &vouched{refresh: refresh, checked: p.now()}, p.lives)
}

func (p *Provider) lives(hash belfry.Hash) bool {
	_, ok := p.users.tree.Session(hash)
	return ok
}

// Vouches tells whether the provider still stands for the user of a session. It is asked when its last word is older than
// oidc.recheck; the session ends when it refuses, or says that the user has another role now.
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
		// A client that goes away must not make us lose the token that the provider gives in exchange for this one.
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

// confirm asks the provider for a new token. why says for what reason the session ends; err, that the provider cannot tell.
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

// refusedByProvider tells an answer that takes the right to come in from one that says nothing about it.
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

// claims are what the provider says with a new token: in it, or, where it gives none, when it is asked.
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
