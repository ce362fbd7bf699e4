package accounts

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
)

// TestEvents: each change of an account leaves an event that says what was changed, by whom and what it was before.
func TestEvents(t *testing.T) {
	b := newBench(t)
	b.provision(t, b.who.Sender, "view", "name,view\nDMZ,MAIN\n")
	b.who.Name = "ann"
	c, begun := b.who.Customer, belfry.At(b.now)
	f := func(do func() error, want string) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		got := append(b.events(0, "configuration"), b.events(0, "login")...)
		if !slices.Contains(got, want) {
			t.Errorf("events %q\nwithout %q", got, want)
		}
	}
	secret := ""
	f(func() (err error) {
		secret, err = b.CreateKey(b.who, KeyWish{Name: "agents", Level: belfry.LevelRead, Expires: begun})
		return err
	}, `configuration ann: key agents created with level read, until `+begun.String())
	f(func() error { return b.revokeKey("agents") }, `configuration ann: key agents revoked, had level read`)
	f(func() error {
		return b.ChangeGrants(Caller{Sender: engine.Sender{Name: "ann"}, Local: true}, belfry.DefaultCustomer, GrantChange{Add: []string{"127.0.0.1:514"}})
	},
		`configuration ann: customer default may listen on 127.0.0.1:514, was no port`)
	f(func() error {
		return b.AddUser(c, belfry.User{Name: "bob", Password: "hash", Role: belfry.Operator}, &belfry.Actor{Name: "ann"})
	}, "user ann: user bob created as operator")
	f(func() error {
		return b.UpdateUser(c, "bob", UserChange{Views: &[]string{"DMZ"}}, true, &belfry.Actor{Name: "ann"})
	},
		"user ann: user bob limited to DMZ, before may see all views")
	f(func() error {
		return b.UpdateUser(c, "bob", UserChange{Password: "other"}, true, &belfry.Actor{Name: "ann"})
	}, "user ann: user bob has another password")
	f(func() error { return b.removeUser("bob") }, "user ann: user bob removed, was operator")
	all := strings.Join(append(b.events(0, "configuration"), b.events(0, "login")...), "\n")
	if strings.Contains(all, secret) || strings.Contains(all, "hash") {
		t.Error("an event has a secret")
	}
}

// TestCustomerCreatedIsToldTwice: a new customer is told of in its own events, and in those of the default customer.
func TestCustomerCreatedIsToldTwice(t *testing.T) {
	b := newBench(t)
	c, err := b.AddCustomer("acme", "", &belfry.Actor{Name: "shell"})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []belfry.CustomerID{c.ID, b.who.Customer} {
		if got := b.events(of, "configuration"); !slices.Contains(got, "configuration shell: customer acme created") {
			t.Errorf("events of customer %d: %q", of, got)
		}
	}
}

func TestKeys(t *testing.T) {
	b := newBench(t)
	secret, err := b.CreateKey(b.who, KeyWish{Name: "agent", Level: belfry.LevelReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	k := b.tree.Access().Key(belfry.HashOf(secret))
	if k == nil || k.Name != "agent" || k.Level != belfry.LevelReadWrite || k.Last4 != secret[32:] {
		t.Fatalf("the key is not found by its hash: %+v", k)
	}
	if _, err := b.CreateKey(b.who, KeyWish{Name: "agent", Level: belfry.LevelRead}); belfry.CodeOf(err) != belfry.NameInUse {
		t.Errorf("a second key of the name: %v", err)
	}
	b.refuse = belfry.Errorf(belfry.StorageUnavailable, "full")
	if err := b.revokeKey("agent"); err != nil {
		t.Errorf("a key cannot be revoked when the disk is nearly full: %v", err)
	}
	if b.tree.Access().Key(belfry.HashOf(secret)) != nil {
		t.Error("a revoked key is still known")
	}
	if err := b.revokeKey("agent"); belfry.CodeOf(err) != belfry.NotFound {
		t.Errorf("revoked twice: %v", err)
	}
	for _, r := range b.records {
		if strings.Contains(string(r.Append(nil)), secret) {
			t.Error("the key itself is in the journal")
		}
	}
}

// TestCheckViews says to what a user can be limited.
func TestCheckViews(t *testing.T) {
	b := newBench(t)
	b.provision(t, b.who.Sender, "view", "name,view\nIn,MAIN\nDeep,In\n")
	b.provision(t, b.who.Sender, "custom", "name\nweb01\nlone\n")
	b.provision(t, b.who.Sender, "view", "name,view,resname\nDisks,web01,web01\n")
	f := func(want string, views ...string) {
		t.Helper()
		u := belfry.User{Name: "eve", Role: belfry.Viewer, Password: "x", Views: views}
		err := checkUserViews(b.tree, b.who.Customer, &u)
		switch {
		case want == "" && err != nil:
			t.Errorf("%v: %v", views, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || belfry.CodeOf(err) != belfry.BadParameter):
			t.Errorf("%v: %v, want %s", views, err, want)
		}
	}
	f("")
	f("", "In", "lone")
	f("", "In", "Deep") // one in the other is no mistake: they may be moved
	f(`there is no view "Inn"; nearest is "In"`, "Inn")
	f("MAIN holds everything", "MAIN")
	f(`"In" is given twice`, "In", "lone", "In")
	f("views is empty", "")
	f(`"Disks" is a part of the resource "web01"`, "Disks")
	f("limited to 100 views, got 101", make([]string, 101)...)
	if err := checkUserViews(b.tree, b.who.Customer, &belfry.User{Instance: true, Views: []string{"In"}}); err == nil {
		t.Error("an administrator of the instance is limited")
	}
	if err := b.setViews(b.who.Customer, AdminUser, "In"); belfry.CodeOf(err) != belfry.BadParameter {
		t.Errorf("the administrator of the instance: %v", err)
	}
	// A view that is gone covers nothing, and is in nobody's way.
	if err := b.AddUser(b.who.Customer, belfry.User{Name: "eve", Role: belfry.Viewer, Password: "x", Views: []string{"lone"}}, &belfry.Actor{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	if code, answer, err := b.intake.Remove(t.Context(), b.who.Sender, "custom", strings.NewReader("name\nlone\n"), intake.Options{}); code != 200 {
		t.Fatalf("%d %s %v", code, answer, err)
	}
	if err := b.setPassword(b.who.Customer, "eve", "y"); err != nil {
		t.Error(err)
	}
}

// TestAuthorLimits: the limits of an author are stored with the script when they change, and the last ones stay when the user is
// removed. A user of the same name that is made later changes nothing.
func TestAuthorLimits(t *testing.T) {
	b := newBench(t)
	b.provision(t, b.who.Sender, "view", "name,view\nIn,MAIN\nParis,MAIN\n")
	c := b.who.Customer
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lena := belfry.User{Name: "lena", Role: belfry.Operator, Password: "x", Views: []string{"In", "Paris"}}
	check := func(name, when string, want ...string) {
		t.Helper()
		var a *belfry.Author
		b.tree.Read(c, func(e *meta.Tenant) { a = e.Resource(name).Details.Author })
		if got := b.tree.Access().ScopeOf(c, a).Views; !slices.Equal(got, want) || a != nil && !slices.Equal(a.Views, want) {
			t.Errorf("%s, %s: the script reaches %v, stored is %+v", name, when, got, a)
		}
	}
	write := func(name string) {
		t.Helper()
		who := b.who.Sender
		who.Name, who.Views = "lena", lena.Views
		b.provision(t, who, "log-trap-receiver", "name,view,script\n"+name+",In,a = 1\n")
	}
	must(b.AddUser(c, lena, &belfry.Actor{Name: "test"}))
	write("first")
	must(b.setViews(c, "lena", "In"))
	check("first", "narrowed", "In")
	must(b.removeUser("lena"))
	check("first", "removed", "In")
	must(b.AddUser(c, lena, &belfry.Actor{Name: "test"}))
	check("first", "another user of that name", "In")
	write("second")
	must(b.setViews(c, "lena"))
	check("second", "not limited any more")
	must(b.setViews(c, "lena", "Paris"))
	check("second", "limited again", "Paris")
	check("first", "the other user limited again", "In")
	must(b.setViews(c, "lena"))
	must(b.removeUser("lena"))
	check("second", "removed without limits")
	check("first", "the other user removed", "In")
}

// Who knows a password can log in and look while the journal cannot be written. Such a session is in memory alone.
func TestLogInWithoutJournal(t *testing.T) {
	b := newBench(t)
	u, ok := b.tree.Access().User(b.who.Customer, AdminUser)
	if !ok {
		t.Fatal("no user")
	}
	written := len(b.records)
	b.journal = errors.New("no disk")
	for range maxSessions + 3 {
		secret, err := b.beginSession(b.who.Customer, &u, belfry.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := b.tree.Access().Session(belfry.HashOf(secret)); !ok || l.User.Name != AdminUser {
			t.Errorf("the session is not there: %+v", l)
		}
	}
	if n := len(b.tree.Access().SessionHashes(b.who.Customer, AdminUser)); n != maxSessions {
		t.Errorf("%d sessions", n)
	}
	if len(b.records) != written {
		t.Error("something was written")
	}
	b.journal = nil
	if _, err := b.beginSession(b.who.Customer, &u, belfry.Origin{}); err != nil || len(b.records) != written+1 {
		t.Errorf("%v, %d records", err, len(b.records))
	}
}
