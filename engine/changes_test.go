package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/audit"
	"belfry/engine/enginetest"
	"belfry/intake"
)

// TestConfigurationEvents: whatever rows change of the configuration is told with its name, who did it, and what was before.
func TestConfigurationEvents(t *testing.T) {
	b := newBench(t)
	b.Who.Name = "ann"
	b.provision(t, "web02")
	f := func(what func(), want ...string) {
		t.Helper()
		from := len(b.Records)
		what()
		if got := b.Configurations(from); !slices.Equal(got, want) {
			t.Errorf("events\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	provision := func(pkg, body string) func() {
		return func() {
			if code, r := b.bulk(t, false, pkg, body, intake.Options{}); code != 200 {
				t.Helper()
				t.Errorf("%s %q: %s", pkg, body, enginetest.Brief(r))
			}
		}
	}
	remove := func(pkg, body string, recursive bool) func() {
		return func() { b.bulk(t, true, pkg, body, intake.Options{Recursive: recursive}) }
	}
	send := func(body string) func() {
		return func() {
			if code, r := b.send(t, body, intake.Options{}); code != 200 {
				t.Helper()
				t.Errorf("%q: %s", body, enginetest.Brief(r))
			}
		}
	}

	f(provision("view", "name,view\nEurope,MAIN\n"), "ann: view Europe created in MAIN, class generic")
	f(provision("view", "name,view,autoarrange\nEurope,MAIN,linear\n"), "ann: view Europe changed: autoarrange: none -> linear")
	f(provision("custom", "name,view\nweb01,Europe\n"), "ann: resource web01 created in Europe, package custom")
	f(provision("custom", "name,view\nweb01,MAIN\n"), "ann: resource web01 changed: view: Europe -> MAIN")
	f(provision("custom", "name,view\nweb01,MAIN\n")) // unchanged
	f(provision("network-ping", "name,ip_address_fqdn\nPing,192.0.2.1\n"),
		"ann: resource Ping created in MAIN, package network-ping, with object Ping - Ping: ip_address_fqdn = 192.0.2.1")
	f(provision("network-ping", "name,ip_address_fqdn,interval\nPing,192.0.2.2,30s\n"),
		"ann: resource Ping changed: ip_address_fqdn: 192.0.2.1 -> 192.0.2.2, interval: 60s -> 30s")
	f(provision("label", "name,text\nTitle,Hello\n"), `ann: label Title created in MAIN: text = Hello`)
	f(provision("log-trap-receiver", "name,community\nTraps,geheim\n"), "ann: resource Traps created in MAIN, package log-trap-receiver, with object Traps - Receiver: community = ***")
	f(provision("log-trap-receiver", "name,community\nTraps,anders\n"), "ann: resource Traps changed: community: *** -> ***")

	f(send("type,resname,class,view,parentview\ncreateview,web01,rack,Disks,web01\n"), "ann: view Disks of web01 created, class rack")
	f(send("type,resname,class,view,parentview\ncreateview,web01,row,Disks,web01\n"), "ann: view Disks of web01 changed: class: rack -> row")
	f(send("type,resname,class,view,object,i1,ip\ndata,web01,load,Disks,cpu,1,192.0.2.7\n"),
		"ann: object cpu of web01 created in Disks, class load: ip = 192.0.2.7", "ann: class load created, inferred")
	f(send("type,resname,object,i1,i2,host\ndata,web01,cpu,1,2,db\n"),
		`ann: object cpu of web01 changed: host: "" -> db`, "ann: class load changed: i2 added")
	f(send("type,resname,object,i1\ndata,web01,cpu,1\n"))
	f(send("type,resname,class,view,parentview,object,log\nlog,web01,load,Rack,web01,lines,hello\n"),
		"ann: view Rack of web01 created, class generic", "ann: object lines of web01 created in Rack, class load")
	f(func() {
		if _, _, err := b.CreateView(context.Background(), b.Who, map[string]string{"resname": "web01", "class": "rack", "name": "Fans", "view": "web01", "posx": "10", "posy": "20"}); err != nil {
			t.Fatal(err)
		}
	}, "ann: view Fans of web01 created, class rack: posx = 10, posy = 20")
	f(func() {
		b.one(t, belfry.Row{By: &belfry.Actor{Name: "agent"}, Type: "data", Resource: "web01", Object: "mem", Class: "load", View: "web01", Indicators: []belfry.Cell{{N: 1, Text: "1"}}})
	}, "agent: object mem of web01 created, class load")
	f(provision("object", "name,resname,view\nmem,web01,Disks\n"), "ann: object mem of web01 changed: view: web01 -> Disks")

	f(remove("object", "name,resname\nmem,web01\n", false), "ann: object mem of web01 removed")
	f(remove("label", "name\nTitle\n", false), "ann: label Title removed")
	f(remove("custom", "name\nweb01\n", false), "ann: resource web01 removed, with 5 inside",
		"ann: 2 objects of web01 removed: cpu, lines; 3 views of web01 removed: Disks, Rack, Fans")
	f(remove("view", "name\nEurope\n", true), "ann: view Europe removed")
	f(func() { b.bulk(t, false, "custom", "name\nweb03\n", intake.Options{DryRun: true}) })
}

// TestConfigurationLists: a body that changes very many items writes few events, of a bounded size, and each name is in one of them.
func TestConfigurationLists(t *testing.T) {
	const items = 3000
	name := func(i int) string { return fmt.Sprintf("name-%05d", i) }
	b := newBench(t)
	b.Who.Name = "ann"
	b.provision(t, "web01", "web02")
	check := func(what string, f func()) {
		t.Helper()
		from := len(b.Records)
		f()
		list := b.Configurations(from)
		all := strings.Join(list, "\n")
		for i := range items {
			if strings.Count(all, name(i)) != 1 {
				t.Fatalf("%s: %s is named %d times", what, name(i), strings.Count(all, name(i)))
			}
		}
		if len(list) > items/40 {
			t.Errorf("%s: %d events", what, len(list))
		}
		for _, text := range list {
			if len(text) > 2*audit.ListSize+100 || !strings.HasPrefix(text, "ann: ") {
				t.Errorf("%s: an event of %d bytes: %.200s", what, len(text), text)
			}
		}
	}
	var rows, names strings.Builder
	rows.WriteString("type,resname,class,view,object,i1\n")
	names.WriteString("name,resname,host\n")
	for i := range items {
		fmt.Fprintf(&rows, "data,web0%d,load,web0%[1]d,%s,1\n", 1+i%2, name(i))
		fmt.Fprintf(&names, "%s,web0%d,h\n", name(i), 1+i%2)
	}
	check("created", func() { b.send(t, rows.String(), intake.Options{}) })
	check("changed", func() { b.bulk(t, false, "object", names.String(), intake.Options{Repeat: engine.Repeat{Key: "k"}}) })
	check("removed", func() { b.bulk(t, true, "object", "name,view\n*,MAIN\n", intake.Options{Recursive: true}) })
}

// TestEventsOfOneTurn: rows of several senders that are decided together are told with their own senders, and events of a change come
// before the alarms that follow from it.
func TestEventsOfOneTurn(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	from := len(b.Records)
	var rows []*belfry.Row
	for i := range 30 {
		rows = append(rows, &belfry.Row{
			By: &belfry.Actor{Name: fmt.Sprint("agent", i%2)}, Type: "data", Resource: "web01", Object: fmt.Sprint("o", i), Class: "load", View: "web01", Indicators: []belfry.Cell{{N: 1, Text: "1"}},
		})
	}
	if err := b.Feed(t.Context(), b.Who.Scope, rows[:2], false); err != nil {
		t.Fatal(err)
	}
	got := b.Configurations(from)
	want := []string{"agent0: object o0 of web01 created, class load", "agent1: object o1 of web01 created, class load", "agent0: class load created, inferred"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if types := b.Records[len(b.Records)-1].Batches[1].Column("type").Texts; !slices.Equal(types[:3], []string{"configuration", "configuration", "configuration"}) {
		t.Errorf("the events come in the order %q", types)
	}
	from = len(b.Records)
	if err := b.Feed(t.Context(), b.Who.Scope, rows[2:], false); err != nil {
		t.Fatal(err)
	}
	got = b.Configurations(from)
	if len(got) != 2 || !strings.HasPrefix(got[0], "agent0: 14 objects of web01 created: o2, o4,") || !strings.HasPrefix(got[1], "agent1: 14 objects of web01 created: o3, o5,") {
		t.Errorf("%q", got)
	}
}

// TestDocumentEvents: changes of classes, policies, pictures and settings say who did what, and what was before.
func TestDocumentEvents(t *testing.T) {
	b := newPolicyBench(t)
	b.Who.Name = "ann"
	f := func(what func() error, want string) {
		t.Helper()
		from := len(b.Records)
		if err := what(); err != nil {
			t.Fatal(err)
		}
		got := b.Configurations(from)
		if len(got) != 1 || got[0] != want {
			t.Errorf("events %q, want %q", got, want)
		}
	}
	put := func(text string) func() error {
		return func() error {
			_, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, text))
			return err
		}
	}
	f(put("name: fan\ninterval: 60s\nindicators: [{n: 1, name: Speed, thresholds: [{when: '> 80', status: 1}]}]\n"),
		`ann: class fan created: i1.name = Speed, i1.thresholds.1.status = 1, i1.thresholds.1.when = > 80, i1.type = number, interval = 60s, log.separator = "\t"`)
	f(put("name: fan\ninterval: 60s\nindicators: [{n: 1, name: Speed, thresholds: [{when: '> 90', status: 1}]}]\n"),
		`ann: class fan updated: i1.thresholds.1.when: > 80 -> > 90`)
	f(func() error { return b.Definitions().DeleteClass(b.Who, "fan", engine.Repeat{}) },
		`ann: class fan removed, was i1.name = Speed, i1.thresholds.1.status = 1, i1.thresholds.1.when = > 90, i1.type = number, interval = 60s, log.separator = "\t"`)

	policy := func(rollup string) func() error {
		return func() error {
			b.policy(t, "p", `{"kind":"view","item":"DMZ","rollup":"`+rollup+`"}`)
			return nil
		}
	}
	f(policy("best"), `ann: policy p created, on view DMZ: item = DMZ, kind = view, rollup = best`)
	f(policy("worst"), `ann: policy p updated, on view DMZ: rollup: best -> worst`)
	f(func() error { b.noPolicy(t, "p"); return nil }, `ann: policy p removed, was item = DMZ, kind = view, rollup = worst`)

	setting := func(next *string, before string) func() error {
		return func() error {
			return b.Definitions().PutSettings(b.Who, 0, map[string]*string{"limits.row_rate": next}, map[string]string{"limits.row_rate": before})
		}
	}
	five := "5"
	f(setting(&five, "0"), `ann: settings changed: limits.row_rate: 0 -> 5`)
	f(setting(nil, "5"), `ann: settings changed: limits.row_rate: 5 -> default`)
}
