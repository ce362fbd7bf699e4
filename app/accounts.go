package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"belfry"
	"belfry/api"
	"belfry/ingest"
	"belfry/meta"
)

// accounts lets people in and out, and does for administrators what the commands do at the shell.
type accounts struct {
	tree   *meta.Tree
	seq    *ingest.Sequencer
	nobody string // a password that nobody has

	mu     sync.Mutex
	minute int64
	told   map[toldUser]int // events about refused logins in that minute
}

type toldUser struct {
	customer belfry.CustomerID
	user     string
}

func newAccounts(t *meta.Tree, s *ingest.Sequencer) *accounts {
	return &accounts{tree: t, seq: s, nobody: unknownPassword(), told: map[toldUser]int{}}
}

// LogIn checks a password and begins a session. A user or customer that does not exist costs the same work and gets the
// same answer as a wrong password.
func (a *accounts) LogIn(_ context.Context, customer, user, password string) (secret string, err error) {
	if customer == "" {
		customer = ingest.DefaultCustomer
	}
	c, _ := a.tree.CustomerNamed(customer)
	u, known := a.tree.User(c.ID, user)
	stored := a.nobody
	if known {
		stored = u.Password
	}
	if right := CheckPassword(stored, password); !right || !known {
		if known {
			a.refused(c.ID, u.Name)
		}
		return "", belfry.Errorf(belfry.InvalidLogin, "%s", api.WrongLogin)
	}
	secret, err = a.seq.LogIn(c.ID, &u)
	if errors.Is(err, ingest.ErrNoUser) {
		return "", belfry.Errorf(belfry.InvalidLogin, "%s", api.WrongLogin)
	}
	return secret, err
}

// toldPerMinute is how many refused logins of a user become events in a minute; a counter has them all.
const toldPerMinute = 3

// refused writes an event, unless there were many. Only users who exist have events: what was typed in their place may be
// a password.
func (a *accounts) refused(c belfry.CustomerID, user string) {
	a.mu.Lock()
	if now := time.Now().Unix() / 60; now != a.minute {
		a.minute = now
		clear(a.told)
	}
	at := toldUser{c, user}
	a.told[at]++
	tell := a.told[at] <= toldPerMinute
	a.mu.Unlock()
	if tell {
		a.seq.LoginRefused(c, user)
	}
}

func (a *accounts) LogOut(hash belfry.Hash) error { return a.seq.LogOut(hash) }

func (a *accounts) Renew(hash belfry.Hash) error { return a.seq.RenewSession(hash) }

func (a *accounts) CreateKey(_ context.Context, who api.Caller, name string, l belfry.Level, expires belfry.Time) (string, error) {
	return a.seq.CreateKey(who.Customer, name, l, expires, who.Name)
}

func (a *accounts) RevokeKey(ctx context.Context, who api.Caller, name string) (int, []byte, error) {
	var r ingest.Repeat
	if who.IdempotencyKey != "" {
		r = ingest.Repeat{Key: who.IdempotencyKey, Digest: who.Digest}
	}
	return a.seq.RevokeKeyOnce(ctx, ingest.Sender{Scope: belfry.Whole(who.Customer), Key: who.Key, Name: who.Name}, name, r)
}

var (
	_ api.Sessions = (*accounts)(nil)
	_ api.KeyAdmin = (*accounts)(nil)
)
