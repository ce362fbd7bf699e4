package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/status"
)

// alarmTexts lists the alarms of views and resources from the given record on, in their order.
func (b *bench) alarmTexts(from int) (list []string) {
	for _, r := range b.Records[from:] {
		for _, batch := range r.Batches {
			if batch.Collection != belfry.Events {
				continue
			}
			for i, kind := range batch.Column("type").Texts {
				if kind == "alarm" && batch.Column("source").Texts[i] != "object" {
					n := b.Tree.Node(belfry.ID(batch.Column(belfry.ItemColumn).Ints[i]))
					list = append(list, fmt.Sprintf("%s %s: %s", n.Name, belfry.Status(batch.Column("status").Ints[i]), batch.Column("info").Texts[i]))
				}
			}
		}
	}
	return list
}

// TestRecoverySaysTheValue: the alarm of an object that has recovered says which value ended its error, or else that it is OK.
func TestRecoverySaysTheValue(t *testing.T) {
	b := newBench(t)
	def := "name: disk\nindicators: [{n: 1, name: Used, unit: '%', thresholds: [{when: '>= 80', status: 1}, {when: '>= 95', status: 3}]}, {n: 2, name: State, type: string, thresholds: [{when: '<> up', status: 3}]}]\n"
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, def)); err != nil {
		t.Fatal(err)
	}
	b.provision(t, "web01")
	f := func(what func(), want ...string) {
		t.Helper()
		from := len(b.alarms("X"))
		what()
		if got := b.alarms("X")[from:]; len(got) != len(want) || len(got) > 0 && !strings.HasSuffix(got[0], " "+want[0]) {
			t.Errorf("alarms %q, want %q", got, want)
		}
	}
	send := func(values string) func() {
		return func() {
			b.send(t, "type,resname,view,class,object,i1,i2\ndata,web01,web01,disk,X,"+values+"\n", intake.Options{})
		}
	}
	f(send("1,up"), "?>0") // the first status is no recovery
	f(send("97,up"), "0>3 Used 97 % (>= 95)")
	f(send("85,up"), "3>1 Used 85 % (>= 80)")
	f(send("7,up"), "1>0 Used 7 %")
	f(send("8,up"))
	f(send("8,down"), "0>3 State down (<> up)")
	f(send("9,up"), "3>0 State up")
	gone := func() {
		b.one(t, belfry.Row{Type: "data", Resource: "web01", Object: "X", NoResponse: true})
	}
	f(send("97,up"), "0>3 Used 97 % (>= 95)")
	f(gone, "3>- no response")
	f(send("1,up"), "->0 OK")
	f(send("85,up"), "0>1 Used 85 % (>= 80)")
	f(func() {
		b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, strings.Replace(def, ">= 80", ">= 90", 1)))
	}, "1>0 OK")
}

// TestAlarmsNameTheCause: an alarm of a view or resource says which object is the reason, and what its data say.
func TestAlarmsNameTheCause(t *testing.T) {
	b := newBench(t)
	def := "name: disk\ninterval: 60s\nindicators: [{n: 1, name: Used, unit: '%', thresholds: [{when: '>= 80', status: 1}, {when: '>= 95', status: 3}]}]\n"
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, def)); err != nil {
		t.Fatal(err)
	}
	b.bulk(t, false, "view", "name,view\nEurope,MAIN\nParis,Europe\n", intake.Options{})
	b.bulk(t, false, "custom", "name,view\nweb01,Paris\nweb02,Paris\n", intake.Options{})
	f := func(what func(), want ...string) {
		t.Helper()
		from := len(b.Records)
		what()
		if got := b.alarmTexts(from); !slices.Equal(got, want) {
			t.Errorf("alarms\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	send := func(rows string) func() {
		return func() { b.send(t, "type,resname,view,parentview,class,object,i1\n"+rows, intake.Options{}) }
	}
	f(send("data,web01,Disks,web01,disk,X,97\n"), "Disks 3: object X: Used 97 % (>= 95)", "web01 3: object X: Used 97 % (>= 95)",
		"Paris 3: object X of web01: Used 97 % (>= 95)", "Europe 3: object X of web01: Used 97 % (>= 95)", "MAIN 3: object X of web01: Used 97 % (>= 95)")
	f(send("data,web02,web02,,disk,Y,85\n"), "web02 1: object Y: Used 85 % (>= 80)") // nothing new around it
	f(send("data,web01,,,,X,1\n"), "Disks 0: object X: OK", "web01 0: object X: OK", // what is left is worse
		"Paris 1: object Y of web02: Used 85 % (>= 80)", "Europe 1: object Y of web02: Used 85 % (>= 80)", "MAIN 1: object Y of web02: Used 85 % (>= 80)")
	f(send("data,web02,,,,Y,1\n"), "web02 0: object Y: OK", "Paris 0: object Y of web02: OK", "Europe 0: object Y of web02: OK", "MAIN 0: object Y of web02: OK")
	f(func() {
		b.one(t, belfry.Row{Type: "data", Resource: "web02", Object: "Y", NoResponse: true, Reason: "timeout"})
	}, "web02 -: object Y: timeout", "Paris -: object Y of web02: timeout", "Europe -: object Y of web02: timeout", "MAIN -: object Y of web02: timeout")
	f(func() { b.bulk(t, false, "custom", "name,view\nweb02,MAIN\n", intake.Options{}) },
		"Paris 0: resource web02: moved out", "Europe 0: resource web02: moved out")
	f(func() {
		b.Operate(t, engine.Action{Kind: belfry.KindResource, Items: "web02", Manage: &status.Order{Mode: belfry.UnmanagedKeep}}, engine.Repeat{})
	},
		"MAIN 0: resource web02: unmanaged, data stored")
	f(send("data,web02,,,,Y,99\n"))
	f(func() {
		b.Operate(t, engine.Action{Kind: belfry.KindResource, Items: "web02", Manage: &status.Order{}}, engine.Repeat{})
	},
		"web02 3: object Y: Used 99 % (>= 95)", "MAIN 3: object Y of web02: Used 99 % (>= 95)")
	f(func() { b.bulk(t, true, "object", "name\nY\n", intake.Options{}) }, "web02 ?: object Y: removed", "MAIN 0: object Y of web02: removed")

	// What is bad leaves without recovering, and something else is fine all the while.
	f(send("data,web02,web02,,disk,bad,99\ndata,web02,web02,,disk,good,1\n"), "web02 3: object bad: Used 99 % (>= 95)", "MAIN 3: object bad of web02: Used 99 % (>= 95)")
	f(func() { b.bulk(t, true, "object", "name\nbad\n", intake.Options{}) }, "web02 0: object bad: removed", "MAIN 0: object bad of web02: removed")
	f(send("data,web02,web02,,disk,bad,99\n"), "web02 3: object bad: Used 99 % (>= 95)", "MAIN 3: object bad of web02: Used 99 % (>= 95)")
	unmanage := func(kind belfry.Kind, items string, mode belfry.Mode) func() {
		return func() {
			b.Operate(t, engine.Action{Kind: kind, Items: items, Manage: &status.Order{Mode: mode}}, engine.Repeat{})
		}
	}
	f(unmanage(belfry.KindObject, "bad", belfry.UnmanagedKeep), "web02 0: object bad: unmanaged, data stored", "MAIN 0: object bad of web02: unmanaged, data stored")
	f(unmanage(belfry.KindObject, "bad", belfry.Managed), "web02 3: object bad: Used 99 % (>= 95)", "MAIN 3: object bad of web02: Used 99 % (>= 95)")
	f(unmanage(belfry.KindView, "Europe", belfry.UnmanagedKeep))
	b.Advance(170 * time.Second)
	f(send("data,web02,,,,good,1\n"))
	b.Advance(100 * time.Second)
	f(send("data,web02,,,,good,1\n"), "web02 0: object bad: no data since 2026-11-15T03:00:00.000000Z", "MAIN 0: object bad of web02: no data since 2026-11-15T03:00:00.000000Z")
}

// TestAlarmsNameTheWorst: when several objects change at one moment, alarms of what is around them name the one that was worst, whatever
// their order, and not one that was OK all the while.
func TestAlarmsNameTheWorst(t *testing.T) {
	for _, order := range [][3]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "c"}} {
		b := newBench(t)
		def := "name: disk\ninterval: 60s\nindicators: [{n: 1, name: Used, unit: '%', thresholds: [{when: '>= 80', status: 1}, {when: '>= 95', status: 3}]}]\n"
		if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, def)); err != nil {
			t.Fatal(err)
		}
		b.provision(t, "web01")
		values := map[string]string{"a": "97", "b": "85", "c": "1"}
		f := func(what func(), want ...string) {
			t.Helper()
			from := len(b.Records)
			what()
			if got := b.alarmTexts(from); !slices.Equal(got, want) {
				t.Errorf("%v: alarms\n  %s\nwant\n  %s", order, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
		}
		send := func() {
			rows := "type,resname,view,class,object,i1\n"
			for _, name := range order {
				rows += "data,web01,web01,disk," + name + "," + values[name] + "\n"
			}
			b.send(t, rows, intake.Options{})
		}
		bad := []string{"web01 3: object a: Used 97 % (>= 95)", "MAIN 3: object a of web01: Used 97 % (>= 95)"}
		if send(); b.Statuses()["web01"] != "3" {
			t.Fatal(b.Statuses())
		}
		now := belfry.At(b.Time())
		window := status.Order{Mode: belfry.UnmanagedKeep, From: now + belfry.Time(time.Second/time.Microsecond), To: now + belfry.Time(2*time.Second/time.Microsecond)}
		b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names(order[:]...), Manage: &window}, engine.Repeat{})
		f(func() { b.pass(t, time.Second) }, "web01 ?: object a: unmanaged, data stored", "MAIN ?: object a of web01: unmanaged, data stored")
		f(func() { b.pass(t, time.Second) }, bad...)
		f(func() { b.pass(t, 10*time.Minute) },
			"web01 ?: object a: no data since 2026-11-15T03:00:00.000000Z", "MAIN ?: object a of web01: no data since 2026-11-15T03:00:00.000000Z")
		send()
		f(func() {
			b.policy(t, "all", `{"kind":"resource","item":"web01","thresholds":[{"class":"disk","n":1,"thresholds":[]}]}`)
		},
			"web01 0: object a: OK", "MAIN 0: object a of web01: OK")
	}
}

// TestAlarmsNameNothingOutside: the alarm of a view says where an item was moved to only if that is inside the view; whoever
// sees the view alone learns nothing of what is around it.
func TestAlarmsNameNothingOutside(t *testing.T) {
	b := newBench(t)
	def := "name: disk\nindicators: [{n: 1, name: Used, unit: '%', thresholds: [{when: '>= 95', status: 3}]}]\n"
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, def)); err != nil {
		t.Fatal(err)
	}
	b.bulk(t, false, "view", "name,view\nSite,MAIN\nSub,Site\nMuted,Site\nSecret,MAIN\nVault,Secret\n", intake.Options{})
	b.bulk(t, false, "custom", "name,view\nmv01,Sub\nmv02,Secret\nfine,Site\n", intake.Options{})
	b.send(t, "type,resname,view,class,object,i1\ndata,mv01,mv01,disk,X,97\ndata,mv02,mv02,disk,X,97\ndata,fine,fine,disk,X,1\n", intake.Options{})
	b.Operate(t, engine.Action{Kind: belfry.KindView, Items: "Muted", Manage: &status.Order{Mode: belfry.UnmanagedKeep}}, engine.Repeat{})
	f := func(pkg, name, view string, want ...string) {
		t.Helper()
		from := len(b.Records)
		b.bulk(t, false, pkg, "name,view\n"+name+","+view+"\n", intake.Options{})
		if got := b.alarmTexts(from); !slices.Equal(got, want) {
			t.Errorf("%s to %s: alarms\n  %s\nwant\n  %s", name, view, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	f("custom", "mv01", "Muted", "mv01 ?: unmanaged, data stored", "Sub ?: resource mv01: moved out", "Site 0: resource mv01: moved to Muted")
	f("custom", "mv01", "Sub", "mv01 3: object X: Used 97 % (>= 95)", "Sub 3: object X of mv01: Used 97 % (>= 95)", "Site 3: object X of mv01: Used 97 % (>= 95)")
	f("custom", "mv01", "Vault", "Sub ?: resource mv01: moved out", "Vault 3: object X of mv01: Used 97 % (>= 95)", "Site 0: resource mv01: moved out")
	f("view", "Vault", "Site", "Site 3: object X of mv01: Used 97 % (>= 95)")
	f("view", "Vault", "MAIN", "Site 0: view Vault: moved out")
	f("custom", "mv02", "Sub", "Sub 3: object X of mv02: Used 97 % (>= 95)", "Secret ?: resource mv02: moved out", "Site 3: object X of mv02: Used 97 % (>= 95)")
}
