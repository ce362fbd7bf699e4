package accounts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
)

// user makes a user and gives it back as it is known.
func (b *bench) user(t *testing.T, name, role string) *belfry.User {
	t.Helper()
	if err := b.AddUser(b.who.Customer, belfry.User{Name: name, Password: "hash of " + name, Role: role}, &belfry.Actor{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	u, ok := b.tree.Access().User(b.who.Customer, name)
	if !ok {
		t.Fatalf("user %s is not known", name)
	}
	return &u
}

func (b *bench) logIn(t *testing.T, u *belfry.User) belfry.Hash {
	t.Helper()
	secret, err := b.beginSession(b.who.Customer, u, belfry.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	if len(secret) != 43 {
		t.Errorf("the secret has %d characters; 32 bytes have 43", len(secret))
	}
	for _, r := range b.records {
		if strings.Contains(string(r.Append(nil)), secret) {
			t.Error("the secret of a session is in the journal")
		}
	}
	return belfry.HashOf(secret)
}

func TestSession(t *testing.T) {
	b := newBench(t)
	eve := b.user(t, "eve", belfry.Operator)
	one := b.logIn(t, eve)
	b.advance(time.Hour)
	two := b.logIn(t, eve)
	at := func(h belfry.Hash, want time.Duration) {
		t.Helper()
		l, ok := b.tree.Access().Session(h)
		if left := l.Session.Expires.Std().Sub(b.now); ok != (want > 0) || ok && left != want {
			t.Errorf("the session lasts %s (there %t), want %s", left, ok, want)
		}
	}
	at(one, 11*time.Hour)
	renew := func(h belfry.Hash) {
		t.Helper()
		if err := b.Renew(h); err != nil {
			t.Fatal(err)
		}
	}
	b.advance(5 * time.Hour) // half of the first session, not yet of the second
	n := len(b.records)
	renew(one)
	renew(two)
	at(one, 6*time.Hour)
	if len(b.records) != n {
		t.Error("a session was renewed in its first half")
	}
	b.advance(time.Second)
	renew(one)
	renew(one) // somebody was faster
	at(one, 12*time.Hour)
	if len(b.records) != n+1 {
		t.Errorf("%d records for one renewal", len(b.records)-n)
	}
	at(two, 7*time.Hour-time.Second)
	if err := b.LogOut(one, belfry.Origin{}); err != nil {
		t.Fatal(err)
	}
	if err := b.LogOut(one, belfry.Origin{}); err != nil {
		t.Errorf("logged out twice: %v", err)
	}
	renew(one)
	at(one, 0)
	b.advance(7 * time.Hour)
	renew(two) // its time is over: it does not come back
	if l, _ := b.tree.Access().Session(two); l.Session.Expires > belfry.At(b.now) {
		t.Error("a session that was over was renewed")
	}
	b.refuse = belfry.Errorf(belfry.StorageUnavailable, "full")
	if err := b.LogOut(two, belfry.Origin{}); err != nil { // works with an expired one, and with a full disk
		t.Fatal(err)
	}
	at(two, 0)
	want := []string{"user test: user eve created as operator", "user eve: logged in", "user eve: logged in", "user eve: logged out", "user eve: logged out"}
	if got := b.events(0, "login"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestSessionOfAnother: a session is that of the user who began it, as that user was then.
func TestSessionOfAnother(t *testing.T) {
	b := newBench(t)
	c := b.who.Customer
	eve := b.user(t, "eve", belfry.Administrator)
	first := b.logIn(t, eve)
	there := func(h belfry.Hash, want bool) {
		t.Helper()
		if _, ok := b.tree.Access().Session(h); ok != want {
			t.Errorf("session there: %t, want %t", ok, want)
		}
	}
	if err := b.setPassword(c, "eve", "another hash"); err != nil {
		t.Fatal(err)
	}
	there(first, false)
	if _, err := b.beginSession(c, eve, belfry.Origin{}); !errors.Is(err, errNoUser) { // the old password was right a moment ago
		t.Errorf("logged in with a password that was changed meanwhile: %v", err)
	}
	changed, _ := b.tree.Access().User(c, "eve")
	second := b.logIn(t, &changed)
	if err := b.removeUser("eve"); err != nil {
		t.Fatal(err)
	}
	there(second, false)
	b.advance(time.Second)
	third := b.logIn(t, b.user(t, "eve", belfry.Viewer))
	there(second, false)
	there(third, true)
	if n := len(b.tree.Access().SessionHashes(c, "eve")); n != 1 {
		t.Errorf("%d sessions are kept", n)
	}
	f := func(want belfry.Code, err error) {
		t.Helper()
		if belfry.CodeOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	f(belfry.NotAllowed, b.removeUser(AdminUser)) // nobody would be left
	f(belfry.NotFound, b.removeUser("mallory"))
	f(belfry.NotFound, b.setPassword(c, "mallory", "x"))
	f(belfry.NameInUse, b.AddUser(c, belfry.User{Name: "eve", Role: belfry.Viewer}, &belfry.Actor{Name: "test"}))
	f(belfry.BadParameter, b.AddUser(c, belfry.User{Name: "bob", Role: "king"}, &belfry.Actor{Name: "test"}))
	f(belfry.BadParameter, b.AddUser(c, belfry.User{Name: " bob", Role: belfry.Viewer}, &belfry.Actor{Name: "test"}))
}

func TestManySessions(t *testing.T) {
	b := newBench(t)
	eve, bob := b.user(t, "eve", belfry.Viewer), b.user(t, "bob", belfry.Viewer)
	bobs := b.logIn(t, bob)
	var all []belfry.Hash
	for range maxSessions + 3 {
		b.advance(time.Second)
		all = append(all, b.logIn(t, eve))
	}
	if got := b.tree.Access().SessionHashes(b.who.Customer, "eve"); !slices.Equal(got, all[3:]) {
		t.Errorf("%d sessions are left, want the newest %d", len(got), maxSessions)
	}
	if _, ok := b.tree.Access().Session(bobs); !ok {
		t.Error("another user's session made room")
	}
}

func TestForgetSessions(t *testing.T) {
	b := newBench(t)
	eve := b.user(t, "eve", belfry.Viewer)
	old := b.logIn(t, eve)
	b.advance(SessionTime / 2)
	young := b.logIn(t, eve)
	b.advance(SessionTime / 2)
	if err := b.ForgetSessions(); err != nil {
		t.Fatal(err)
	}
	last := b.records[len(b.records)-1]
	if len(last.Docs) != 1 || last.Docs[0].Name != old.String() || last.Docs[0].Body != nil {
		t.Errorf("swept: %+v", last.Docs)
	}
	if _, ok := b.tree.Access().Session(young); !ok {
		t.Error("a session that lasts was swept")
	}
	n := len(b.records)
	if err := b.ForgetSessions(); err != nil || len(b.records) != n {
		t.Errorf("nothing to sweep made %d records, %v", len(b.records)-n, err)
	}
}

func TestLoginRefused(t *testing.T) {
	b := newBench(t)
	b.writeRefused(account{customer: b.who.Customer, name: "admin"}, 1, "192.0.2.1")
	if err := b.seq.Internal("after it", 0); err != nil { // the queue is in order
		t.Fatal(err)
	}
	if got := b.events(0, "login"); !slices.Equal(got, []string{"user admin: login refused"}) {
		t.Errorf("events %q", got)
	}
}

func TestKeysUsed(t *testing.T) {
	b := newBench(t)
	c := b.who.Customer
	other, err := b.AddCustomer("acme", "", &belfry.Actor{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var secrets []string
	for i, name := range []string{"a", "b", "idle", "gone"} {
		of := []belfry.CustomerID{c, other.ID, c, c}[i]
		secret, err := b.CreateKey(b.in(of), KeyWish{Name: name, Level: belfry.LevelRead})
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret)
	}
	for _, i := range []int{0, 1, 3} {
		b.tree.Access().Key(belfry.HashOf(secrets[i])).NoteUse(belfry.At(b.now))
	}
	if err := b.revokeKey("gone"); err != nil {
		t.Fatal(err)
	}
	n := len(b.records)
	for range 2 {
		if err := b.KeysUsed(); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.records) != n+1 || len(b.records[n].Docs) != 2 {
		t.Fatalf("%d records, docs %v", len(b.records)-n, b.records[n:])
	}
	// A name that is used again does not inherit the last use.
	if err := b.revokeKey("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateKey(b.who, KeyWish{Name: "a", Level: belfry.LevelRead}); err != nil {
		t.Fatal(err)
	}
	if k, _ := b.tree.Access().KeyNamed(c, "a"); k.LastUse != 0 {
		t.Errorf("a new key was used at %s", k.LastUse)
	}
	revoke := b.records[len(b.records)-2]
	if len(revoke.Docs) != 2 || revoke.Docs[1].Kind != belfry.DocKeyUse || revoke.Docs[1].Body != nil {
		t.Errorf("revoking leaves the last use behind: %+v", revoke.Docs)
	}
}

func TestRevokeOnce(t *testing.T) {
	b := newBench(t)
	ctx, c := context.Background(), b.who.Customer
	secret, err := b.CreateKey(b.who, KeyWish{Name: "agent", Level: belfry.LevelRead})
	if err != nil {
		t.Fatal(err)
	}
	r := engine.Repeat{Key: secret, Digest: [32]byte{1}} // somebody puts a key where it does not belong
	f := func(r engine.Repeat, status int, want belfry.Code) {
		t.Helper()
		who := b.who
		who.Repeat = r
		who.Repeat.Done = engine.Reply{Status: 200, Body: []byte("done")}
		got, err := b.engine.Once(ctx, who.Sender, who.Repeat, func() (engine.Reply, error) { return who.Repeat.Done, b.RevokeKey(who, "agent") })
		if err == nil && (got.Status != status || string(got.Body) != "done") || err != nil && belfry.CodeOf(err) != want {
			t.Errorf("%d %s %v, want %d %s", got.Status, got.Body, err, status, want)
		}
	}
	f(r, 200, "")
	f(r, 200, "")
	f(engine.Repeat{Key: secret, Digest: [32]byte{2}}, 0, belfry.IdempotencyMismatch)
	f(engine.Repeat{}, 0, belfry.NotFound)
	if _, err := b.CreateKey(b.who, KeyWish{Name: "agent", Level: belfry.LevelRead}); err != nil {
		t.Fatal(err)
	}
	f(r, 200, "") // still the first answer: the new key of that name stays
	if _, ok := b.tree.Access().KeyNamed(c, "agent"); !ok {
		t.Error("a repeated request revoked another key")
	}
	for _, r := range b.records {
		if strings.Contains(string(r.Append(nil)), secret) {
			t.Error("an Idempotency-Key is in the journal in clear")
		}
	}
}

// TestSessionAhead: a session that began by a clock that was far ahead ends when the clock has been set right, and does not
// last until that time has come.
func TestSessionAhead(t *testing.T) {
	b := newBench(t)
	eve := b.user(t, "eve", belfry.Viewer)
	day := 24 * time.Hour
	b.advance(500 * day)
	far := b.logIn(t, eve)
	b.advance(-499 * day)
	near := b.logIn(t, eve)
	b.advance(-day)
	if n := b.tree.Access().CountSessions(0, belfry.At(b.now)); n != 1 {
		t.Errorf("%d sessions count", n)
	}
	if err := b.ForgetSessions(); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.tree.Access().Session(far); ok {
		t.Error("the session of 500 days ahead is kept")
	}
	if _, ok := b.tree.Access().Session(near); !ok {
		t.Error("the session of a day ahead is gone")
	}
}
