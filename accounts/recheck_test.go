package accounts

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"belfry"
	"belfry/meta"
)

// TestVouches: the provider's word counts for a while, and for an hour when it is silent.
func TestVouches(t *testing.T) {
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	b := newBench(t)
	p := &Provider{
		cfg: OIDC{Issuer: "http://127.0.0.1:1", Recheck: 15 * time.Minute}, now: func() time.Time { return now },
		users: b.Accounts, log: slog.New(slog.DiscardHandler),
		client: http.DefaultClient, people: roster{of: map[belfry.Hash]*vouched{}, most: 10},
	}
	l := meta.Login{Hash: belfry.HashOf("secret"), User: belfry.User{Name: "eve", Subject: "x"}}
	f := func(age time.Duration, want bool) {
		t.Helper()
		begun := now
		now = now.Add(age)
		if p.Vouches(t.Context(), l) != want {
			t.Errorf("after %s: %v", age, !want)
		}
		now = begun
	}
	l.Session.Created = belfry.At(now) // begun before a restart
	f(14*time.Minute, true)
	f(15*time.Minute, false)
	p.admit(l.Hash, "token")
	f(14*time.Minute, true)
	f(16*time.Minute, true) // it is asked, and does not answer
	f(59*time.Minute, true)
	f(time.Hour, false)
	p.admit(l.Hash, "")
	f(14*time.Minute, true)
	f(15*time.Minute, false)
}
