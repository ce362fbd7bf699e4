package live

import (
	"strings"
	"testing"

	"belfry"
)

// hidden gives customer 1 of a stage something that a user who is limited to web does not see:
//
//	MAIN ─┬ zecret ─┬ web ─ cpu
//	      │         └ zecret-db ─ zecret-load
//	      └ Paris
func (s *stage) hidden() {
	s.t.Helper()
	s.happen(&belfry.Record{Customer: 1, Items: []belfry.Item{
		{ID: 30, Customer: 1, Kind: belfry.KindView, Name: "zecret", Parent: 10, Class: "generic"},
		{ID: 31, Customer: 1, Kind: belfry.KindResource, Name: "zecret-db", Parent: 30, Resource: 31, Class: "custom", Package: "custom"},
		{ID: 32, Customer: 1, Kind: belfry.KindObject, Name: "zecret-load", Parent: 31, Resource: 31, Class: "load"},
		{ID: 33, Customer: 1, Kind: belfry.KindView, Name: "Paris", Parent: 10, Class: "generic"},
		{ID: 11, Customer: 1, Kind: belfry.KindResource, Name: "web", Parent: 30, Resource: 11, Class: "custom", Package: "custom"},
	}})
}

// limitedTo begins to listen as somebody who sees some views.
func (s *stage) limitedTo(views ...string) *Listener {
	s.t.Helper()
	l, err := s.Listen(belfry.Scope{Customer: 1, Views: views}, Statuses|Events, 100, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// TestLimitedStream: a limited listener is told of what is inside alone, in messages whose numbers have no gaps.
func TestLimitedStream(t *testing.T) {
	s := newStage(t)
	s.hidden()
	all, web, paris, gone := s.join(1), s.limitedTo("web"), s.limitedTo("Paris"), s.limitedTo("gone")
	twin := s.limitedTo("web")
	if twin.feed != web.feed || all.feed == web.feed {
		t.Error("who sees the same shares a feed, and nobody else does")
	}
	s.happen(s.alarm(1, 32, "a zecret reason", belfry.Unknown, belfry.Critical))
	s.happen(s.alarm(1, 12, "hot", belfry.Unknown, belfry.OK))
	s.happen(s.alarm(1, 11, "", belfry.Unknown, belfry.OK))
	s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{moved(10, belfry.Critical, 7, ""), moved(30, belfry.Critical, 7, ""), moved(33, belfry.OK, 7, "")}})
	note := &belfry.Batch{Collection: belfry.Events, Customer: 1, FirstID: s.rows, Times: []belfry.Time{9, 9}, Columns: []belfry.Column{
		{Name: "type", Texts: []string{"login", "note"}},
		{Name: "user", Texts: []string{"zecret-user", "eve"}},
		{Name: belfry.ItemColumn, Ints: []int64{belfry.AbsentInt, 12}},
		{Name: "info", Texts: []string{"logged in", "seen"}},
	}}
	s.happen(&belfry.Record{Customer: 1, Batches: []*belfry.Batch{note}})
	s.settle()

	text, missed := heard(all)
	if missed || strings.Count(text, "\nevent: ") != 11 || !strings.Contains(text, "zecret-user") {
		t.Errorf("one who may know everything is told\n%s", text)
	}
	text, missed = heard(web)
	if missed || strings.Contains(text, "zecret") || strings.Contains(text, `"name":"MAIN"`) {
		t.Errorf("told of what is outside:\n%s", text)
	}
	for i, want := range []string{
		`"name":"cpu","kind":"object","resource":"web","view":"web","parentview":"MAIN"`,
		`"type":"alarm","status":"0","previous":"?","resource":"web","view":"web","object":"cpu"`,
		`"name":"web","kind":"resource","resource":"web","view":"MAIN"`,
		`"type":"alarm","status":"0","previous":"?","resource":"web","view":"MAIN"`,
		`"type":"note","resource":"web","view":"web","object":"cpu","class":"load","info":"seen","user":"eve"`,
	} {
		if messages := strings.Split(text, "\n\n"); len(messages) != 6 || !strings.Contains(messages[i], want) || !strings.HasPrefix(messages[i], "id: "+web.feed.id(uint64(i+1))+"\n") {
			t.Fatalf("message %d is not %s:\n%s", i+1, want, text)
		}
	}
	if text, _ := heard(paris); strings.Count(text, "\nevent: ") != 1 || !strings.Contains(text, `"name":"Paris","kind":"view","view":"Paris","parentview":"MAIN"`) {
		t.Errorf("of Paris is told\n%s", text)
	}
	if text, _ := heard(gone); text != "" {
		t.Errorf("of a view that is gone is told\n%s", text)
	}
}

// TestLimitedStreamMoves: what counts is where an item stands when something happens; where it has gone is not told.
func TestLimitedStreamMoves(t *testing.T) {
	s := newStage(t)
	s.hidden()
	l := s.limitedTo("Paris")
	move := func(to belfry.ID) {
		s.happen(&belfry.Record{Customer: 1, Items: []belfry.Item{{ID: 11, Customer: 1, Kind: belfry.KindResource, Name: "web", Parent: to, Resource: 11, Class: "custom", Package: "custom"}}})
	}
	s.happen(s.alarm(1, 12, "before", belfry.Unknown, belfry.OK))
	move(33)
	s.happen(s.alarm(1, 12, "inside", belfry.OK, belfry.Major))
	s.happen(s.alarm(1, 11, "inside", belfry.OK, belfry.Major))
	move(30) // before the message about it is written
	s.happen(s.alarm(1, 12, "after", belfry.Major, belfry.OK))
	s.settle()
	text, missed := heard(l)
	if missed || strings.Count(text, "\nevent: ") != 4 || strings.Contains(text, "zecret") || strings.Contains(text, "before") || strings.Contains(text, "after") {
		t.Errorf("told\n%s", text)
	}
}

// TestLimitedStreams: all feeds of a customer count together, and go when nobody listens.
func TestLimitedStreams(t *testing.T) {
	s := newStage(t)
	listen := func(views ...string) (*Listener, error) {
		return s.Listen(belfry.Scope{Customer: 1, Views: views}, Statuses|Events, 2, 10)
	}
	a, err := listen("web")
	if err != nil {
		t.Fatal(err)
	}
	b, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen("web", "gone"); belfry.CodeOf(err) != belfry.RateLimited {
		t.Errorf("a third stream: %v", err)
	}
	if n := s.feeds.Load(); n != 2 {
		t.Errorf("%d feeds", n)
	}
	a.Close()
	b.Close()
	s.dropIdle(a.feed.left.Add(2 * s.Timing.Keep))
	if n := s.feeds.Load(); n != 0 || len(s.byCustomer) != 0 {
		t.Errorf("%d feeds of %d customers are left", n, len(s.byCustomer))
	}
}

// TestLimitedReplay: who comes later is not told of what has been moved out since, nor by the name of a view that has.
func TestLimitedReplay(t *testing.T) {
	s := newStage(t)
	s.hidden()
	item := func(id belfry.ID, name string, parent belfry.ID) belfry.Item {
		i := belfry.Item{ID: id, Customer: 1, Kind: belfry.KindView, Name: name, Parent: parent, Class: "generic"}
		if id == 11 {
			i.Kind, i.Resource, i.Class, i.Package = belfry.KindResource, 11, "custom", "custom"
		}
		return i
	}
	put := func(items ...belfry.Item) { s.happen(&belfry.Record{Customer: 1, Items: items}) }
	replay := func(l *Listener, after uint64) string {
		t.Helper()
		if !l.Resume(l.feed.id(after)) {
			t.Fatalf("cannot go on after message %d", after)
		}
		text, _ := heard(l)
		return text
	}
	put(item(40, "Louvre", 33), item(11, "web", 40))
	first := s.limitedTo("Paris")
	s.happen(s.alarm(1, 11, "in Louvre", belfry.Unknown, belfry.Major))
	s.happen(s.alarm(1, 33, "of Paris", belfry.Unknown, belfry.Major))
	s.settle()
	if text := replay(s.limitedTo("Paris"), 0); strings.Count(text, "\nevent: ") != 4 || !strings.Contains(text, `"view":"Louvre"`) {
		t.Errorf("nothing was moved; replayed\n%s", text)
	}

	put(item(11, "web", 33), item(40, "Louvre", 30)) // the resource stays inside, the view in which it stood does not
	s.settle()
	if text := replay(s.limitedTo("Paris"), 0); strings.Count(text, "\nevent: ") != 2 || strings.Contains(text, "Louvre") {
		t.Errorf("the view was moved out; replayed\n%s", text)
	}

	s.happen(s.alarm(1, 12, "in Paris", belfry.Unknown, belfry.Major))
	s.settle()
	put(item(11, "web", 30))
	later := s.limitedTo("Paris")
	s.happen(s.alarm(1, 33, "at last", belfry.Major, belfry.OK))
	s.settle()
	text := replay(later, 1)
	if strings.Count(text, "\nevent: ") != 4 || strings.Contains(text, "web") || !strings.Contains(text, "of Paris") || !strings.Contains(text, "at last") {
		t.Errorf("the resource was moved out; replayed\n%s", text)
	}
	events := s.limitedTo("Paris")
	events.kinds = Events
	if text := replay(events, 1); strings.Count(text, "\nevent: ") != 2 || strings.Contains(text, "web") {
		t.Errorf("of events alone is replayed\n%s", text)
	}
	if text, missed := heard(first); missed || strings.Count(text, "\nevent: ") != 8 {
		t.Errorf("who listened all the time is told\n%s", text)
	}
}
