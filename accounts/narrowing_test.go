package accounts

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"belfry"
)

func TestNarrowedKey(t *testing.T) {
	b := newBench(t)
	b.provision(t, b.who.Sender, "view", "name,view\nIn,MAIN\n")
	create := func(n belfry.Narrowing) (*belfry.Key, error) {
		name := fmt.Sprint("key ", len(b.records))
		secret, err := b.CreateKey(b.who, KeyWish{Name: name, Level: belfry.LevelReadWrite, Narrowing: n})
		if err != nil {
			return nil, err
		}
		k := b.tree.Access().Key(belfry.HashOf(secret))
		return &k.Key, nil
	}
	k, err := create(belfry.Narrowing{Only: []string{"send"}, Views: []string{"In"}, Addresses: []string{"10.0.0.0/8", "::ffff:192.0.2.7"}})
	want := belfry.Narrowing{Only: []string{"send"}, Views: []string{"In"}, Addresses: []string{"10.0.0.0/8", "192.0.2.7"}}
	if err != nil || !reflect.DeepEqual(k.Narrowing, want) {
		t.Fatalf("%+v %v", k, err)
	}
	told := "configuration test: key " + k.Name + " created with level readwrite, narrowed to only send; views In; addresses 10.0.0.0/8, 192.0.2.7"
	if got := b.events(0, "configuration"); !slices.Contains(got, told) {
		t.Errorf("events %q without %q", got, told)
	}
	f := func(n belfry.Narrowing, want string) {
		t.Helper()
		if _, err := create(n); belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", n, err, want)
		}
	}
	many := make([]string, maxAddresses+1)
	for i := range many {
		many[i] = fmt.Sprintf("10.0.%d.%d", i/256, i%256)
	}
	f(belfry.Narrowing{Only: []string{"query"}}, `only: "query" is not known; the one value is "send"`)
	f(belfry.Narrowing{Only: []string{"send", "send"}}, "given twice")
	f(belfry.Narrowing{Views: []string{"Inn"}}, `nearest is "In"`)
	f(belfry.Narrowing{Views: []string{"MAIN"}}, "MAIN holds everything")
	f(belfry.Narrowing{Views: make([]string, maxViews+1)}, "a key may be limited to 100 views, got 101")
	f(belfry.Narrowing{Addresses: []string{"10.0.0.1/8"}}, `addresses: "10.0.0.1/8" is neither an address nor a network`)
	f(belfry.Narrowing{Addresses: []string{"10.0.0.0/8", "::ffff:10.0.0.0/104"}}, "10.0.0.0/8 is given twice")
	f(belfry.Narrowing{Addresses: many}, "a key may be restricted to 100 addresses, got 101")
	if _, err := create(belfry.Narrowing{Addresses: many[1:]}); err != nil {
		t.Error(err)
	}
}

// TestKeyAccepts: a key is accepted from its networks alone, and one without any from everywhere.
func TestKeyAccepts(t *testing.T) {
	b := newBench(t)
	f := func(from string, want bool, addresses ...string) {
		t.Helper()
		secret, err := b.CreateKey(b.who, KeyWish{Name: fmt.Sprint("k", len(b.records)), Level: belfry.LevelRead, Narrowing: belfry.Narrowing{Addresses: addresses}})
		if err != nil {
			t.Fatal(err)
		}
		addr, _ := netip.ParseAddr(from)
		if got := b.tree.Access().Key(belfry.HashOf(secret)).Accepts(addr); got != want {
			t.Errorf("%v accepts %s: %t", addresses, from, got)
		}
	}
	f("192.0.2.1", true)
	f("", true)
	f("192.0.2.1", true, "10.0.0.0/8", "192.0.2.0/24")
	f("192.0.3.1", false, "10.0.0.0/8", "192.0.2.0/24")
	f("", false, "0.0.0.0/0") // a connection without an address
	f("2001:db8::1", false, "0.0.0.0/0")
	f("2001:db8::1", true, "2001:db8::/32")
}

// TestRefusedKeysAreTold: an administrator finds in the events that a key was used from elsewhere.
func TestRefusedKeysAreTold(t *testing.T) {
	b := newBench(t)
	b.Accounts.now = b.seq.Clock
	b.RefuseKey(1, "agents", "192.0.2.9")
	b.RefuseKey(1, "agents", "192.0.2.8")
	b.RefuseKey(1, "agents", "192.0.2.7")
	b.Accounts.refuse(account{customer: 1, name: "agents"}, "192.0.2.6") // a user of the same name
	b.advance(refusedEvery)
	b.FlushRefused()
	if err := b.seq.Settle(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"user agents: key agents refused, last from 192.0.2.9, which is not one of its addresses",
		"user agents: login refused",
		"user agents: key agents refused 2 times, last from 192.0.2.7, which is not one of its addresses",
	}
	if got := b.events(0, "login"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestActorNames: no user and no key may be named so that events and the audit trail show it as another.
func TestActorNames(t *testing.T) {
	b := newBench(t)
	f := func(name, want string) {
		t.Helper()
		_, keyErr := b.CreateKey(b.who, KeyWish{Name: name, Level: belfry.LevelRead})
		userErr := b.AddUser(b.who.Customer, belfry.User{Name: name, Role: belfry.Viewer}, b.who.Actor())
		for _, err := range []error{keyErr, userErr} {
			if want == "" && err != nil || want != "" && (belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: %v, want %q", name, err, want)
			}
		}
	}
	f("admin (instance)", "reserved for administrators of the instance")
	f("shell", "reserved for the service itself")
	f("system", "reserved for the service itself")
	f("ad\u200bmin", "invisible")
	f("admin\u00a0x", "unusual blank")
	f("\u202enimda", "invisible")
	f("", "empty")
	f("Jürgen Müller", "")
	f("管理员 😀", "")
}
