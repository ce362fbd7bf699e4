package intake

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
)

// TestTurnsOfEvents sends rows from which much follows: an object deep down that changes its status with every row. No
// record has more than a turn's events, and nothing is lost or done twice.
func TestTurnsOfEvents(t *testing.T) {
	const depth, rows = 60, 1000
	b := newBench(t)
	views, name := "name,view\n", belfry.Main
	for i := range depth {
		next := fmt.Sprintf("v%d", i)
		views += next + "," + name + "\n"
		name = next
	}
	b.bulk(t, false, "view", views, Options{})
	b.bulk(t, false, "custom", "name,view\nr,"+name+"\n", Options{})
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, "name: flip\nindicators: [{n: 1, name: x, thresholds: [{when: '> 8', status: 3}]}]\n")); err != nil {
		t.Fatal(err)
	}
	if code, r := b.send(t, "type,resname,view,class,object,i1\ndata,r,r,flip,o,1\n", Options{}); code != 200 {
		t.Fatal(r)
	}
	var body strings.Builder
	body.WriteString("type,resname,object,i1,log\n")
	for i := range rows {
		switch {
		case i%100 == 50:
			body.WriteString("log,r,o,,a line\n")
		default:
			fmt.Fprintf(&body, "data,r,o,%d,\n", 1+8*(1-i%2))
		}
	}

	b.Records = nil
	for _, o := range []Options{{DryRun: true}, {Atomic: true}, {Repeat: engine.Repeat{Key: "k"}}} {
		_, _, err := b.Send(context.Background(), b.Who, strings.NewReader(body.String()), o)
		if belfry.CodeOf(err) != belfry.BodyTooLarge {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if len(b.Records) != 0 {
		t.Errorf("%d records of refused bodies", len(b.Records))
	}

	if code, r := b.send(t, body.String(), Options{}); code != 200 || r.Accepted != rows {
		t.Fatalf("%d %+v", code, r)
	}
	stored := map[string]int{}
	for _, rec := range b.Records {
		for _, batch := range rec.Batches {
			stored[batch.Collection] += batch.Len()
			if batch.Collection == belfry.Events && batch.Len() > engine.TurnEvents+engine.TurnEvents/10 {
				t.Errorf("a record with %d events", batch.Len())
			}
		}
	}
	if stored[belfry.ObjectData] != rows*99/100 || stored[belfry.ObjectLog] != rows/100 {
		t.Errorf("stored: %v", stored)
	}
	if len(b.Records) < 10 {
		t.Errorf("%d turns", len(b.Records))
	}
	changes := 0 // of the object; the views around follow each
	for i, last := 0, false; i < rows; i++ {
		if i%100 != 50 && (i%2 == 0) != last {
			last = !last
			changes++
		}
	}
	if want := changes * (depth + 3); stored[belfry.Events] != want { // the object, its resource, the views, MAIN
		t.Errorf("%d events, want %d", stored[belfry.Events], want)
	}
}

// TestProvisioningInTurns: the rows of a body are decided a few at a time; report and events are those of all of them, and rows
// that are refused keep their numbers.
func TestProvisioningInTurns(t *testing.T) {
	b := newBench(t)
	const rows = 3*engine.TurnUndecided + 7
	var body strings.Builder
	body.WriteString("name\n")
	for i := range rows {
		if i%engine.TurnUndecided == 1 {
			body.WriteString("MAIN\n") // taken
		} else {
			fmt.Fprintf(&body, "r%d\n", i)
		}
	}
	b.Records = nil
	code, r := b.bulk(t, false, "custom", body.String(), Options{})
	if code != 207 || r.Created.Resources != rows-4 || r.Accepted != rows-4 || r.Rejected != 4 {
		t.Fatalf("%d %s", code, enginetest.Brief(r))
	}
	for i, e := range r.Errors {
		if want := i*engine.TurnUndecided + 2; e.Row != want {
			t.Errorf("row %d is refused, want %d", e.Row, want)
		}
	}
	made := 0
	for _, rec := range b.Records {
		if len(rec.Items) > engine.TurnUndecided {
			t.Errorf("a record with %d items", len(rec.Items))
		}
		made += len(rec.Items)
	}
	if made != rows-4 || len(b.Records) < 4 {
		t.Errorf("%d items in %d records", made, len(b.Records))
	}
	told := 0
	single := 0
	for _, text := range b.EventsOf(b.Who.Customer) {
		var n int
		if _, err := fmt.Sscanf(text, "configuration %d resources of package custom created", &n); err == nil {
			told += n
		} else if strings.HasPrefix(text, "configuration resource r") {
			single++ // of the last turn, which is small
		}
	}
	told += single
	if told != rows-4 {
		t.Errorf("the events tell of %d resources", told)
	}
}
