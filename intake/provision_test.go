package intake

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/meta"
)

// bulk runs a provisioning or removal body and gives the report.
func (b *bench) bulk(t testing.TB, remove bool, pkg, body string, o Options) (int, belfry.Report) {
	t.Helper()
	run := b.Provision
	if remove {
		run = b.Remove
	}
	code, answer, err := run(context.Background(), b.Who, pkg, strings.NewReader(body), o)
	if err != nil {
		t.Fatalf("%s %q: %v", pkg, body, err)
	}
	return code, enginetest.Report(t, answer)
}

func (b *bench) export(t testing.TB, pkg string) string {
	t.Helper()
	var out bytes.Buffer
	if err := b.Export(b.Who.Scope, pkg, false, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestProvision(t *testing.T) {
	b := newBench(t)
	f := func(pkg, body, want string) {
		t.Helper()
		_, r := b.bulk(t, false, pkg, body, Options{})
		if got := enginetest.Brief(r); got != want {
			t.Errorf("%s %q: got %q, want %q; %+v", pkg, body, got, want, r.Errors)
		}
	}
	// Views at customer level: order, upsert, moving, cycles.
	f("view", "name,view\nEurope,MAIN\nFrance,Europe\nParis,France\n", "3 v")
	f("view", "name,view\nEurope,MAIN\nFrance,\n", "2 unchanged")
	f("view", "name,view\nLyon,Nowhere\n", "1 view unknown_view")
	f("view", "name,view\nLyon,\n", "1 view missing_value")
	f("view", "name\nLyon\n", "1 view missing_value")
	f("view", "name,view\nMAIN,Europe\n", "1 name bad_name")
	f("view", "name,view\nEurope,Paris\nEurope,Europe\n", "1 view cycle, 2 view cycle")
	f("view", "name,view,autoarrange\nParis,Europe,linear\n", "1 updated")
	f("view", "name,autoarrange\nParis,\n", "1 updated")
	f("view", "name,autoarrange\nParis,none\n", "1 unchanged")
	f("view", "name,autoarrange\nParis,round\n", "1 autoarrange bad_value")
	f("view", "name,view,posx,posy\nParis,Europe,25,10\n", "1 posx bad_value")
	f("view", "name,posx,posy\nParis,20,10\nParis,,\nParis,20,10\n", "1 updated, 2 unchanged")
	f("view", "name,class\nParis,town\nParis,town\n", "1 updated, 1 unchanged")
	// Resources: parts, placement, packages, required answers.
	f("network-ping", "name,ip_address_fqdn\nPing-1,192.0.2.1\n", "1 r, 1 o")
	f("network-ping", "name,ip_address_fqdn,view\nPing-2,host.example,Paris\n", "1 r, 1 o")
	f("network-ping", "name\nPing-3\n", "1 ip_address_fqdn missing_value")
	f("network-ping", "name,ip_address_fqdn\nPing-3,\n", "1 ip_address_fqdn missing_value")
	f("network-ping", "name,ip_address_fqdn\nPing-1,\n", "1 ip_address_fqdn missing_value")
	f("network-ping", "name,interval\nPing-1,30s\nPing-1,30s\nPing-1,\nPing-1,60s\n", "2 updated, 2 unchanged")
	f("network-ping", "name,ip_address_fqdn\nPing-1,192.0.2.1\n", "1 unchanged")
	f("network-ping", "name,view\nPing-1,Europe\nPing-1,\nPing-1,MAIN\n", "2 updated, 1 unchanged")
	f("network-ping", "name,view\nPing-1,Ping-2\n", "1 view not_allowed")
	f("custom", "name\nPing-1\nEurope\nweb01\n", "1 r, 1 name name_in_use, 2 name name_in_use")
	f("view", "name,view\nweb01,MAIN\n", "1 name name_in_use")
	f("custom", "name,posx\nweb01,15\n", "1 posx bad_value")
	// Views inside resources.
	f("view", "name,view,resname,class\nDisks,web01,web01,folder\nData,Disks,web01,\nDisks,Data,web01,\n", "2 v, 3 view cycle")
	f("view", "name,view,resname\nDisks,nowhere,web01\nDisks,web01,nope\n", "1 view unknown_view, 2 resname unknown_resource")
	f("view", "name,view\nNet,web01\n", "1 v") // a resource is a view too
	f("view", "name,view,resname\nweb01,web01,web01\n", "1 name name_in_use")
	// Objects.
	f("object", "name,resname,view,class,object_1,ip\ncpu,web01,web01,load,first,192.0.2.1\ndisk,web01,Data,disk,,\n", "2 o")
	f("object", "name,resname,view,class\ncpu,web01,Disks,load\ncpu,web01,,\n", "1 updated, 1 unchanged")
	f("object", "name,resname,class\ncpu,web01,other\n", "1 class class_mismatch")
	f("object", "name,object_1\ncpu,second\ncpu,second\ncpu,\n", "2 updated, 1 unchanged")
	f("object", "name,resname,view\nmem,web01,web01\n", "1 class missing_value")
	f("object", "name,resname,class\nmem,web01,load\n", "1 view missing_value")
	f("object", "name,view,class\nmem,web01,load\n", "1 resname missing_value")
	f("object", "name,resname,view,class\nmem,web01,Nope,load\nmem,nope,web01,load\n", "1 view unknown_view, 2 resname unknown_resource")
	f("object", "name,resname,ip\ncpu,web01,300.0.0.1\n", "1 ip bad_value")
	// Graphical elements.
	f("label", "name,view,text,size,posx,posy\nTitle,Europe,Hello,14,10,20\n", "1 e")
	f("label", "name,text\nTitle,Hello\nTitle,\n", "1 updated, 1 unchanged")
	f("label", "name,view\nTitle,MAIN\nTitle,web01\nTitle,Nope\n", "2 updated, 3 view unknown_view")
	f("link", "name,from,to\nL1,Ping-1,Paris\nL2,cpu,Paris\nL3,Ping-1,Rome\nL4,Ping-1,\n", "2 e, 3 to not_found, 4 to missing_value")
	f("shortcut", "name,target\nTitle,Paris\nS2,Rome\n", "1 e, 2 target not_found")
	f("picture", "name,view,picture\nP,Paris,map.png\n", "1 e")
	f("label", "name,colour\nTitle,red\n", "1 colour bad_value")
}

// A secret is never given back, and what stands in its place keeps it.
func TestSecret(t *testing.T) {
	b := newBench(t)
	f := func(body, want string) {
		t.Helper()
		if _, r := b.bulk(t, false, "log-trap-receiver", body, Options{}); enginetest.Brief(r) != want {
			t.Errorf("%q: got %q, want %q; %+v", body, enginetest.Brief(r), want, r.Errors)
		}
	}
	f("name,community\nTraps,***\n", "1 community missing_value")
	f("name,community\nTraps,s3cret\n", "1 r, 1 o")
	text := b.export(t, "log-trap-receiver")
	if strings.Contains(text, "s3cret") || !strings.Contains(text, "***") {
		t.Errorf("the export shows the secret, or nothing in its place:\n%s", text)
	}
	f(text, "1 unchanged")
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		if got := e.Resource("Traps").Details.Answers["community"]; got != "s3cret" {
			t.Errorf("the secret became %q", got)
		}
	})
	f("name,community\nTraps,\n", "1 updated")
	f("name,community\nTraps,***\n", "1 community missing_value")
}

// What was exported is taken back unchanged, and builds the same inventory again.
func TestExportRoundTrip(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view,autoarrange,bg\nZ,MAIN,linear,map.png\nA,Z,,\n\"odd, \"\"name\"\"\",A,,\n=cmd(),MAIN,,\n", Options{})
	b.bulk(t, false, "custom", "name,view,posx,posy,width\nweb01,Z,10,20,40\nweb02,,,,\n", Options{})
	b.bulk(t, false, "network-ping", "name,ip_address_fqdn,view,interval\nP,192.0.2.1,A,30s\n", Options{})
	b.bulk(t, false, "view", "name,view,resname,class\nInner,web01,web01,folder\nA,Inner,web01,folder\n", Options{})
	b.bulk(t, false, "object", "name,resname,view,class,object_2,host\ncpu,web01,A,load,two,h1\ncpu,web02,web02,load,,\n", Options{})
	b.bulk(t, false, "label", "name,view,text\nL,Z,\"two\r\nlines\"\n", Options{})
	b.bulk(t, false, "shortcut", "name,view,target\nS,Z,web01\n", Options{})
	packages := []string{"view", "custom", "network-ping", "view", "object", "label", "shortcut"}
	texts := map[string]string{}
	for _, pkg := range packages {
		texts[pkg] = b.export(t, pkg)
		code, r := b.bulk(t, false, pkg, texts[pkg], Options{})
		if code != 200 || r.Rows == 0 || r.Unchanged != r.Rows {
			t.Errorf("%s taken back: %d %+v\n%s", pkg, code, r, texts[pkg])
		}
	}
	again := newBench(t)
	for _, pkg := range packages { // views inside resources find their resource the second time
		again.bulk(t, false, pkg, texts[pkg], Options{})
	}
	for _, pkg := range packages {
		if got := again.export(t, pkg); got != texts[pkg] {
			t.Errorf("%s on another server:\n%s\nwant:\n%s", pkg, got, texts[pkg])
		}
	}
}

func TestRemove(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view\nA,MAIN\nB,A\nC,B\nE,MAIN\n", Options{})
	b.bulk(t, false, "custom", "name,view\nr1,A\nr2,B\nr3,B\nr4,E\n", Options{})
	b.bulk(t, false, "network-ping", "name,ip_address_fqdn,view\np1,192.0.2.1,B\n", Options{})
	b.bulk(t, false, "view", "name,view,resname\nV,r1,r1\nW,V,r1\nV,r2,r2\nE,r4,r4\n", Options{})
	b.bulk(t, false, "object", "name,resname,view,class\no1,r1,W,k\no2,r1,r1,k\no1,r2,V,k\n", Options{})
	b.bulk(t, false, "label", "name,view\nl1,A\nl2,B\n", Options{})
	f := func(pkg, body string, recursive bool, want string) {
		t.Helper()
		if _, r := b.bulk(t, true, pkg, body, Options{Recursive: recursive}); enginetest.Brief(r) != want {
			t.Errorf("%s %q: got %q, want %q; %+v", pkg, body, enginetest.Brief(r), want, r.Errors)
		}
	}
	f("custom", "name,view\n,\n*,\nnope,\np1,\nr1,B\n", false, "1 name missing_value, 2 view missing_value, 3 name not_found, 4 name not_found, 5 name not_found")
	f("custom", "name,view\n*,Nope\n", false, "1 view unknown_view")
	f("view", "name\nMAIN\n", false, "1 name not_allowed")
	f("view", "name,view\nB,A\n", false, "1 name not_empty")
	f("view", "name\nV\n", false, "1 name ambiguous_name")
	f("view", "name\nE\n", false, "1 name ambiguous_name")
	f("view", "name,view\nE,r4\n", false, "1 removed")
	f("object", "name\no1\n", false, "1 name ambiguous_name")
	f("object", "name,resname\no1,r2\no1,r2\n", false, "1 removed, 2 name not_found")
	f("view", "name,resname\nV,r2\n", false, "1 removed")
	f("view", "name,resname\nW,r1\n", false, "1 name not_empty")
	f("object", "name,view\n*,V\n", false, "") // none directly in it
	f("object", "name,view\n*,V\n", true, "1 removed")
	f("custom", "name,view\n*,A\n", false, "1 removed") // r1 with its content; not those of B
	f("object", "name\no2\n", false, "1 name not_found")
	f("label", "name,view\nl2,A\n", false, "1 name not_found")
	f("custom", "name,view\n,A\n", true, "2 removed") // an empty name is as *
	f("label", "name\nl1\n", false, "1 removed")
	f("view", "name\nA\n", true, "1 removed") // with B, C, p1 and the label in B
	f("network-ping", "name\np1\n", false, "1 name not_found")
	f("label", "name\nl2\n", false, "1 name not_found")
	f("view", "name,view\n*,MAIN\n", false, "1 name not_empty")
	f("view", "name,view\n*,MAIN\n", true, "1 removed")
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		if n := e.Count(belfry.KindView); n != 1 || e.Count(belfry.KindObject)+e.Count(belfry.KindResource)+e.Count(belfry.KindElement) != 0 {
			t.Errorf("left over: %d views, %d resources, %d objects, %d elements", n, e.Count(belfry.KindResource), e.Count(belfry.KindObject), e.Count(belfry.KindElement))
		}
	})
	// A name that was removed can be made again.
	f2, r := b.bulk(t, false, "custom", "name\nr1\n", Options{})
	if f2 != 200 || r.Created.Resources != 1 {
		t.Errorf("made again: %d %+v", f2, r)
	}
}

// Moving and removing items changes what the views around them show, and says so in events.
func TestMoveAndRemoveRollUp(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view\nA,MAIN\nB,MAIN\n", Options{})
	b.bulk(t, false, "custom", "name,view\nr1,A\n", Options{})
	b.send(t, "type,resname,object,class,view,i1\ndata,r1,cpu,load,r1,1\n", Options{})
	f := func(want string) {
		t.Helper()
		b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
			var got []string
			for _, name := range []string{"A", "B", "MAIN"} {
				n := e.Place(name)
				counts := n.Counts()
				got = append(got, name+" "+n.State.Status.String()+fmt.Sprint(counts[belfry.Unknown], counts[belfry.OK]))
			}
			if s := strings.Join(got, ", "); s != want {
				t.Errorf("got %s, want %s", s, want)
			}
		})
	}
	f("A 00 1, B ?0 0, MAIN 01 1")
	b.bulk(t, false, "custom", "name,view\nr1,B\n", Options{})
	f("A ?0 0, B 00 1, MAIN 01 1")
	b.bulk(t, false, "view", "name,view\nB,A\n", Options{})
	f("A 00 1, B 00 1, MAIN 00 1")
	b.bulk(t, true, "object", "name\ncpu\n", Options{})
	f("A ?1 0, B ?1 0, MAIN ?1 0")
	b.send(t, "type,resname,object,class,view,i1\ndata,r1,cpu,load,r1,1\n", Options{})
	f("A 00 1, B 00 1, MAIN 00 1")
	before := len(b.Records)
	b.bulk(t, true, "view", "name\nA\n", Options{Recursive: true})
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		if e.Main.State.Status != belfry.Unknown || e.Place("B") != nil || e.Resource("r1") != nil {
			t.Errorf("MAIN is %s after all is gone", e.Main.State.Status)
		}
	})
	events := 0
	for _, r := range b.Records[before:] {
		for _, batch := range r.Batches {
			if batch.Collection == belfry.Events {
				events += batch.Len()
			}
		}
	}
	if events != 3 { // MAIN's, and those of the view and what stood in it: what was removed did not recover first
		t.Errorf("%d events for one removal", events)
	}
}

// Dry runs and refused atomic bodies leave nothing behind, whatever they were about.
func TestProvisionTakenBack(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view\nA,MAIN\nB,A\n", Options{})
	before := b.export(t, "view")
	f := func(remove bool, pkg, body string, o Options, code int) {
		t.Helper()
		o.Recursive = true
		if got, r := b.bulk(t, remove, pkg, body, o); got != code {
			t.Errorf("%s %q: %d %+v", pkg, body, got, r)
		}
		if got := b.export(t, "view"); got != before {
			t.Errorf("%s %q left its mark:\n%s", pkg, body, got)
		}
	}
	f(false, "view", "name,view\nC,A\nB,MAIN\n", Options{DryRun: true}, 200)
	f(true, "view", "name\nA\n", Options{DryRun: true}, 200)
	f(false, "view", "name,view\nC,A\nB,MAIN\nD,Nope\n", Options{Atomic: true}, 400)
	f(true, "view", "name\nA\nnope\n", Options{Atomic: true}, 400)
}

func TestNesting(t *testing.T) {
	b := newBench(t)
	var body strings.Builder
	body.WriteString("name,view\n")
	parent := "MAIN"
	for i := range 150 {
		name := fmt.Sprint("v", i)
		fmt.Fprintf(&body, "%s,%s\n", name, parent)
		parent = name
	}
	_, r := b.bulk(t, false, "view", body.String(), Options{})
	if r.Created.Views != engine.MaxDepth || r.Errors[0].Code != belfry.LimitReached {
		t.Errorf("%d views nested; %+v", r.Created.Views, r.Errors[0])
	}
}

func TestChangeOnly(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "custom", "name,view\nr1,MAIN\n", Options{})
	for _, c := range []struct{ pkg, body string }{
		{"custom", "name,posx\nr1,10\ngone,20\n"},
		{"view", "name,view\ngone,MAIN\n"},
		{"label", "name,view,text\ngone,MAIN,hall\n"},
		{"object", "name,resname,view,class\ngone,r1,r1,cpu\n"},
		{"object", "name\ngone\n"},
	} {
		code, r := b.bulk(t, false, c.pkg, c.body, Options{Atomic: true, ChangeOnly: true})
		if code != 400 || len(r.Errors) != 1 || r.Errors[0].Code != belfry.NotFound || r.Errors[0].Column != "name" {
			t.Errorf("%s %q: %d %+v", c.pkg, c.body, code, r)
		}
	}
	if code, r := b.bulk(t, false, "custom", "name,posx\nr1,10\n", Options{ChangeOnly: true}); code != 200 || r.Updated != 1 {
		t.Errorf("what exists: %d %+v", code, r)
	}
}

// TestCreateOnly: of two who create something of the same name, the second is refused, and what the first has made stays as it is.
func TestCreateOnly(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "view", "name,view\nSite,MAIN\nOther,MAIN\n", Options{})
	b.bulk(t, false, "custom", "name,view\nr1,Site\n", Options{})
	for _, c := range []struct{ pkg, first, second string }{
		{"custom", "name,view,posx\ntwin,Site,10\n", "name,view,posx\ntwin,Other,20\n"},
		{"view", "name,view\nBerlin,Site\n", "name,view\nBerlin,Other\n"},
		{"view", "name,resname,view\nDisks,r1,r1\n", "name,resname,view\nDisks,r1,r1\n"},
		{"label", "name,view,text\nhall,Site,first\n", "name,view,text\nhall,Other,second\n"},
		{"object", "name,resname,view,class\ncpu,r1,r1,cpu\n", "name,resname,view,class,host\ncpu,r1,r1,cpu,other\n"},
	} {
		if code, r := b.bulk(t, false, c.pkg, c.first, Options{Atomic: true, CreateOnly: true}); code != 200 || len(r.Errors) != 0 {
			t.Errorf("%s %q: %d %+v", c.pkg, c.first, code, r)
		}
		records := len(b.Records)
		code, r := b.bulk(t, false, c.pkg, c.second, Options{Atomic: true, CreateOnly: true})
		name := strings.Split(strings.Split(c.second, "\n")[1], ",")[0]
		if code != 400 || len(r.Errors) != 1 || r.Errors[0].Code != belfry.NameInUse || r.Errors[0].Column != "name" || !strings.Contains(r.Errors[0].Message, name) {
			t.Errorf("%s %q: %d %+v", c.pkg, c.second, code, r)
		}
		if len(b.Records) != records {
			t.Errorf("%s %q changed something", c.pkg, c.second)
		}
	}
	code, r := b.bulk(t, false, "label", "name,view,text\nhall,Other,second\nroof,Site,new\n", Options{CreateOnly: true})
	if code != 207 || r.Created.Elements != 1 || r.Updated != 0 || r.Rejected != 1 {
		t.Errorf("one of two is new: %d %+v", code, r)
	}
}
