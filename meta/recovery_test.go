package meta

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"belfry"
)

// start is a start after a kill: the tree is read, the records that the journal still has are replayed, and as much as the
// caller says gets into the database before the next kill.
func (c *churn) start(records ...belfry.Record) {
	c.Helper()
	c.load()
	for _, r := range records {
		r.Items = slices.Clone(r.Items)
		if r.Pos <= c.db.Stored() {
			continue
		}
		if err := c.tree.Recovery().Replay(&r); err != nil {
			c.Fatal(err)
		}
		c.mover.Add(&r)
		c.added = append(c.added, &r)
		c.pos = max(c.pos, r.Pos)
	}
	c.tree.Recovery().End()
}

// writeWithoutPosition writes the configuration of the records that were replayed, as a kill between two writings of states leaves it.
func (c *churn) writeWithoutPosition() {
	position := c.db.Stored()
	if err := c.db.Apply(c.Context(), c.added, nil); err != nil {
		c.Fatal(err)
	}
	c.db.Close()
	setPosition(c.T, c.path, position)
	c.db = openFile(c.T, c.path)
}

func record(pos belfry.Position, items ...belfry.Item) belfry.Record {
	r := belfry.Record{Customer: 1, Time: belfry.Time(1000 * pos), Items: items}
	r.SetPos(pos)
	return r
}

// exist gives the existing items as the tree has them.
func (c *churn) exist() (names []string) {
	for _, n := range c.tree.Everything(1) {
		if n.Name != belfry.Main {
			names = append(names, fmt.Sprintf("%s %d", n.Name, n.ID))
		}
	}
	slices.Sort(names)
	return names
}

// same checks which items exist, now and after more starts, of which each gets farther than the one before it.
func (c *churn) same(records []belfry.Record, want ...string) {
	c.Helper()
	slices.Sort(want)
	raw, err := sql.Open("sqlite", c.path)
	if err != nil {
		c.Fatal(err)
	}
	defer raw.Close()
	for i, save := range []func(){
		func() {}, // killed before anything was written
		c.writeWithoutPosition,
		func() { c.mover.Drain(c.Context()) }, // killed before the row store had the rows
		c.drain,
		func() {},
	} {
		c.start(records...)
		if got := c.exist(); !slices.Equal(got, want) {
			c.Errorf("start %d: there are %q, want %q", i+1, got, want)
		}
		save()
		var both int
		if err := raw.QueryRowContext(c.Context(), `SELECT COUNT(*) FROM item WHERE id IN (SELECT id FROM removed)`).Scan(&both); err != nil || both > 0 {
			c.Errorf("start %d: %d items exist and are removed, %v", i+1, both, err)
		}
	}
}

// The database has a removal whose record is lost. Older records do not bring the item back, at any of the next starts.
func TestRemovalInDatabaseAlone(t *testing.T) {
	c := newChurn(t)
	c.drain()
	made := record(2, c.object(3, "p1", 0), c.object(4, "p2", 0))
	later := record(4, c.object(5, "p3", 0))
	c.apply(&belfry.Record{Customer: 1, Items: made.Items})
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(3, "p1", 3000)}}) // the record that is lost
	c.writeWithoutPosition()
	c.same([]belfry.Record{made, later}, "web01 2", "p2 4", "p3 5")

	// Made again, the name is there once.
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(6, "p1", 0)}})
	c.drain()
	c.same(nil, "web01 2", "p2 4", "p3 5", "p1 6")
}

// Nobody knows of the removal, but the name was given again.
func TestRemovalFollowsFromName(t *testing.T) {
	resource := func(id belfry.ID) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindResource, Name: "r", Class: "custom", Parent: 1, Resource: id}
	}
	inside := func(id, resource belfry.ID) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindObject, Name: "o", Class: "cpu", Parent: resource, Resource: resource}
	}
	label := func(id belfry.ID) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindElement, Name: "l", Package: "label", Parent: 1}
	}
	c := newChurn(t)
	c.drain()
	c.same([]belfry.Record{
		record(2, c.object(3, "p1", 0), resource(4), inside(5, 4), label(6)),
		record(4, c.object(7, "p1", 0), resource(8), label(9)),
	}, "web01 2", "p1 7", "r 8")
	if n := c.tree.Tenant(1).Count(belfry.KindElement); n != 1 {
		t.Errorf("%d elements", n)
	}
	for _, id := range []belfry.ID{3, 5} {
		if nodes, err := c.tree.History().Nodes(t.Context(), 1, []belfry.ID{id}); err != nil || len(nodes) != 1 || nodes[0].Removed == 0 {
			t.Errorf("item %d is not known as removed: %v", id, err)
		}
	}
}

// Nobody knows of the removal, but what the item stood in was removed. An item that has left it before stays.
func TestRemovalFollowsFromPlace(t *testing.T) {
	view := func(id, parent belfry.ID, removed belfry.Time) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindView, Name: fmt.Sprint("v", id), Class: "generic", Parent: parent, Removed: removed}
	}
	resource := func(id, parent belfry.ID, removed belfry.Time) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindResource, Name: fmt.Sprint("r", id), Class: "custom", Parent: parent, Resource: id, Removed: removed}
	}
	inside := func(id, resource belfry.ID) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindObject, Name: "o", Class: "cpu", Parent: resource, Resource: resource}
	}
	c := newChurn(t)
	c.drain()
	c.same([]belfry.Record{
		record(2, view(3, 1, 0), resource(4, 3, 0), inside(5, 4), resource(6, 1, 0), inside(7, 6), resource(8, 3, 0), resource(9, 3, 0)),
		record(4, resource(8, 1, 0)),                   // moved
		record(5, view(3, 1, 5000), resource(9, 1, 0)), // moved with the removal
		record(6, resource(6, 1, 6000)),                // without its object, which was removed before
		record(7, c.object(10, "p", 0), inside(11, 4)), // into a resource that has gone
	}, "web01 2", "r8 8", "r9 9", "p 10")
}

// The database has a move whose record is lost: older records do not move the item back, and it does not go with the view that
// it has left.
func TestMoveInDatabaseAlone(t *testing.T) {
	view := belfry.Item{ID: 3, Customer: 1, Kind: belfry.KindView, Name: "v", Class: "generic", Parent: 1}
	moved := belfry.Item{ID: 4, Customer: 1, Kind: belfry.KindResource, Name: "r", Class: "custom", Parent: 3, Resource: 4}
	made := record(2, view, moved)
	moved.Parent, view.Removed = 1, 4000
	c := newChurn(t)
	c.drain()
	c.apply(&belfry.Record{Customer: 1, Items: slices.Clone(made.Items)})
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{moved}}) // the record that is lost
	c.writeWithoutPosition()
	c.same([]belfry.Record{made, record(4, view)}, "web01 2", "r 4")
	if p := c.tree.Node(4).Parent; p == nil || p.Name != belfry.Main {
		t.Errorf("it stands in %+v", p)
	}
}

// The row store has a removal whose record is lost.
func TestRemovalInRowStoreAlone(t *testing.T) {
	for _, known := range []bool{true, false} { // the database knows the item
		c := newChurn(t)
		made := record(2, c.object(3, "p1", 0), c.object(4, "p2", 0), c.object(5, "p3", 0))
		if known {
			c.apply(&belfry.Record{Customer: 1, Items: made.Items})
		}
		c.drain()
		c.load()
		if c.tree.Recovery().MayExist(3) == false {
			t.Errorf("known %t: item 3 cannot exist", known)
		}
		missed := []LostRemoval{{3, 1, belfry.KindObject, "p1"}, {4, 1, belfry.KindObject, "p2 of another time"}, {99, 1, belfry.KindObject, "x"}}
		if err := c.tree.Recovery().ApplyLostRemovals(t.Context(), missed, 7000); err != nil {
			t.Fatal(err)
		}
		if !known {
			if err := c.tree.Recovery().Replay(&made); err != nil {
				t.Fatal(err)
			}
			c.mover.Add(&made)
			c.pos = 2
		}
		c.tree.Recovery().End()
		c.drain()
		c.same(nil, "web01 2", "p2 4", "p3 5")
	}
}

// Items in the database that have the name of another one, or stand in a resource that is gone, are removed when it is read.
func TestFolderWithReturnedItems(t *testing.T) {
	c := newChurn(t)
	gone := belfry.Item{ID: 6, Customer: 1, Kind: belfry.KindResource, Name: "r", Class: "custom", Parent: 1, Resource: 6}
	left := belfry.Item{ID: 7, Customer: 1, Kind: belfry.KindObject, Name: "o", Class: "cpu", Parent: 6, Resource: 6}
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(3, "p1", 0), c.object(4, "p2", 0), gone, left}})
	gone.Removed = 50
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(3, "p1", 60), gone}})
	c.drain()
	if err := c.db.Apply(t.Context(), []*belfry.Record{{Pos: c.db.Stored() + 1, Customer: 1, Items: []belfry.Item{c.object(5, "p2", 0)}}}, nil); err != nil {
		t.Fatal(err)
	}
	c.same(nil, "web01 2", "p2 5")
}
