package intake

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"belfry"
	"belfry/engine/enginetest"
	"belfry/meta"
)

// one sends a single row and says what it was told: "200 o1", "400 c unknown_object".
func (b *bench) one(t testing.TB, row belfry.Row) string {
	t.Helper()
	code, answer, err := b.SendOne(context.Background(), b.Who.Scope, &row)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.BriefOne(t, code, answer)
}

func TestSendOne(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	f := func(row belfry.Row, want string) {
		t.Helper()
		if got := b.one(t, row); got != want {
			t.Errorf("%+v: got %q, want %q", row, got, want)
		}
	}
	v := func(cells ...string) (list []belfry.Cell) {
		for i, c := range cells {
			list = append(list, belfry.Cell{N: i + 1, Text: c})
		}
		return list
	}
	data := belfry.Row{Type: "data", Resource: "web01", Object: "cpu", Indicators: v("1")}
	with := func(change func(*belfry.Row)) belfry.Row {
		row := data
		change(&row)
		return row
	}
	f(data, "400 c unknown_object")
	f(with(func(r *belfry.Row) { r.Resource = "" }), "400 resname missing_value")
	f(with(func(r *belfry.Row) { r.Resource = "nope" }), "400 resname unknown_resource")
	f(with(func(r *belfry.Row) { r.Object = "" }), "400 o missing_value")
	f(with(func(r *belfry.Row) { r.Class, r.View = "load", "Inner" }), "400 v unknown_view")
	f(with(func(r *belfry.Row) { r.Class, r.View, r.ParentView = "load", "Inner", "nope" }), "400 p unknown_view")
	f(with(func(r *belfry.Row) { r.Class, r.View, r.ParentView = "load", "Inner", "web01" }), "200 1 v, 1 o")
	f(data, "200")
	f(with(func(r *belfry.Row) { r.Class = "other" }), "400 c class_mismatch")
	f(with(func(r *belfry.Row) { r.Indicators = nil }), "400 i1 missing_value")
	f(with(func(r *belfry.Row) { r.Indicators = v("many") }), "400 i1 bad_value")
	f(with(func(r *belfry.Row) { r.Indicators = v("2", "text", "3") }), "200")
	f(with(func(r *belfry.Row) { r.Indicators = []belfry.Cell{{N: 101, Text: "1"}} }), "400 i101 bad_value")
	f(with(func(r *belfry.Row) { r.IP = "300.0.0.1" }), "400 ip bad_value")
	f(with(func(r *belfry.Row) { r.Constants[2], r.Host = "third", "h1" }), "200")
	f(with(func(r *belfry.Row) { r.Object = "\xff" }), "400  bad_row")
	f(with(func(r *belfry.Row) { r.Object, r.Resource = "\xc3", "\xa9" }), "400  bad_row") // halves of a character do not meet
	f(with(func(r *belfry.Row) { r.NoResponse = true }), "400 i1 bad_value")
	f(with(func(r *belfry.Row) { r.NoResponse, r.Indicators = true, nil }), "200")
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		n := e.Resource("web01").Object("cpu")
		if n.State.Status != belfry.Unavailable || e.Main.State.Status != belfry.Unavailable || n.Details.Constants[2] != "third" || n.Details.Host != "h1" {
			t.Errorf("after no response: %+v %+v", n.State, n.Details)
		}
	})
	f(data, "200")
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		if n := e.Resource("web01").Object("cpu"); n.State.Status != belfry.OK || n.State.Numbers[2] != 3 || n.State.Texts[1] != "text" {
			t.Errorf("after data: %+v", n.State)
		}
	})
	line := belfry.Row{Type: "log", Resource: "web01", Object: "cpu", Log: "a\tb"}
	f(line, "200")
	line.Log = ""
	f(line, "400 l missing_value")
}

// A no-response report is news: data that are older do not end it.
func TestNoResponseIsNews(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.send(t, "type,resname,object,class,view,i1,timestamp\ndata,web01,cpu,load,web01,1,"+b.Moment.Add(-60e9).Format("2006-01-02T15:04:05Z")+"\n", Options{})
	b.one(t, belfry.Row{Type: "data", Resource: "web01", Object: "cpu", NoResponse: true})
	b.send(t, "type,resname,object,i1,timestamp\ndata,web01,cpu,1,"+b.Moment.Add(-30e9).Format("2006-01-02T15:04:05Z")+"\n", Options{})
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		if n := e.Resource("web01").Object("cpu"); n.State.Status != belfry.Unavailable {
			t.Errorf("late data ended the report: %+v", n.State)
		}
	})
}

// Many rows at once gather in few records, and each gets its own answer.
func TestSinglesGather(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	const n = 2000
	wants := []string{"200", "200 1 o", "400 o missing_value", "400 i1 bad_value"}
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,known,load,web01,1\n", Options{})
	before := len(b.Records)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			row := belfry.Row{Type: "data", Resource: "web01", Object: "known", Indicators: []belfry.Cell{{N: 1, Text: "2"}}}
			switch i % 4 {
			case 1:
				row.Object, row.Class, row.View = fmt.Sprint("new", i), "load", "web01"
			case 2:
				row.Object = ""
			case 3:
				row.Indicators[0].Text = "x"
			}
			code, answer, err := b.SendOne(context.Background(), b.Who.Scope, &row)
			if err != nil {
				t.Error(err)
			} else if got := enginetest.BriefOne(t, code, answer); got != wants[i%4] {
				t.Errorf("row %d: got %q, want %q", i, got, wants[i%4])
			}
		})
	}
	wait.Wait()
	rows := 0
	for _, r := range b.Records[before:] {
		for _, batch := range r.Batches {
			if batch.Collection == belfry.ObjectData {
				rows += batch.Len()
			}
		}
	}
	if rows != n/2 {
		t.Errorf("%d rows stored, want %d", rows, n/2)
	}
	if records := len(b.Records) - before; records >= n/2 {
		t.Errorf("%d records for %d rows: nothing gathered", records, n)
	}
	c := b.Counters()
	if sum := c.Stored.Load() + c.Rejected.Load(); sum != c.Received.Load() {
		t.Errorf("received %d, stored %d, rejected %d", c.Received.Load(), c.Stored.Load(), c.Rejected.Load())
	}
}

func TestCreateView(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	f := func(cells, want string) {
		t.Helper()
		m := map[string]string{}
		for _, pair := range strings.Fields(cells) {
			k, v, _ := strings.Cut(pair, "=")
			m[k] = v
		}
		code, answer, err := b.CreateView(context.Background(), b.Who, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := enginetest.BriefOne(t, code, answer); got != want {
			t.Errorf("%s: got %q, want %q", cells, got, want)
		}
	}
	f("", "400 resname missing_value")
	f("resname=web01 class=folder name=Disks", "400 p missing_value")
	f("resname=web01 class=folder view=web01", "400 v missing_value")
	f("resname=nope class=folder name=Disks view=web01", "400 resname unknown_resource")
	f("resname=web01 class=folder name=Disks view=nope", "400 p unknown_view")
	f("resname=web01 class=folder name=Disks view=web01", "400 posx missing_value")
	f("resname=web01 class=folder name=Disks view=web01 posx=10", "400 posy missing_value")
	f("resname=web01 class=folder name=Disks view=web01 posx=10 posy=15", "400 posy bad_value")
	f("resname=web01 class=folder name=Disks view=web01 posx=10 posy=20 autoarrange=linear bg=map.png", "200 1 v")
	f("resname=web01 class=folder name=Disks view=web01 posx=10 posy=20", "200 1 unchanged")
	f("resname=web01 class=folder name=Disks view=web01", "200 1 unchanged")
	f("resname=web01 class=rack name=Disks view=web01", "200 1 updated")
	f("resname=web01 class=folder name=Inner view=Disks", "200 1 v") // arranged by itself
	f("resname=web01 class=folder name=Disks view=Inner", "400 p cycle")
	f("resname=web01 class=folder name=web01 view=Disks", "400 v name_in_use")
	f("resname=web01 class=folder name=W view=Disks width=40 autoarrange=round", "400 ar bad_value")
	f("resname=web01 class=folder name=\xff view=Disks", "400  bad_row")
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
		d := e.Resource("web01").View("Disks").Details
		if fmt.Sprint(d.Answers) != "map[autoarrange:linear bg:map.png posx:10 posy:20]" {
			t.Errorf("answers: %v", d.Answers)
		}
	})
}

// A resource may arrange its icons by itself; then /cv needs no place in it.
func TestCreateViewInArrangedResource(t *testing.T) {
	b := newBench(t)
	b.bulk(t, false, "custom", "name,autoarrange\nweb01,linear\n", Options{})
	code, answer, err := b.CreateView(context.Background(), b.Who, map[string]string{"resname": "web01", "class": "folder", "name": "Disks", "view": "web01"})
	if err != nil || code != 200 {
		t.Errorf("%d %s %v", code, answer, err)
	}
}
