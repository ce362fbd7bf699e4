package live

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// stage is a hub over a real tree, in which records happen without a journal. Each of two customers has MAIN, the resource
// web and in it the object cpu.
type stage struct {
	*Hub
	t    testing.TB
	tree *meta.Tree
	pos  belfry.Position
	rows belfry.RowID
}

func newStage(t testing.TB) *stage {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, tree: meta.NewTree(cat), rows: 1}
	s.Hub = NewHub(s.tree, slog.New(slog.DiscardHandler))
	for c := belfry.CustomerID(1); c <= 2; c++ {
		body, err := json.Marshal(belfry.Customer{ID: c, Name: fmt.Sprint("customer ", c)})
		if err != nil {
			t.Fatal(err)
		}
		first := belfry.ID(c) * 10
		s.happen(&belfry.Record{Docs: []belfry.Doc{{Kind: belfry.DocCustomer, Name: fmt.Sprint("customer ", c), Body: body}}, Items: []belfry.Item{
			{ID: first, Customer: c, Kind: belfry.KindView, Name: belfry.Main, Class: "generic"},
			{ID: first + 1, Customer: c, Kind: belfry.KindResource, Name: "web", Parent: first, Resource: first + 1, Class: "custom", Package: "custom"},
			{ID: first + 2, Customer: c, Kind: belfry.KindObject, Name: "cpu", Parent: first + 1, Resource: first + 1, Class: "load"},
		}})
	}
	return s
}

// happen commits a record.
func (s *stage) happen(r *belfry.Record) {
	s.t.Helper()
	s.pos++
	r.SetPos(s.pos)
	if err := s.tree.Apply(r); err != nil {
		s.t.Fatal(err)
	}
	s.Add(r)
}

func moved(item belfry.ID, to belfry.Status, since belfry.Time, info string) (c belfry.StateChange) {
	c.Item, c.Status, c.Since, c.Info, c.Differs = item, to, since, info, true
	return c
}

// alarm is a record in which an item goes through statuses, each with its event; the first of them is where it was.
func (s *stage) alarm(c belfry.CustomerID, item belfry.ID, info string, path ...belfry.Status) *belfry.Record {
	b := &belfry.Batch{Collection: belfry.Events, Customer: c, FirstID: s.rows}
	items, to, from := belfry.Column{Name: belfry.ItemColumn}, belfry.Column{Name: "status"}, belfry.Column{Name: "previous"}
	source, typ, text := belfry.Column{Name: "source"}, belfry.Column{Name: "type"}, belfry.Column{Name: "info"}
	r := &belfry.Record{Customer: c}
	for i, status := range path[1:] {
		at := belfry.Time(s.rows) + belfry.Time(i)
		r.States = append(r.States, moved(item, status, at, info))
		r.States[i].Was = path[i]
		b.Times = append(b.Times, at)
		items.Ints, to.Ints, from.Ints = append(items.Ints, int64(item)), append(to.Ints, int64(status)), append(from.Ints, int64(path[i]))
		source.Texts, typ.Texts, text.Texts = append(source.Texts, "object"), append(typ.Texts, "alarm"), append(text.Texts, info)
	}
	s.rows += belfry.RowID(b.Len())
	b.Columns = []belfry.Column{items, source, typ, to, from, text}
	r.Batches = []*belfry.Batch{b}
	return r
}

func (s *stage) join(c belfry.CustomerID) *Listener {
	s.t.Helper()
	l, err := s.Listen(belfry.Whole(c), Statuses|Events, 100, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	if !l.Resume("") {
		s.t.Fatal("cannot begin at the end")
	}
	return l
}

// settle writes what waits, in the goroutine of the test.
func (s *stage) settle() {
	w := newWriter(s.tree)
	for f, inbox, first := s.next(); f != nil; f, inbox, first = s.next() {
		w.write(f, inbox, first, s.share())
		s.done(f)
	}
}

// heard gives what a listener has not read yet, and whether it missed something.
func heard(l *Listener) (text string, missed bool) {
	for {
		p, ok := l.Read()
		missed = missed || !ok
		if p.Wait != nil {
			return text, missed
		}
		for _, t := range p.Texts {
			text += string(t)
		}
	}
}

func TestMessages(t *testing.T) {
	s := newStage(t)
	l, events, other := s.join(1), s.join(1), s.join(2)
	events.kinds = Events
	s.happen(s.alarm(1, 12, "too \"hot\"\nfor us", belfry.Unknown, belfry.OK, belfry.Critical, belfry.OK))
	s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{moved(10, belfry.Warning, 7, "")}})
	s.settle()
	id := func(n int) string { return l.feed.id(uint64(n)) }
	message := func(n int, event, data string) string {
		return "id: " + id(n) + "\nevent: " + event + "\ndata: " + data + "\n\n"
	}
	const where = `"resource":"web","view":"web",`
	const named = `"name":"cpu","kind":"object",` + where + `"parentview":"MAIN","object":"cpu","class":"load",`
	const info = `"info":"too \"hot\"\nfor us"`
	rows := message(4, "event", `{"id":"0000000000000001","timestamp":"1970-01-01T00:00:00.000001Z","source":"object","type":"alarm","status":"0","previous":"?",`+where+`"object":"cpu","class":"load",`+info+`}`) +
		message(5, "event", `{"id":"0000000000000002","timestamp":"1970-01-01T00:00:00.000002Z","source":"object","type":"alarm","status":"3","previous":"0",`+where+`"object":"cpu","class":"load",`+info+`}`) +
		message(6, "event", `{"id":"0000000000000003","timestamp":"1970-01-01T00:00:00.000003Z","source":"object","type":"alarm","status":"0","previous":"3",`+where+`"object":"cpu","class":"load",`+info+`}`)
	want := message(1, "status", `{`+named+`"status":"0","statusname":"OK","previous":"?","since":"1970-01-01T00:00:00.000001Z",`+info+`}`) +
		message(2, "status", `{`+named+`"status":"3","statusname":"Critical","previous":"0","since":"1970-01-01T00:00:00.000002Z",`+info+`}`) +
		message(3, "status", `{`+named+`"status":"0","statusname":"OK","previous":"3","since":"1970-01-01T00:00:00.000003Z",`+info+`}`) +
		rows +
		message(7, "status", `{"name":"MAIN","kind":"view","view":"MAIN","class":"generic","status":"1","statusname":"Warning","previous":"?","since":"1970-01-01T00:00:00.000007Z"}`)
	f := func(who string, l *Listener, want string) {
		t.Helper()
		got, missed := heard(l)
		if diff := cmp.Diff(want, got); diff != "" || missed {
			t.Errorf("%s, missed %t (-want +got):\n%s", who, missed, diff)
		}
	}
	f("who wants everything", l, want)
	f("who wants events", events, rows)
	f("the other customer", other, "")
}

// TestMessagesOfTheInstance: a record of no customer reaches each customer with what is theirs.
func TestMessagesOfTheInstance(t *testing.T) {
	s := newStage(t)
	one, two := s.join(1), s.join(2)
	r := s.alarm(2, 22, "", belfry.Unknown, belfry.Major)
	r.Customer = 0
	r.States = append(r.States, moved(12, belfry.OK, 0, ""), belfry.StateChange{Item: 999})
	s.happen(r)
	s.settle()
	f := func(l *Listener, statuses, events int, has string) {
		t.Helper()
		text, _ := heard(l)
		if a, b := strings.Count(text, "event: status"), strings.Count(text, "event: event"); a != statuses || b != events || !strings.Contains(text, has) {
			t.Errorf("%d statuses and %d events, want %d and %d and %s:\n%s", a, b, statuses, events, has, text)
		}
	}
	f(one, 1, 0, `"status":"0"`)
	f(two, 1, 1, `"status":"2"`)
}

// TestNobodyListens: nothing is kept of what nobody wants to hear.
func TestNobodyListens(t *testing.T) {
	s := newStage(t)
	s.happen(s.alarm(1, 12, "", belfry.Unknown, belfry.OK))
	l := s.join(2)
	s.happen(s.alarm(1, 12, "", belfry.OK, belfry.Major))
	if len(s.byCustomer) != 1 || s.byCustomer[2][0].waiting != 0 {
		t.Errorf("%d feeds", len(s.byCustomer))
	}
	if allocs := testing.AllocsPerRun(100, func() { s.Add(&belfry.Record{Customer: 1}) }); allocs > 1 { // the record itself
		t.Errorf("%v allocations for somebody else", allocs)
	}
	l.Close()
	s.dropIdle(l.feed.left.Add(s.Timing.Keep))
	if s.feeds.Load() != 0 {
		t.Error("a feed stays that nobody has listened to for long")
	}
}

// TestComeBack: a listener that was away gets what it missed, as long as that is there; else it is told so.
func TestComeBack(t *testing.T) {
	s := newStage(t)
	s.limits = limits{feed: 4000, all: 1 << 20, inbox: 100, deserted: 10, turn: 5}
	change := func(n int) {
		for range n {
			s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{moved(12, belfry.OK, 0, "")}})
		}
	}
	f := func(last string, want bool, messages int) (newest string) {
		t.Helper()
		l := s.join(1)
		defer l.Close()
		s.settle()
		if ok := l.Resume(last); ok != want {
			t.Errorf("after %q: %t", last, ok)
		}
		text, missed := heard(l)
		if n := strings.Count(text, "event: status"); n != messages || missed {
			t.Errorf("after %q: %d messages, missed %t", last, n, missed)
		}
		return l.Last()
	}
	start := f("", true, 0)
	change(3)
	f("", true, 0)              // nothing of what was before
	middle := f(start, true, 3) // they waited for somebody, unwritten
	f(start, true, 3)
	f(middle, true, 0)
	for _, wrong := range []string{"x", "1.1", start + "x", middle + "9", "." + middle, strings.TrimSuffix(start, "0"), strings.Repeat("9", 40) + ".1"} {
		f(wrong, false, 0)
	}
	newest := middle
	for range 10 { // more than the feed keeps
		change(9)
		newest = f(newest, true, 9)
	}
	if kept := s.byCustomer[1][0].bytes; kept > s.limits.feed {
		t.Errorf("%d bytes are kept", kept)
	}
	f(middle, false, 0)
	f(newest, true, 0)
	change(11) // more than waits for nobody
	if s.feeds.Load() != 0 {
		t.Error("a feed that nobody listens to keeps growing")
	}
	again := f(newest, false, 0)
	if !(slices.Compare(numbers(t, again), numbers(t, newest)) > 0) {
		t.Errorf("%s does not rise above %s", again, newest)
	}
}

// TestComeBackEarly: a listener that begins while messages wait to be written can resume after the id that it was given, before
// and after they are written.
func TestComeBackEarly(t *testing.T) {
	s := newStage(t)
	s.join(1)
	change := func() {
		s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{moved(12, belfry.OK, 0, "")}})
	}
	change()
	begin := s.join(1).Last()
	early := s.join(1)
	if !early.Resume(begin) {
		t.Error("it cannot resume before the message is written")
	}
	change()
	s.settle()
	late := s.join(1)
	if !late.Resume(begin) {
		t.Error("it cannot resume after the message is written")
	}
	for _, l := range []*Listener{early, late} {
		if text, missed := heard(l); strings.Count(text, "event: status") != 1 || missed {
			t.Errorf("missed %t: %s", missed, text)
		}
	}
	if l := s.join(1); l.Resume(l.feed.id(l.first)) {
		t.Error("it resumes after a message that does not exist")
	}
}

func numbers(t *testing.T, id string) []uint64 {
	t.Helper()
	epoch, number, ok := parseID(id)
	if !ok {
		t.Fatalf("not an id: %q", id)
	}
	return []uint64{epoch, number}
}

// TestInboxOverrun: what comes faster than it can be written is not gathered without end; everybody is told.
func TestInboxOverrun(t *testing.T) {
	s := newStage(t)
	s.limits.inbox = 100
	l, other := s.join(1), s.join(2)
	for range 250 {
		s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{moved(12, belfry.OK, 0, "")}})
	}
	if n := s.byCustomer[1][0].waiting; n > 101 {
		t.Errorf("%d wait", n)
	}
	s.happen(s.alarm(2, 22, "", belfry.Unknown, belfry.OK))
	s.settle()
	if _, missed := heard(l); !missed {
		t.Error("it did not notice that it missed something")
	}
	if text, missed := heard(other); missed || strings.Count(text, "event:") != 2 {
		t.Errorf("the other customer, missed %t: %s", missed, text)
	}
	s.happen(s.alarm(1, 12, "", belfry.OK, belfry.Major))
	s.settle()
	if text, missed := heard(l); missed || strings.Count(text, "event:") != 2 {
		t.Errorf("afterwards, missed %t: %s", missed, text)
	}
}

// TestTurns: a customer with very much to tell does not keep others waiting.
func TestTurns(t *testing.T) {
	s := newStage(t)
	s.limits.turn = 10
	s.join(1)
	s.join(2)
	for range 100 {
		s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{moved(12, belfry.OK, 0, "")}})
	}
	s.happen(s.alarm(2, 22, "", belfry.Unknown, belfry.OK))
	var turns []belfry.CustomerID
	for f, _, _ := s.next(); f != nil; f, _, _ = s.next() {
		turns = append(turns, f.scope.Customer)
		s.done(f)
	}
	if len(turns) != 11 || turns[1] != 2 {
		t.Errorf("turns %v", turns)
	}
}

func TestStreamLimits(t *testing.T) {
	s := newStage(t)
	f := func(c belfry.CustomerID, want belfry.Code) *Listener {
		t.Helper()
		joined, err := s.Listen(belfry.Whole(c), Statuses|Events, 2, 3)
		if (err == nil) != (want == "") || err != nil && belfry.CodeOf(err) != want {
			t.Errorf("customer %d: %v, want %q", c, err, want)
		}
		return joined
	}
	first := f(1, "")
	f(1, "")
	f(1, belfry.RateLimited)
	f(2, "")
	f(2, belfry.Overloaded)
	aside := f(3, "") // it has none
	f(4, belfry.Overloaded)
	aside.Close()
	first.Close()
	f(1, "")
	s.Close()
	s.Close()
	f(2, belfry.Overloaded)
	if s.Context().Err() == nil {
		t.Error("the streams are not told to end")
	}
}

func FuzzStreamID(f *testing.F) {
	f.Add("1794742815577039.7")
	f.Add(".")
	f.Add("18446744073709551615.1")
	f.Fuzz(func(t *testing.T, text string) {
		epoch, number, ok := parseID(text)
		if !ok {
			return
		}
		again := (&feed{epoch: epoch}).id(number)
		if e, n, ok := parseID(again); !ok || e != epoch || n != number {
			t.Errorf("%q is read as %d.%d, which reads %q", text, epoch, number, again)
		}
	})
}

// TestStatusMessages: of an item that moved several times in one record the status before the record is told; one that looks as before
// is not told at all.
func TestStatusMessages(t *testing.T) {
	s := newStage(t)
	l := s.join(1)
	twice := s.alarm(1, 12, "", belfry.OK, belfry.Warning, belfry.Critical)
	twice.States = twice.States[1:] // the sequencer keeps one state of an item
	twice.States[0].Was = belfry.OK
	quiet, back := moved(12, belfry.Critical, 5, ""), moved(12, belfry.Critical, 6, "")
	quiet.Was, back.Was = belfry.Critical, belfry.Critical
	quiet.Differs = false
	s.happen(twice)
	s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{quiet}})
	s.happen(&belfry.Record{Customer: 1, States: []belfry.StateChange{quiet, back}})
	s.settle()
	text, _ := heard(l)
	var got []string
	for _, line := range strings.Split(text, "\n") {
		if _, rest, ok := strings.Cut(line, `"parentview":"MAIN","object":"cpu","class":"load",`); ok {
			got = append(got, rest)
		}
	}
	want := []string{
		`"status":"3","statusname":"Critical","previous":"0","since":"1970-01-01T00:00:00.000002Z"}`,
		`"status":"3","statusname":"Critical","since":"1970-01-01T00:00:00.000006Z"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("told:\n%s", strings.Join(got, "\n"))
	}
}

// TestPanic: a bug in adding or writing messages does not end the service. All listeners get a resync, and go on.
func TestPanic(t *testing.T) {
	s := newStage(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	l, other := s.join(1), s.join(2)
	resynced := func(l *Listener) {
		t.Helper()
		for {
			p, ok := l.Read()
			if !ok {
				return
			}
			if p.Wait != nil {
				<-p.Wait
			}
		}
	}
	f := func(what string, broken *belfry.Record) {
		t.Helper()
		s.Add(broken)
		resynced(l)
		resynced(other)
		s.happen(s.alarm(1, 12, what, belfry.Unknown, belfry.OK))
		for text := ""; !strings.Contains(text, what); {
			p, ok := l.Read()
			if !ok {
				t.Fatalf("%s: missed something", what)
			}
			if p.Wait != nil {
				<-p.Wait
			}
			for _, part := range p.Texts {
				text += string(part)
			}
		}
	}
	f("added", &belfry.Record{Customer: 1, Batches: []*belfry.Batch{nil}})
	short := s.alarm(1, 12, "", belfry.Unknown, belfry.OK, belfry.Critical)
	for i := range short.Batches[0].Columns {
		c := &short.Batches[0].Columns[i]
		c.Ints, c.Texts = c.Ints[:min(1, len(c.Ints))], c.Texts[:min(1, len(c.Texts))]
	}
	f("written", short)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
