package accounts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// valid reports whether a secret would be accepted now.
func (b *bench) valid(secret string) bool {
	k := b.tree.Access().Key(belfry.HashOf(secret))
	return k != nil && (k.Expires == 0 || k.Expires > belfry.At(b.now))
}

func (b *bench) rotate(t *testing.T, name string, overlap time.Duration) string {
	t.Helper()
	secret, err := b.RotateKey(b.who, Rotation{Name: name, Overlap: overlap})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestRotateKey(t *testing.T) {
	b := newBench(t)
	wish := KeyWish{Name: "agents", Level: belfry.LevelReadWrite, Narrowing: belfry.Narrowing{Only: []string{"send"}, Addresses: []string{"192.0.2.0/24"}}}
	one, err := b.CreateKey(b.who, wish)
	if err != nil {
		t.Fatal(err)
	}
	b.tree.Access().Key(belfry.HashOf(one)).NoteUse(belfry.At(b.now))
	two := b.rotate(t, "agents", time.Hour)
	accepted := func(when string, want ...bool) {
		t.Helper()
		for i, secret := range []string{one, two} {
			if got := b.valid(secret); got != want[i] {
				t.Errorf("%s: secret %d is accepted: %t", when, i+1, got)
			}
		}
	}
	accepted("rotated", true, true)
	first, second := b.tree.Access().Key(belfry.HashOf(one)), b.tree.Access().Key(belfry.HashOf(two))
	for _, k := range []*meta.Key{first, second} {
		if k.Name != "agents" || k.Level != wish.Level || k.Narrowing.String() != wish.Narrowing.String() || k.Identity() != belfry.HashOf(one).String() {
			t.Errorf("%+v is another key", k.Key)
		}
	}
	b.advance(time.Minute)
	second.NoteUse(belfry.At(b.now))
	first.NoteUse(belfry.At(b.now.Add(-time.Second)))
	list := b.tree.Access().Keys(1)
	if len(list) != 1 || list[0].Last4 != two[32:] || list[0].LastUse != belfry.At(b.now) || len(list[0].Old) != 1 ||
		list[0].Old[0].Last4 != one[32:] || list[0].Old[0].LastUse != belfry.At(b.now.Add(-time.Second)) || list[0].Old[0].Until != belfry.At(b.now.Add(59*time.Minute)) {
		t.Errorf("the list is %+v", list)
	}
	b.advance(59 * time.Minute)
	accepted("an hour later", false, true)
	for _, r := range b.records {
		if text := string(r.Append(nil)); strings.Contains(text, one) || strings.Contains(text, two) {
			t.Error("a secret is in the journal")
		}
	}
	told := "configuration test: key agents rotated: the secret that ends in " + two[32:] + " takes the place of " + one[32:] + ", which is refused from " + belfry.At(b.now).String() + " on"
	if got := b.events(0, "configuration"); !slices.Contains(got, told) {
		t.Errorf("events %q without %q", got, told)
	}
}

// TestRotateAgain: each rotation ends what was before it within its own overlap, and overlap 0 ends everything at once.
func TestRotateAgain(t *testing.T) {
	b := newBench(t)
	secrets := []string{""}
	var err error
	if secrets[0], err = b.CreateKey(b.who, KeyWish{Name: "agents", Level: belfry.LevelRead}); err != nil {
		t.Fatal(err)
	}
	for range maxOld {
		secrets = append(secrets, b.rotate(t, "agents", 2*time.Hour))
	}
	if _, err := b.RotateKey(b.who, Rotation{Name: "agents", Overlap: time.Hour}); belfry.CodeOf(err) != belfry.LimitReached {
		t.Errorf("one more: %v", err)
	}
	for i, s := range secrets {
		if !b.valid(s) {
			t.Errorf("secret %d is refused", i)
		}
	}
	b.advance(2 * time.Hour)
	last := secrets[maxOld]
	next := b.rotate(t, "agents", time.Hour)
	if k := b.tree.Access().Keys(1)[0]; len(k.Old) != 1 {
		t.Errorf("secrets that have ended are kept: %+v", k.Old)
	}
	b.refuse = belfry.Errorf(belfry.StorageUnavailable, "full")
	now := b.rotate(t, "agents", 0) // works when the disk is nearly full
	if b.valid(last) || b.valid(next) || !b.valid(now) {
		t.Error("overlap 0 does not end the secrets before it")
	}
	b.refuse = nil
	old := now
	now = b.rotate(t, "agents", time.Hour)
	if err := b.revokeKey("agents"); err != nil || b.tree.Access().Key(belfry.HashOf(old)) != nil || b.tree.Access().Key(belfry.HashOf(now)) != nil {
		t.Errorf("a secret is left after the key was revoked: %v", err)
	}
	f := func(want belfry.Code, to Rotation) {
		t.Helper()
		if _, err := b.RotateKey(b.who, to); belfry.CodeOf(err) != want {
			t.Errorf("%+v: %v, want %s", to, err, want)
		}
	}
	f(belfry.NotFound, Rotation{Name: "agents"})
	f(belfry.BadParameter, Rotation{Name: "agents", Overlap: MaxOverlap + 1})
	f(belfry.BadParameter, Rotation{Name: "agents", Overlap: -1})
}

// TestRotateExpiring: a secret never outlives the end that its key had, and a key that has expired needs another end.
func TestRotateExpiring(t *testing.T) {
	b := newBench(t)
	end := belfry.At(b.now.Add(time.Hour))
	one, err := b.CreateKey(b.who, KeyWish{Name: "agents", Level: belfry.LevelRead, Expires: end})
	if err != nil {
		t.Fatal(err)
	}
	later := end + belfry.Time(48*time.Hour.Microseconds())
	two, err := b.RotateKey(b.who, Rotation{Name: "agents", Overlap: 24 * time.Hour, Expires: later})
	if err != nil {
		t.Fatal(err)
	}
	if k := b.tree.Access().Keys(1)[0]; k.Expires != later || k.Old[0].Until != end {
		t.Errorf("%+v", k)
	}
	b.advance(time.Hour)
	if b.valid(one) || !b.valid(two) {
		t.Error("the old secret outlives its end")
	}
	b.advance(48 * time.Hour)
	if _, err := b.RotateKey(b.who, Rotation{Name: "agents"}); belfry.CodeOf(err) != belfry.NotAllowed {
		t.Errorf("an expired key: %v", err)
	}
}

// TestRotationIsReplayed: a tree that reads the records again knows the secrets, the uses of each, and nothing of the revoked ones.
func TestRotationIsReplayed(t *testing.T) {
	b := newBench(t)
	one, err := b.CreateKey(b.who, KeyWish{Name: "agents", Level: belfry.LevelRead})
	if err != nil {
		t.Fatal(err)
	}
	use := func(secret string) {
		b.advance(time.Minute)
		b.tree.Access().Key(belfry.HashOf(secret)).NoteUse(belfry.At(b.now))
		if err := b.KeysUsed(); err != nil {
			t.Fatal(err)
		}
	}
	use(one)
	two := b.rotate(t, "agents", 24*time.Hour)
	use(two)
	use(one)
	b.rotate(t, "agents", 24*time.Hour)
	use(one)
	want := b.tree.Access().Keys(1)[0]
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	again := meta.NewTree(cat)
	for _, r := range b.records {
		if err := again.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	got := again.Access().Keys(1)[0]
	if !slices.Equal(got.Old, want.Old) || len(got.Old) != 2 || got.LastUse != 0 || got.Hash != want.Hash || got.Old[0].LastUse == 0 || got.Old[1].LastUse <= got.Old[0].LastUse {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestKeyOfEarlierVersion: a key as it was stored before keys could be narrowed or rotated.
func TestKeyOfEarlierVersion(t *testing.T) {
	b := newBench(t)
	hash := belfry.HashOf("secret")
	r := &belfry.Record{Docs: []belfry.Doc{{Kind: belfry.DocKey, Customer: 1, Name: "old", Body: []byte(
		`{"name":"old","customer":1,"hash":"` + hash.String() + `","last4":"cret","level":"readwrite","creator":"shell","created":1763175600000000}`)}, {
		Kind: belfry.DocKeyUse, Customer: 1, Name: "old", Body: []byte("1763175600000000"),
	}}}
	if err := b.tree.Apply(r); err != nil {
		t.Fatal(err)
	}
	k := b.tree.Access().Keys(1)[0]
	if k.Narrowing.String() != "" || k.Identity() != hash.String() || k.LastUse != 1763175600000000 {
		t.Errorf("%+v", k)
	}
	b.rotate(t, "old", time.Hour)
	if k := b.tree.Access().Key(hash); k == nil || k.Identity() != hash.String() {
		t.Error("the secret is not known after a rotation")
	}
}
