package api

import (
	"belfry"
	"belfry/api/browser"
	"belfry/engine"
)

// senderOf returns the sender of the request, limited to a scope.
func (r *request) senderOf(scope belfry.Scope) engine.Sender {
	by := r.actor()
	return engine.Sender{
		Scope: scope, Key: r.key, Name: r.who, IsKey: r.login == nil && !r.local,
		Via: by.Via, Address: by.Address, Request: by.Request,
	}
}

// actor returns the sender of the request as the audit trail names it.
func (r *request) actor() *belfry.Actor {
	by := &belfry.Actor{Name: r.who, Via: belfry.ViaKey, Request: r.id}
	switch {
	case r.local:
		by.Via = belfry.ViaSocket
		return by
	case r.login != nil:
		by.Via = belfry.ViaSession
	}
	by.Address = browser.Address(r.Request)
	return by
}

// placeOf describes the origin of a login, so that users recognise it later.
func placeOf(r *request) belfry.Origin {
	return belfry.Origin{Address: browser.Address(r.Request), Browser: browser.Name(r.UserAgent()), Request: r.id}
}
