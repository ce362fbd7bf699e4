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
	now    func() time.Time

	mu   sync.Mutex
	told map[toldUser]*refusals
}

type toldUser struct {
	customer belfry.CustomerID
	user     string
}

// refusals are those of one user.
type refusals struct {
	at    time.Time // of the last event about them
	since int       // how many there were since then
}

func newAccounts(t *meta.Tree, s *ingest.Sequencer) *accounts {
	return &accounts{tree: t, seq: s, nobody: unknownPassword(), now: time.Now, told: map[toldUser]*refusals{}}
}

// LogIn checks a password and begins a session. A user or customer that does not exist costs the same work and gets the
// same answer as a wrong password; so does a user who has none, as the provider alone knows it.
func (a *accounts) LogIn(_ context.Context, from belfry.Place, customer, user, password string) (secret string, err error) {
	if customer == "" {
		customer = ingest.DefaultCustomer
	}
	c, _ := a.tree.CustomerNamed(customer)
	u, known := a.tree.User(c.ID, user)
	if !a.right(&u, password) || !known {
		if known {
			a.refused(c.ID, u.Name)
		}
		return "", errWrong()
	}
	secret, err = a.seq.LogIn(c.ID, &u, from)
	if errors.Is(err, ingest.ErrNoUser) {
		return "", belfry.Errorf(belfry.InvalidLogin, "the user was changed or removed during the login; log in again")
	}
	return secret, err
}

func errWrong() error { return belfry.Errorf(belfry.InvalidLogin, "%s", api.WrongLogin) }

// right compares a password with the user's.
func (a *accounts) right(u *belfry.User, password string) bool {
	stored := u.Password
	if stored == "" {
		stored = a.nobody
	}
	return len(password) <= maxPassword && CheckPassword(stored, password)
}

// tellEvery is how often refused logins of a user become an event, which says how many they were; a counter has them all.
const tellEvery = time.Minute

// refused writes an event, unless there was one lately; then the next one says how many it stands for. Only users who
// exist have events: what was typed in their place may be a password.
func (a *accounts) refused(c belfry.CustomerID, user string) {
	a.mu.Lock()
	at := toldUser{c, user}
	r := a.told[at]
	if r == nil {
		r = new(refusals)
		a.told[at] = r
	}
	r.since++
	n := r.due(a.now())
	a.mu.Unlock()
	if n > 0 {
		a.seq.LoginRefused(c, user, n)
	}
}

// due tells how many refusals are to be told now.
func (r *refusals) due(now time.Time) (n int) {
	if r.since == 0 || now.Sub(r.at) < tellEvery {
		return 0
	}
	n, r.since, r.at = r.since, 0, now
	return n
}

// tellRefused writes the events that have waited, and forgets users about whom there is nothing to tell.
func (a *accounts) tellRefused() {
	now, list := a.now(), map[toldUser]int{}
	a.mu.Lock()
	for at, r := range a.told {
		if n := r.due(now); n > 0 {
			list[at] = n
		} else if r.since == 0 && now.Sub(r.at) >= tellEvery {
			delete(a.told, at)
		}
	}
	a.mu.Unlock()
	for at, n := range list {
		a.seq.LoginRefused(at.customer, at.user, n)
	}
}

func (a *accounts) LogOut(hash belfry.Hash) error { return a.seq.LogOut(hash) }

func (a *accounts) LogOutEverywhere(hash belfry.Hash) error { return a.seq.LogOutEverywhere(hash) }

func (a *accounts) EndSession(ctx context.Context, who api.Caller, user, id string) (int, []byte, error) {
	return a.seq.EndSessionOnce(ctx, sender(who), user, id, repeat(who))
}

func (a *accounts) Renew(hash belfry.Hash) error { return a.seq.RenewSession(hash) }

func (a *accounts) SwitchCustomer(hash belfry.Hash, customer string) error {
	err := a.seq.SwitchCustomer(hash, customer)
	if errors.Is(err, ingest.ErrNoUser) {
		return errWrong()
	}
	return err
}

// ChangePassword checks the old password like a login, and then sets the new one.
func (a *accounts) ChangePassword(_ context.Context, l meta.Login, old, password string, hashing api.Hashing) error {
	if l.User.Subject != "" {
		return belfry.Errorf(belfry.NotAllowed, "you log in through the OpenID Connect provider and have no password here")
	}
	var right bool
	if err := hashing(func() { right = a.right(&l.User, old) }); err != nil {
		return err
	}
	if !right {
		a.refused(l.Customer, l.User.Name)
		return belfry.Errorf(belfry.InvalidLogin, "the old password is wrong")
	}
	if err := checkPassword(l.User.Name, password); err != nil {
		return err
	}
	var hash string
	if err := hashing(func() { hash = HashPassword(password) }); err != nil {
		return err
	}
	err := a.seq.ChangePassword(l, hash)
	if errors.Is(err, ingest.ErrNoUser) {
		return errWrong()
	}
	return err
}

func (a *accounts) CreateKey(_ context.Context, who api.Caller, name string, l belfry.Level, expires belfry.Time) (string, error) {
	return a.seq.CreateKey(who.Customer, name, l, expires, who.Name)
}

func (a *accounts) RevokeKey(ctx context.Context, who api.Caller, name string) (int, []byte, error) {
	return a.seq.RevokeKeyOnce(ctx, sender(who), name, repeat(who))
}

func sender(who api.Caller) ingest.Sender {
	return ingest.Sender{Scope: belfry.Whole(who.Customer), Key: who.Key, Name: who.Name}
}

func repeat(who api.Caller) (r ingest.Repeat) {
	if who.IdempotencyKey != "" {
		r = ingest.Repeat{Key: who.IdempotencyKey, Digest: who.Digest}
	}
	return r
}

var (
	_ api.Sessions = (*accounts)(nil)
	_ api.KeyAdmin = (*accounts)(nil)
	_ api.Accounts = (*accounts)(nil)
)
