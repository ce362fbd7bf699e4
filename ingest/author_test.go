package ingest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/meta"
)

// TestAuthorStays: who wrote a script stays its author when somebody who is not limited sends an export of the receiver back, changes
// another column, or the secrets are encrypted with another key. Only a receiver that was removed in between is a new one.
func TestAuthorStays(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view\nIn,MAIN\n", Options{})
	limited, whole := b.who, b.who
	limited.Views, limited.Name = []string{"In"}, "lena"
	const pkg = "log-trap-receiver"
	for name, script := range map[string]string{"plain": "a = 1", "lines": "a = 1\n\n\"b\", c\n", "windows": "a = 1\r\nb = 2\r\n"} {
		author := func() *belfry.Author {
			var a *belfry.Author
			b.tree.Read(whole.Customer, func(e *meta.Estate) { a = e.Resource(name).Details.Author })
			return a
		}
		check := func(when string, limited bool) {
			t.Helper()
			if a := author(); (a != nil) != limited || a != nil && a.User != "lena" {
				t.Errorf("%s, %s: the author is %+v", name, when, a)
			}
		}
		b.who = limited
		if _, r := b.bulk(t, false, pkg, "name,view,community,script\n"+name+",In,s3cret,\""+strings.ReplaceAll(script, `"`, `""`)+"\"\n", Options{}); r.Rejected > 0 {
			t.Fatal(r.Errors)
		}
		b.who = whole
		check("written", true)
		export := b.export(t, pkg)
		if _, r := b.bulk(t, false, pkg, export, Options{}); r.Unchanged != r.Rows {
			t.Errorf("%s: the export sent back: %s", name, brief(r))
		}
		check("sent back", true)
		b.bulk(t, false, pkg, "name,community\n"+name+",other\n", Options{})
		b.bulk(t, false, pkg, export, Options{})
		check("another column changed", true)
		keys, err := meta.NewSecrets(bytes.Repeat([]byte{byte(len(name))}, 32))
		if err != nil {
			t.Fatal(err)
		}
		b.tree.SetSecrets(keys)
		if n, err := b.SealSecrets(); err != nil || n == 0 {
			t.Fatal(n, err)
		}
		check("encrypted", true)
		b.bulk(t, true, pkg, "name\n"+name+"\n", Options{})
		b.bulk(t, false, pkg, strings.ReplaceAll(export, "***", "s3cret"), Options{})
		check("removed and made anew", false)
		b.bulk(t, true, pkg, "name\n"+name+"\n", Options{})
		b.tree.SetSecrets(nil)
	}
}

// TestAuthorLimits: the limits of an author are stored with the script when they change, and the last ones stay when the user is
// removed. A user of the same name that is made later changes nothing.
func TestAuthorLimits(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view\nIn,MAIN\nParis,MAIN\n", Options{})
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
		b.tree.Read(c, func(e *meta.Estate) { a = e.Resource(name).Details.Author })
		if got := b.tree.ScopeOf(c, a).Views; !slices.Equal(got, want) || a != nil && !slices.Equal(a.Views, want) {
			t.Errorf("%s, %s: the script reaches %v, stored is %+v", name, when, got, a)
		}
	}
	write := func(name string) {
		t.Helper()
		who := b.who
		b.who.Name, b.who.Views = "lena", lena.Views
		_, r := b.bulk(t, false, "log-trap-receiver", "name,view,script\n"+name+",In,a = 1\n", Options{})
		if b.who = who; r.Rejected > 0 {
			t.Fatal(r.Errors)
		}
	}
	must(b.CreateUser(c, lena, "test"))
	write("first")
	must(b.SetViews(c, "lena", []string{"In"}, "test"))
	check("first", "narrowed", "In")
	must(b.RemoveUser(c, "lena", "test"))
	check("first", "removed", "In")
	must(b.CreateUser(c, lena, "test"))
	check("first", "another user of that name", "In")
	write("second")
	must(b.SetViews(c, "lena", nil, "test"))
	check("second", "not limited any more")
	must(b.SetViews(c, "lena", []string{"Paris"}, "test"))
	check("second", "limited again", "Paris")
	check("first", "the other user limited again", "In")
	must(b.SetViews(c, "lena", nil, "test"))
	must(b.RemoveUser(c, "lena", "test"))
	check("second", "removed without limits")
	check("first", "the other user removed", "In")
}
