package intake

import (
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
)

// TestBrokenElements: links and shortcuts whose ends were removed are listed, can be removed by that list, and are not in the export,
// which would not be taken back. They are whole again when the end is made again.
func TestBrokenElements(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01", "web02")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,cpu,web01,1\n", Options{})
	b.bulk(t, false, "link", "name,view,from,to\nl1,MAIN,web01,web02\nl2,MAIN,cpu,web01\n", Options{})
	b.bulk(t, false, "shortcut", "name,view,target\ns1,MAIN,web02\n", Options{})
	f := func(links, brokenLinks, brokenShortcuts string) {
		t.Helper()
		if got := b.export(t, "link"); !strings.HasSuffix(got, links) || strings.Count(got, "\n") != 1+strings.Count(links, "\n") {
			t.Errorf("links:\n%swant %s", got, links)
		}
		if got := b.broken(t, "link"); got != "name,view\n"+brokenLinks {
			t.Errorf("broken links:\n%swant %s", got, brokenLinks)
		}
		if got := b.broken(t, "shortcut"); got != "name,view\n"+brokenShortcuts {
			t.Errorf("broken shortcuts:\n%swant %s", got, brokenShortcuts)
		}
	}
	const l1, l2 = "l1,MAIN,web01,web02,\n", "l2,MAIN,cpu,web01,\n"
	f(l1+l2, "", "")
	b.bulk(t, true, "custom", "name\nweb02\n", Options{})
	f(l2, "l1,MAIN\n", "s1,MAIN\n")
	b.provision(t, "web02")
	f(l1+l2, "", "")
	b.bulk(t, true, "custom", "name\nweb02\n", Options{})
	b.bulk(t, true, "object", "name\ncpu\n", Options{})
	f("", "l1,MAIN\nl2,MAIN\n", "s1,MAIN\n")
	if _, r := b.bulk(t, true, "link", b.broken(t, "link"), Options{}); r.Removed != 2 {
		t.Errorf("%+v", r)
	}
	f("", "", "s1,MAIN\n")
}

// TestLinkOfTwins: an object that several resources have is no end of a link, unless the link stands in one of them. A link that
// was there before the second object came stays.
func TestLinkOfTwins(t *testing.T) {
	b := newBench(t)
	b.provision(t, "a", "b", "c")
	b.send(t, "type,resname,object,class,view,i1\ndata,a,oo,C,a,1\n", Options{})
	f := func(rows, want string) {
		t.Helper()
		if _, r := b.bulk(t, false, "link", "name,view,from,to\n"+rows, Options{}); enginetest.Brief(r) != want {
			t.Errorf("%q: %s, want %s (%+v)", rows, enginetest.Brief(r), want, r.Errors)
		}
	}
	f("before,c,oo,b\n", "1 e")
	b.send(t, "type,resname,object,class,view,i1\ndata,b,oo,C,b,1\n", Options{})
	f("before,c,oo,b\n", "1 unchanged")
	f("l1,,oo,b\nl2,MAIN,a,oo\nl3,c,oo,b\nl4,a,oo,b\nl5,b,a,oo\n", "2 e, 1 from ambiguous_name, 2 to ambiguous_name, 3 from ambiguous_name")
	f("l4,c,,\n", "1 from missing_value")
	if got := b.export(t, "link"); !strings.HasSuffix(got, "\nbefore,c,oo,b,\nl4,a,oo,b,\nl5,b,a,oo,\n") {
		t.Errorf("links:\n%s", got)
	}
	_, r := b.bulk(t, false, "link", "name,from,to\nl6,oo,b\n", Options{})
	if want := `object "oo" exists in 2 resources (a, b), and the link is in none of them; put it into the one you mean`; len(r.Errors) != 1 || r.Errors[0].Message != want {
		t.Errorf("%+v, want %s", r.Errors, want)
	}
}

// TestShortcutInside: a view inside a resource cannot be the target of a shortcut, and the refusal says so.
func TestShortcutInside(t *testing.T) {
	b := newBench(t)
	b.provision(t, "a")
	b.bulk(t, false, "view", "name,view,resname\nDup,a,a\n", Options{})
	_, r := b.bulk(t, false, "shortcut", "name,target\ns,Dup\n", Options{})
	want := `there is no view of the customer and no resource "Dup"; name an existing one; a view inside a resource is not taken`
	if enginetest.Brief(r) != "1 target not_found" || r.Errors[0].Message != want {
		t.Errorf("%+v, want %s", r.Errors, want)
	}
}

func (b *bench) broken(t testing.TB, pkg string) string {
	t.Helper()
	var out strings.Builder
	if err := b.Export(b.Who.Scope, pkg, true, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestActSharedName: a name that is not of the kind in the path, but of two others, is not taken for one of them.
func TestActSharedName(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01", "web02")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,web02,load,web01,1\n", Options{})
	note := "n"
	f := func(kind belfry.Kind, name, want string) {
		t.Helper()
		_, out := b.Operate(t, engine.Action{Kind: kind, Items: name, Note: &note}, engine.Repeat{})
		got := ""
		for _, i := range out.Items {
			got += i.Kind
		}
		for _, e := range out.Errors {
			got += string(e.Code) + ": " + e.Message
		}
		if got != want {
			t.Errorf("%v %s: %s, want %s", kind, name, got, want)
		}
	}
	f(belfry.KindResource, "web02", "resource")
	f(belfry.KindObject, "web02", "object")
	f(belfry.KindView, "web02", `ambiguous_name: "web02" is not among the views, but among the objects and the resources; say which is meant with the kind in the path`)
	f(belfry.KindView, "web01", "resource")
	f(belfry.KindObject, "web01", "resource")
}
