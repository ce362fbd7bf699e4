package intake

import (
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/status"
)

// collection returns the options of a body of rows of a collection.
func collection(t *testing.T, name string) Options {
	t.Helper()
	cat, err := enginetest.LoadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	c, err := InputCollection(cat, name)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Collection: c}
}

func TestSendCollection(t *testing.T) {
	b := newBench(t)
	b.provision(t, "pbx", "web01")
	b.Operate(t, engine.Action{Kind: belfry.KindResource, List: engine.Names("web01"), Manage: &status.Order{Mode: belfry.CollectorStopped}}, engine.Repeat{})
	// f sends rows and compares the first error, as row/column/code.
	f := func(name, body string, wantCode int, want string) {
		t.Helper()
		code, r := b.send(t, body, collection(t, name))
		got := ""
		if len(r.Errors) > 0 {
			e := r.Errors[0]
			got = strings.Join([]string{string(rune('0' + e.Row)), e.Column, string(e.Code)}, "/")
		}
		if code != wantCode || got != want {
			t.Errorf("%s %q: got %d %q, want %d %q (%+v)", name, body, code, got, wantCode, want, r.Errors)
		}
		if r.Accepted+r.Rejected+r.Discarded != r.Rows {
			t.Errorf("%s %q: the report does not add up: %+v", name, body, r)
		}
	}
	f("voip", "resname,callid,duration\npbx,a1,1200\n", 200, "")
	f("VoIP", "resource,callid,mos\npbx,a1,4.1\n", 200, "")
	f("voip", "resname,callid\nweb01,a1\n", 200, "") // discarded
	f("voip", "resname,callid\npbx,a1\nnone,a2\npbx,a3\n", 207, "2/resname/unknown_resource")
	f("voip", "resname,callid\n,a1\n", 400, "1/resname/missing_value")
	f("voip", "resname,callid\npbx,\n", 400, "1/callid/missing_value")
	f("voip", "resname,callid,duration\npbx,a1,long\n", 400, "1/duration/bad_value")
	f("voip", "resname,callid,duration\npbx,a1,9007199254740993\n", 400, "1/duration/bad_value")
	f("voip", "resname,callid,timestamp\npbx,a1,2026-11-15T02:00:00Z\n", 200, "")
	f("voip", "resname,callid,timestamp\npbx,a1,2026-11-16T02:00:00Z\n", 400, "1/timestamp/too_early")
	f("voip", "resname,callid,timestamp\npbx,a1,2020-11-16T02:00:00Z\n", 400, "1/timestamp/too_late")
	f("nettrace", "resname,clientip,clientport\npbx,192.0.2.1,80.0\n", 200, "")
	f("nettrace", "resname,clientip,clientport\npbx,192.0.2.1,80.5\n", 400, "1/clientport/bad_value")
	f("keyvalue", "collection,record,key,value\nvoip,12,codec,opus\n", 200, "")
	f("syslog", "resname,message,devicetime\npbx,hello,2026-11-15T02:00:00Z\n", 200, "")
	f("syslog", "resname,message,devicetime\npbx,hello,yesterday\n", 400, "1/devicetime/bad_value")
	f("trap", "resname,name,p1,p2\npbx,linkDown,3,eth0\n", 200, "")
	f("objectlog", "resname,object,class,view,log\npbx,app,app,pbx,started\n", 200, "")
	f("objectlog", "type,object,log\ndata,app,started\n", 400, "1/type/bad_value")
	f("objectdata", "resname,object,class,view,i1\npbx,cpu,cpu,pbx,5\n", 200, "")

	batch := b.last(t, "voip")
	if batch.Len() != 1 || batch.Column("callid").Texts[0] != "a1" || batch.Column(belfry.ItemColumn) == nil {
		t.Errorf("stored %+v", batch)
	}
}

// last returns the newest batch of a collection.
func (b *bench) last(t *testing.T, name string) *belfry.Batch {
	t.Helper()
	for i := len(b.Records) - 1; i >= 0; i-- {
		for _, batch := range b.Records[i].Batches {
			if batch.Collection == name {
				return batch
			}
		}
	}
	t.Fatalf("no batch of %s", name)
	return nil
}

func TestSendCollectionColumns(t *testing.T) {
	b := newBench(t)
	b.provision(t, "pbx")
	o := collection(t, "voip")
	o.Format = belfry.NDJSON
	code, r := b.send(t, `{"resname":"pbx","callid":"a"}
{"resname":"pbx","mos":3,"duration":"x"}
{"resname":"pbx","mos":4.5,"codec":"opus"}
{"callid":"d","resname":"pbx"}
`, o)
	if code != 207 || r.Accepted != 3 || r.Errors[0].Row != 2 {
		t.Fatalf("got %d %+v", code, r)
	}
	batch := b.last(t, "voip")
	f := func(column string, want ...string) {
		t.Helper()
		c := batch.Column(column)
		for i := range want {
			got := ""
			switch {
			case c.Texts != nil:
				got = c.Texts[i]
			case c.Numbers[i] == c.Numbers[i]:
				got = belfry.FormatNumber(c.Numbers[i])
			}
			if got != want[i] {
				t.Errorf("%s of row %d: got %q, want %q", column, i, got, want[i])
			}
		}
	}
	f("callid", "a", "", "d")
	f("mos", "", "4.5", "")
	f("codec", "", "opus", "")
	if c := batch.Column("duration"); c != nil && c.Numbers[0] == c.Numbers[0] {
		t.Errorf("the refused row has left %v", c.Numbers)
	}
}

func TestSendCollectionHeader(t *testing.T) {
	b := newBench(t)
	f := func(name, header, want string) {
		t.Helper()
		_, _, err := b.Send(t.Context(), b.Who, strings.NewReader(header+"\n"), collection(t, name))
		if err == nil || belfry.CodeOf(err) != belfry.BadHeader || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %q: got %v, want %q", name, header, err, want)
		}
	}
	f("voip", "resname,id", "gives each row its id")
	f("voip", "resname,resource", "once by another name")
	f("voip", "resname,calid", `did you mean "callid"?`)
	f("voip", "type,resname,callid", `no column "type"`)
	f("keyvalue", "resname,key", "belong to no resource")
	f("voip", "resname,resname", "twice")
	f("voip", "callid,", "no column")
}

func TestInputCollection(t *testing.T) {
	cat, err := enginetest.LoadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, want belfry.Code) {
		t.Helper()
		_, err := InputCollection(cat, name)
		if err == nil && want != "" || err != nil && belfry.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	f("traps", "")
	f("replay", "")
	f("events", belfry.ReadOnlyCollection)
	f("audit", belfry.ReadOnlyCollection)
	f("objectstatus", belfry.ReadOnlyCollection)
	f("inventory", belfry.ReadOnlyCollection)
	f("voips", belfry.UnknownCollection)
	f("statusday", belfry.UnknownCollection)
}

// TestInputFields requires that every field of a collection that takes rows has a type that a row can fill.
func TestInputFields(t *testing.T) {
	cat, err := enginetest.LoadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cat.Collections() {
		for _, f := range c.Fields {
			switch f.Type {
			case catalog.Bool, catalog.Status, catalog.Value:
				if c.Input() && c.Name != belfry.ObjectData {
					t.Errorf("%s has the field %s of type %s, which collectionColumn.set does not read", c.Name, f.Name, f.Type)
				}
			}
		}
	}
}

// TestCollectionResourceRemoved sends rows of a resource that is removed between reading and deciding.
func TestCollectionResourceRemoved(t *testing.T) {
	b := newBench(t)
	b.provision(t, "pbx")
	body, err := b.newCollectionBody(collection(t, "voip").Collection, b.Who.Scope, strings.NewReader("resname,callid\npbx,a\n"), belfry.CSV)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := body.read(chunkLimits())
	if c.rows != 1 || c.rejected.count != 0 {
		t.Fatalf("read %+v", c)
	}
	b.bulk(t, true, "custom", "name\npbx\n", Options{})
	if err := b.Do(&engine.Command{Customer: b.Who.Customer, Decide: func(t *engine.Tx) error { body.decide(decision{t, b.Intake}, c); return nil }}); err != nil {
		t.Fatal(err)
	}
	if c.rejected.count != 1 || c.rejected.list[0].Code != belfry.UnknownResource || c.report.Accepted != 0 {
		t.Errorf("got %+v, %+v", c.rejected, c.report)
	}
}
