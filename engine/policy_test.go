package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/journal"
	"belfry/meta"
)

// policyText reads a policy as it would come in a request.
func policyText(t testing.TB, name, text string) *catalog.PolicyText {
	t.Helper()
	p, err := catalog.ReadPolicy(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// putPolicy reads and sets a policy.
func (b *bench) putPolicy(text *catalog.PolicyText) (result string, err error) {
	p, err := b.Definitions().ReadPolicy(b.Who.Customer, text)
	if err != nil {
		return "", err
	}
	return b.Definitions().PutPolicy(b.Who, p)
}

// policy sets a policy and gives the result, or the code of the error.
func (b *bench) policy(t testing.TB, name, text string) string {
	t.Helper()
	result, err := b.putPolicy(policyText(t, name, text))
	if err != nil {
		return string(belfry.CodeOf(err))
	}
	return result
}

func (b *bench) noPolicy(t testing.TB, name string) {
	t.Helper()
	if err := b.Definitions().DeletePolicy(b.Who, name, engine.Repeat{}); err != nil {
		t.Fatalf("remove policy %s: %v", name, err)
	}
}

// pass lets time pass, and waits until what was due has been processed. The clock is set by the sequencer itself, which
// is the one that looks at it.
func (b *bench) pass(t testing.TB, d time.Duration) {
	t.Helper()
	nothing := func(*engine.Tx) error { return nil }
	if err := b.Do(&engine.Command{Alone: true, Decide: func(*engine.Tx) error { b.Advance(d); return nil }}); err != nil {
		t.Fatal(err)
	}
	for ticking := true; ticking; {
		ticking = false
		if err := b.Do(&engine.Command{Alone: true, Decide: nothing}); err != nil {
			t.Fatal(err)
		}
		err := b.Do(&engine.Command{Alone: true, Decide: func(*engine.Tx) error {
			ticking = b.Ticking(belfry.At(b.Moment))
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shows tells the statuses of items, "name=status" each, by "resource/object" or by the name of a view or resource.
func (b *bench) shows(t testing.TB, want string) {
	t.Helper()
	all := map[string]string{}
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		e.All(func(n *meta.Node) bool {
			name := n.Name
			if n.Resource != nil && n.Resource != n {
				name = n.Resource.Name + "/" + n.Name
			}
			all[name] = n.State.Status.String()
			return true
		})
	})
	for _, w := range strings.Fields(want) {
		name, status, _ := strings.Cut(w, "=")
		if all[name] != status {
			t.Errorf("%s shows %q, want %q", name, all[name], status)
		}
	}
}

// data sends a value of i1 of an object, and makes the object in a view when it is not there.
func (b *bench) data(t testing.TB, resource, view, object string, value any) {
	t.Helper()
	code, r := b.send(t, fmt.Sprintf("type,resname,object,class,view,i1\ndata,%s,%s,disk,%s,%v\n", resource, object, view, value), intake.Options{})
	if code != 200 {
		t.Fatalf("%+v", r.Errors)
	}
}

const disk = "name: disk\nindicators: [{n: 1, name: Used, unit: '%', thresholds: [{when: '>= 80', status: 2}]}, {n: 2, type: string}]\n"

// newPolicyBench is a bench with the views DMZ > Web, the resource web01 in Web with the views R1 > R2, and the resource web02 in MAIN.
func newPolicyBench(t testing.TB) *bench {
	t.Helper()
	b := newBench(t)
	b.furnish(t)
	return b
}

func (b *bench) furnish(t testing.TB) {
	t.Helper()
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, disk)); err != nil {
		t.Fatal(err)
	}
	for _, body := range [][2]string{
		{"view", "name,view\nDMZ,MAIN\nWeb,DMZ\nOffice,MAIN\n"},
		{"custom", "name,view\nweb01,Web\nweb02,MAIN\n"},
	} {
		if code, answer, err := b.Provision(context.Background(), b.Who, body[0], strings.NewReader(body[1]), intake.Options{}); err != nil || code != 200 {
			t.Fatalf("%d %s %v", code, answer, err)
		}
	}
	b.send(t, "type,resname,class,view,parentview\ncreateview,web01,Rack,R1,web01\ncreateview,web01,Rack,R2,R1\n", intake.Options{})
}

// says makes a policy about i1 of class disk: from a value on, Critical.
func says(kind, item, resource string, from int) string {
	return fmt.Sprintf(`{"kind":%q,"item":%q,"resource":%q,"thresholds":[{"class":"disk","n":1,"thresholds":[{"when":">= %d","status":3}]}]}`, kind, item, resource, from)
}

func TestNearestPolicy(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 50)
	b.data(t, "web02", "web02", "b", 50)
	b.shows(t, "web01/a=0 web02/b=0 MAIN=0")
	// From far to near: each takes over from the one before, and gives back when it goes.
	steps := []string{
		says("view", "MAIN", "", 50), says("view", "DMZ", "", 51), says("view", "Web", "", 50), says("resource", "web01", "", 51),
		says("view", "R1", "web01", 50), says("view", "R2", "", 51), says("object", "a", "web01", 50),
	}
	for i, text := range steps {
		if got := b.policy(t, fmt.Sprint("p", i), text); got != "created" {
			t.Fatalf("%s: %s", text, got)
		}
		b.shows(t, []string{"web01/a=3 DMZ=3", "web01/a=0 web01=0 DMZ=0"}[i%2])
		b.shows(t, "web02/b=3 MAIN=3")
	}
	for i := len(steps) - 1; i > 0; i-- {
		b.noPolicy(t, fmt.Sprint("p", i))
		b.shows(t, []string{"web01/a=0 DMZ=0", "web01/a=3 web01=3 DMZ=3 Web=3"}[i%2])
	}
	b.noPolicy(t, "p0")
	b.shows(t, "web01/a=0 web02/b=0 MAIN=0")
	// New rows are decided by the policy, too, and those of new objects.
	b.policy(t, "far", says("view", "DMZ", "", 30))
	b.data(t, "web01", "R2", "a", 31)
	b.data(t, "web01", "R1", "new", 31)
	b.data(t, "web02", "web02", "b", 31)
	b.shows(t, "web01/a=3 web01/new=3 web02/b=0")
	b.data(t, "web01", "R2", "a", 29)
	b.shows(t, "web01/a=0")
	// An empty list switches the thresholds of the class off.
	b.data(t, "web01", "R2", "a", 85)
	b.policy(t, "far", `{"kind":"view","item":"DMZ","thresholds":[{"class":"disk","n":1,"thresholds":[]}]}`)
	b.shows(t, "web01/a=0 web01/new=0 MAIN=0")
	b.noPolicy(t, "far")
	b.shows(t, "web01/a=2 MAIN=2")
}

// TestPolicyMoves lets one name speak about another item: both show it.
func TestPolicyMoves(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 50)
	b.data(t, "web02", "web02", "b", 50)
	b.policy(t, "p", says("resource", "web01", "", 50))
	b.shows(t, "web01/a=3 web02/b=0")
	if got := b.policy(t, "p", says("resource", "web02", "", 50)); got != "updated" {
		t.Error(got)
	}
	b.shows(t, "web01/a=0 web02/b=3")
	if got := b.policy(t, "p", says("resource", "web02", "", 50)); got != "unchanged" {
		t.Error(got)
	}
	if n := len(b.Tree.Tenant(b.Who.Customer).PoliciesOn(b.Tree.Tenant(b.Who.Customer).Resource("web01").ID)); n != 0 {
		t.Errorf("%d policies are left on web01", n)
	}
}

func TestPolicyRefused(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 50)
	b.data(t, "web01", "R2", "twin", 50)
	b.data(t, "web02", "web02", "twin", 50)
	f := func(name, text, want string) {
		t.Helper()
		before := len(b.Records)
		_, err := b.putPolicy(policyText(t, name, text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
		if len(b.Records) != before {
			t.Errorf("%s was refused, and a record was written", text)
		}
	}
	f("p", says("view", "Nowhere", "", 1), `unknown_item: there is no view "Nowhere"`)
	f("p", says("view", "web01", "", 1), `there is a resource of that name`)
	f("p", says("resource", "DMZ", "", 1), `there is a view of that name`)
	f("p", says("object", "c", "web01", 1), `there is no object "c" in "web01"`)
	f("p", says("object", "twin", "", 1), `bad_parameter: `)
	f("p", says("object", "a", "web02", 1), `unknown_item`)
	f("p", `{"kind":"view","item":"DMZ","thresholds":[{"class":"disc","n":1,"thresholds":[]}]}`, `bad_parameter: policy, line 1: thresholds[0] names the class "disc"`)
	f("p", `{"kind":"view","item":"DMZ","thresholds":[{"class":"disk","n":2,"thresholds":[{"when":"> 5","status":1}]}]}`, "texts support only = and <>")
	f("p", `{"kind":"view","item":"DMZ","period":{"times":["someday"]}}`, "bad_parameter: period: times[0]")
	f("p", `{"kind":"view","item":"DMZ","period":{"timezone":"Europe/Nowhere","times":["mon"]}}`, "Europe/Nowhere")
	if got := b.policy(t, "one", says("view", "DMZ", "", 50)); got != "created" {
		t.Fatal(got)
	}
	f("two", says("view", "DMZ", "", 60), `policy "one" sets the thresholds of i1 of class "disk" of the view "DMZ" already`)
	if got := b.policy(t, "two", `{"kind":"view","item":"DMZ","rollup":"best"}`); got != "created" {
		t.Error("two policies on one item that say different things:", got)
	}
	if err := b.Definitions().DeletePolicy(b.Who, "too", engine.Repeat{}); err == nil || !strings.Contains(err.Error(), `there is no policy "too"; nearest is "two"`) {
		t.Error(err)
	}
}

func TestPolicyLimit(t *testing.T) {
	b := newPolicyBench(t)
	fill := func(name string, from, to int) {
		t.Helper()
		on := b.Tree.Tenant(b.Who.Customer).Place(name)
		err := b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(t *engine.Tx) error {
			for i := from; i < to; i++ {
				p := meta.Policy{Policy: &catalog.Policy{Name: fmt.Sprint("p", i), Kind: belfry.KindView, Item: name, Rollup: "best"}, On: on.ID}
				t.Document(p.Doc(b.Who.Customer))
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	f := func(name, item, want string) {
		t.Helper()
		if _, err := b.putPolicy(policyText(t, name, says("view", item, "", 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s on %s: %v", name, item, err)
		}
	}
	fill("DMZ", 0, engine.MaxOnItem)
	f("more", "DMZ", `there are 100 policies on the view "DMZ" already`)
	if got := b.policy(t, "p7", says("view", "DMZ", "", 1)); got != "updated" {
		t.Error(got)
	}
	fill("Web", engine.MaxOnItem, engine.MaxPolicies)
	f("more", "Office", "there are 10000 policies already, as many as are allowed")
	f("p7", "Web", `on the view "Web" already`)
	if got := b.policy(t, "p7", says("view", "Office", "", 1)); got != "updated" {
		t.Error(got)
	}
}

func TestRollupPolicy(t *testing.T) {
	b := newPolicyBench(t)
	for i, v := range []int{10, 90, 90} { // OK, Major, Major
		b.data(t, "web01", "R2", fmt.Sprint("o", i), v)
	}
	f := func(rollup, want string) {
		t.Helper()
		if got := b.policy(t, "r", fmt.Sprintf(`{"kind":"view","item":"R2","rollup":%q}`, rollup)); got != "created" && got != "updated" {
			t.Fatal(got)
		}
		b.shows(t, want)
	}
	b.shows(t, "web01/R2=2 web01/R1=2 MAIN=2")
	f("best", "web01/R2=0 web01/R1=0 MAIN=0")
	f("2 of m", "web01/R2=2 web01/R1=2 MAIN=2")
	f("3 of m", "web01/R2=0 web01/R1=0 MAIN=0")
	b.data(t, "web01", "R2", "o0", 90)
	b.shows(t, "web01/R2=2 MAIN=2")
	b.data(t, "web01", "R2", "o0", 10)
	b.shows(t, "web01/R2=0 MAIN=0")
	f("worst", "web01/R2=2 MAIN=2")
	f("best", "web01/R2=0 web01/o1=2 MAIN=0")
	b.noPolicy(t, "r")
	b.shows(t, "web01/R2=2 web01/R1=2 MAIN=2")
	// It is of the view alone: best of DMZ leaves what is inside as it was.
	b.policy(t, "r", `{"kind":"view","item":"DMZ","rollup":"best"}`)
	b.data(t, "web01", "web01", "fine", 1)
	b.shows(t, "web01/R2=2 web01=2 Web=2 DMZ=2")
	b.policy(t, "r", `{"kind":"resource","item":"web01","rollup":"best"}`)
	b.shows(t, "web01/R2=2 web01=0 Web=0 DMZ=0 MAIN=0")
}

// TestHysteresisSurvivesPolicy changes one threshold: what another has counted, and that it is in force, stays.
func TestHysteresisSurvivesPolicy(t *testing.T) {
	b := newPolicyBench(t)
	const firm = `{"class":"disk","n":1,"thresholds":[{"when":">= 90","status":3,"recover":"< 50"}%s]}`
	set := func(more, want string) {
		t.Helper()
		if got := b.policy(t, "p", `{"kind":"view","item":"DMZ","thresholds":[`+fmt.Sprintf(firm, more)+`]}`); got != want {
			t.Fatal(got)
		}
	}
	set("", "created")
	b.data(t, "web01", "R2", "a", 95)
	b.data(t, "web01", "R2", "a", 60) // in between: stays
	b.shows(t, "web01/a=3")
	set(`,{"when":">= 55","status":1}`, "updated")
	b.shows(t, "web01/a=3")
	b.data(t, "web01", "R2", "a", 55)
	b.shows(t, "web01/a=3")
	b.data(t, "web01", "R2", "a", 45)
	b.shows(t, "web01/a=0")
	b.data(t, "web01", "R2", "a", 60)
	b.shows(t, "web01/a=1")
}

// TestPolicyAndMoves moves objects, views and resources between places with other policies.
func TestPolicyAndMoves(t *testing.T) {
	b := newPolicyBench(t)
	provision := func(pkg, body string) {
		t.Helper()
		if code, answer, err := b.Provision(context.Background(), b.Who, pkg, strings.NewReader(body), intake.Options{}); err != nil || code != 200 {
			t.Fatalf("%d %s %v", code, answer, err)
		}
	}
	b.policy(t, "dmz", says("view", "DMZ", "", 50))
	b.policy(t, "r1", says("view", "R1", "web01", 99))
	b.data(t, "web01", "web01", "a", 60)
	b.data(t, "web02", "web02", "b", 60)
	b.shows(t, "web01/a=3 web02/b=0 DMZ=3")
	provision("object", "name,resname,view\na,web01,R1\n")
	b.shows(t, "web01/a=0 DMZ=0")
	provision("object", "name,resname,view\na,web01,web01\n")
	b.shows(t, "web01/a=3")
	provision("custom", "name,view\nweb01,Office\nweb02,Web\n")
	b.shows(t, "web01/a=0 web02/b=3 Office=0 DMZ=3 MAIN=3")
	provision("view", "name,view\nWeb,Office\n")
	b.shows(t, "web02/b=0 Office=0 MAIN=0")
	// Moved and changed back in one body: as if nothing had been.
	before := len(b.EventsOf(b.Who.Customer))
	provision("view", "name,view\nWeb,DMZ\nWeb,Office\n")
	b.shows(t, "web02/b=0 Office=0 DMZ=? MAIN=0")
	if got := b.EventsOf(b.Who.Customer)[before:]; len(got) == 0 {
		t.Error("it was in DMZ for a moment, and nothing tells of it")
	}
	// A dry run leaves nothing behind.
	if code, answer, err := b.Provision(context.Background(), b.Who, "view", strings.NewReader("name,view\nWeb,DMZ\n"), intake.Options{DryRun: true}); err != nil || code != 200 {
		t.Fatalf("%d %s %v", code, answer, err)
	}
	b.data(t, "web02", "web02", "b", 61)
	b.shows(t, "web02/b=0")
}

// TestMoveAndValuesInOneRound lets a value and a move share a round. The value is decided by the old place, and afterwards by
// the new one; the last value before it must not be.
func TestMoveAndValuesInOneRound(t *testing.T) {
	b := newPolicyBench(t)
	b.policy(t, "dmz", says("view", "DMZ", "", 50))
	b.policy(t, "office", says("view", "Office", "", 99))
	b.data(t, "web01", "web01", "a", 99)
	waiting := func(n int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); b.Queued() != n; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d commands are queued, want %d", b.Queued(), n)
			}
		}
	}
	begun, hold, done := make(chan bool), make(chan bool), make(chan error, 3)
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	go func() {
		done <- b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(*engine.Tx) error {
			begun <- true
			<-hold
			return nil
		}})
	}()
	<-begun
	before := len(b.Records)
	go func() {
		_, _, err := b.Send(context.Background(), b.Who, strings.NewReader("type,resname,object,i1\ndata,web01,a,70\n"), intake.Options{})
		done <- err
	}()
	waiting(1)
	go func() {
		_, _, err := b.Provision(context.Background(), b.Who, "custom", strings.NewReader("name,view\nweb01,Office\n"), intake.Options{})
		done <- err
	}()
	waiting(2)
	release()
	for range 3 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	b.pass(t, 0)
	b.shows(t, "web01/a=0 Office=0 DMZ=? MAIN=0")
	if n := len(b.Records) - before; n != 3 {
		t.Errorf("%d records, want those of the value, of the move and of what followed", n)
	}
}

// TestPolicyOfRemovedItem sees policies go with their items, in the same record, and not come back with the name.
func TestPolicyOfRemovedItem(t *testing.T) {
	b := newPolicyBench(t)
	b.Who.Name = "the key"
	b.data(t, "web01", "R2", "a", 60)
	b.policy(t, "on a", says("object", "a", "web01", 50))
	b.policy(t, "on R1", says("view", "R1", "web01", 50))
	b.policy(t, "on web02", says("resource", "web02", "", 50))
	before := len(b.Records)
	if code, answer, err := b.Remove(context.Background(), b.Who, "custom", strings.NewReader("name\nweb01\n"), intake.Options{}); err != nil || code != 200 {
		t.Fatalf("%d %s %v", code, answer, err)
	}
	if len(b.Records) != before+1 {
		t.Fatalf("%d records", len(b.Records)-before)
	}
	list, _ := b.Tree.Documents().Policies(b.Who.Customer, "", 10)
	if len(list) != 1 || list[0].Name != "on web02" {
		t.Errorf("left: %v", list)
	}
	told := strings.Join(b.EventsOf(b.Who.Customer), "\n")
	for _, want := range []string{"policy on a removed, with object a", "policy on R1 removed, with view R1"} {
		if !strings.Contains(told, want) {
			t.Errorf("no event %q in\n%s", want, told)
		}
	}
	b.provision(t, "web01")
	b.data(t, "web01", "web01", "a", 60)
	b.shows(t, "web01/a=0")
}

// TestPolicyOfTwoCustomers: the same names, and nothing of one counts for the other.
func TestPolicyOfTwoCustomers(t *testing.T) {
	b := newPolicyBench(t)
	other, err := b.CreateCustomer("other", "test")
	if err != nil {
		t.Fatal(err)
	}
	b.data(t, "web01", "R2", "a", 60)
	mine := b.Who
	b.Who = engine.Sender{Scope: belfry.Whole(other.ID), Key: "o"}
	b.furnish(t)
	b.data(t, "web01", "R2", "a", 60)
	b.policy(t, "p", says("view", "MAIN", "", 50))
	b.shows(t, "web01/a=3 MAIN=3")
	b.Who = mine
	b.shows(t, "web01/a=0 MAIN=0")
	b.data(t, "web01", "R2", "a", 61)
	b.shows(t, "web01/a=0 MAIN=0")
	if list, _ := b.Tree.Documents().Policies(mine.Customer, "", 10); len(list) != 0 {
		t.Error(list)
	}
	if err := b.Definitions().DeletePolicy(b.Who, "p", engine.Repeat{}); belfry.CodeOf(err) != belfry.UnknownItem {
		t.Error(err)
	}
}

// TestIntervalPolicy: the interval of the nearest policy decides when data are overdue.
func TestIntervalPolicy(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 1)
	b.data(t, "web02", "web02", "b", 1)
	b.policy(t, "all", `{"kind":"view","item":"MAIN","interval":"1m"}`)
	b.policy(t, "dmz", `{"kind":"view","item":"DMZ","intervals":[{"class":"disk","interval":"10m"}],"interval":"1s"}`)
	b.pass(t, 4*time.Minute)
	b.shows(t, "web01/a=0 web02/b=?")
	b.pass(t, 27*time.Minute)
	b.shows(t, "web01/a=? web02/b=?")
	b.data(t, "web01", "R2", "a", 1)
	b.policy(t, "web", `{"kind":"view","item":"Web","interval":"none"}`)
	b.pass(t, 10*time.Hour)
	b.shows(t, "web01/a=0")
	b.noPolicy(t, "web") // and so it is overdue
	b.shows(t, "web01/a=?")
	if got := b.EventsOf(b.Who.Customer); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "alarm no data since ") }) {
		t.Error(got)
	}
}

// TestClassUnderPolicy changes a class under a policy that is about one of its indicators.
func TestClassUnderPolicy(t *testing.T) {
	b := newPolicyBench(t)
	b.send(t, "type,resname,object,class,view,i1,i2\ndata,web01,a,disk,R2,60,bad\n", intake.Options{})
	b.policy(t, "p", says("view", "DMZ", "", 50))
	b.shows(t, "web01/a=3")
	put := func(text string) {
		t.Helper()
		if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	put("name: disk\nindicators: [{n: 1, thresholds: [{when: '>= 1', status: 1}]}, {n: 2, type: string, thresholds: [{when: = bad, status: 1}]}]\n")
	b.shows(t, "web01/a=3") // i1 by the policy, i2 by the class
	b.data(t, "web01", "R2", "a", 40)
	b.shows(t, "web01/a=1")
	put("name: disk\nindicators: [{n: 2, type: string}]\n") // the policy has nothing to say any more
	b.shows(t, "web01/a=0")
	put("name: disk\nindicators: [{n: 1}, {n: 2, type: string}]\n")
	b.data(t, "web01", "R2", "a", 60)
	b.shows(t, "web01/a=3")
}

// TestPolicyEvents reads who did what.
func TestPolicyEvents(t *testing.T) {
	b := newPolicyBench(t)
	before := len(b.EventsOf(b.Who.Customer))
	b.policy(t, "night", says("view", "DMZ", "", 50))
	b.policy(t, "night", says("view", "DMZ", "", 50))
	b.policy(t, "night", says("view", "DMZ", "", 51))
	b.noPolicy(t, "night")
	want := []string{
		"configuration policy night created, on view DMZ: item = DMZ, kind = view, thresholds.disk.i1.thresholds.1.status = 3, thresholds.disk.i1.thresholds.1.when = >= 50, thresholds.disk.i1.type = number",
		"configuration policy night updated, on view DMZ: thresholds.disk.i1.thresholds.1.when: >= 50 -> >= 51",
		"configuration policy night removed, was item = DMZ, kind = view, thresholds.disk.i1.thresholds.1.status = 3, thresholds.disk.i1.thresholds.1.when = >= 51, thresholds.disk.i1.type = number",
	}
	if got := b.EventsOf(b.Who.Customer)[before:]; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestPolicyStored reads the document back.
func TestPolicyStored(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 1)
	if got := b.policy(t, "p", `{"kind":"object","item":"a","thresholds":[{"n":1,"thresholds":[{"when":">= 5","status":1}]}]}`); got != "created" {
		t.Fatal(got)
	}
	p := b.Tree.Documents().PolicyNamed(b.Who.Customer, "p")
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"item":"a","resource":"web01","thresholds":[{"class":"disk","n":1,"type":"number",`; !strings.Contains(string(text), want) {
		t.Errorf("no %s in %s", want, text)
	}
}

// brittle is a journal that can be made to refuse the next records.
type brittle struct {
	engine.Journal
	refuse bool
}

func (j *brittle) Append(payloads ...[]byte) (belfry.Position, error) {
	if j.refuse {
		j.refuse = false
		return 0, errors.New("device error")
	}
	return j.Journal.Append(payloads...)
}

// TestPolicyNotStored: what could not be stored has not happened, neither to what is shown nor to what is decided next.
func TestPolicyNotStored(t *testing.T) {
	real, err := journal.Open(t.TempDir(), journal.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { real.Close() })
	j := &brittle{Journal: real}
	b := newBenchOn(t, j)
	b.furnish(t)
	b.data(t, "web01", "R2", "a", 60)
	f := func(refused func() error, want string) {
		t.Helper()
		if err := b.Do(&engine.Command{Alone: true, Decide: func(*engine.Tx) error { j.refuse = true; return nil }}); err != nil {
			t.Fatal(err)
		}
		if err := refused(); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("got %v", err)
		}
		b.shows(t, want)
		b.data(t, "web01", "R2", "a", 61)
		b.data(t, "web01", "R2", "a", 60)
		b.shows(t, want)
	}
	put := func(name, text string) func() error {
		return func() error {
			_, err := b.putPolicy(policyText(t, name, text))
			return err
		}
	}
	f(put("p", says("view", "DMZ", "", 50)), "web01/a=0")
	b.policy(t, "p", says("view", "DMZ", "", 50))
	f(put("p", says("view", "DMZ", "", 99)), "web01/a=3")
	f(put("q", says("object", "a", "web01", 99)), "web01/a=3")
	f(func() error { return b.Definitions().DeletePolicy(b.Who, "p", engine.Repeat{}) }, "web01/a=3")
	f(func() error {
		_, _, err := b.Provision(context.Background(), b.Who, "custom", strings.NewReader("name,view\nweb01,Office\n"), intake.Options{})
		return err
	}, "web01/a=3 DMZ=3")
	// The next one gets the numbers of what was never made, and none of its rules.
	f(func() error {
		_, _, err := b.Send(context.Background(), b.Who, strings.NewReader("type,resname,object,class,view,i1\ndata,web01,lost,disk,R2,60\n"), intake.Options{})
		return err
	}, "web01/a=3")
	b.data(t, "web02", "web02", "b", 60)
	b.shows(t, "web02/b=0")
}
