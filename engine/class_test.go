package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
)

func TestPutClass(t *testing.T) {
	b := newBench(t)
	b.Who.Name = "the key"
	b.provision(t, "web01")
	f := func(text, want, code string) {
		t.Helper()
		before := len(b.Records)
		result, l, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, text))
		if result != want || (err == nil) != (code == "") || err != nil && string(belfry.CodeOf(err)) != code {
			t.Errorf("%s: %q %v", text, result, err)
		}
		if changed := len(b.Records) > before; changed != (want == "created" || want == "updated") {
			t.Errorf("%s: %s, but a record was written: %v", text, result, changed)
		}
		if err == nil && (l.Inferred || l.Source != catalog.FromCustomer) {
			t.Errorf("%s: %+v", text, l)
		}
	}
	f("name: disk\nindicators: [{n: 1}]\n", "created", "")
	f("name: disk\nindicators: [{n: 1}]\n", "unchanged", "")
	f("name: disk\nindicators: [{n: 1, name: Used}]\n", "updated", "")
	f("name: disk\nindicators: [{n: 1, type: string}]\n", "", "bad_parameter")
	f("name: network-ping\nindicators: [{n: 1}]\n", "updated", "") // over the built-in one
	f("name: network-ping\nindicators: [{n: 4, type: string}]\n", "", "bad_parameter")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\n", intake.Options{})
	f("name: load\ninferred: true\nindicators: [{n: 1}]\n", "updated", "") // an inferred one is adopted
	f("name: load\nindicators: [{n: 1}]\n", "unchanged", "")
	if _, r := b.send(t, "type,object,i2\ndata,cpu,1\n", intake.Options{}); r.Rejected != 1 {
		t.Errorf("a defined class takes any indicator: %+v", r)
	}
	if got := strings.Join(b.EventsOf(b.Who.Customer), "\n"); !strings.Contains(got, "configuration class disk updated: i1.name: i1 -> Used\nconfiguration class network-ping updated: ") {
		t.Error(got)
	}
}

func TestDeleteClass(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	put := func(text string) {
		t.Helper()
		if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	f := func(name string, want string) {
		t.Helper()
		err := b.Definitions().DeleteClass(b.Who, name, engine.Repeat{})
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	put("name: disk\nindicators: [{n: 1}]\n")
	b.send(t, "type,resname,object,class,view,i1\n"+
		"data,web01,a,disk,web01,1\ndata,web01,b,disk,web01,1\ndata,web01,c,disk,web01,1\n"+
		"data,web01,d,disk,web01,1\ndata,web01,e,disk,web01,1\ndata,web01,f,disk,web01,1\n", intake.Options{})
	f("disk", `bad_parameter: class "disk" is the class of 6 objects ("a" of "web01", "b" of "web01", "c" of "web01", "d" of "web01", "e" of "web01", …); remove them first`)
	f("dsik", `unknown_item: there is no class "dsik"; nearest is "disk"`)
	f("network-ping", "unknown_item")
	f("generic", "unknown_item") // a view class
	put("name: spare\n")
	f("spare", "<nil>")
	f("spare", "unknown_item")

	// With a definition below it, a class may go while objects have it, if they suit that.
	put("name: network-ping\nindicators: [{n: 1}, {n: 9, type: string}]\n")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,p,network-ping,web01,1\n", intake.Options{})
	f("network-ping", "<nil>")
	put("name: network-ping\nindicators: [{n: 1}]\n")
	out, err := b.Definitions().ImportClasses([]*catalog.Class{enginetest.ClassOf(t, "name: extra\nindicators: [{n: 1}]\n")})
	if err != nil || len(out.Changed) != 1 {
		t.Fatal(out, err)
	}
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,x,extra,web01,1\n", intake.Options{})
	put("name: extra\nindicators: [{n: 1}, {n: 2, type: string}]\n")
	if _, err := b.Definitions().ImportClasses([]*catalog.Class{enginetest.ClassOf(t, "name: extra\nindicators: [{n: 1}, {n: 2}]\n")}); err != nil {
		t.Fatal(err)
	}
	f("extra", `the definition below your own does not suit them: class "extra": indicator i2 is a string`)
}

// TestImportClasses: one record for all files, told to every customer; what suits takes the place of inferred classes.
func TestImportClasses(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,a,load,web01,1\ndata,web01,b,mode,web01,fast\n", intake.Options{})
	other, err := b.CreateCustomer("other", "shell")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Definitions().PutClass(engine.Sender{Scope: belfry.Whole(other.ID), Key: "o"}, enginetest.ClassOf(t, "name: load\nindicators: [{n: 1, name: Own}]\n")); err != nil {
		t.Fatal(err)
	}
	before := len(b.Records)
	files := []*catalog.Class{
		enginetest.ClassOf(t, "name: load\nindicators: [{n: 1, name: Load}]\n"),
		enginetest.ClassOf(t, "name: mode\nindicators: [{n: 1, name: Mode}]\n"),
		enginetest.ClassOf(t, "name: network-ping\nindicators: [{n: 1, type: string}]\n"),
	}
	out, err := b.Definitions().ImportClasses(files)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(out.Changed, " ") != "load mode" || len(out.Faults) != 1 || out.Faults["network-ping"] == nil || len(out.Kept) != 1 {
		t.Errorf("%+v", out)
	}
	if n := len(b.Records) - before; n != 1 {
		t.Errorf("%d records", n)
	}
	f := func(c belfry.CustomerID, class string, source catalog.Source, indicator string) {
		t.Helper()
		l, ok := b.Tree.Documents().ClassNamed(c, class)
		if !ok || l.Source != source || l.Indicators[0].Name != indicator {
			t.Errorf("class %s of customer %d: %+v", class, c, l)
		}
	}
	f(b.Who.Customer, "load", catalog.FromFile, "Load")
	f(b.Who.Customer, "mode", catalog.FromRows, "i1")
	f(other.ID, "load", catalog.FromCustomer, "Own")
	f(other.ID, "mode", catalog.FromFile, "Mode")
	mine, theirs := strings.Join(b.EventsOf(b.Who.Customer), "\n"), strings.Join(b.EventsOf(other.ID), "\n")
	for _, want := range []string{"configuration class load imported in the place of the inferred one", "configuration class mode imported; the inferred class stays: "} {
		if !strings.Contains(mine, want) {
			t.Errorf("no %q in\n%s", want, mine)
		}
	}
	for _, want := range []string{"configuration class load imported; the customer's own definition stays", "configuration class mode imported"} {
		if !strings.Contains(theirs, want) {
			t.Errorf("no %q in\n%s", want, theirs)
		}
	}
	if strings.Contains(theirs, "inferred") {
		t.Errorf("a customer learns of another's classes:\n%s", theirs)
	}
	before = len(b.Records)
	if out, err = b.Definitions().ImportClasses(files); err != nil || len(out.Changed) > 0 || len(b.Records) != before {
		t.Errorf("the same again: %+v %v", out, err)
	}
	// Events have ids of their own customer, without a gap or a repeat.
	next := map[belfry.CustomerID]belfry.RowID{}
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if n := next[batch.Customer]; n != 0 && batch.FirstID != n {
				t.Errorf("rows of customer %d begin at %d, want %d", batch.Customer, batch.FirstID, n)
			}
			next[batch.Customer] = batch.FirstID + belfry.RowID(batch.Len())
		}
	}
}

func TestImportPackages(t *testing.T) {
	b := newBench(t)
	pt := func(text string) *catalog.PackageType {
		t.Helper()
		pt, err := catalog.ParsePackage([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return pt
	}
	files := []*catalog.PackageType{
		pt("name: shop\nkind: resource\nhelp: h\nparts: [{name: P, class: network-ping}]\n"),
		pt("name: custom\nkind: resource\nhelp: h\n"),
		pt("name: orphan\nkind: resource\nhelp: h\nparts: [{name: P, class: none}]\n"),
	}
	out, err := b.Definitions().ImportPackages(files)
	if err != nil || strings.Join(out.Changed, " ") != "shop" || out.Faults["custom"] == nil || out.Faults["orphan"] == nil {
		t.Fatalf("%+v %v", out, err)
	}
	code, answer, err := b.Provision(context.Background(), b.Who, "shop", strings.NewReader("name\ns\n"), intake.Options{})
	if err != nil || code != 200 || b.Tree.Tenant(b.Who.Customer).Resource("s").Object("s - P") == nil {
		t.Errorf("%d %s %v", code, answer, err)
	}
	if out, err = b.Definitions().ImportPackages(files); err != nil || len(out.Changed) > 0 {
		t.Errorf("the same again: %+v %v", out, err)
	}
}

// TestRowsDuringPut: while a class changes back and forth, each row meets one definition or the other, whole: it is
// taken with both values or refused, and what was taken is of the types the class says.
func TestRowsDuringPut(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	one := enginetest.ClassOf(t, "name: c\nindicators: [{n: 1}]\n")
	two := enginetest.ClassOf(t, "name: c\nindicators: [{n: 1}, {n: 2, type: string}]\n")
	if _, _, err := b.Definitions().PutClass(b.Who, two); err != nil {
		t.Fatal(err)
	}
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,o,c,web01,1\n", intake.Options{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 50 {
			if _, _, err := b.Definitions().PutClass(b.Who, []*catalog.Class{one, two}[i%2]); err != nil {
				t.Error(err)
			}
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 50 {
				_, answer, err := b.Send(context.Background(), b.Who, strings.NewReader("type,object,i1,i2\n"+strings.Repeat("data,o,1,x\n", 20)), intake.Options{})
				if err != nil || strings.Contains(string(answer), "internal") {
					t.Errorf("%s %v", answer, err)
				}
			}
		})
	}
	wg.Wait()
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if batch.Collection == belfry.ObjectData && batch.Len() > 1 {
				if c := batch.Column("s2"); c == nil || len(c.Texts) != batch.Len() || c.Texts[0] != "x" {
					t.Fatalf("a row was taken in part: %+v", batch)
				}
			}
		}
	}
}

// TestMostClasses: a customer cannot fill the memory with definitions.
func TestMostClasses(t *testing.T) {
	b := newBench(t)
	many := &belfry.Record{Customer: b.Who.Customer} // as if they had come one by one, which takes long
	for i := range engine.MaxClasses {
		name := fmt.Sprint("c", i)
		many.Docs = append(many.Docs, belfry.Doc{Kind: belfry.DocClass, Customer: b.Who.Customer, Name: name, Body: []byte(`{"name":"` + name + `"}`)})
	}
	if err := b.Tree.Apply(many); err != nil {
		t.Fatal(err)
	}
	nine, err := catalog.ParseDuration("9s")
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, ok bool) {
		t.Helper()
		if _, _, err := b.Definitions().PutClass(b.Who, &catalog.Class{Name: name, Interval: nine}); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	f("one more", false)
	f("network-ping", false)
	f("c7", true)
	if err := b.Definitions().DeleteClass(b.Who, "c8", engine.Repeat{}); err != nil {
		t.Fatal(err)
	}
	f("one more", true)
	f("and another", false)
}
