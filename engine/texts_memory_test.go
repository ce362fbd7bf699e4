package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/meta"
	"belfry/status"
)

// TestTextsAreLimited: whatever a customer can store that stays in memory is refused when it has no room, is taken again
// when something was removed, and counts the same after a restart.
func TestTextsAreLimited(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "custom", "name\nweb01\n", intake.Options{})
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\n", intake.Options{})
	const limit = 400_000 // 200,000 for one customer
	long := strings.Repeat("x", 30_000)
	rows := func(n int) string {
		body := "name,text\n"
		for i := range n {
			body += fmt.Sprintf("l%d,%s\n", i, long)
		}
		return body
	}
	row := func(code int, r belfry.Report) string {
		if len(r.Errors) == 0 {
			return "taken"
		}
		return string(r.Errors[0].Code)
	}
	whole := func(err error) string {
		switch {
		case err == nil:
			return "taken"
		case strings.Contains(err.Error(), "limits.texts"):
			return string(belfry.LimitReached)
		}
		return err.Error()
	}
	note := func(a engine.Action) string {
		out, err := b.Act(context.Background(), b.Who, a)
		if err == nil && len(out.Errors) > 0 && strings.Contains(out.Errors[0].Message, "limits.texts") {
			return string(belfry.LimitReached)
		}
		return whole(err)
	}
	n := 0 // makes each try another one
	tries := map[string]func() string{
		"new label": func() string {
			return row(b.bulk(t, false, "label", fmt.Sprintf("name,text\nn%d,%s\n", n, long), intake.Options{}))
		},
		"longer label": func() string {
			return row(b.bulk(t, false, "label", fmt.Sprintf("name,text\nl0,%s%d\n", long+long, n), intake.Options{}))
		},
		"object": func() string {
			return row(b.bulk(t, false, "object", fmt.Sprintf("name,resname,view,class,object_1\no%d,web01,web01,load,%s\n", n, long), intake.Options{}))
		},
		"constant": func() string {
			return row(b.bulk(t, false, "object", fmt.Sprintf("name,resname,object_2\ncpu,web01,%s%d\n", long, n), intake.Options{}))
		},
		"row with a constant": func() string {
			return row(b.send(t, fmt.Sprintf("type,resname,object,object_3,i1\ndata,web01,cpu,%s%d,1\n", long, n), intake.Options{}))
		},
		"row with a new object": func() string {
			return row(b.send(t, fmt.Sprintf("type,resname,object,class,view,object_3,i1\ndata,web01,r%d,load,web01,%s,1\n", n, long), intake.Options{}))
		},
		"class": func() string {
			def := &catalog.Class{Name: fmt.Sprintf("c%d", n)}
			for i := range 100 { // each name may have 255 characters
				def.Indicators = append(def.Indicators, catalog.Indicator{N: i + 1, Name: fmt.Sprint(i, long[:250])})
			}
			_, _, err := b.Definitions().PutClass(b.Who, def)
			return whole(err)
		},
		"window": func() string {
			o := status.Order{Name: fmt.Sprint(n, long), Mode: belfry.UnmanagedKeep, From: belfry.At(b.Time()) + 1e9}
			return note(engine.Action{Kind: belfry.KindObject, Items: "cpu", Manage: &o})
		},
		"note": func() string { return note(engine.Action{Kind: belfry.KindObject, Items: "cpu", Note: &long}) },
	}
	for name, try := range tries {
		n++
		b.Texts.Store(0)
		before := b.Tree.TextMemory()
		if got := try(); got != "taken" {
			t.Errorf("%s without a limit: %s", name, got)
		}
		if grown := b.Tree.TextMemory() - before; grown < int64(len(long)) {
			t.Errorf("%s counts for %d bytes", name, grown)
		}
	}
	b.bulk(t, true, "custom", "name\nweb01\n", intake.Options{})
	b.bulk(t, false, "custom", "name\nweb01\n", intake.Options{})
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\n", intake.Options{})

	b.bulk(t, true, "label", "name\n"+strings.Join(names("n", 20), "\n")+"\n", intake.Options{})
	b.Texts.Store(limit)
	if _, r := b.bulk(t, false, "label", rows(20), intake.Options{}); r.Rejected == 0 || r.Accepted == 0 || row(0, r) != "limit_reached" || !strings.Contains(r.Errors[0].Message, "195.3 KiB are allowed") {
		t.Fatalf("20 labels: %s", enginetest.Brief(r))
	}
	full := func(b2 *bench, when string) {
		t.Helper()
		b = b2
		if b.Tree.TextMemory() > limit/2 || b.Tree.TextMemory() < limit/2-int64(len(long))-100 {
			t.Errorf("%s texts count for %d", when, b.Tree.TextMemory())
		}
		for name, try := range tries {
			n++
			if got := try(); got != "limit_reached" {
				t.Errorf("%s, %s at the limit: %s", when, name, got)
			}
		}
		if got := row(b.bulk(t, false, "label", "name,text\nl0,short\n", intake.Options{})); got != "taken" {
			t.Errorf("%s, a shorter label: %s", when, got)
		}
		if got := row(b.bulk(t, false, "label", "name,text\nl0,"+long+"\n", intake.Options{})); got != "taken" {
			t.Errorf("%s, the long label in its place: %s", when, got)
		}
	}
	full(b, "first")
	full(b.restart(t, 0), "after a restart")
	b.bulk(t, true, "label", "name\n"+strings.Join(names("l", 3), "\n")+"\n", intake.Options{})
	if got := tries["new label"](); got != "taken" {
		t.Errorf("after a removal: %s", got)
	}
}

func names(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(prefix, i))
	}
	return list
}

// TestTextsOfOthers: one customer cannot take the room of another, and two together not more than there is.
func TestTextsOfOthers(t *testing.T) {
	b := newBench(t)
	other, err := b.CreateCustomer("other", "")
	if err != nil {
		t.Fatal(err)
	}
	third, err := b.CreateCustomer("third", "")
	if err != nil {
		t.Fatal(err)
	}
	b.Texts.Store(100_000)
	fill := func(c belfry.CustomerID) belfry.Report {
		b.Who.Scope = belfry.Whole(c)
		_, r := b.bulk(t, false, "label", "name,text\na,"+strings.Repeat("x", 48_000)+"\nb,"+strings.Repeat("x", 48_000)+"\n", intake.Options{})
		return r
	}
	first := b.Who.Customer
	for _, c := range []belfry.CustomerID{first, other.ID} {
		if r := fill(c); r.Accepted != 1 {
			t.Errorf("customer %d: %s", c, enginetest.Brief(r))
		}
	}
	if r := fill(third.ID); r.Accepted != 0 || strings.Contains(r.Errors[0].Message, "96") {
		t.Errorf("the third: %s", enginetest.Brief(r))
	}
	b.Texts.Store(97_000)
	if _, r := b.bulk(t, false, "label", "name,text\na,"+strings.Repeat("x", 1000)+"\nb,"+strings.Repeat("x", 1000)+"\n", intake.Options{}); r.Accepted != 1 {
		t.Errorf("little of the third: %+v", r)
	}
	b.bulk(t, true, "label", "name\na\n", intake.Options{})
	b.Texts.Store(0)
	before := b.Tree.TextMemory()
	b.Who.Scope = belfry.Whole(first)
	if err := b.RemoveCustomer(b.Who, "other"); err != nil {
		t.Fatal(err)
	}
	b.Texts.Store(100_000)
	if r := fill(third.ID); r.Accepted != 1 || b.Tree.TextMemory() > before+1000 {
		t.Errorf("after a customer was removed: %s, %d bytes, were %d", enginetest.Brief(r), b.Tree.TextMemory(), before)
	}
}

// TestNumberOfPlaces: resources, views and elements are limited in number like objects.
func TestNumberOfPlaces(t *testing.T) {
	b := newBench(t)
	few := b.Config.Limits()
	few.Objects = 5
	b2 := b.restart(t, 0)
	b2.Config.Limits = func() engine.Limits { return few }
	b = b2
	b.bulk(t, false, "custom", "name\nweb01\n", intake.Options{})
	b.bulk(t, false, "label", "name,text\na,x\n", intake.Options{})
	b.bulk(t, false, "view", "name,view\nv,MAIN\n", intake.Options{})
	f := func(r belfry.Report, want string) {
		t.Helper()
		got := "taken"
		if len(r.Errors) > 0 {
			got = string(r.Errors[0].Code)
		}
		if got != want {
			t.Errorf("%s: %s", enginetest.Brief(r), want)
		}
	}
	_, r := b.send(t, "type,resname,class,view,parentview\ncreateview,web01,Rack,R1,web01\ncreateview,web01,Rack,R2,web01\n", intake.Options{})
	f(r, "limit_reached")
	_, r = b.bulk(t, false, "custom", "name\nweb02\n", intake.Options{})
	f(r, "limit_reached")
	_, r = b.bulk(t, false, "label", "name,text\nb,x\n", intake.Options{})
	f(r, "limit_reached")
	_, r = b.bulk(t, false, "view", "name,view\nw,MAIN\n", intake.Options{})
	f(r, "limit_reached")
	b.bulk(t, true, "label", "name\na\n", intake.Options{})
	_, r = b.bulk(t, false, "view", "name,view\nw,MAIN\n", intake.Options{})
	f(r, "taken")
}

// TestViewClassesGo: the name of a class that no view has any more is forgotten.
func TestViewClassesGo(t *testing.T) {
	b := newBench(t)
	for i := range 3 {
		b.bulk(t, false, "view", fmt.Sprintf("name,view,class\nv,MAIN,kind%d\n", i), intake.Options{})
	}
	b.bulk(t, false, "view", "name,view,class\nw,MAIN,kind7\n", intake.Options{})
	b.bulk(t, true, "view", "name\nw\n", intake.Options{})
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		for name, want := range map[string]bool{"kind0": false, "kind1": false, "kind2": true, "kind7": false} {
			if got := e.Class(name) != nil; got != want {
				t.Errorf("%s is known: %v", name, got)
			}
		}
	})
}

// TestAckTextsAreLimited: an acknowledgment is kept with each object in error, so all of them count. Without a text it always works. The
// same when it takes several turns, and under an Idempotency-Key.
func TestAckTextsAreLimited(t *testing.T) {
	for _, turn := range []int{1000, 3} {
		for _, key := range []string{"", "k"} {
			b := newBench(t)
			b.SetTurn(turn)
			if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, "name: heat\nindicators: [{n: 1, name: Degrees, thresholds: [{status: 3, when: '> 80'}]}]\n")); err != nil {
				t.Fatal(err)
			}
			b.provision(t, "web01")
			body := "type,resname,object,class,view,i1\n"
			for _, name := range names("o", 10) {
				body += "data,web01," + name + ",heat,web01,90\n"
			}
			b.send(t, body, intake.Options{})
			before := b.Tree.TextMemory()
			b.Texts.Store(2 * (before + 15_000))
			f := func(text string, want int, grown int64) {
				t.Helper()
				r := engine.Repeat{}
				if key != "" {
					r.Key = key + text
				}
				code, out := b.Operate(t, engine.Action{Kind: belfry.KindResource, Items: "web01", Ack: &belfry.Ack{Text: text}}, r)
				if code != want || b.Tree.TextMemory() != before+grown {
					t.Errorf("turns of %d, key %q: %d bytes: %d %+v; texts grew by %d", turn, key, len(text), code, out, b.Tree.TextMemory()-before)
				}
			}
			f(strings.Repeat("x", 2000), 400, 0)
			f(strings.Repeat("x", 1000), 200, 11_000)
			f(strings.Repeat("y", 1300), 200, 14_300)
			f("", 200, 0)
		}
	}
}
