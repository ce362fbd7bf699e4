package intake

import (
	"context"
	"testing"

	"belfry"
)

// Where messages find no room any more, a request still does.
func TestReceiveLeavesRoom(t *testing.T) {
	b := newBench(t)
	const room = 1000
	b.Config.Room = func(_ context.Context, _ belfry.CustomerID, rows int) error {
		if rows > room {
			return belfry.Errorf(belfry.Overloaded, "there is room for %d", room)
		}
		return nil
	}
	_, err := b.Receive(t.Context(), b.Who.Customer, 1, &belfry.Batch{Collection: "syslog", Times: make([]belfry.Time, 10)}, false)
	if belfry.CodeOf(err) != belfry.Overloaded {
		t.Errorf("messages: %v", err)
	}
	if code, r := b.send(t, "type,resname,object,class,view,i1\ndata,R,O,data,V,1\n", Options{}); code == 503 || r.Rows != 1 {
		t.Errorf("a request: %d %v", code, r)
	}
}

// TestReceiveAfterRemoval requires that messages of a removed resource are not counted as lost by the storage.
func TestReceiveAfterRemoval(t *testing.T) {
	b := newBench(t)
	_, err := b.Receive(t.Context(), b.Who.Customer, 4711, &belfry.Batch{Collection: "syslog", Times: []belfry.Time{1}}, false)
	n := b.Counters()
	if belfry.CodeOf(err) != belfry.UnknownResource || n.Lost[lostRefused].Load() != 1 || n.Lost[lostStorage].Load() != 0 {
		t.Errorf("%v; refused %d, storage %d", err, n.Lost[lostRefused].Load(), n.Lost[lostStorage].Load())
	}
}
