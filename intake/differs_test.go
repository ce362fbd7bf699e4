package intake

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
)

// TestStatusBeforeRecord: a record tells the status that each item had before it, however often that changed in between, and whether
// the item looks different now.
func TestStatusBeforeRecord(t *testing.T) {
	b := newBench(t)
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, "name: heat\nindicators: [{n: 1, name: Degrees, thresholds: [{status: 1, when: '> 50'}, {status: 3, when: '> 80'}]}]\n")); err != nil {
		t.Fatal(err)
	}
	b.provision(t, "web01")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,heat,web01,0\n", Options{})
	// f sends values in one body and says what the record tells of cpu, web01 and MAIN.
	f := func(values, want string) {
		t.Helper()
		rows := ""
		for _, v := range strings.Split(values, ",") {
			rows += "data,web01,cpu," + v + "\n"
		}
		before := len(b.Records)
		b.send(t, "type,resname,object,i1\n"+rows, Options{})
		told := map[string]string{}
		for _, r := range b.Records[before:] {
			for _, c := range r.States {
				told[b.Tree.Node(c.Item).Name] += fmt.Sprintf("%s>%s %v", c.Was, c.Status, c.Differs)
			}
		}
		for _, name := range []string{"cpu", "web01", "MAIN"} {
			if told[name] != want {
				t.Errorf("%s: %s is told as %q, want %q", values, name, told[name], want)
			}
		}
	}
	f("60,90", "0>3 true")
	f("0", "3>0 true")
	f("60,0", "0>0 true") // since when is different
	f("90", "0>3 true")
	f("0,90", "3>3 true")
	f("95", "")
	f("60,0,90,60", "3>1 true")
}

// TestNoteLooksTheSame: what nobody is shown in a status does not make an item look different.
func TestNoteLooksTheSame(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,0\n", Options{})
	note := "who to call"
	if _, err := b.Act(t.Context(), b.Who, engine.Action{Kind: belfry.KindObject, Items: "cpu", Note: &note}); err != nil {
		t.Fatal(err)
	}
	last := b.Records[len(b.Records)-1].States
	if len(last) != 1 || last[0].Differs || last[0].Was != last[0].Status {
		t.Errorf("%+v", last)
	}
}
