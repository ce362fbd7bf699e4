package meta

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
)

func TestSecrets(t *testing.T) {
	key := func(b byte) []byte { return bytes.Repeat([]byte{b}, SecretKeySize) }
	make := func(keys ...[]byte) *Secrets {
		t.Helper()
		s, err := NewSecrets(keys...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, two, both := make(key(1)), make(key(2)), make(key(2), key(1))
	at := SecretRef{1, "Traps", "community"}
	sealed, err := one.Seal(at, "s3cret")
	if err != nil || strings.Contains(sealed, "s3cret") || !Sealed(sealed) {
		t.Fatalf("%q %v", sealed, err)
	}
	if again, _ := one.Seal(at, "s3cret"); again == sealed {
		t.Error("the same secret is sealed alike")
	}
	f := func(s *Secrets, at SecretRef, text, want, fault string) {
		t.Helper()
		got, err := s.Open(at, text)
		if got != want || (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%q, %v; want %q, %q", got, err, want, fault)
		}
	}
	f(one, at, sealed, "s3cret", "")
	f(both, at, sealed, "s3cret", "") // an older key still opens
	f(one, at, "as it was", "as it was", "")
	f(nil, at, "as it was", "as it was", "")
	f(two, at, sealed, "", "which the key file does not have")
	f(nil, at, sealed, "", "no key")
	f(LockedSecrets(errors.New("no file")), at, sealed, "", "no file")
	for _, other := range []SecretRef{{2, "Traps", "community"}, {1, "Other", "community"}, {1, "Traps", "users"}} {
		f(one, other, sealed, "", "another item")
	}
	f(one, at, sealed[:len(sealed)-4], "", "damaged")
	f(one, at, sealed+"?", "", "damaged")
	if one.Current("plain") || !one.Current(sealed) || both.Current(sealed) {
		t.Error("what is current")
	}
	if _, err := LockedSecrets(errors.New("no file")).Seal(at, "x"); err == nil {
		t.Error("sealed without a key")
	}
}

// TestAssignmentSecrets: a collector gets its secrets open, and none when one of them cannot be opened.
func TestAssignmentSecrets(t *testing.T) {
	s, err := NewSecrets(bytes.Repeat([]byte{1}, SecretKeySize))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Seal(SecretRef{1, "Traps", "community"}, "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	tree := NewTree(cat)
	if err := tree.Apply(&belfry.Record{Customer: 1, Docs: []belfry.Doc{{Kind: belfry.DocCustomer, Name: "default", Body: []byte(`{"id":1,"name":"default"}`)}}, Items: []belfry.Item{
		{ID: 1, Customer: 1, Kind: belfry.KindView, Name: belfry.Main, Class: "view"},
		{ID: 2, Customer: 1, Kind: belfry.KindResource, Name: "Traps", Parent: 1, Package: "log-trap-receiver", Class: "view", Details: &belfry.Details{Answers: map[string]string{"community": sealed}}},
		{ID: 3, Customer: 1, Kind: belfry.KindResource, Name: "Old", Parent: 1, Package: "log-trap-receiver", Class: "view", Details: &belfry.Details{Answers: map[string]string{"community": "plain"}}},
	}}); err != nil {
		t.Fatal(err)
	}
	f := func(id belfry.ID, want string, ok bool) {
		t.Helper()
		a, got := tree.Assignment(id)
		if got != ok || a.Answers["community"] != want {
			t.Errorf("%d: %+v %v", id, a, got)
		}
	}
	f(2, "", false)
	f(3, "plain", true) // stored before the question was a secret one
	tree.SetSecrets(s)
	f(2, "s3cret", true)
	f(3, "plain", true)
	if u := tree.ItemsToSeal(); len(u[1]) != 1 || u[1][0] != 3 {
		t.Errorf("unsealed: %v", u)
	}
	tree.SetSecrets(LockedSecrets(errors.New("no file")))
	f(2, "", false)
	f(3, "plain", true)
	if sealed, shut := tree.SecretState(); !sealed || len(shut) != 1 || shut[0] != "Traps" {
		t.Errorf("%v %v", sealed, shut)
	}
}
