package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
)

// restart gives a bench as it would be after a stop: its tree is made from the records alone. What was before stands still.
func (b *bench) restart(t testing.TB, later time.Duration) *bench {
	t.Helper()
	n := &bench{Bench: b.Restart(t, later)}
	n.Intake = intake.New(intake.Config{Engine: n.Sequencer})
	n.pass(t, 0)
	return n
}

// alarms lists the alarm events of an item: "time previous>status info".
func (b *bench) alarms(name string) []string { return b.eventsOf("alarm", name) }

// eventsOf lists the events of a type about an item in the same way.
func (b *bench) eventsOf(kind, name string) (list []string) {
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if batch.Collection != belfry.Events {
				continue
			}
			for i, at := range batch.Times {
				n := b.Tree.Node(belfry.ID(max(batch.Column(belfry.ItemColumn).Ints[i], 0)))
				if n == nil || n.Name != name || batch.Column("type").Texts[i] != kind {
					continue
				}
				info := ""
				if c := batch.Column("info"); c != nil {
					info = c.Texts[i]
				}
				list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s>%s %s", at.Std().Format("Mon 15:04:05"),
					belfry.Status(batch.Column("previous").Ints[i]), belfry.Status(batch.Column("status").Ints[i]), info)))
			}
		}
	}
	return list
}

func (b *bench) wantAlarms(t testing.TB, name string, want ...string) {
	t.Helper()
	if got := b.alarms(name); !slices.Equal(got, want) {
		t.Errorf("alarms of %s:\ngot  %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

const office = `{"kind":"view","item":"DMZ","period":{"timezone":"UTC","times":["mon-fri 08:00-18:00"]}}`

// TestPeriod begins on a Sunday at three in the morning.
func TestPeriod(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 90)
	b.data(t, "web02", "web02", "b", 90)
	b.shows(t, "web01/a=2 web02/b=2 DMZ=2")
	b.policy(t, "office", office)
	b.shows(t, "web01/a=? web01/R2=? DMZ=? web02/b=2 MAIN=2")
	// New objects are quiet at once, and data change nothing that is shown.
	b.data(t, "web01", "R1", "new", 90)
	b.data(t, "web01", "R2", "a", 10)
	b.data(t, "web01", "R2", "a", 95)
	b.shows(t, "web01/new=? web01/a=? DMZ=?")
	// What a dry run would have made leaves nothing to the object that gets its number.
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,dry,disk,R2,90\n", intake.Options{DryRun: true})
	b.data(t, "web02", "web02", "wet", 90)
	b.data(t, "web02", "web02", "wet", 91)
	b.pass(t, 0)
	b.shows(t, "web02/wet=2")
	b.pass(t, 28*time.Hour+59*time.Minute) // Monday 07:59
	b.shows(t, "web01/a=? DMZ=?")
	b.pass(t, time.Minute)
	b.shows(t, "web01/a=2 web01/new=2 web01/R2=2 DMZ=2")
	b.data(t, "web01", "R2", "a", 10)
	b.pass(t, 10*time.Hour+5*time.Second) // a little late
	b.shows(t, "web01/a=? web01/new=? DMZ=?")
	b.wantAlarms(t, "a", "Sun 03:00:00 ?>2 Used 90 % (>= 80)", "Sun 03:00:00 2>? outside its monitoring period",
		"Mon 08:00:00 ?>2 Used 95 % (>= 80)", "Mon 08:00:00 2>0 Used 10 %", "Mon 18:00:00 0>? outside its monitoring period")
	b.wantAlarms(t, "new", "Mon 08:00:00 ?>2 Used 90 % (>= 80)", "Mon 18:00:00 2>? outside its monitoring period")
	b.noPolicy(t, "office")
	b.shows(t, "web01/a=0 web01/new=2 DMZ=2")
}

// TestPeriodNearest: one inside another takes its place, for the interval or the thresholds of the outer one it does not.
func TestPeriodNearest(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 1)
	b.data(t, "web01", "R2", "b", 1)
	b.policy(t, "office", office)
	b.shows(t, "web01/a=? web01/b=?")
	b.policy(t, "always", `{"kind":"object","item":"a","period":{"times":["00:00-24:00"]}}`)
	b.shows(t, "web01/a=0 web01/b=?")
	b.policy(t, "sharp", says("view", "R2", "web01", 1))
	b.shows(t, "web01/a=3 web01/b=?")
	b.noPolicy(t, "always")
	b.shows(t, "web01/a=? web01/b=?")
	b.noPolicy(t, "office")
	b.shows(t, "web01/a=3 web01/b=3")
}

// TestPeriodOverRestart stops before a period begins and starts after it did; and the other way round.
func TestPeriodOverRestart(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 90)
	b.policy(t, "office", office)
	b = b.restart(t, time.Hour) // still Sunday
	b.shows(t, "web01/a=?")
	b = b.restart(t, 30*time.Hour) // Monday 10:00
	b.shows(t, "web01/a=2 DMZ=2")
	b.pass(t, 8*time.Hour)
	b.shows(t, "web01/a=?")
	b = b.restart(t, 14*time.Hour) // Tuesday 08:00
	b.shows(t, "web01/a=2")
	b = b.restart(t, 4*24*time.Hour+time.Hour) // Saturday 09:00
	b.shows(t, "web01/a=?")
	b.pass(t, 47*time.Hour) // Monday 08:00
	b.shows(t, "web01/a=2")
	const value, quiet = " ?>2 Used 90 % (>= 80)", " 2>? outside its monitoring period"
	b.wantAlarms(t, "a", "Sun 03:00:00"+value, "Sun 03:00:00"+quiet, "Mon 08:00:00"+value, "Mon 18:00:00"+quiet, "Tue 08:00:00"+value,
		"Fri 18:00:00"+quiet, "Mon 08:00:00"+value)
	b.noPolicy(t, "office")
	b = b.restart(t, 12*time.Hour)
	b.shows(t, "web01/a=2")
}

// TestPeriodAndManagement: neither ends what the other began.
func TestPeriodAndManagement(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 90)
	b.policy(t, "office", office)
	d := func(b *bench) *meta.Node { return b.Tree.Tenant(b.Who.Customer).Resource("web01").Object("a") }
	set := func(m belfry.Mode) {
		t.Helper()
		err := b.Do(&engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(t *engine.Tx) error {
			c := &belfry.OperatorState{Mode: m, From: t.Now}
			if m == belfry.Managed {
				c = nil
			}
			t.SetOperatorState(d(b), c, m.String(), "anna")
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	set(belfry.UnmanagedKeep)
	b.shows(t, "web01/a=?")
	b.pass(t, 30*time.Hour) // Monday 09:00
	b.shows(t, "web01/a=? DMZ=?")
	set(belfry.Managed)
	b.shows(t, "web01/a=2 DMZ=2")
	set(belfry.UnmanagedKeep)
	b.pass(t, 10*time.Hour) // Monday 19:00
	set(belfry.Managed)
	b.shows(t, "web01/a=? DMZ=?")
	b.pass(t, 13*time.Hour)
	b.shows(t, "web01/a=2 DMZ=2")
}

// TestPeriodAndMoves moves objects into a period and out of it.
func TestPeriodAndMoves(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 90)
	b.policy(t, "office", office)
	provision := func(body string) {
		t.Helper()
		if code, answer, err := b.Provision(context.Background(), b.Who, "custom", strings.NewReader(body), intake.Options{}); err != nil || code != 200 {
			t.Fatalf("%d %s %v", code, answer, err)
		}
	}
	provision("name,view\nweb01,MAIN\n")
	b.shows(t, "web01/a=2 MAIN=2")
	provision("name,view\nweb01,Web\n")
	b.shows(t, "web01/a=? MAIN=?")
	b.pass(t, 30*time.Hour) // Monday 09:00
	b.shows(t, "web01/a=2")
}

// TestPeriodOfMany ends a period for more objects than one tick takes.
func TestPeriodOfMany(t *testing.T) {
	b := newPolicyBench(t)
	const many = 2*engine.TickItems + 7
	var rows strings.Builder
	rows.WriteString("type,resname,object,class,view,i1\n")
	for i := range many {
		fmt.Fprintf(&rows, "data,web01,o%d,disk,R2,1\n", i)
	}
	b.policy(t, "office", office)
	b.send(t, rows.String(), intake.Options{})
	count := func(want belfry.Status) {
		t.Helper()
		n := 0
		b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
			e.ByStatus(want, func(o *meta.Node) bool {
				if o.Kind == belfry.KindObject {
					n++
				}
				return true
			})
		})
		if n != many {
			t.Errorf("%d of %d objects are %s", n, many, want)
		}
	}
	count(belfry.Unknown)
	before := len(b.Records)
	b.pass(t, 30*time.Hour)
	count(belfry.OK)
	if n := len(b.Records) - before; n != 3 {
		t.Errorf("%d records, want 3", n)
	}
	for _, r := range b.Records[before:] {
		if len(r.States) > engine.TickItems+10 {
			t.Errorf("a record of %d states", len(r.States))
		}
	}
	b.pass(t, 10*time.Hour)
	count(belfry.Unknown)
}
