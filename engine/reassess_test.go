package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
)

const manyDisks = 2*engine.TurnItems + 10

// newDiskBench has many objects of class disk with the value 70, which is OK.
func newDiskBench(t testing.TB, j engine.Journal) *bench {
	t.Helper()
	b := newBenchOn(t, j)
	b.furnish(t)
	var rows strings.Builder
	rows.WriteString("type,resname,object,class,view,i1\n")
	for i := range manyDisks {
		fmt.Fprintf(&rows, "data,web01,many%d,disk,web01,70\n", i)
	}
	if code, r := b.send(t, rows.String(), intake.Options{}); code != 200 {
		t.Fatalf("%d %+v", code, r)
	}
	b.Records = nil
	return b
}

// showing counts the objects among them that show a status.
func (b *bench) showing(s belfry.Status) (count int) {
	for n := range b.Tree.Each(b.Tree.Everything(b.Who.Customer)) {
		if strings.HasPrefix(n.Name, "many") && n.State.Status == s {
			count++
		}
	}
	return count
}

func diskAt(value int) string {
	return fmt.Sprintf("name: disk\nindicators: [{n: 1, name: Used, unit: '%%', thresholds: [{when: '>= %d', status: 2}]}, {n: 2, type: string}]\n", value)
}

// TestReassessInTurns: a class or a policy over many objects never holds the sequencer for all of them, and counts for
// each when the request is answered.
func TestReassessInTurns(t *testing.T) {
	b := newDiskBench(t, enginetest.OpenJournal(t))
	f := func(what string, want belfry.Status, change func()) {
		t.Helper()
		b.Records = nil
		change()
		for _, r := range b.Records {
			if len(r.States) > engine.TurnItems+10 { // and what they stand in
				t.Errorf("%s: %d states in one turn", what, len(r.States))
			}
		}
		if got := b.showing(want); got != manyDisks {
			t.Errorf("%s: %d of %d objects follow it", what, got, manyDisks)
		}
		if left := b.Tree.Documents().Reassessments(b.Who.Customer); len(left) > 0 {
			t.Errorf("%s: left are %v", what, left)
		}
	}
	class := func(value int) func() {
		return func() {
			if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, diskAt(value))); err != nil {
				t.Fatal(err)
			}
		}
	}
	f("thresholds of the class", belfry.Major, class(60))
	f("and back", belfry.OK, class(80))
	f("a policy", belfry.Critical, func() { b.policy(t, "p", says("view", "DMZ", "", 50)) })
	f("another item", belfry.Critical, func() { b.policy(t, "p", says("resource", "web01", "", 50)) })
	f("no policy", belfry.OK, func() { b.noPolicy(t, "p") })
}

// TestReassessAfterCrash: what a crash, or a journal that cannot be written, leaves undone is done by the next request for
// the same, or after the next start.
func TestReassessAfterCrash(t *testing.T) {
	j := &failing{Journal: enginetest.OpenJournal(t)}
	b := newDiskBench(t, j)
	j.left.Store(3) // the class itself, and one turn
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, diskAt(60))); err == nil {
		t.Fatal("the journal failed unnoticed")
	}
	if got := b.showing(belfry.Major); got == 0 || got == manyDisks {
		t.Fatalf("%d objects follow the class", got)
	}
	j.left.Store(0)
	if left := b.Tree.Documents().Reassessments(b.Who.Customer); len(left) != 1 || left[0] != "class disk" {
		t.Fatalf("left are %v", left)
	}
	if err := b.Reassess(); err != nil {
		t.Fatal(err)
	}
	if got, left := b.showing(belfry.Major), b.Tree.Documents().Reassessments(b.Who.Customer); got != manyDisks || len(left) > 0 {
		t.Errorf("%d objects follow the class, left are %v", got, left)
	}
	j.left.Store(3)
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, diskAt(80))); err == nil {
		t.Fatal("the journal failed unnoticed")
	}
	j.left.Store(0)
	if result, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, diskAt(80))); err != nil || result != engine.ResultUnchanged {
		t.Fatalf("%s, %v", result, err)
	}
	if got := b.showing(belfry.OK); got != manyDisks {
		t.Errorf("%d objects follow the class", got)
	}
}

// failing is a journal in which left counts down with every append; it fails while that is 1.
type failing struct {
	engine.Journal
	left atomic.Int32
}

func (j *failing) Append(payloads ...[]byte) (belfry.Position, error) {
	switch left := j.left.Load(); left {
	case 0:
	case 1:
		return 0, errors.New("device error")
	default:
		j.left.Store(left - 1)
	}
	return j.Journal.Append(payloads...)
}
