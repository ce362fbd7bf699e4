package accounts

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"belfry"
)

const (
	// SessionTime is how long a session lasts without use. One that is used in its second half lasts as long again, up to
	// the age that Limits.SessionAge allows.
	SessionTime = 12 * time.Hour
	// maxSessions is how many sessions a user has at most; the oldest makes room.
	maxSessions = 100
)

// errNoUser: the user does not exist or was changed.
var errNoUser = errors.New("no such user")

// beginSession begins a session of a user whose password has been checked and returns its secret, which is not stored. If
// the user was changed since then, the error is errNoUser. It works also when the disk is nearly full, so that an operator can
// log in. While the journal cannot be written, the session is kept in memory only, and a restart ends it.
func (a *Accounts) beginSession(c belfry.CustomerID, u *belfry.User, from belfry.Origin) (secret string, err error) {
	secret = newToken()
	begin := func(t change) error {
		now, ok := a.tree.Access().User(c, u.Name)
		if !ok || now.Fingerprint() != u.Fingerprint() {
			return errNoUser
		}
		t.startSession(c, now, from, secret)
		return nil
	}
	by := inSession(u.Name, from)
	err = a.urgent(c, by, begin)
	if belfry.CodeOf(err) == belfry.StorageUnavailable {
		err = a.urgent(c, by, func(t change) error {
			if err := begin(t); err != nil {
				return err
			}
			return t.ApplyUnstored(belfry.DocSession)
		})
		if err == nil {
			a.cfg.Log.Warn("a session is kept in memory alone, as the journal cannot be written", "user", u.Name)
		}
	}
	if err != nil {
		return "", err
	}
	return secret, nil
}

// startSession begins a session of a user, who is stored with the time of this login.
func (t change) startSession(c belfry.CustomerID, u belfry.User, from belfry.Origin, secret string) {
	have := t.tree.Access().SessionHashes(c, u.Name)
	for len(have) >= maxSessions {
		t.endSession(c, have[0])
		have = have[1:]
	}
	now := t.expiry()
	u.LastLogin = t.Now
	t.Put(belfry.DocUser, c, u.Name, u)
	t.Put(belfry.DocSession, c, belfry.HashOf(secret).String(), belfry.Session{
		User: u.Name, Fingerprint: u.Fingerprint(), Created: now, Expires: SessionEnd(now, now, t.cfg.SessionAge()),
		LastUse: now, Origin: from,
	})
	t.sessionChanged(u.Name, actionLoggedIn, "logged in")
}

// LogOut ends a session. It does nothing if the session has ended.
func (a *Accounts) LogOut(hash belfry.Hash, from belfry.Origin) error {
	l, ok := a.tree.Access().Session(hash)
	if !ok {
		return nil
	}
	return a.urgent(l.Customer, inSession(l.User.Name, from), func(t change) error {
		if _, ok := a.tree.Access().Session(hash); ok {
			t.endSession(l.Customer, hash)
			t.sessionChanged(l.User.Name, actionLoggedOut, "logged out")
		}
		return nil
	})
}

// Renew extends a session in its second half to its full time.
func (a *Accounts) Renew(hash belfry.Hash) error {
	l, ok := a.tree.Access().Session(hash)
	if !ok {
		return nil
	}
	return a.do(l.Customer, nil, func(t change) error {
		l, ok := a.tree.Access().Session(hash)
		now := t.expiry()
		age := a.cfg.SessionAge()
		if !ok || l.Session.Over(now) || !Renewable(l.Session, now, age) { // another request was faster
			return nil
		}
		l.Session.Expires = SessionEnd(l.Session.Created, now, age)
		t.Put(belfry.DocSession, l.Customer, hash.String(), l.Session)
		return nil
	})
}

// Renewable reports whether a session is in its second half and can be extended.
func Renewable(s belfry.Session, now belfry.Time, age time.Duration) bool {
	return s.Expires-now < belfry.Time(SessionTime.Microseconds())/2 && SessionEnd(s.Created, now, age) > s.Expires
}

// SessionEnd returns when a session that is used now ends: after SessionTime, but at the latest at the maximum age; 0: no
// maximum.
func SessionEnd(created, now belfry.Time, age time.Duration) belfry.Time {
	end := now + belfry.Time(SessionTime.Microseconds())
	if age > 0 {
		end = min(end, created+belfry.Time(age.Microseconds()))
	}
	return end
}

// expel ends a session that the service no longer accepts, with an event that gives the reason. It does nothing if the session
// has ended.
func (a *Accounts) expel(hash belfry.Hash, why string) error {
	l, ok := a.tree.Access().Session(hash)
	if !ok {
		return nil
	}
	return a.urgent(l.Customer, nil, func(t change) error {
		if _, ok := a.tree.Access().Session(hash); ok {
			t.endSession(l.Customer, hash)
			t.sessionChanged(l.User.Name, actionEnded, "session ended: "+why)
		}
		return nil
	})
}

// login writes an event about a session or a user. Both have the same type, so that they are found together when an access is
// investigated.
func (t change) login(info string) { t.Event("user", "login", info, t.By.Called()) }

// endedAtOnce is how many sessions end in one record.
const endedAtOnce = 10_000

// ForgetSessions removes sessions that have expired or whose user no longer exists. The time of a session has to be
// over by the time at which data are deleted, too: a clock that is set forward and back again removes none.
func (a *Accounts) ForgetSessions() error {
	over := func(had belfry.Session) bool {
		return had.Expires <= belfry.At(a.engine.Trusted()) || had.Ahead(belfry.At(a.cfg.Expiry()))
	}
	for part := range slices.Chunk(a.tree.Access().ExpiredSessions(over), endedAtOnce) {
		err := a.do(0, nil, func(t change) error {
			for _, l := range part {
				if now, ok := a.tree.Access().Session(l.Hash); !ok || over(now.Session) { // else renewed since
					t.endSession(l.Customer, l.Hash)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expiry is the time by which sessions begin and end. It is not t.now: a session must end neither early nor months late
// because the clock was wrong when it began.
func (t change) expiry() belfry.Time { return belfry.At(t.cfg.Expiry()) }

func (t change) endSession(c belfry.CustomerID, hash belfry.Hash) {
	t.Document(belfry.Doc{Kind: belfry.DocSession, Customer: c, Name: hash.String()})
}

// newToken returns the secret of a session: 32 random bytes, encoded for a cookie.
func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// EndSession ends a session of a user of the caller's customer; id is the one shown to users.
func (a *Accounts) EndSession(who Caller, user, id string) error {
	c := who.Customer
	return a.once(who, func(t change) error {
		have := a.tree.Access().SessionHashes(c, user)
		i := slices.IndexFunc(have, func(h belfry.Hash) bool { return belfry.SessionID(h) == id })
		if i < 0 {
			return belfry.Errorf(belfry.NotFound, "there is no such session")
		}
		t.endSession(c, have[i])
		t.sessionChanged(user, actionEnded, "session ended")
		return nil
	})
}

// SessionsUsed stores the last use of sessions that were used since its last call.
func (a *Accounts) SessionsUsed() error {
	for part := range slices.Chunk(a.tree.Access().UnsavedSessionUses(), usesAtOnce) {
		err := a.do(0, nil, func(t change) error {
			for _, hash := range part {
				if l, ok := a.tree.Access().Session(hash); ok { // else it has ended
					t.Put(belfry.DocSession, l.Customer, hash.String(), l.Session)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
