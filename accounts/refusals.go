package accounts

import (
	"fmt"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/audit"
)

// Refused logins and key uses of one account are reported in at most one event per refusedEvery. The metrics count all.
const refusedEvery = time.Minute

// account is a user, or a key.
type account struct {
	customer belfry.CustomerID
	name     string
	isKey    bool
}

// refusals are the refused logins of one user, or the uses of one key from addresses that it does not accept.
type refusals struct {
	at    time.Time // of the last event about them
	since int       // how many there were since then
	from  string    // address of the last one
}

// RefuseKey notes that a key was used from an address that it does not accept.
func (a *Accounts) RefuseKey(c belfry.CustomerID, name, from string) {
	a.refuse(account{customer: c, name: name, isKey: true}, from)
}

// refuse writes an event, or counts the refusal for the next one. Users that do not exist have no events: what was typed
// as a name may be a password.
func (a *Accounts) refuse(who account, from string) {
	a.mu.Lock()
	r := a.refused[who]
	if r == nil {
		r = new(refusals)
		a.refused[who] = r
	}
	r.since, r.from = r.since+1, from
	n := r.due(a.now())
	a.mu.Unlock()
	if n > 0 {
		a.writeRefused(who, n, from)
	}
}

// due returns how many refusals the next event reports; 0: it is not due.
func (r *refusals) due(now time.Time) (n int) {
	if r.since == 0 || now.Sub(r.at) < refusedEvery {
		return 0
	}
	n, r.since, r.at = r.since, 0, now
	return n
}

// FlushRefused writes the events about refusals that are due and forgets accounts without any.
func (a *Accounts) FlushRefused() {
	now, list := a.now(), map[account]refusals{}
	a.mu.Lock()
	for who, r := range a.refused {
		if n := r.due(now); n > 0 {
			list[who] = refusals{since: n, from: r.from}
		} else if r.since == 0 && now.Sub(r.at) >= refusedEvery {
			delete(a.refused, who)
		}
	}
	a.mu.Unlock()
	for who, r := range list {
		a.writeRefused(who, r.since, r.from)
	}
}

// writeRefused writes an event about that many refusals. It does not wait, so that the time of the answer does not reveal which
// users exist.
func (a *Accounts) writeRefused(who account, times int, from string) {
	info := "login refused"
	if who.isKey {
		info = "key " + who.name + " refused"
	}
	if times > 1 {
		info += fmt.Sprintf(" %d times", times)
	}
	if who.isKey {
		info += ", last from " + from + ", which is not one of its addresses"
	}
	by := &belfry.Actor{Name: who.name, Via: belfry.ViaSession, Address: from}
	kind := audit.KindSession
	if who.isKey {
		by.Via, kind = belfry.ViaKey, belfry.DocKey
	}
	_ = a.engine.Submit(&engine.Command{Customer: who.customer, By: by, Decide: func(t *engine.Tx) error {
		change{t, a}.login(info)
		t.Audit(audit.Change{Kind: kind, Name: who.name, Action: actionRefused, Info: info})
		return nil
	}}) // no event while nothing can be stored
}
