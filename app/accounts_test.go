package app

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"belfry"
	"belfry/accounts"
	"belfry/catalog"
	"belfry/client"
	"belfry/config"
)

// openFolder makes a data folder with a first administrator and gives what the commands and the service work with.
func openFolder(t *testing.T) *offline {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default(cat)
	cfg.Data = t.TempDir()
	a, err := openOffline(context.Background(), Options{
		Config: cfg, Catalog: cat, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Level: &slog.LevelVar{},
		Console: io.Discard, AdminPassword: "first",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestLogIn(t *testing.T) {
	d := openFolder(t)
	ctx := context.Background()
	if err := client.NewLocal(inProcess{d.api.Local()}, "default").CreateCustomer(ctx, "acme"); err != nil {
		t.Fatal(err)
	}
	admin := client.NewLocal(inProcess{d.api.Local()}, "acme")
	if err := admin.CreateUser(ctx, client.UserChange{Name: "eve", Password: "hers", Role: belfry.Viewer}); err != nil {
		t.Fatal(err)
	}
	f := func(customer, user, password string, want bool) {
		t.Helper()
		secret, err := d.accounts.LogIn(belfry.Origin{}, customer, user, password)
		if want != (err == nil) || want != (secret != "") || !want && belfry.CodeOf(err) != belfry.InvalidLogin {
			t.Errorf("%s %s %s: %v", customer, user, password, err)
		}
		if want {
			l, ok := d.Tree.Access().Session(belfry.HashOf(secret))
			if c, _ := d.Tree.Access().CustomerNamed("acme"); !ok || l.User.Name != user || (l.Customer == c.ID) != (customer == "acme") {
				t.Errorf("%s %s: session %+v", customer, user, l)
			}
		}
	}
	f("", accounts.AdminUser, "first", true)
	f("default", accounts.AdminUser, "first", true)
	f("", accounts.AdminUser, "second", false)
	f("acme", accounts.AdminUser, "first", false)
	f("acme", "eve", "hers", true)
	f("", "eve", "hers", false)
	f("nobody", "eve", "hers", false)
	f("acme", "mallory", "hers", false)
	f("acme", "eve", "", false)
	if err := admin.ChangeUser(ctx, "eve", client.UserChange{Password: "another"}); err != nil {
		t.Fatal(err)
	}
	f("acme", "eve", "hers", false)
	f("acme", "eve", "another", true)
	if err := admin.RemoveUser(ctx, "eve"); err != nil {
		t.Fatal(err)
	}
	f("acme", "eve", "another", false)
}
