package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/meta"
)

// fillWith sends rows for objects of web01, each with the given values, and gives the report.
func (b *bench) fillWith(t testing.TB, columns, values string, objects ...string) belfry.Report {
	t.Helper()
	body := "type,resname,object,class,view," + columns + "\n"
	for _, o := range objects {
		body += "data,web01," + o + ",state,web01," + values + "\n"
	}
	_, r := b.send(t, body, intake.Options{})
	return r
}

// TestItemsMemory: items and their last values are limited by what they take. Rows that let nothing grow are always taken, and
// what is counted is what is there, also after a restart and a removal.
func TestItemsMemory(t *testing.T) {
	b := newBench(t)
	before := b.Tree.ItemMemory()
	b.provision(t, "web01")
	long := strings.Repeat("x", 30_000)
	b.fillWith(t, "i1,i2", "1,up", "old")
	small := meta.ItemSize(belfry.KindObject, "old", "") + meta.WidthSize(2, 2) + meta.TextSize(2)
	if got := b.Tree.ItemMemory() - before; got != meta.ItemSize(belfry.KindResource, "web01", "custom")+small {
		t.Fatalf("a resource with an object takes %d bytes", got)
	}
	const limit = 240_000 // 210,000 for new objects
	b.Memory.Store(limit)
	_, r := b.send(t, "type,resname,object,i2\n"+strings.Repeat("data,web01,old,"+long+"\n", 10), intake.Options{})
	if r.Accepted != 10 {
		t.Fatalf("rows of one object: %s", enginetest.Brief(r))
	}
	r = b.fillWith(t, "i1,i2", "1,"+long, names("new", 10)...)
	if r.Accepted != 5 || r.Rejected != 5 || r.Created.Objects != 5 {
		t.Fatalf("rows of ten new objects: %s, %d bytes", enginetest.Brief(r), b.Tree.ItemMemory())
	}
	if e := r.Errors[0]; e.Row != 6 || e.Code != belfry.LimitReached || e.Column != "object" || !strings.Contains(e.Message, "205.1 KiB are allowed") {
		t.Errorf("%+v", e)
	}
	if got := b.Tree.Tenant(b.Who.Customer).Count(belfry.KindObject); got != 6 {
		t.Errorf("%d objects: a refused row has left one", got)
	}
	full := b.Tree.ItemMemory()
	b = b.restart(t, 0)
	if b.Memory.Store(limit); b.Tree.ItemMemory() != full {
		t.Errorf("%d bytes after a restart, were %d", b.Tree.ItemMemory(), full)
	}
	if r := b.fillWith(t, "i1,i2", "2,down", "old", "new1", "short", "short2"); r.Accepted != 4 || r.Created.Objects != 2 {
		t.Errorf("shorter texts, and small objects that find room: %s", enginetest.Brief(r))
	}
	if r := b.fillWith(t, "i1,i2", "2,"+long, "old", "new1", "short", "short2"); r.Accepted != 3 || r.Errors[0].Row != 4 || r.Errors[0].Column != "i2" {
		t.Errorf("the texts that there were, one in the room for those that exist, and one too many: %s", enginetest.Brief(r))
	}
	if _, r := b.send(t, "type,resname,object,timestamp,i2\ndata,web01,short2,"+belfry.At(b.Time().Add(-time.Hour)).String()+","+long+"\n", intake.Options{}); r.Accepted != 1 {
		t.Errorf("a late row, whose text is not kept: %s", enginetest.Brief(r))
	}
	if _, r := b.bulk(t, true, "custom", "name\nweb01\n", intake.Options{}); r.Accepted != 1 || b.Tree.ItemMemory() != before {
		t.Errorf("%s; %d bytes are left of what was removed, %d were there", enginetest.Brief(r), b.Tree.ItemMemory(), before)
	}
}

// TestItemsOfCollectors: a resource that pings counts for what its collector keeps, too, when it is made and for whether there is room for it.
func TestItemsOfCollectors(t *testing.T) {
	b := newBench(t)
	before := b.Tree.ItemMemory()
	ping := func(names ...string) belfry.Report {
		_, r := b.bulk(t, false, "network-ping", "name,ip_address_fqdn\n"+strings.Join(names, ",127.0.0.1\n")+",127.0.0.1\n", intake.Options{})
		return r
	}
	ping("p0")
	each := b.Tree.ItemMemory() - before
	if bare := meta.ItemSize(belfry.KindResource, "p0", "custom") + meta.ItemSize(belfry.KindObject, "p0 - Ping", ""); each < bare+400 {
		t.Errorf("a resource that pings counts %d bytes, one with such an object %d", each, bare)
	}
	b.Memory.Store((before + 10*each) * 8 / 7) // an eighth is not for new items
	if r := ping(names("p", 15)...); r.Created.Resources < 8 || r.Created.Resources > 9 || r.Errors[0].Code != belfry.LimitReached {
		t.Errorf("room for nine: %s", enginetest.Brief(r))
	}
	full := b.Tree.ItemMemory()
	if b = b.restart(t, 0); b.Tree.ItemMemory() != full {
		t.Errorf("%d bytes after a restart, were %d", b.Tree.ItemMemory(), full)
	}
	if _, r := b.bulk(t, true, "network-ping", "name\n"+strings.Join(names("p", 15), "\n")+"\n", intake.Options{}); b.Tree.ItemMemory() != before {
		t.Errorf("%s; %d bytes are left of what was removed, %d were there", enginetest.Brief(r), b.Tree.ItemMemory(), before)
	}
}

// TestItemsOfManyNumbers: numbers count by how many places an object has for them.
func TestItemsOfManyNumbers(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.fillWith(t, "i1", "1", names("n", 100)...)
	b.Memory.Store(b.Tree.ItemMemory() + 10*meta.WidthSize(99, 0))
	if r := b.fillWith(t, "i1,i100", "1,2", names("n", 100)...); r.Accepted != 10 || r.Errors[0].Code != belfry.LimitReached {
		t.Errorf("%s", enginetest.Brief(r))
	}
	if r := b.fillWith(t, "i1,i100", "3,", names("n", 100)...); r.Accepted != 100 {
		t.Errorf("values in places that there are: %s", enginetest.Brief(r))
	}
	if r := b.fillWith(t, "i1", "3", "one-more"); r.Accepted != 0 {
		t.Errorf("a new object: %s", enginetest.Brief(r))
	}
	for _, provision := range []struct{ pkg, body string }{
		{"custom", "name\nr\n"}, {"view", "name,view\nv,MAIN\n"}, {"label", "name,text\nl,t\n"}, {"object", "name,resname,view,class\no,web01,web01,state\n"},
	} {
		if _, r := b.bulk(t, false, provision.pkg, provision.body, intake.Options{}); r.Accepted != 0 || r.Errors[0].Code != belfry.LimitReached {
			t.Errorf("a %s: %s", provision.pkg, enginetest.Brief(r))
		}
	}
	if _, r := b.send(t, "type,resname,view,parentview,class\ncreateview,web01,inside,web01,generic\n", intake.Options{}); r.Accepted != 0 {
		t.Errorf("a view inside: %s", enginetest.Brief(r))
	}
}

// TestItemsOfOthers: one customer cannot take all of the memory when there are others, and two that have much cannot shut out one
// that has little.
func TestItemsOfOthers(t *testing.T) {
	b := newBench(t)
	fill := func(c belfry.CustomerID, objects int) belfry.Report {
		b.Who.Scope = belfry.Whole(c)
		b.bulk(t, false, "custom", "name\nweb01\n", intake.Options{})
		return b.fillWith(t, "i1", "1", names("o", objects)...)
	}
	const limit = 1 << 20
	b.Memory.Store(limit)
	first := b.Who.Customer
	fill(first, 3000)
	if alone := b.Tree.ItemMemory(); alone < limit*7/8-1000 || alone > limit*7/8 {
		t.Errorf("a customer that is alone has %d of %d bytes", alone, limit)
	}
	b.bulk(t, true, "custom", "name\nweb01\n", intake.Options{})
	second, err := b.CreateCustomer("second", "")
	if err != nil {
		t.Fatal(err)
	}
	third, err := b.CreateCustomer("third", "")
	if err != nil {
		t.Fatal(err)
	}
	fill(first, 3000)
	if own := b.Tree.Tenant(first).ItemMemory(); own < limit*21/32-1000 || own > limit*21/32 {
		t.Errorf("one of three has %d of %d bytes", own, limit)
	}
	fill(second.ID, 3000)
	if r := fill(third.ID, 40); r.Accepted < 20 || r.Accepted == 40 {
		t.Errorf("the third, which has little: %s", enginetest.Brief(r))
	}
	if all := b.Tree.ItemMemory(); all > limit {
		t.Errorf("all have %d of %d bytes", all, limit)
	}
	b.Who.Scope = belfry.Whole(first)
	before := b.Tree.ItemMemory() - b.Tree.Tenant(second.ID).ItemMemory()
	if err := b.RemoveCustomer(b.Who, "second"); err != nil {
		t.Fatal(err)
	}
	if got := b.Tree.ItemMemory(); got != before {
		t.Errorf("%d bytes after a customer was removed, want %d", got, before)
	}
}

// TestRowsOfNewObjects: what a row creates is in the same record as the row, also when the body takes several turns, and the
// rows of an object stay in order.
func TestRowsOfNewObjects(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.fillWith(t, "i1", "1", "ready")
	const rows = 4 * engine.TurnUndecided
	var body strings.Builder
	body.WriteString("type,resname,object,class,view,i1,log\n")
	for i := range rows {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&body, "data,web01,ready,,,%d,\n", i)
		case 1:
			fmt.Fprintf(&body, "log,web01,l%d,lines,web01,,line\n", i/8)
		default:
			fmt.Fprintf(&body, "data,web01,o%d,state,web01,%d,\n", i/40, i)
		}
	}
	b.Records = nil
	if code, r := b.send(t, body.String(), intake.Options{}); code != 200 || r.Accepted != rows {
		t.Fatalf("%d %s", code, enginetest.Brief(r))
	}
	if len(b.Records) < 3 {
		t.Errorf("%d turns", len(b.Records))
	}
	last := map[int64]float64{}
	for _, rec := range b.Records {
		have := map[belfry.ID]bool{}
		for _, batch := range rec.Batches {
			if batch.Collection != belfry.ObjectData && batch.Collection != belfry.ObjectLog {
				continue
			}
			for row, id := range batch.Column(belfry.ItemColumn).Ints {
				have[belfry.ID(id)] = true
				if batch.Collection == belfry.ObjectLog {
					continue
				}
				v := batch.Column("i1").Numbers[row]
				if v < last[id] {
					t.Errorf("item %d: %v comes after %v", id, v, last[id])
				}
				last[id] = v
			}
		}
		for _, it := range rec.Items {
			if it.Kind == belfry.KindObject && !have[it.ID] {
				t.Errorf("%s was created without a row", it.Name)
			}
		}
	}
}

// TestThresholdsOfManyObjects: thresholds that are met are remembered for each object, so a class or a policy with many of them is
// refused where there are many objects, and so are objects of such a class.
func TestThresholdsOfManyObjects(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	class := func(name string, thresholds int) *catalog.Class {
		text := "name: " + name + "\nindicators:\n"
		for n := 1; thresholds > 0; n++ {
			text += fmt.Sprintf("- {n: %d, name: x%d, thresholds: [", n, n)
			for i := range min(thresholds, 20) {
				text += fmt.Sprintf("{when: '> %d', status: 3, recover: '< %d'},", 10*i+10, 10*i+5)
			}
			text, thresholds = strings.TrimSuffix(text, ",")+"]}\n", thresholds-20
		}
		return enginetest.ClassOf(t, text)
	}
	put := func(name string, thresholds int) error {
		_, _, err := b.Definitions().PutClass(b.Who, class(name, thresholds))
		return err
	}
	if err := put("state", 1); err != nil {
		t.Fatal(err)
	}
	b.fillWith(t, "i1", "1", names("o", 100)...)
	before := b.Tree.ItemMemory()
	b.Memory.Store(before + 100*16*200)
	if err := put("state", 300); belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), "too many for its 100 objects") {
		t.Errorf("a class of 300 thresholds: %v", err)
	}
	if err := put("state", 201); err != nil {
		t.Errorf("a class of 201 thresholds: %v", err)
	}
	if got := b.Tree.ItemMemory() - before; got != 100*16*200 {
		t.Errorf("200 thresholds more count for %d bytes", got)
	}
	const one = `{"kind":"view","item":"MAIN","thresholds":[{"class":"state","n":1,"thresholds":[{"when":"> 1","status":3}]}]}`
	if got := b.policy(t, "more", one); got != "bad_parameter" {
		t.Errorf("a policy: %s", got)
	}
	if r := b.fillWith(t, "i1", "1", "one-more"); r.Accepted != 0 {
		t.Errorf("an object: %s", enginetest.Brief(r))
	}
	if err := put("state", 100); err != nil {
		t.Errorf("fewer thresholds: %v", err)
	}
	if got := b.policy(t, "more", one); got != "created" {
		t.Errorf("a policy: %s", got)
	}
	if got := b.Tree.ItemMemory() - before; got != 100*16*100 {
		t.Errorf("99 thresholds more, and one of a policy, count for %d bytes", got)
	}
	b.noPolicy(t, "more")
	if got := b.Tree.ItemMemory() - before; got != 100*16*99 {
		t.Errorf("99 thresholds more count for %d bytes", got)
	}
}
