package api

import (
	"belfry"
	"belfry/engine"
)

// senderOf is who sends, with what of the customer they may touch.
func (r *request) senderOf(scope belfry.Scope) engine.Sender {
	by := r.actor()
	return engine.Sender{
		Scope: scope, Key: r.key, Name: r.who, IsKey: r.login == nil && !r.local,
		Via: by.Via, Address: by.Address, Request: by.Request,
	}
}

// actor is who asks, and from where.
func (r *request) actor() *belfry.Actor {
	by := &belfry.Actor{Name: r.who, Via: belfry.ViaKey, Request: r.id}
	switch {
	case r.local:
		by.Via = belfry.ViaSocket
		return by
	case r.login != nil:
		by.Via = belfry.ViaSession
	}
	by.Address = address(r.Request)
	return by
}
