package app

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/status"
	"belfry/status/explain"
)

func (m *memory) explain(k belfry.Kind, name string) *explain.Explanation {
	m.Helper()
	e, err := explain.Item(m.tree, m.who.Scope, explain.Wanted{Kind: k, Name: name}, m.seq.Since(), belfry.At(m.now))
	m.must(err)
	return e
}

// TestExplain follows an inventory and reads what is said about it.
func TestExplain(t *testing.T) {
	m := newMemory(t, 1)
	defer func() { m.close() }()
	m.furnish()
	f := func(k belfry.Kind, name, want string) {
		t.Helper()
		if got := m.explain(k, name).Text; got != want {
			t.Errorf("%s %s:\n %s, want\n %s", k, name, got, want)
		}
	}
	part := func(k belfry.Kind, name string, of func(*explain.Explanation) any, want string) {
		t.Helper()
		got, err := json.Marshal(of(m.explain(k, name)))
		if m.must(err); string(got) != want {
			t.Errorf("%s %s:\n %s, want\n %s", k, name, got, want)
		}
	}
	act := func(item string, a engine.Action) {
		t.Helper()
		a.Kind, a.List = belfry.KindView, engine.Names(item)
		m.operate(a)
	}
	f(belfry.KindObject, "a", "a of r0 is Unknown since 2026-11-10T03:00:00.000000Z: no data yet")
	f(belfry.KindResource, "r0", "r0 is Unknown since 2026-11-10T03:00:00.000000Z: of the 2 items in it none has a status that counts")
	m.pass(time.Minute)
	m.value("a", 1)
	f(belfry.KindObject, "a", "a of r0 is OK since 2026-11-10T03:01:00.000000Z: no threshold is in force")
	f(belfry.KindView, "MAIN", "MAIN is OK since 2026-11-10T03:01:00.000000Z: all 1 items in it that count are OK")
	m.pass(time.Minute)
	m.value("c", 9)
	f(belfry.KindObject, "c", "c of r1 is Warning since 2026-11-10T03:02:00.000000Z: Load 9 (>= 5)")
	thresholds := func(e *explain.Explanation) any { return e.Indicators[0].Thresholds }
	part(belfry.KindObject, "c", thresholds,
		`[{"when":"\u003e= 5","status":"1","statusname":"Warning","met":true,"count":1,"after":1,"inforce":true,"decides":true,"source":"class k"},`+
			`{"when":"\u003e= 8","status":"3","statusname":"Critical","recover":"\u003c 6","met":true,"count":1,"after":2,"inforce":false,"decides":false,"source":"class k"}]`)
	m.pass(time.Minute)
	m.value("c", 9)
	m.value("c", 7) // holds on
	f(belfry.KindView, "MAIN", "MAIN is Critical because c in r1 is Critical since 2026-11-10T03:03:00.000000Z: Load 9 (>= 8)")
	f(belfry.KindResource, "r1", "r1 is Critical because c in r1 is Critical since 2026-11-10T03:03:00.000000Z: Load 9 (>= 8)")
	part(belfry.KindObject, "c", func(e *explain.Explanation) any {
		r := e.Indicators[0].Thresholds[1]
		return []any{r.Met, r.InForce, r.Decides}
	}, `[false,true,true]`)
	part(belfry.KindObject, "c", func(e *explain.Explanation) any { return e.Staleness },
		`{"interval":"30m0s","heard":"2026-11-10T03:03:00.000000Z","unknownat":"2026-11-10T04:33:00.000000Z","overdue":false}`)
	part(belfry.KindView, "MAIN", func(e *explain.Explanation) any {
		var names []string
		for _, s := range e.Chain {
			names = append(names, s.Kind+" "+s.Name)
		}
		return names
	}, `["view v","resource r1","object c"]`)
	part(belfry.KindView, "MAIN", func(e *explain.Explanation) any { return e.Rollup }, `{"rule":"worst","counts":{"Critical":1,"OK":1},"items":2,"count":2}`)
	act("c", engine.Action{Ack: &belfry.Ack{Text: "on it", By: "op", Sticky: 600e6}})
	f(belfry.KindObject, "c", "c of r1 is Critical since 2026-11-10T03:03:00.000000Z: Load 9 (>= 8); acknowledged by op at 2026-11-10T03:03:00.000000Z: on it")
	m.silent("d")
	f(belfry.KindView, "v", "v is Unavailable because d in r1 is Unavailable since 2026-11-10T03:03:00.000000Z: no response")
	m.value("c", 1)
	part(belfry.KindObject, "c", func(e *explain.Explanation) any { return e.Acknowledgment },
		`{"text":"on it","by":"op","time":"2026-11-10T03:03:00.000000Z","sticky":"10m0s","untilworse":false,"waitssince":"2026-11-10T03:03:00.000000Z"}`)

	m.pass(time.Minute)
	why, note := "new disks", "call Ann"
	now := belfry.At(m.now)
	act("v", engine.Action{Manage: &status.Order{Mode: belfry.UnmanagedKeep, By: "op", Note: &why, From: now, To: now + 3600e6}, Note: &note})
	f(belfry.KindObject, "d", "d of r1 is Unknown (Unmanaged) since 2026-11-10T03:04:00.000000Z: unmanaged, data stored with the view v, until "+
		"2026-11-10T04:04:00.000000Z (new disks); without that it would be Unavailable, no response")
	f(belfry.KindView, "v", "v is Unknown (Unmanaged) since 2026-11-10T03:04:00.000000Z: unmanaged, data stored, until 2026-11-10T04:04:00.000000Z (new disks)")
	part(belfry.KindObject, "d", func(e *explain.Explanation) any { return e.Management },
		`{"mode":"unmanaged, data stored","own":"managed","inheritedfrom":{"kind":"view","name":"v"},"from":"2026-11-10T03:04:00.000000Z","note":"new disks",`+
			`"window":{"mode":"unmanaged, data stored","open":true,"from":"2026-11-10T03:04:00.000000Z","to":"2026-11-10T04:04:00.000000Z","by":"op"}}`)
	part(belfry.KindView, "v", func(e *explain.Explanation) any { return []any{e.Note, e.Hidden, e.Own.Shown} }, `["call Ann","management",false]`)
	m.pass(3 * time.Hour)
	f(belfry.KindObject, "a", "a of r0 is Unknown since 2026-11-10T04:31:00.000000Z: no data since 2026-11-10T03:01:00.000000Z")
}

// TestExplainMany sees that an answer about a great many stays short.
func TestExplainMany(t *testing.T) {
	m := newMemory(t, 1)
	defer func() { m.close() }()
	body := "type,resname,object,class,view\n"
	for _, a := range "abcdefghij" {
		for _, b := range "abcdefghij" {
			body += "data,r0," + string(a) + string(b) + ",c,r0\n"
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(body), "\n")[1:] {
		if i%10 == 0 {
			m.set(m.now.Add(time.Second))
		}
		_, _, err := m.intake.SendOne(t.Context(), m.who.Scope, &belfry.Row{Type: "data", Resource: "r0", Object: strings.Split(line, ",")[2], Class: "c", View: "r0", NoResponse: true})
		m.must(err)
	}
	e := m.explain(belfry.KindView, "MAIN")
	last := e.Chain[len(e.Chain)-1]
	if len(e.Chain) != 2 || last.Name != "aa" || len(last.AsBad) != 10 || last.AsBad[9].Name != "ba" || last.AsBadMore != 89 {
		t.Errorf("%d steps, %s with %d beside it and %d more", len(e.Chain), last.Name, len(last.AsBad), last.AsBadMore)
	}
	if !strings.HasSuffix(e.Text, "; 99 more on the way are as bad") {
		t.Error(e.Text)
	}
}

// TestExplainNames looks for items by names that are not there, or stand for several.
func TestExplainNames(t *testing.T) {
	m := newMemory(t, 1)
	defer func() { m.close() }()
	m.furnish()
	m.provision("object", "name,resname,view,class\na,r1,r1,k\nx/y,r1,r1,k\nr0,r1,r1,k\n")
	f := func(w explain.Wanted, code belfry.Code, want string) {
		t.Helper()
		e, err := explain.Item(m.tree, m.who.Scope, w, 0, belfry.At(m.now))
		switch bad, ok := errors.AsType[*belfry.Error](err); {
		case code == "":
			if m.must(err); e.Item.Kind+" "+e.Item.Name+" "+e.Item.Resource != want {
				t.Errorf("%v: %s", w, e.Item.Name)
			}
		case !ok || bad.Code != code || bad.Message != want:
			t.Errorf("%v: %v", w, err)
		}
	}
	f(explain.Wanted{Kind: belfry.KindObject, Name: "x/y"}, "", "object x/y r1")
	f(explain.Wanted{Kind: belfry.KindView, Name: "r1"}, "", "resource r1 r1")
	f(explain.Wanted{Kind: belfry.KindObject, Name: "a"}, belfry.AmbiguousName, `object "a" exists in 2 resources (r0, r1); give resname`)
	f(explain.Wanted{Kind: belfry.KindView, Name: "r0"}, belfry.AmbiguousName, `"r0" is not among the views, but among the objects and the resources; say which is meant with the kind in the path`)
	f(explain.Wanted{Kind: belfry.KindObject, Name: "r0"}, "", "object r0 r1")
	f(explain.Wanted{Kind: belfry.KindResource, Name: "r0"}, "", "resource r0 r0")
	f(explain.Wanted{Kind: belfry.KindObject, Name: "a", Resource: "r1"}, "", "object a r1")
	f(explain.Wanted{Kind: belfry.KindObject, Name: "MAIM"}, belfry.UnknownItem, `there is no object, resource or view "MAIM"; nearest is "MAIN"`)
	f(explain.Wanted{Kind: belfry.KindObject, Name: "b", Resource: "r1"}, belfry.UnknownItem, `there is no object, resource or view "b" in r1`)
	f(explain.Wanted{Kind: belfry.KindObject, Name: "b", Resource: "r9"}, belfry.UnknownItem, `there is no resource "r9" to look for "b" in`)
	f(explain.Wanted{Kind: belfry.KindObject, Name: strings.Repeat("q", 300)}, belfry.UnknownItem, `there is no object, resource or view "`+strings.Repeat("q", 100)+`…"`)
	other, err := explain.Item(m.tree, belfry.Whole(m.who.Customer+1), explain.Wanted{Kind: belfry.KindView, Name: "v"}, 0, 0)
	if belfry.CodeOf(err) != belfry.UnknownItem {
		t.Errorf("of another customer: %v %v", other, err)
	}
}
