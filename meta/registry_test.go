package meta

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
)

func newTestTree(t *testing.T) *Tree {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	tree := NewTree(cat)
	for id, name := range []string{1: "default", 2: "acme"} {
		if name != "" {
			set(t, tree, belfry.DocCustomer, 0, name, belfry.Customer{ID: belfry.CustomerID(id), Name: name})
		}
	}
	return tree
}

// set sets a document; nil removes it.
func set(t *testing.T, tree *Tree, kind string, c belfry.CustomerID, name string, v any) {
	t.Helper()
	d := belfry.Doc{Kind: kind, Customer: c, Name: name}
	if v != nil {
		var err error
		if d.Body, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Apply(&belfry.Record{Docs: []belfry.Doc{d}}); err != nil {
		t.Fatal(err)
	}
}

func keyOf(c belfry.CustomerID, name, secret string) belfry.Key {
	return belfry.Key{Name: name, Customer: c, Hash: belfry.HashOf(secret).String(), Level: belfry.LevelRead}
}

func TestKeys(t *testing.T) {
	tree := newTestTree(t)
	set(t, tree, belfry.DocKey, 1, "agent", keyOf(1, "agent", "a"))
	set(t, tree, belfry.DocKey, 2, "agent", keyOf(2, "agent", "b")) // the same name, another customer
	found := func(secret string, want belfry.CustomerID) {
		t.Helper()
		var got belfry.CustomerID
		if k := tree.Access().Key(belfry.HashOf(secret)); k != nil {
			got = k.Customer
		}
		if got != want {
			t.Errorf("key %s belongs to %d, want %d", secret, got, want)
		}
	}
	found("a", 1)
	found("b", 2)
	found("c", 0)
	set(t, tree, belfry.DocKey, 1, "agent", keyOf(1, "agent", "c")) // another text under the same name
	found("a", 0)
	found("c", 1)
	set(t, tree, belfry.DocKey, 1, "agent", nil)
	set(t, tree, belfry.DocKey, 1, "agent", nil) // met again
	found("c", 0)
	found("b", 2)
	bad := belfry.Doc{Kind: belfry.DocKey, Customer: 1, Name: "x", Body: []byte(`{"name":"x","hash":"zz","level":"read"}`)}
	if err := tree.Apply(&belfry.Record{Docs: []belfry.Doc{bad}}); err == nil {
		t.Error("a key without a hash was taken")
	}
}

// TestManyKeys has so many keys that anything which looks at all of them for each of them would never end.
func TestManyKeys(t *testing.T) {
	many := 100_000
	if testing.Short() {
		many = 10_000
	}
	tree := newTestTree(t)
	var docs []belfry.Doc
	for i := range many {
		name := fmt.Sprintf("key %06d", i)
		body, _ := json.Marshal(keyOf(1, name, name))
		docs = append(docs, belfry.Doc{Kind: belfry.DocKey, Customer: 1, Name: name, Body: body})
	}
	if err := tree.Apply(&belfry.Record{Docs: docs}); err != nil {
		t.Fatal(err)
	}
	if err := tree.Apply(&belfry.Record{Docs: docs}); err != nil { // a replay meets them again
		t.Fatal(err)
	}
	if n := tree.Access().CountKeys(1); n != many {
		t.Fatalf("%d keys", n)
	}
	for i := range many {
		name := fmt.Sprintf("key %06d", i)
		if k, ok := tree.Access().KeyNamed(1, name); !ok || k.Name != name {
			t.Fatalf("%q is not found", name)
		}
	}
	page, more := tree.Access().KeysAfter(1, "key 000999", 2)
	if len(page) != 2 || page[0].Name != "key 001000" || page[1].Name != "key 001001" || !more {
		t.Errorf("page %v, more %t", page, more)
	}
	page, more = tree.Access().KeysAfter(1, fmt.Sprintf("key %06d", many-2), 1)
	if len(page) != 1 || page[0].Name != fmt.Sprintf("key %06d", many-1) || more {
		t.Errorf("last page %v, more %t", page, more)
	}
	for i := range docs {
		docs[i].Body = nil
	}
	if err := tree.Apply(&belfry.Record{Docs: docs[1:]}); err != nil {
		t.Fatal(err)
	}
	if left := tree.Access().Keys(1); len(left) != 1 || left[0].Name != "key 000000" {
		t.Errorf("left are %v", left)
	}
}

func TestKeyUse(t *testing.T) {
	tree := newTestTree(t)
	set(t, tree, belfry.DocKey, 1, "agent", keyOf(1, "agent", "a"))
	set(t, tree, belfry.DocKey, 1, "idle", keyOf(1, "idle", "i"))
	f := func(want belfry.Time, changed int) {
		t.Helper()
		k, _ := tree.Access().KeyNamed(1, "agent")
		if n := len(tree.Access().UnsavedKeyUses()); k.LastUse != want || n != changed {
			t.Errorf("last use %d, want %d; %d changed, want %d", k.LastUse, want, n, changed)
		}
	}
	f(0, 0)
	k := tree.Access().Key(belfry.HashOf("a"))
	k.NoteUse(5_000_000)
	f(5_000_000, 1)
	k.NoteUse(5_999_999) // not a second later
	f(5_000_000, 1)
	k.NoteUse(6_000_000)
	f(6_000_000, 1)
	set(t, tree, belfry.DocKeyUse, 1, "agent", 6_000_000)
	f(6_000_000, 0)
	k.NoteUse(9_000_000)
	set(t, tree, belfry.DocKeyUse, 1, "agent", 7_000_000) // decided before that use
	f(9_000_000, 1)
	set(t, tree, belfry.DocKeyUse, 1, "gone", 7_000_000)
	if _, ok := tree.Access().KeyNamed(1, "gone"); ok {
		t.Error("a use made a key")
	}
	if n := testing.AllocsPerRun(100, func() { tree.Access().Key(belfry.HashOf("a")).NoteUse(10_000_000) }); n > 0 {
		t.Errorf("finding a key allocates %v times", n)
	}
}

func TestSessions(t *testing.T) {
	tree := newTestTree(t)
	user := belfry.User{Name: "eve", Password: "hash", Role: belfry.Operator, Created: 7}
	set(t, tree, belfry.DocUser, 1, "eve", user)
	begin := func(secret string, c belfry.CustomerID, created belfry.Time) {
		t.Helper()
		set(t, tree, belfry.DocSession, c, belfry.HashOf(secret).String(), belfry.Session{
			User: "eve", Fingerprint: user.Fingerprint(), Created: created, Expires: created + 100,
		})
	}
	found := func(secret string, want bool) {
		t.Helper()
		l, ok := tree.Access().Session(belfry.HashOf(secret))
		if ok != want || ok && (l.User.Name != "eve" || l.Customer != 1 || l.Hash != belfry.HashOf(secret)) {
			t.Errorf("session %s: %t %+v, want %t", secret, ok, l, want)
		}
	}
	begin("one", 1, 20)
	begin("two", 1, 10)
	begin("other", 2, 10) // the same user name, where there is no such user
	found("one", true)
	found("two", true)
	found("other", false)
	found("three", false)
	begin("two", 1, 10) // renewed
	if l := tree.Access().SessionHashes(1, "eve"); len(l) != 2 || l[0] != belfry.HashOf("two") || l[1] != belfry.HashOf("one") {
		t.Errorf("logins %v", l)
	}
	ended := func(now belfry.Time, want int) {
		t.Helper()
		if list := tree.Access().ExpiredSessions(func(s belfry.Session) bool { return s.Expires <= now }); len(list) != want {
			t.Errorf("at %d %d sessions have ended, want %d", now, len(list), want)
		}
	}
	ended(109, 1) // that of the other customer
	ended(110, 2)
	set(t, tree, belfry.DocSession, 1, belfry.HashOf("two").String(), nil)
	set(t, tree, belfry.DocSession, 1, belfry.HashOf("two").String(), nil)
	found("two", false)
	for _, change := range []func(*belfry.User){
		func(u *belfry.User) { u.Password = "another" },
		func(u *belfry.User) { u.Role = belfry.Viewer },
		func(u *belfry.User) { u.Instance = true },
		func(u *belfry.User) { u.Created = 8 },
	} {
		changed := user
		change(&changed)
		set(t, tree, belfry.DocUser, 1, "eve", changed)
		found("one", false)
		set(t, tree, belfry.DocUser, 1, "eve", user)
		found("one", true)
	}
	set(t, tree, belfry.DocUser, 1, "eve", nil)
	found("one", false)
	ended(0, 2)
}

func TestSessionUse(t *testing.T) {
	tree := newTestTree(t)
	user := belfry.User{Name: "eve", Password: "hash", Role: belfry.Operator, Created: 7}
	set(t, tree, belfry.DocUser, 1, "eve", user)
	hash := belfry.HashOf("one")
	store := func(used belfry.Time) {
		t.Helper()
		set(t, tree, belfry.DocSession, 1, hash.String(), belfry.Session{User: "eve", Fingerprint: user.Fingerprint(), Created: 1, Expires: 90_000_000, LastUse: used})
	}
	f := func(want belfry.Time, unstored int) {
		t.Helper()
		l, _ := tree.Access().Session(hash)
		if n := len(tree.Access().UnsavedSessionUses()); l.Session.LastUse != want || n != unstored {
			t.Errorf("last use %d, want %d; %d changed, want %d", l.Session.LastUse, want, n, unstored)
		}
	}
	store(0) // as earlier builds wrote it
	f(0, 0)
	store(5_000_000)
	f(5_000_000, 0)
	l, _ := tree.Access().Session(hash)
	l.NoteUse(5_900_000) // not a second later
	f(5_000_000, 0)
	l.NoteUse(9_000_000)
	f(9_000_000, 1)
	store(7_000_000) // decided before that use
	f(9_000_000, 1)
	l.NoteUse(11_000_000) // by whoever found it before it was stored
	f(11_000_000, 1)
	store(11_000_000)
	f(11_000_000, 0)
	for now, want := range map[belfry.Time]int{89_999_999: 1, 90_000_000: 0} {
		if list := tree.Access().SessionsOf(1, "eve", now); len(list) != want {
			t.Errorf("at %d there are %d sessions, want %d", now, len(list), want)
		}
	}
	if list := tree.Access().SessionsOf(2, "eve", 0); len(list) != 0 {
		t.Errorf("another customer's user of that name has %v", list)
	}
}

func TestMaskKeys(t *testing.T) {
	const key, other = "7b0c4f0e-1111-4aaa-8bbb-00000000000a", "7b0c4f0e-1111-4aaa-8bbb-00000000000b"
	stars := strings.Repeat("*", 36)
	tree := newTestTree(t)
	set(t, tree, belfry.DocKey, 1, "k", keyOf(1, "k", key))
	f := func(in, want string) {
		t.Helper()
		text := []byte(in)
		if got := string(tree.Access().MaskKeys(text)); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if string(text) != in {
			t.Errorf("%q was changed in place", in)
		}
	}
	f("", "")
	f("-", "-")
	f("nothing - of - the - sort", "nothing - of - the - sort")
	f(key, stars)
	f("x"+key+"x", "x"+stars+"x")
	f("0"+key+"0", "0"+stars+"0")
	f(strings.ToUpper(key), stars)
	f(key+key+"-"+key, stars+stars+"-"+stars)
	f(other, other)
	f(other+" and "+key, other+" and "+stars)
	f("-"+key[:35], "-"+key[:35])
	f("----------"+key, "----------"+stars)
	f(key[:9]+key, key[:9]+stars)
}
