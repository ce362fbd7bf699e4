package ingest

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
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

// ErrNoUser says that a user is not there, or not the same any more.
var ErrNoUser = errors.New("no such user")

// LogIn begins a session of a user whose password has been checked, and gives its secret, which is kept nowhere. Should
// the user have been changed since then, it is ErrNoUser. It is tried even when the disk is nearly full: somebody has to
// be able to look. While the journal cannot be written, the session is kept in memory alone, and a restart ends it.
func (s *Sequencer) LogIn(c belfry.CustomerID, u *belfry.User, from belfry.Place) (secret string, err error) {
	secret = newToken()
	begin := func(t *tx) error {
		now, ok := s.cfg.Tree.User(c, u.Name)
		if !ok || now.Mark() != u.Mark() {
			return ErrNoUser
		}
		t.startSession(c, now, from, secret)
		return nil
	}
	err = s.do(&command{customer: c, alone: true, urgent: true, decide: begin})
	if belfry.CodeOf(err) == belfry.StorageUnavailable {
		err = s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
			if err := begin(t); err != nil {
				return err
			}
			return t.unstored()
		}})
		if err == nil {
			s.cfg.Log.Warn("a session is kept in memory alone, as the journal cannot be written", "user", u.Name)
		}
	}
	if err != nil {
		return "", err
	}
	return secret, nil
}

// unstored makes the sessions of the tx visible at once, and forgets everything else in it, so that it needs no journal.
func (t *tx) unstored() error {
	var sessions []belfry.Doc
	for _, d := range t.rec.Docs {
		if d.Kind == belfry.DocSession {
			sessions = append(sessions, d)
		}
	}
	t.rec.Docs, t.events = nil, events{}
	return t.seq.cfg.Tree.Apply(&belfry.Record{Docs: sessions})
}

// startSession begins a session of a user, who is stored with the time of this login.
func (t *tx) startSession(c belfry.CustomerID, u belfry.User, from belfry.Place, secret string) {
	have := t.seq.cfg.Tree.Logins(c, u.Name)
	for len(have) >= maxSessions {
		t.endSession(c, have[0])
		have = have[1:]
	}
	now := t.expiry()
	u.LastLogin = t.now
	t.configure(belfry.DocUser, c, u.Name, u)
	t.configure(belfry.DocSession, c, belfry.HashOf(secret).String(), belfry.Session{
		User: u.Name, Mark: u.Mark(), Created: now, Expires: SessionEnd(now, now, t.seq.cfg.Limits().SessionAge),
		LastUse: now, Place: from,
	})
	t.login("logged in", u.Name)
}

// LogOut ends a session; one that has ended already is none.
func (s *Sequencer) LogOut(hash belfry.Hash) error {
	l, ok := s.cfg.Tree.Session(hash)
	if !ok {
		return nil
	}
	return s.do(&command{customer: l.Customer, alone: true, urgent: true, decide: func(t *tx) error {
		if _, ok := s.cfg.Tree.Session(hash); ok {
			t.endSession(l.Customer, hash)
			t.login("logged out", l.User.Name)
		}
		return nil
	}})
}

// RenewSession lets a session that is in its second half last its full time again.
func (s *Sequencer) RenewSession(hash belfry.Hash) error {
	l, ok := s.cfg.Tree.Session(hash)
	if !ok {
		return nil
	}
	return s.do(&command{customer: l.Customer, alone: true, decide: func(t *tx) error {
		l, ok := s.cfg.Tree.Session(hash)
		now := t.expiry()
		age := s.cfg.Limits().SessionAge
		if !ok || l.Session.Over(now) || !Renewable(l.Session, now, age) { // somebody was faster
			return nil
		}
		l.Session.Expires = SessionEnd(l.Session.Created, now, age)
		t.configure(belfry.DocSession, l.Customer, hash.String(), l.Session)
		return nil
	}})
}

// Renewable tells whether a session is in its second half and can last longer.
func Renewable(s belfry.Session, now belfry.Time, age time.Duration) bool {
	return s.Expires-now < belfry.Time(SessionTime.Microseconds())/2 && SessionEnd(s.Created, now, age) > s.Expires
}

// SessionEnd is when a session ends that is used now: after SessionTime, and at the latest when it has reached the age. The
// age 0 stands for any.
func SessionEnd(created, now belfry.Time, age time.Duration) belfry.Time {
	end := now + belfry.Time(SessionTime.Microseconds())
	if age > 0 {
		end = min(end, created+belfry.Time(age.Microseconds()))
	}
	return end
}

// Expel ends a session that the service no longer accepts, and says why in an event. One that has ended already is none.
func (s *Sequencer) Expel(hash belfry.Hash, why string) error {
	l, ok := s.cfg.Tree.Session(hash)
	if !ok {
		return nil
	}
	return s.do(&command{customer: l.Customer, alone: true, urgent: true, decide: func(t *tx) error {
		if _, ok := s.cfg.Tree.Session(hash); ok {
			t.endSession(l.Customer, hash)
			t.login("session ended: "+why, l.User.Name)
		}
		return nil
	}})
}

// LoginRefused tells that somebody tried, so many times, to log in as a user who exists. It does not wait: how long an
// answer takes must not say who exists.
func (s *Sequencer) LoginRefused(c belfry.CustomerID, user string, times int) {
	info := "login refused"
	if times > 1 {
		info = fmt.Sprintf("login refused %d times", times)
	}
	_ = s.submit(&command{customer: c, decide: func(t *tx) error {
		t.login(info, user)
		return nil
	}}) // no event while nothing can be stored
}

// login tells of a session, or of who may begin one. A change of a user is told of in the same place: who looks for how
// somebody got in wants to see both.
func (t *tx) login(info, user string) { t.events.note(t.now, "user", "login", info, user) }

// endedAtOnce is how many sessions end in one record.
const endedAtOnce = 10_000

// SweepSessions forgets sessions whose time is over, or whose user is not there any more. The time of a session has to be
// over by the time at which data are deleted, too: a clock that is set forward and back again removes none.
func (s *Sequencer) SweepSessions() error {
	over := func(had belfry.Session) bool {
		return had.Expires <= belfry.At(s.cfg.Trusted()) || had.Ahead(belfry.At(s.cfg.Expiry()))
	}
	for part := range slices.Chunk(s.cfg.Tree.Ended(over), endedAtOnce) {
		err := s.do(&command{alone: true, decide: func(t *tx) error {
			for _, l := range part {
				if now, ok := s.cfg.Tree.Session(l.Hash); !ok || over(now.Session) { // else renewed meanwhile
					t.rec.Docs = append(t.rec.Docs, belfry.Doc{Kind: belfry.DocSession, Customer: l.Customer, Name: l.Hash.String()})
				}
			}
			return nil
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// expiry is the time by which sessions begin and end. It is not t.now: a session must end neither early nor months late
// because the clock was wrong when it began.
func (t *tx) expiry() belfry.Time { return belfry.At(t.seq.cfg.Expiry()) }

func (t *tx) endSession(c belfry.CustomerID, hash belfry.Hash) {
	t.document(belfry.Doc{Kind: belfry.DocSession, Customer: c, Name: hash.String()})
}

// newToken makes the secret of a session: 32 random bytes that fit in a cookie.
func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
