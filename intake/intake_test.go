package intake

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/meta"
)

// bench is an intake on an engine that runs.
type bench struct {
	*enginetest.Bench
	*Intake
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return newBenchOn(t, enginetest.OpenJournal(t))
}

func newBenchOn(t testing.TB, j engine.Journal) *bench {
	t.Helper()
	b := enginetest.NewBench(t, j)
	return &bench{b, New(Config{Engine: b.Sequencer})}
}

// send sends a body and gives the report.
func (b *bench) send(t testing.TB, body string, o Options) (int, belfry.Report) {
	t.Helper()
	code, answer, err := b.Send(context.Background(), b.Who, strings.NewReader(body), o)
	if err != nil {
		t.Fatalf("send %q: %v", body, err)
	}
	return code, enginetest.Report(t, answer)
}

func (b *bench) provision(t testing.TB, names ...string) {
	t.Helper()
	code, answer, err := b.Provision(context.Background(), b.Who, "custom", strings.NewReader("name\n"+strings.Join(names, "\n")+"\n"), Options{})
	if err != nil || code != 200 {
		t.Fatalf("provision %v: %d %s %v", names, code, answer, err)
	}
}

func TestSend(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01", "web02")
	// f sends rows and says what the first error is: "row/column/code", or "" when all is well.
	f := func(body string, wantCode int, want string) {
		t.Helper()
		code, r := b.send(t, body, Options{})
		got := ""
		if len(r.Errors) > 0 {
			e := r.Errors[0]
			got = strings.Join([]string{string(rune('0' + e.Row)), e.Column, string(e.Code)}, "/")
		}
		if code != wantCode || got != want {
			t.Errorf("%q: got %d %q, want %d %q (%+v)", body, code, got, wantCode, want, r.Errors)
		}
	}
	f("type,object,i1\n", 200, "")
	f("type,object,i1\ndata,cpu,1\n", 400, "1/object/unknown_object")
	f("type,resname,object,i1\ndata,web09,cpu,1\n", 400, "1/resname/unknown_resource")
	f("type,resname,object,i1\ndata,web01,cpu,1\n", 400, "1/class/unknown_object")
	f("type,resname,object,class,view,i1\ndata,web01,cpu,CPU,nowhere,1\n", 400, "1/view/unknown_view")
	f("type,resname,object,class,view,i1\ndata,web01,cpu,CPU,web01,\n", 400, "1/i1/missing_value")
	f("type,resname,object,class,view,i1\ndata,web01,cpu,CPU,web01,N/A\n", 400, "1/i1/bad_value")
	f("type,resname,object,class,view,i1\ndata,web01,cpu,CPU,web01,12.5\n", 200, "")
	f("type,object,i1\ndata,cpu,7\n", 200, "")
	f("type,object,i1\ndata,cpu,many\n", 400, "1/i1/bad_value")
	f("type,object,class,i1\ndata,cpu,Disk,1\n", 400, "1/class/class_mismatch")
	f("type,object,i1,ip\ndata,cpu,7,not-an-ip\n", 400, "1/ip/bad_value")
	f("type,object,i1,ip\ndata,cpu,7,192.0.2.7\n", 200, "")
	f("type,object,i1,timestamp\ndata,cpu,7,2026-11-15T03:06:00Z\n", 400, "1/timestamp/too_early")
	f("type,object,i1,timestamp\ndata,cpu,7,2020-01-01T00:00:00Z\n", 400, "1/timestamp/too_late")
	f("type,object,i1\nfrob,cpu,7\n", 400, "1/type/unknown_type")
	f("type,object,i1\ndata,cpu,1\ndata,disk,2\ndata,cpu,3\n", 207, "2/object/unknown_object")
	f("type,object,i1\ndata,cpu,1,extra\ndata,cpu,2\n", 207, "1//bad_row")
	f("type,resname,object,class,view,i1\ndata,web02,cpu,CPU,web02,1\n", 200, "")
	f("type,object,i1\ndata,cpu,1\n", 400, "1/object/ambiguous_name")
	f("type,resname,object,log\nlog,web01,cpu,hello\n", 200, "")
	f("type,resname,object,log\nlog,web01,cpu,\n", 400, "1/log/missing_value")
	f("type,resname,class,view,parentview\ncreateview,web01,Rack,R1,web01\n", 200, "")
	f("type,resname,class,view,parentview\ncreateview,web01,Rack,R1,web01\n", 200, "")
	// A later row uses what an earlier one creates.
	f("type,resname,object,class,view,parentview,i1\ncreateview,web01,,Rack,R2,R1\ndata,web01,fan,Fan,R2,,1\ndata,web01,fan,,,,2\n", 200, "")
	// A view that is missing is made when the one around it is named.
	f("type,resname,object,class,view,parentview,i1\ndata,web01,psu,Psu,R3,R1,1\n", 200, "")
}

func TestHeader(t *testing.T) {
	b := newBench(t)
	f := func(body, want string) {
		t.Helper()
		_, _, err := b.Send(context.Background(), b.Who, strings.NewReader(body), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", body, err, want)
		}
	}
	f("", "bad_header: the body is empty")
	f("object,i1\n", `no column "type"`)
	f("type,object,i1,i1\n", `"i1" twice`)
	f("type,objct,i1\n", `did you mean "object"?`)
	f("type;object;i1\n", "semicolons")
	f("type,object,i101\n", `no column "i101"`)
	f(strings.Repeat("i1,", 1001)+"type\n", "1002 columns")
}

func TestStatusRises(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01", "web02")
	b.Records = nil
	b.send(t, "type,resname,object,class,view,i1,i2\ndata,web01,cpu,CPU,web01,1,\ndata,web01,cpu,,,,2\n", Options{})
	got := b.Statuses()
	for name, want := range map[string]string{"cpu": "0 1 2", "web01": "0", "web02": "?", "MAIN": "0"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if len(b.Records) != 1 {
		t.Fatalf("one request made %d records", len(b.Records))
	}
	r := b.Records[0]
	var events *belfry.Batch
	for _, batch := range r.Batches {
		if batch.Collection == belfry.Events {
			events = batch
		}
	}
	if events.Len() != 5 || len(r.States) != 3 {
		t.Errorf("got %d events and %d states, want those of the object, its resource and MAIN, and that object and class were created", events.Len(), len(r.States))
	}
	b.send(t, "type,resname,object,i1\ndata,web01,cpu,5\n", Options{})
	if r := b.Records[1]; len(r.States) != 0 || len(r.Batches) != 1 {
		t.Errorf("a row that changes no status made %d states and %d batches", len(r.States), len(r.Batches))
	}
}

func TestLateRowKeepsStatus(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	b.send(t, "type,resname,object,class,view,i1\ndata,r,o,C,r,5\n", Options{})
	b.send(t, "type,object,i1,timestamp\ndata,o,99,2026-11-14T00:00:00Z\n", Options{})
	if got := b.Statuses()["o"]; got != "0 5" {
		t.Errorf("after a late row the object shows %q, want its newest value", got)
	}
	if last := b.Records[len(b.Records)-1]; last.Batches[0].Len() != 1 {
		t.Error("the late row was not stored")
	}
}

func TestAtomicAndDryRun(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	before := len(b.Records)
	good := "type,resname,object,class,view,i1\ndata,r,o,C,r,5\n"
	code, r := b.send(t, good, Options{DryRun: true})
	if code != 200 || r.Accepted != 1 || r.Created.Objects != 1 {
		t.Errorf("dry run: %d %+v", code, r)
	}
	code, r = b.send(t, good+"data,nowhere,o,C,r,5\n", Options{Atomic: true})
	if code != 400 || r.Accepted != 0 || r.Rejected != 2 || r.Created.Objects != 0 {
		t.Errorf("atomic with a wrong row: %d %+v", code, r)
	}
	if len(b.Records) != before {
		t.Error("something was committed")
	}
	if code, r = b.send(t, good, Options{Atomic: true}); code != 200 || r.Created.Objects != 1 {
		t.Errorf("atomic: %d %+v", code, r)
	}
}

// TestDryRunKeepsNoKey: a dry run neither uses an Idempotency-Key nor is answered from what was remembered under it.
func TestDryRunKeepsNoKey(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	dry := Options{DryRun: true, Repeat: engine.Repeat{Key: "z", Digest: [32]byte{1}}}
	apply := Options{Repeat: engine.Repeat{Key: "z", Digest: [32]byte{2}}}
	good := "type,resname,object,class,view,i1\ndata,r,o,C,r,5\n"
	before := len(b.Records)
	b.send(t, good, dry)
	if len(b.Records) != before {
		t.Error("a dry run was committed")
	}
	if code, r := b.send(t, good, apply); code != 200 || r.Created.Objects != 1 {
		t.Errorf("after a dry run: %d %+v", code, r)
	}
	if code, r := b.send(t, good, dry); code != 200 || r.Created.Objects != 0 {
		t.Errorf("a dry run under a used key: %d %+v", code, r)
	}
	dry.Repeat.Key, apply.Repeat.Key = "y", "y"
	for _, remove := range []bool{false, true} {
		for _, o := range []Options{dry, apply} {
			if code, r := b.bulk(t, remove, "custom", "name\nr2\n", o); code != 200 || r.Created.Resources+r.Removed != 1 {
				t.Errorf("dry run %v, removal %v: %d %+v", o.DryRun, remove, code, r)
			}
		}
		dry.Repeat.Key, apply.Repeat.Key = "x", "x"
	}
}

func TestRepeat(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	body := "type,resname,object,class,view,i1\ndata,r,o,C,r,5\n"
	o := Options{Repeat: engine.Repeat{Key: "a", Digest: [32]byte{1}}}
	_, first := b.send(t, body, o)
	n := len(b.Records)
	_, again := b.send(t, body, o)
	if len(b.Records) != n || again.Created != first.Created {
		t.Errorf("a repeat was applied again or answered otherwise: %+v, %+v", first, again)
	}
	o.Repeat.Digest[0] = 2
	_, _, err := b.Send(context.Background(), b.Who, strings.NewReader(body), o)
	if belfry.CodeOf(err) != belfry.IdempotencyMismatch {
		t.Errorf("another request under the key: %v", err)
	}
	// An answer that stands for no effect is remembered too.
	o = Options{Atomic: true, Repeat: engine.Repeat{Key: "b"}}
	b.send(t, "type,object,i1\ndata,nobody,1\n", o)
	b.send(t, "type,resname,object,class,view,i1\ndata,r,nobody,C,r,5\n", Options{})
	if code, _ := b.send(t, "type,object,i1\ndata,nobody,1\n", o); code != 400 {
		t.Errorf("the repeat of a refused body was answered with %d", code)
	}
}

// TestRepeatAfterWrongClock: a request is answered while the clock is a month behind, and repeated when it is right.
func TestRepeatAfterWrongClock(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	body := "type,resname,object,class,view,i1\ndata,r,o,C,r,5\n"
	o := Options{Repeat: engine.Repeat{Key: "a"}}
	b.Off(30 * 24 * time.Hour)
	b.send(t, body, o)
	n := len(b.Records)
	b.Off(0)
	if b.send(t, body, o); len(b.Records) != n {
		t.Error("the repeat was applied again")
	}
	b.Advance(engine.AnswersKept + time.Second)
	if b.send(t, body, o); len(b.Records) == n {
		t.Error("the answer was not forgotten after a day")
	}
}

func TestCounters(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	b.send(t, "type,resname,object,class,view,i1\ndata,r,o,C,r,5\ndata,x,o,C,r,5\nfrob\n", Options{})
	b.send(t, "type,object,i1\ndata,o,5\n", Options{DryRun: true})
	b.Refuse = belfry.Errorf(belfry.StorageUnavailable, "full")
	if _, _, err := b.Send(context.Background(), b.Who, strings.NewReader("type,object,i1\ndata,o,5\n"), Options{}); belfry.CodeOf(err) != belfry.StorageUnavailable {
		t.Errorf("got %v", err)
	}
	n := b.Counters()
	sum := n.Stored.Load() + n.Rejected.Load() + n.Discarded.Load() + n.Tried.Load()
	for i := range n.Lost {
		sum += n.Lost[i].Load()
	}
	if n.Received.Load() != sum || n.Received.Load() != 6 || n.Lost[lostStorage].Load() != 1 { // one row is the provisioned resource
		t.Errorf("received %d, accounted for %d, lost to storage %d", n.Received.Load(), sum, n.Lost[lostStorage].Load())
	}
}

// A fault of ours costs the requests of one round, not the service.
func TestFault(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	err := b.Do(&engine.Command{Customer: b.Who.Customer, Decide: func(t *engine.Tx) error {
		t.Create(belfry.KindView, "half", t.Tenant.Main, nil, t.Find().ViewClass("c"), "", nil)
		panic("a bug")
	}})
	if belfry.CodeOf(err) != belfry.Internal {
		t.Errorf("got %v", err)
	}
	if code, _ := b.send(t, "type,resname,object,class,view,i1\ndata,r,o,C,r,5\n", Options{}); code != 200 {
		t.Errorf("the next request was answered with %d", code)
	}
	if _, ok := b.Statuses()["half"]; ok {
		t.Error("what the faulty command began can be seen")
	}
}

// When the record of a roll-up is lost, the views show the wrong status until they are settled.
func TestSettle(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	b.send(t, "type,resname,object,class,view,i1\ndata,r,o,C,r,5\n", Options{})
	var r *meta.Node
	b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) { r = e.Resource("r") })
	lost := &belfry.Record{Customer: b.Who.Customer, States: []belfry.StateChange{{Item: r.ID, State: belfry.State{Status: belfry.Critical, Since: 1}}}}
	lost.SetPos(r.State.Pos)
	if err := b.Tree.Apply(lost); err != nil { // as if the way back had been lost
		t.Fatal(err)
	}
	b.Records = nil
	if err := b.Settle(); err != nil {
		t.Fatal(err)
	}
	if got := b.Statuses(); got["r"] != "0" || got[belfry.Main] != "0" {
		t.Errorf("after settling: %v", got)
	}
	if len(b.Records) != 1 || len(b.Records[0].States) != 1 {
		t.Errorf("settling made %d records", len(b.Records))
	}
	b.Records = nil
	if err := b.Settle(); err != nil || len(b.Records) != 0 {
		t.Errorf("settling what is settled made %d records, %v", len(b.Records), err)
	}
}

// A name that an earlier row, or another request, has made ambiguous is so for the rows after it, and not for those before.
func TestAmbiguousInOrder(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01", "web02")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\n", Options{})
	_, r := b.send(t, "type,resname,object,class,view,i1,log\ndata,,cpu,,,1,\nlog,,cpu,,,,a line\ndata,web02,cpu,load,web02,2,\ndata,,cpu,,,3,\nlog,,cpu,,,,a line\n", Options{})
	if got := enginetest.Brief(r); got != "1 o, 4 object ambiguous_name, 5 object ambiguous_name" {
		t.Errorf("got %s", got)
	}
	// The same when the second object is made after the rows were read and before they are decided.
	b.bulk(t, true, "object", "name,resname\ncpu,web02\n", Options{})
	read, err := b.newSendBody(b.Who.Scope, strings.NewReader("type,object,i1,log\ndata,cpu,1,\nlog,cpu,,a line\n"), Options{Format: belfry.CSV})
	if err != nil {
		t.Fatal(err)
	}
	c, err := read.read(chunkLimits())
	if err != io.EOF || c.undecided.len() > 0 {
		t.Fatalf("%d open rows, %v", c.undecided.len(), err)
	}
	b.send(t, "type,resname,object,class,view,i1\ndata,web02,cpu,load,web02,1\n", Options{})
	if err := b.Do(&engine.Command{Customer: b.Who.Customer, Decide: func(t *engine.Tx) error { read.decide(decision{t, b.Intake}, c); return nil }}); err != nil {
		t.Fatal(err)
	}
	if c.rejected.count != 2 || c.rejected.list[0].Code != belfry.AmbiguousName || c.report.Accepted != 0 {
		t.Errorf("%d rejected, %d accepted", c.rejected.count, c.report.Accepted)
	}
}
