package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/meta"
)

// enclose makes an inventory and gives the sender who sees the view In and the resource lone of it alone.
func (b *bench) enclose(t *testing.T) engine.Sender {
	t.Helper()
	b.bulk(t, false, "view", "name,view\nOut,MAIN\nIn,Out\nDeep,In\nFar,Out\n", Options{})
	b.bulk(t, false, "custom", "name,view\nweb01,In\nweb02,Deep\nlone,Out\ndb01,Far\ndb02,MAIN\n", Options{})
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\ndata,web02,net,load,web02,1\ndata,lone,cpu,load,lone,1\ndata,db01,cpu,load,db01,1\ndata,db02,disk,load,db02,1\n", Options{})
	b.bulk(t, false, "label", "name,view,text\nsign,In,x\nfar,Far,x\ntop,MAIN,x\n", Options{})
	b.bulk(t, false, "shortcut", "name,view,target\nway,In,Deep\nout,In,Far\n", Options{})
	who := b.Who
	who.Views = []string{"In", "lone"}
	return who
}

// TestLimitedSend: rows whose object left the scope after they were read are refused when they are decided.
func TestLimitedSend(t *testing.T) {
	b := newBench(t)
	who := b.enclose(t)
	read, err := b.newSendBody(who.Scope, strings.NewReader("type,resname,object,i1,log\ndata,web01,cpu,2,\nlog,web01,cpu,,a line\ndata,web02,net,2,\ndata,,net,3,\n"), Options{Format: belfry.CSV})
	if err != nil {
		t.Fatal(err)
	}
	c, err := read.read(chunkLimits())
	if err != io.EOF || c.undecided.len() > 0 {
		t.Fatalf("%d open rows, %v", c.undecided.len(), err)
	}
	b.bulk(t, false, "custom", "name,view\nweb01,Far\n", Options{})
	if err := b.Do(&engine.Command{Customer: who.Customer, Views: who.Views, Decide: func(t *engine.Tx) error { read.decide(decision{t, b.Intake}, c); return nil }}); err != nil {
		t.Fatal(err)
	}
	if c.rejected.count != 2 || c.rejected.list[0].Code != belfry.UnknownObject || c.report.Accepted != 2 {
		t.Errorf("%+v rejected, %d accepted", c.rejected.list, c.report.Accepted)
	}
	// What is outside is not found in the first place, with a resource or without.
	read, err = b.newSendBody(who.Scope, strings.NewReader("type,resname,object,i1\ndata,db01,cpu,2\ndata,,disk,2\n"), Options{Format: belfry.CSV})
	if err != nil {
		t.Fatal(err)
	}
	if c, err = read.read(chunkLimits()); err != io.EOF || c.undecided.len() != 2 {
		t.Errorf("%d open rows, %v", c.undecided.len(), err)
	}
}

// TestKeepInside: a command that would change something outside ends as a fault, and nothing of it has happened.
func TestKeepInside(t *testing.T) {
	b := newBench(t)
	who := b.enclose(t)
	e := b.Tree.Tenant(who.Customer)
	far, in, db := e.Place("Far"), e.Place("In"), e.Place("db01")
	for name, do := range map[string]func(*engine.Tx){
		"create": func(x *engine.Tx) { x.Create(belfry.KindView, "new", far, nil, x.Find().ViewClass("generic"), "", nil) },
		"move":   func(x *engine.Tx) { x.Change(db, in, "", nil) },
		"leave":  func(x *engine.Tx) { x.Change(e.Place("web01"), far, "", nil) },
		"remove": func(x *engine.Tx) { x.Remove(db) },
	} {
		err := b.Do(&engine.Command{Customer: who.Customer, Views: who.Views, Alone: true, Decide: func(x *engine.Tx) error { do(x); return nil }})
		if err == nil {
			t.Errorf("%s: nothing stops it", name)
		}
	}
	if e.Place("new") != nil || db.Parent != far || e.Place("web01").Parent != in || db.Removed != 0 {
		t.Error("something has happened outside")
	}
}

// TestLimitedRandomly lets a limited sender try whatever comes to mind. Nothing outside ever changes, and no name from
// there is told that the sender did not give.
func TestLimitedRandomly(t *testing.T) {
	for seed := range uint64(4) {
		b := newBench(t)
		who := b.enclose(t)
		r := rand.New(rand.NewPCG(seed, 56))
		before := b.outside(who.Scope)
		if strings.Count(before, "\n") < 8 {
			t.Fatalf("little is outside: %s", before)
		}
		done := map[int]int{}
		for range 400 {
			code := b.try(t, r, who)
			done[code]++
			if after := b.outside(who.Scope); after != before {
				t.Fatalf("seed %d: outside is\n%sand was\n%s", seed, after, before)
			}
		}
		if done[200]+done[207] < 20 || done[400] < 20 {
			t.Errorf("seed %d: %v", seed, done)
		}
	}
}

// outside describes all that is outside a scope. What it shows may change, as it adds up what is inside.
func (b *bench) outside(s belfry.Scope) string {
	var lines []string
	b.Tree.Read(s.Customer, func(e *meta.Tenant) {
		w := e.Visibility(s)
		look := func(n *meta.Node) {
			if w.Has(n) {
				return
			}
			it := n.Item()
			text, _ := json.Marshal(it)
			lines = append(lines, fmt.Sprintf("%s %v %v %v\n", text, n.State.Operator, n.State.Numbers, n.State.LastData))
		}
		e.All(func(n *meta.Node) bool {
			look(n)
			return true
		})
		for _, pkg := range []string{"label", "shortcut", "link", "picture"} {
			e.Elements(pkg, look)
		}
	})
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// try does something by chance, and gives the status of the answer.
func (b *bench) try(t *testing.T, r *rand.Rand, who engine.Sender) int {
	t.Helper()
	outside := []string{"Out", "Far", "db01", "db02", "disk", "far", "top"}
	some := func(names ...string) string { return names[r.IntN(len(names))] }
	name := func() string {
		if r.IntN(3) == 0 {
			return some(append(outside, belfry.Main)...)
		}
		return some("In", "Deep", "web01", "web02", "lone", "cpu", "net", "new1", "new2", "new3", "sign", "way", "out", "*", "")
	}
	ctx := context.Background()
	pkg := some("view", "custom", "object", "label", "shortcut")
	head := map[string]string{"view": "name,view,resname", "custom": "name,view", "object": "name,view,resname,class", "label": "name,view,text", "shortcut": "name,view,target"}[pkg]
	cells := []string{name(), name(), name(), "load"}[:strings.Count(head, ",")+1]
	if len(cells) > 2 && r.IntN(2) == 0 {
		cells[2] = some("", "web01", "Deep", "x")
	}
	var (
		code   int
		answer []byte
		err    error
		asked  string
	)
	switch o := (Options{Recursive: r.IntN(2) == 0, Atomic: r.IntN(4) == 0}); r.IntN(4) {
	case 0:
		asked = head + "\n" + strings.Join(cells, ",") + "\n"
		code, answer, err = b.Provision(ctx, who, pkg, strings.NewReader(asked), o)
	case 1:
		asked = "name,view\n" + cells[0] + "," + cells[1] + "\n"
		code, answer, err = b.Remove(ctx, who, pkg, strings.NewReader(asked), o)
	case 2:
		asked = "type,resname,object,class,view,parentview,i1\n" +
			some("data", "createview") + "," + name() + "," + name() + ",load," + name() + "," + name() + ",7\n"
		code, answer, err = b.Send(ctx, who, strings.NewReader(asked), o)
	default:
		note := "seen"
		asked = name() + "|" + name()
		a := engine.Action{Kind: belfry.Kind(r.IntN(3)), Items: asked, Note: &note, Ack: &belfry.Ack{Text: "x"}}
		var out *engine.Acted
		if out, err = b.Act(ctx, who, a); err == nil {
			reply := enginetest.Render(out)
			code, answer = reply.Status, reply.Body
		}
	}
	if err != nil {
		t.Fatalf("%s %q: %v", pkg, asked, err)
	}
	for _, secret := range outside {
		if !strings.Contains(asked, secret) && strings.Contains(string(answer), `\"`+secret+`\"`) {
			t.Errorf("%s %q is told of %s: %s", pkg, asked, secret, answer)
		}
	}
	return code
}

// TestLimitedAction: whoever is limited finds their own view by its name, whatever has that name outside.
func TestLimitedAction(t *testing.T) {
	b := newBench(t)
	who := b.enclose(t)
	b.bulk(t, false, "view", "name,view\nTwin,Far\n", Options{})
	b.send(t, "type,resname,class,view,parentview\ncreateview,web01,folder,Twin,web01\ncreateview,db01,folder,Twin,db01\n", Options{})
	b.send(t, "type,resname,object,class,view,i1\ndata,web02,Twin,load,web02,1\n", Options{})
	whole := b.Who
	f := func(who engine.Sender, kind belfry.Kind, want string) {
		t.Helper()
		b.Who = who
		note := "seen"
		code, got := b.Operate(t, engine.Action{Kind: kind, Items: "Twin", Note: &note}, engine.Repeat{})
		if code != 200 || len(got.Items) != 1 || got.Items[0].Kind+" "+got.Items[0].Resource != want {
			t.Errorf("%v of %v: %d %+v", kind, who.Views, code, got)
		}
	}
	f(who, belfry.KindView, "view web01")
	f(who, belfry.KindObject, "object web02")
	b.Who = who
	note := "seen"
	if code, got := b.Operate(t, engine.Action{Kind: belfry.KindResource, Items: "Twin", Note: &note}, engine.Repeat{}); code != 409 || len(got.Items) > 0 {
		t.Errorf("a name of two other kinds: %d %+v", code, got)
	}
	f(whole, belfry.KindView, "view ")
	b.Who = whole
	b.bulk(t, true, "object", "name,resname\nTwin,web02\n", Options{})
	f(who, belfry.KindResource, "view web01")
	f(who, belfry.KindObject, "view web01")
}
