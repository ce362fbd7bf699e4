package app

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/ingest"
)

// openFolder makes a data folder with a first administrator and gives what the commands and the service work with.
func openFolder(t *testing.T) *direct {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default(cat)
	cfg.Data = t.TempDir()
	a, err := openOffline(context.Background(), Options{
		Config: cfg, Catalog: cat, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Level: &slog.LevelVar{},
		Console: io.Discard, AdminPassword: "first",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a.(*direct)
}

func TestLogIn(t *testing.T) {
	d := openFolder(t)
	ctx := context.Background()
	if err := d.CreateCustomer(ctx, "acme"); err != nil {
		t.Fatal(err)
	}
	if err := d.CreateUser(ctx, "acme", NewUser{Name: "eve", Password: "hers", Role: belfry.Viewer}); err != nil {
		t.Fatal(err)
	}
	people := newAccounts(d.tree, d.seq)
	f := func(customer, user, password string, want bool) {
		t.Helper()
		secret, err := people.LogIn(ctx, belfry.Place{}, customer, user, password)
		if want != (err == nil) || want != (secret != "") || !want && belfry.CodeOf(err) != belfry.InvalidLogin {
			t.Errorf("%s %s %s: %v", customer, user, password, err)
		}
		if want {
			l, ok := d.tree.Session(belfry.HashOf(secret))
			if c, _ := d.tree.CustomerNamed("acme"); !ok || l.User.Name != user || (l.Customer == c.ID) != (customer == "acme") {
				t.Errorf("%s %s: session %+v", customer, user, l)
			}
		}
	}
	f("", ingest.AdminUser, "first", true)
	f("default", ingest.AdminUser, "first", true)
	f("", ingest.AdminUser, "second", false)
	f("acme", ingest.AdminUser, "first", false)
	f("acme", "eve", "hers", true)
	f("", "eve", "hers", false)
	f("nobody", "eve", "hers", false)
	f("acme", "mallory", "hers", false)
	f("acme", "eve", "", false)
	if err := d.SetPassword(ctx, "acme", "eve", "another"); err != nil {
		t.Fatal(err)
	}
	f("acme", "eve", "hers", false)
	f("acme", "eve", "another", true)
	if err := d.RemoveUser(ctx, "acme", "eve"); err != nil {
		t.Fatal(err)
	}
	f("acme", "eve", "another", false)
}

// TestRefusedLoginsAreFew: whoever guesses does not fill the disk with events, and yet each guess is counted in one.
func TestRefusedLoginsAreFew(t *testing.T) {
	d := openFolder(t)
	people := newAccounts(d.tree, d.seq)
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	people.now = func() time.Time { return now }
	next := func() belfry.RowID {
		if err := d.seq.Settle(); err != nil { // what was submitted before it is done
			t.Fatal(err)
		}
		return d.tree.Estate(1).NextRow
	}
	f := func(passed time.Duration, do func(), events belfry.RowID) {
		t.Helper()
		now = now.Add(passed)
		before := next()
		do()
		if n := next() - before; n != events {
			t.Errorf("%d events, want %d", n, events)
		}
	}
	guess := func() {
		for range 1000 {
			people.refused(1, ingest.AdminUser)
		}
	}
	f(0, guess, 1)
	f(59*time.Second, guess, 0)
	f(0, people.tellRefused, 0)
	f(time.Second, people.tellRefused, 1) // those that have waited
	f(0, guess, 0)
	f(time.Minute, guess, 1)
	if r := people.told[toldUser{1, ingest.AdminUser}]; r.since != 999 {
		t.Errorf("%d wait to be told, want 999", r.since)
	}
	f(time.Minute, people.tellRefused, 1)
	f(time.Minute, people.tellRefused, 0)
	if len(people.told) != 0 {
		t.Errorf("%d users are remembered without a reason", len(people.told))
	}
}
