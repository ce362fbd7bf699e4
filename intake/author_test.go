package intake

import (
	"bytes"
	"strings"
	"testing"

	"belfry"
	"belfry/engine/enginetest"
	"belfry/meta"
)

// TestAuthorStays: who wrote a script stays its author when somebody who is not limited sends an export of the receiver back, changes
// another column, or the secrets are encrypted with another key. Only a receiver that was removed in between is a new one.
func TestAuthorStays(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view\nIn,MAIN\n", Options{})
	limited, whole := b.Who, b.Who
	limited.Views, limited.Name = []string{"In"}, "lena"
	const pkg = "log-trap-receiver"
	for name, script := range map[string]string{"plain": "a = 1", "lines": "a = 1\n\n\"b\", c\n", "windows": "a = 1\r\nb = 2\r\n"} {
		author := func() *belfry.Author {
			var a *belfry.Author
			b.Tree.Read(whole.Customer, func(e *meta.Tenant) { a = e.Resource(name).Details.Author })
			return a
		}
		check := func(when string, limited bool) {
			t.Helper()
			if a := author(); (a != nil) != limited || a != nil && a.User != "lena" {
				t.Errorf("%s, %s: the author is %+v", name, when, a)
			}
		}
		b.Who = limited
		if _, r := b.bulk(t, false, pkg, "name,view,community,script\n"+name+",In,s3cret,\""+strings.ReplaceAll(script, `"`, `""`)+"\"\n", Options{}); r.Rejected > 0 {
			t.Fatal(r.Errors)
		}
		b.Who = whole
		check("written", true)
		export := b.export(t, pkg)
		if _, r := b.bulk(t, false, pkg, export, Options{}); r.Unchanged != r.Rows {
			t.Errorf("%s: the export sent back: %s", name, enginetest.Brief(r))
		}
		check("sent back", true)
		b.bulk(t, false, pkg, "name,community\n"+name+",other\n", Options{})
		b.bulk(t, false, pkg, export, Options{})
		check("another column changed", true)
		keys, err := meta.NewSecrets(bytes.Repeat([]byte{byte(len(name))}, 32))
		if err != nil {
			t.Fatal(err)
		}
		b.Tree.SetSecrets(keys)
		if n, err := b.SealSecrets(); err != nil || n == 0 {
			t.Fatal(n, err)
		}
		check("encrypted", true)
		b.bulk(t, true, pkg, "name\n"+name+"\n", Options{})
		b.bulk(t, false, pkg, strings.ReplaceAll(export, "***", "s3cret"), Options{})
		check("removed and rebuilt", false)
		b.bulk(t, true, pkg, "name\n"+name+"\n", Options{})
		b.Who = limited
		b.Who.IsKey = true
		b.bulk(t, false, pkg, "name,view,community,script\n"+name+",In,s3cret,a = 1\n", Options{})
		b.Who = whole
		check("written with a key", true)
		if a := author(); a.Created != 0 {
			t.Errorf("%s: a user of the name of a key is its author: %+v", name, a)
		}
		b.bulk(t, true, pkg, "name\n"+name+"\n", Options{})
		b.Tree.SetSecrets(nil)
	}
}
