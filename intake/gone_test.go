package intake

import (
	"io"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
)

// twoParts is a body with something that happens before its second part.
type twoParts struct {
	first, rest io.Reader
	between     func()
}

func (r *twoParts) Read(p []byte) (int, error) {
	if n, err := r.first.Read(p); err == nil {
		return n, nil
	}
	if r.between != nil {
		r.between()
		r.between = nil
	}
	return r.rest.Read(p)
}

// TestCustomerRemovedDuringBody: a body whose customer is removed while it is read is refused.
func TestCustomerRemovedDuringBody(t *testing.T) {
	const (
		data    = "data,web01,cpu,,,5,\n"
		unnamed = "data,,cpu,,,5,\n"
		log     = "log,web01,cpu,,,,text\n"
		fresh   = "data,web01,new,new,web01,5,\n"
		wrong   = "data,nosuch,cpu,,,5,\n"
		view    = "createview,web01,,,v,,\n"
	)
	b := newBench(t)
	admin := b.Who
	f := func(name string, o Options, first, rest string) {
		t.Helper()
		c, err := b.CreateCustomer("other", "test")
		if err != nil {
			t.Fatal(err)
		}
		b.Who = engine.Sender{Scope: belfry.Whole(c.ID), Name: "test"}
		b.provision(t, "web01")
		b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,state,web01,1\n", Options{})
		body := &twoParts{strings.NewReader("type,resname,object,class,view,i1,log\n" + first), strings.NewReader(rest), func() {
			if err := b.RemoveCustomer(admin, "other"); err != nil {
				t.Error(err)
			}
		}}
		n := b.Counters()
		received, lost := n.Received.Load(), n.Lost[lostBroken].Load()+n.Lost[lostRefused].Load()
		if _, _, err = b.Send(t.Context(), b.Who, body, o); belfry.CodeOf(err) != belfry.InvalidKey {
			t.Errorf("%s: %v", name, err)
		}
		received, lost = n.Received.Load()-received, n.Lost[lostBroken].Load()+n.Lost[lostRefused].Load()-lost
		if rows := int64(strings.Count(first+rest, "\n")); received != rows || lost != rows {
			t.Errorf("%s: of %d rows %d were received and %d lost", name, rows, received, lost)
		}
	}
	for name, o := range map[string]Options{"stream": {}, "atomic": {Atomic: true}, "dry run": {DryRun: true}, "repeatable": {Repeat: engine.Repeat{Key: "1"}}} {
		f(name, o, "", data)
		f(name+", the resource is known", o, data, data)
		f(name+", without a resource", o, unnamed, unnamed)
		f(name+", log", o, log, log)
		f(name+", others", o, "", fresh+wrong+view)
	}
}
