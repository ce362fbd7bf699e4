package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/meta"
	"belfry/status"
)

// newFullBench has two resources of a thousand objects each, in one view, and an empty view beside it that is unmanaged.
func newFullBench(t testing.TB, j engine.Journal) *bench {
	t.Helper()
	b := newBenchOn(t, j)
	b.Grow(t, 2000)
	b.bulk(t, false, "view", "name,view\naside,MAIN\n", intake.Options{})
	b.Operate(t, engine.Action{Kind: belfry.KindView, List: engine.Names("aside"), Manage: &status.Order{Mode: belfry.UnmanagedKeep}}, engine.Repeat{})
	b.Records = nil
	return b
}

// fail makes objects Unavailable.
func (b *bench) fail(t testing.TB, objects int) {
	t.Helper()
	err := b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(x *engine.Tx) error {
		for i := range objects {
			n, _ := x.Tenant.Object(fmt.Sprintf("obj%07d", i))
			x.Input(n, status.Input{Time: x.Now, NoResponse: true})
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.Records = nil
}

// modes counts the objects of each mode.
func (b *bench) modes() map[belfry.Mode]int {
	count := map[belfry.Mode]int{}
	for n := range b.Tree.Each(b.Tree.Everything(b.Who.Customer)) {
		if n.Kind == belfry.KindObject {
			count[n.State.Mode]++
		}
	}
	return count
}

// checkTurns requires that no record since the last call has changed more than a turn may, and that nothing is left to be done.
func (b *bench) checkTurns(t testing.TB, what string, turns int) {
	t.Helper()
	for range 100_000 { // what windows and moves have left has its turns between these
		if len(b.Tree.Documents().Reassessments(b.Who.Customer)) == 0 {
			break
		}
		if err := b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(*engine.Tx) error { return nil }}); err != nil {
			t.Fatal(err)
		}
	}
	if left := b.Tree.Documents().Reassessments(b.Who.Customer); len(left) > 0 {
		t.Errorf("%s: left are %v", what, left)
	}
	err := b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(x *engine.Tx) error {
		for _, r := range b.Records {
			if len(r.States) > engine.TurnItems+10 { // and what they stand in
				t.Errorf("%s: %d states in one record", what, len(r.States))
			}
		}
		if len(b.Records) < turns {
			t.Errorf("%s: %d records", what, len(b.Records))
		}
		b.Records = nil
		if faults := faultsOf(x.Tenant); len(faults) > 0 {
			t.Errorf("%s: %.500s", what, fmt.Sprint(faults))
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCoverInTurns: one view or resource with very much in it is managed, acknowledged and moved in turns, and counts as ever
// when all is done.
func TestCoverInTurns(t *testing.T) {
	b := newFullBench(t, enginetest.OpenJournal(t))
	f := func(kind belfry.Kind, name string, mode belfry.Mode, content int, want belfry.Mode, objects int) {
		t.Helper()
		what := fmt.Sprintf("%s %v", name, mode)
		code, out := b.Operate(t, engine.Action{Kind: kind, List: engine.Names(name), Manage: &status.Order{Mode: mode}}, engine.Repeat{})
		if code != 200 || out.Items[0].Content != content {
			t.Errorf("%s: %d %+v", what, code, out)
		}
		if got := b.modes()[want]; got != objects {
			t.Errorf("%s: %d objects follow it, want %d", what, got, objects)
		}
		b.checkTurns(t, what, 3)
	}
	f(belfry.KindView, "MAIN", belfry.UnmanagedDrop, 2004, belfry.UnmanagedDrop, 2000)
	f(belfry.KindView, "MAIN", belfry.Managed, 2004, belfry.Managed, 2000)
	f(belfry.KindResource, "res0000", belfry.CollectorStopped, 1000, belfry.CollectorStopped, 1000)
	f(belfry.KindView, "view0000", belfry.UnmanagedKeep, 2002, belfry.UnmanagedKeep, 1000)
	f(belfry.KindResource, "res0000", belfry.Managed, 1000, belfry.UnmanagedKeep, 2000)
	f(belfry.KindView, "view0000", belfry.UnmanagedIfDown, 2002, belfry.UnmanagedIfDown, 2000)
	f(belfry.KindView, "view0000", belfry.Managed, 2002, belfry.Managed, 2000)

	b.bulk(t, false, "custom", "name,view\nres0001,aside\n", intake.Options{})
	b.checkTurns(t, "moved to where nothing is managed", 3)
	if got := b.modes()[belfry.UnmanagedKeep]; got != 1000 {
		t.Errorf("%d objects have been moved", got)
	}
	b.bulk(t, false, "custom", "name,view\nres0001,view0000\n", intake.Options{Atomic: true})
	b.checkTurns(t, "and back", 3)

	order := &status.Order{Mode: belfry.UnmanagedKeep, From: b.Now() + 60*second, To: b.Now() + 120*second}
	b.Operate(t, engine.Action{Kind: belfry.KindView, List: engine.Names("view0000"), Manage: order}, engine.Repeat{})
	b.Records = nil
	b.pass(t, time.Minute)
	b.checkTurns(t, "a window opens", 3)
	if got := b.modes()[belfry.UnmanagedKeep]; got != 2000 {
		t.Errorf("%d objects in an open window", got)
	}
	b.pass(t, time.Minute)
	b.checkTurns(t, "a window closes", 3)
	if got := b.modes()[belfry.Managed]; got != 2000 {
		t.Errorf("%d objects out of the window", got)
	}

	if code, out := b.Operate(t, engine.Action{Kind: belfry.KindView, List: engine.Names("view0000"), Manage: &status.Order{Mode: belfry.UnmanagedKeep}, DryRun: true}, engine.Repeat{}); code != 200 || out.Items[0].Content != 2002 || len(b.Records) > 0 {
		t.Errorf("dry run: %d %+v", code, out)
	}
	order = &status.Order{Mode: belfry.UnmanagedKeep}
	b.Operate(t, engine.Action{Kind: belfry.KindView, List: engine.Names("view0000"), Manage: order}, engine.Repeat{Key: "k"})
	if got := b.modes()[belfry.UnmanagedKeep]; got != 2000 || b.Records[0].Answer == nil {
		t.Errorf("with a key: %d objects", got)
	}
	b.checkTurns(t, "with a key", 3)
	b.fail(t, 1)
	code, out := b.Operate(t, engine.Action{Kind: belfry.KindView, List: engine.Names("view0000"), Manage: &status.Order{}, Ack: &belfry.Ack{}}, engine.Repeat{Key: "both"})
	if code != 200 || len(out.Items) != 2 || out.Items[1].Content != 1 || len(b.Records) != 1 {
		t.Errorf("managed and acknowledged with a key: %d %+v", code, out)
	}
}

// TestAcknowledgeInTurns: the errors of very many objects in one view are acknowledged in turns, and told in one event.
func TestAcknowledgeInTurns(t *testing.T) {
	b := newFullBench(t, enginetest.OpenJournal(t))
	ack := func(name string, r engine.Repeat) (int, engine.Acted) {
		t.Helper()
		return b.Operate(t, engine.Action{Kind: belfry.KindView, List: engine.Names(name), Ack: &belfry.Ack{Text: "seen"}}, r)
	}
	if code, out := ack("view0000", engine.Repeat{}); code != 409 || out.Error.Code != belfry.NotInError {
		t.Errorf("nothing in error: %d %+v", code, out)
	}
	b.fail(t, 1200)
	acked := func(want int) {
		t.Helper()
		count := 0
		for n := range b.Tree.Each(b.Tree.Everything(b.Who.Customer)) {
			if n.State.Acknowledged() && n.Kind == belfry.KindObject {
				count++
			}
		}
		if count != want {
			t.Errorf("%d are acknowledged, want %d", count, want)
		}
	}
	code, out := ack("MAIN", engine.Repeat{})
	if code != 200 || len(out.Items) != 1 || out.Items[0].Content != 1200 {
		t.Errorf("%d %+v", code, out)
	}
	events := 0
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if batch.Collection == belfry.Events {
				events += batch.Len()
			}
		}
	}
	if events != 1 {
		t.Errorf("%d events", events)
	}
	b.checkTurns(t, "acknowledge", 3)
	acked(1200)
	if code, out = ack("view0000", engine.Repeat{}); code != 200 || out.Items[0].Content != 1200 {
		t.Errorf("again: %d %+v", code, out)
	}
	if code, out = ack("view0000", engine.Repeat{Key: "k"}); code != 200 || out.Items[0].Content != 1200 {
		t.Errorf("with a key: %d %+v", code, out)
	}
}

// TestActWhole: an acknowledgment with an Idempotency-Key is one record, so it does not cover any number of items.
func TestActWhole(t *testing.T) {
	b := newBench(t)
	b.Grow(t, engine.ActWhole)
	b.fail(t, 1)
	f := func(a engine.Action, r engine.Repeat, want belfry.Code) {
		t.Helper()
		a.Kind = belfry.KindView
		if _, out := b.Operate(t, a, r); want == "" && len(out.Errors) > 0 || want != "" && (len(out.Errors) != 1 || out.Errors[0].Code != want) {
			t.Errorf("%+v", out)
		}
	}
	f(engine.Action{List: engine.Names("MAIN"), Ack: &belfry.Ack{}}, engine.Repeat{Key: "1"}, belfry.LimitReached)
	f(engine.Action{List: engine.Names("MAIN"), Ack: &belfry.Ack{}}, engine.Repeat{}, "")
	f(engine.Action{List: engine.Names("res0000", "MAIN"), Ack: &belfry.Ack{}}, engine.Repeat{Key: "2"}, belfry.LimitReached)
	b.Records = nil
	f(engine.Action{List: engine.Names("MAIN"), Manage: &status.Order{Mode: belfry.UnmanagedKeep}}, engine.Repeat{Key: "3"}, "")
	if got := b.modes()[belfry.UnmanagedKeep]; got != engine.ActWhole {
		t.Errorf("%d objects are unmanaged", got)
	}
	b.checkTurns(t, "managed with a key", 10)
}

// TestCoverAfterCrash: what is left undone when the process is killed is done after the next start.
func TestCoverAfterCrash(t *testing.T) {
	for _, mode := range []belfry.Mode{belfry.UnmanagedKeep, belfry.Managed} {
		j := &failing{Journal: &enginetest.Memory{}}
		b := newFullBench(t, j)
		if mode == belfry.Managed {
			b.Operate(t, engine.Action{Kind: belfry.KindView, List: engine.Names("MAIN"), Manage: &status.Order{Mode: belfry.UnmanagedKeep}}, engine.Repeat{})
		}
		j.left.Store(4) // the order, and two turns
		_, err := b.Act(t.Context(), b.Who, engine.Action{Kind: belfry.KindView, List: engine.Names("MAIN"), Manage: &status.Order{Mode: mode}})
		if belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Fatal(err)
		}
		g, err := newStage(&enginetest.Memory{Records: j.Journal.(*enginetest.Memory).Records}, belfry.At(b.Time()))
		if err != nil {
			t.Fatal(err)
		}
		if left := g.tree.Documents().Reassessments(g.who.Customer); len(left) != 1 {
			t.Fatalf("left are %v", left)
		}
		if err := g.restart(0); err != nil {
			t.Fatal(err)
		}
		if faults := append(g.faults, faultsOf(g.tree.Tenant(g.who.Customer))...); len(faults) > 0 {
			t.Errorf("%v: %.500s", mode, fmt.Sprint(faults))
		}
	}
}

// TestCoverRemoved: a mark goes when its item has been removed.
func TestCoverRemoved(t *testing.T) {
	j := &failing{Journal: enginetest.OpenJournal(t)}
	b := newFullBench(t, j)
	j.left.Store(3)
	if _, err := b.Act(t.Context(), b.Who, engine.Action{Kind: belfry.KindView, List: engine.Names("res0000"), Manage: &status.Order{Mode: belfry.UnmanagedKeep}}); err == nil {
		t.Fatal("the journal failed unnoticed")
	}
	j.left.Store(0)
	if _, r := b.bulk(t, true, "custom", "name,view\nres0000,\n", intake.Options{Recursive: true}); r.Removed != 1 {
		t.Fatalf("%+v", r)
	}
	if err := b.Reassess(); err != nil {
		t.Fatal(err)
	}
	// What the failed action has left goes on beside this, so records belong to the sequencer.
	if err := b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(*engine.Tx) error {
		b.Records = nil
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	b.checkTurns(t, "removed", 0)
	if got := b.modes()[belfry.Managed]; got != 1000 {
		t.Errorf("%d objects are left", got)
	}
}

// TestMoveToPolicies: a resource with much in it that is moved to where other policies count follows them in turns.
func TestMoveToPolicies(t *testing.T) {
	b := newDiskBench(t, enginetest.OpenJournal(t))
	b.bulk(t, false, "view", "name,view\nstrict,MAIN\n", intake.Options{})
	b.policy(t, "p", says("view", "strict", "", 50))
	b.Records = nil
	b.bulk(t, false, "custom", "name,view\nweb01,strict\n", intake.Options{})
	b.checkTurns(t, "moved", 3)
	if got := b.showing(belfry.Critical); got != manyDisks {
		t.Errorf("%d of %d objects follow the policy", got, manyDisks)
	}
}

// TestBelow lists what stands in a view.
func TestBelow(t *testing.T) {
	b := newFullBench(t, enginetest.OpenJournal(t))
	var main *meta.Node
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) { main = e.Main })
	seen := map[*meta.Node]bool{main: true}
	list := b.Tree.Below(main)
	for _, n := range list {
		if seen[n] || !seen[n.Parent] {
			t.Errorf("%s stands there twice, or before %s", n.Name, n.Parent.Name)
		}
		seen[n] = true
	}
	if len(list) != 2004 {
		t.Errorf("%d items", len(list))
	}
}

// TestBusy: how long a round takes can be seen from outside while it is under way, and that it is over.
func TestBusy(t *testing.T) {
	b := newBench(t)
	took := time.Duration(0)
	err := b.Do(&engine.Command{Customer: b.Who.Customer, Decide: func(*engine.Tx) error {
		took = b.Busy()
		return nil
	}})
	if err != nil || took <= 0 {
		t.Errorf("%v, %s in the middle of a round", err, took)
	}
	for b.Busy() > 0 {
		runtime.Gosched()
	}
}
