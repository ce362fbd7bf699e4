package api

import (
	"context"
	"slices"
	"strconv"

	"belfry"
	"belfry/api/browser"
	"belfry/meta"
)

// A request is admitted when its header has arrived, but its body and its answer may take minutes. So the rights are checked
// again after each read of a body and before each piece of a long answer: nothing is applied or answered after a key was revoked
// or a session has ended.

// checkRights returns an error if the request may not continue: the key was revoked or has expired, the session has ended, the customer in
// which it acts was removed, or it has fewer rights than when it was admitted.
func (r *request) checkRights() error {
	_, err := r.rights()
	return err
}

// withoutSlot runs f, which does not wait for the client, while the request has no slot. Its rights are checked afterwards.
func (r *request) withoutSlot(f func(context.Context) error) error {
	if err := r.slot.Rest(f); err != nil {
		return err
	}
	return r.checkRights()
}

// rights does the work of checkRights. It also returns the customer that a new request with the same key or session would be about.
func (r *request) rights() (c belfry.CustomerID, err error) {
	if r.login == nil && r.key == "" {
		return 0, nil // the route needs no rights
	}
	if r.local {
		if r.server.Tree.Access().CustomerName(r.customer) == "" {
			return 0, belfry.Errorf(belfry.UnknownItem, "the customer was removed while the request was in progress")
		}
		return r.customer, nil
	}
	if r.login == nil {
		k := r.server.validKey(r)
		if k == nil {
			return 0, errUnidentified()
		}
		if k.Level < r.level || !slices.Equal(k.Views, r.narrowed.Views) {
			return 0, errChanged()
		}
		return k.Customer, nil
	}
	l, ok := r.server.session(r.ctx(), r.login.Hash)
	if !ok {
		return 0, errUnidentified()
	}
	if !r.customerRemoved && r.customer != l.Customer && r.server.Tree.Access().CustomerName(r.customer) == "" {
		return 0, errCustomerRemoved(r.login.Session)
	}
	if l.User.Level() < r.level || !slices.Equal(l.User.Views, r.login.User.Views) {
		return 0, errChanged()
	}
	if l.Session.Acting != 0 {
		return l.Session.Acting, nil
	}
	return l.Customer, nil
}

// validKey finds the key of a request and notes that it was used. It is nil for one that is revoked or expired, or is used from an
// address that it does not accept.
func (s *Server) validKey(r *request) *meta.Key {
	k := s.Tree.Access().Key(r.hash)
	now := belfry.At(s.Trusted())
	if k == nil || k.Expires != 0 && k.Expires <= now {
		return nil
	}
	if len(k.Addresses) > 0 && !k.Accepts(browser.PeerAddress(r.Request)) {
		s.meter.KeysElsewhere.Inc()
		s.Accounts.RefuseKey(k.Customer, k.Name, browser.Address(r.Request))
		return nil
	}
	k.NoteUse(now)
	return k
}

func errChanged() error {
	return belfry.Errorf(belfry.InsufficientLevel, "the rights of this key or user were changed while the request was in progress, and the rest of it is refused; send it again if it is still allowed")
}

// errCustomerRemoved is for a session that acts in a customer which was removed. It must not silently act in its own customer instead.
func errCustomerRemoved(s belfry.Session) error {
	name := "that no longer exists"
	if s.ActingIn != "" { // else it entered the customer before names were kept
		name = strconv.Quote(s.ActingIn) + ", which was removed"
	}
	return belfry.Errorf(belfry.InsufficientLevel, "this session acts in customer %s; choose a customer with POST /api/session/customer, or log out and in again", name)
}
