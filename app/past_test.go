package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/accounts"
	"belfry/engine"
	"belfry/folder"
	"belfry/intake"
	"belfry/journal"
	"belfry/meta"
	"belfry/query"
	"belfry/status"
	"belfry/store"
)

// memory is the sequencer on a real journal with a real row store behind it, under a clock of the test's own. Beside it
// stands the model: what every item showed, as it was seen at the time.
type memory struct {
	*testing.T
	dir    string
	rnd    *rand.Rand
	clock  sync.Mutex // of now, which the sequencer reads when it likes
	now    time.Time
	who    engine.Sender
	tree   *meta.Tree
	rows   *rowStore
	mover  *store.Mover
	seq    *engine.Sequencer
	intake *intake.Intake
	close  func()

	seen  map[facet]string // what an item shows at present
	model []shown
	heard map[string]belfry.Time // since when there are data of an item, which may be older than the item
	marks []belfry.Time          // moments near which it is worth asking
	parts bool                   // a snapshot is being taken
	full  error                  // why there is no room
}

// facet is a part of what an item shows: one of the groups of fields below.
type facet struct {
	item string
	part int
}

// facets are fields that change together. What becomes known late changes its own group and no other.
var facets = [...]string{
	"status, since",
	"info",
	"isunmanaged, unmanageifred, collectunmanage, collectorunmanage, unmanagefrom, unmanageto, unmanagenote",
	"acknowledged, ack, ackby, acktime",
	"note",
}

// shown is what an item showed after something that happened at a time, in the order in which it became known.
type shown struct {
	facet
	at    belfry.Time
	state string
}

func (m *memory) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *memory) open() {
	m.Helper()
	cat, log := testCatalog(m.T), slog.New(slog.DiscardHandler)
	m.tree = meta.NewTree(cat)
	j, err := journal.Open(filepath.Join(m.dir, "journal"), journal.Options{Log: log})
	m.must(err)
	rows, err := OpenStore(m.Context(), usedEngine, store.Config{Dir: filepath.Join(m.dir, "rows"), Catalog: cat, Log: log, Items: m.tree.History().Dimensions})
	m.must(err)
	m.rows = newRowStore(rows)
	m.mover = store.NewMover(m.rows.Store, store.MoverOptions{Log: log})
	toStore := func(r *belfry.Record) {
		m.mover.Add(&belfry.Record{Pos: r.Pos, Batches: append(m.tree.History().Dimension(r), r.Batches...)})
	}
	m.must(j.Replay(0, func(pos belfry.Position, payload []byte) error {
		r, err := belfry.DecodeRecord(payload)
		m.must(err)
		r.SetPos(pos)
		m.must(m.tree.Apply(r))
		toStore(r)
		return nil
	}))
	m.seq = engine.New(engine.Config{
		Tree: m.tree, Journal: j, Log: log, Sinks: []func(*belfry.Record){toStore}, Now: m.time,
		Room:    func(context.Context, belfry.CustomerID, int) error { m.between(); return m.full },
		Ready:   func() error { return nil },
		Answers: func(context.Context, belfry.CustomerID, string) (*belfry.Answer, error) { return nil, nil },
		Count:   func(belfry.CustomerID) int { return 0 },
		Limits: func() engine.Limits {
			return engine.Limits{
				Row: 1 << 16, Columns: 100, Indicators: 10, Objects: 1000, Answers: 1000,
				Retention: func(string) time.Duration { return 0 },
			}
		},
	})
	m.intake = intake.New(intake.Config{Engine: m.seq})
	moving, engineParts := start("mover", m.mover.Run, nil), start("sequencer", m.seq.Run, nil)
	m.close = func() {
		m.must(engineParts.end())
		m.must(moving.end())
		m.must(m.mover.Drain(context.Background()))
		m.must(m.rows.Close())
		m.must(j.Close())
	}
}

// time is the time of the sequencer.
func (m *memory) time() time.Time {
	m.clock.Lock()
	defer m.clock.Unlock()
	return m.now
}

func (m *memory) set(t time.Time) {
	m.clock.Lock()
	defer m.clock.Unlock()
	m.now = t.Truncate(time.Microsecond)
}

// look notes what has changed by something that happened at the given time.
func (m *memory) look(at belfry.Time) {
	m.Helper()
	present, err := m.ask("", "")
	m.must(err)
	for f, state := range present {
		old, ok := m.seen[f]
		if !ok && f.part == 0 && m.node(f).State.Mode.StoresData() {
			m.heard[f.item] = at
		}
		if ok && old != state || !ok && state != m.unseen(f) {
			when := at
			if !ok && f.part >= 2 { // an object is managed as what it stands in from when it is made, though its data may lie ahead
				when = belfry.At(m.now)
			}
			m.model = append(m.model, shown{f, when, state})
		}
		m.seen[f] = state
	}
}

// unseen is what an item shows before anything has happened to it.
func (m *memory) unseen(f facet) string {
	switch f.part {
	case 0:
		return fmt.Sprintf("? %s ", m.node(f).Created)
	case 2:
		return "false false false false    "
	case 3:
		return "false    "
	}
	return " "
}

func (m *memory) node(f facet) *meta.Node {
	number, err := strconv.ParseUint(f.item, 16, 32)
	m.must(err)
	return m.tree.Tenant(m.who.Customer).Numbered(number)
}

func (m *memory) send(body string, at time.Time) {
	m.Helper()
	_, _, err := m.intake.Send(m.Context(), m.who, strings.NewReader(body), intake.Options{})
	m.must(err)
	m.look(belfry.At(at))
}

// between lets something happen before a part of a snapshot.
func (m *memory) between() {
	if m.parts && m.rnd.IntN(2) == 0 {
		m.parts = false // what happens asks for room, too
		m.set(m.now.Add(time.Duration(m.rnd.Int64N(int64(time.Minute)))))
		m.happen()
		m.parts = true
	}
}

// step lets something happen, some time after what happened last.
func (m *memory) step() {
	m.Helper()
	m.set(m.now.Add(time.Duration(m.rnd.Int64N(int64(3*time.Hour))) + time.Microsecond))
	switch m.rnd.IntN(10) {
	case 0, 1:
		m.snapshot()
	case 2:
		m.close()
		m.open()
	default:
		m.happen()
	}
}

func (m *memory) snapshot() {
	m.Helper()
	m.marks = append(m.marks, belfry.At(m.now))
	m.parts = true
	m.must(m.seq.Snapshot(m.Context(), m.who.Customer, 1+m.rnd.IntN(4)))
	m.parts = false
	m.marks = append(m.marks, belfry.At(m.now))
}

func (m *memory) happen() {
	m.Helper()
	resource, object := fmt.Sprintf("r%d", m.rnd.IntN(2)), fmt.Sprintf("o%d", m.rnd.IntN(4))
	switch m.rnd.IntN(14) {
	case 10, 11, 12, 13:
		m.act()
	case 0:
		_, _, err := m.intake.Remove(m.Context(), m.who, "object", strings.NewReader("name,resname\n"+object+","+resource+"\n"), intake.Options{})
		m.must(err)
		m.look(belfry.At(m.now))
	case 1, 2, 3, 4:
		row := &belfry.Row{Type: "data", Resource: resource, Object: object, Class: "c", View: resource, NoResponse: true}
		_, _, err := m.intake.SendOne(m.Context(), m.who.Scope, row)
		m.must(err)
		m.look(belfry.At(m.now))
	default:
		late := time.Duration(m.rnd.Int64N(int64(40 * time.Hour)))
		if m.rnd.IntN(2) == 0 {
			late = 0
		}
		at := m.now.Add(4*time.Minute - late).Truncate(time.Microsecond)
		m.send(fmt.Sprintf("type,resname,object,class,view,timestamp,i1\ndata,%s,%s,c,%s,%s,1\n",
			resource, object, resource, at.Format(time.RFC3339Nano)), at)
	}
}

// act has an operator do something with an item, at once.
func (m *memory) act() {
	m.Helper()
	name := []string{belfry.Main, "r0", "r1", "o0", "o1", "o2", "o3"}[m.rnd.IntN(7)]
	a := engine.Action{Kind: belfry.KindView, List: engine.Names(name)}
	if name[0] == 'o' {
		a.Resource = "r0"
	}
	text := fmt.Sprintf("text %d", m.rnd.IntN(100))
	switch m.rnd.IntN(5) {
	case 0:
		a.Note = []*string{new(string), &text}[m.rnd.IntN(2)]
	case 1:
		a.Ack = &belfry.Ack{Text: text, By: "op", Sticky: belfry.Time(m.rnd.IntN(2)) * 7200e6, UntilWorse: m.rnd.IntN(2) == 0}
	case 2:
		a.Manage = &status.Order{By: "op"}
	default:
		a.Manage = &status.Order{Mode: belfry.Mode(m.rnd.IntN(3)), By: "op", Note: []*string{nil, new(string), &text}[m.rnd.IntN(3)]}
	}
	_, err := m.seq.Act(m.Context(), m.who, a)
	m.must(err)
	m.look(belfry.At(m.now))
}

// want is the model's answer for a moment.
func (m *memory) want(at belfry.Time) map[facet]string {
	last := map[facet]string{}
	for _, s := range m.model {
		if s.at <= at {
			last[s.facet] = s.state
		}
	}
	want := map[facet]string{}
	for n := range m.tree.EachWithRemoved(m.ever()) {
		item, known := belfry.RowID(n.Number).String(), false
		for part := range facets {
			_, ok := last[facet{item, part}]
			known = known || ok
		}
		if from, ok := m.heard[item]; ok && from <= at {
			known = true
		}
		if n.Created > at && !known || n.Removed != 0 && n.Removed <= at {
			continue
		}
		for part := range facets {
			f := facet{item, part}
			if want[f] = last[f]; want[f] == "" {
				want[f] = m.unseen(f)
			}
		}
	}
	return want
}

func (m *memory) got(at belfry.Time) map[facet]string {
	m.Helper()
	got, err := m.asOf(at, "")
	m.must(err)
	m.checkOne(at, got)
	return got
}

// checkOne asks for the objects of one name, which are found by themselves: they are as they are among all.
func (m *memory) checkOne(at belfry.Time, all map[facet]string) {
	m.Helper()
	nodes := m.ever()
	one := nodes[m.rnd.IntN(len(nodes))]
	if one.Kind != belfry.KindObject {
		return
	}
	want := map[facet]string{}
	for _, n := range nodes {
		for part := range facets {
			f := facet{belfry.RowID(n.Number).String(), part}
			if state, ok := all[f]; ok && n.Kind == belfry.KindObject && n.Name == one.Name {
				want[f] = state
			}
		}
	}
	got, err := m.asOf(at, " WHERE object = '"+one.Name+"'")
	m.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		m.Fatalf("object %s as of %s (-among all +by itself):\n%s", one.Name, at, diff)
	}
}

func (m *memory) past() *status.Past {
	return &status.Past{Tree: m.tree, Catalog: testCatalog(m.T), Rows: m.mover, Oldest: m.rows.Oldest}
}

func (m *memory) asOf(at belfry.Time, where string) (map[facet]string, error) {
	m.Helper()
	return m.ask(" AS OF '"+at.String()+"'", where)
}

// ask gives all facets of items.
func (m *memory) ask(when, where string) (map[facet]string, error) {
	m.Helper()
	rows, err := m.rowsOf("SELECT id, kind, " + strings.Join(facets[:], ", ") + " FROM objectstatus" + when + where)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	got := map[facet]string{}
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		m.must(err)
		item, values := row[0].String(), row[2:]
		if row[1].String() == belfry.KindResource.String() {
			values[slices.Index(facets[:], "info")+1] = belfry.Value{} // depends on how much stands in it now
		}
		for part, fields := range facets {
			state := ""
			for range 1 + strings.Count(fields, ",") {
				state += values[0].String() + " "
				values = values[1:]
			}
			got[facet{item, part}] = state
		}
	}
}

func (m *memory) rowsOf(q string) (query.Rows, error) {
	m.Helper()
	s, err := query.Parse(q)
	m.must(err)
	p, err := query.Check(s, testCatalog(m.T), query.Options{Customer: m.who.Customer, Now: belfry.At(m.now), Rows: 1000})
	m.must(err)
	return status.Source{Tree: m.tree, Past: m.past()}.Select(m.Context(), p)
}

// moment picks one to ask for: any, now, or one near a snapshot.
func (m *memory) moment() belfry.Time {
	now, first := belfry.At(m.now), m.marks[0]
	switch m.rnd.IntN(4) {
	case 0:
		return now
	case 1:
		return first - 1e9 + belfry.Time(m.rnd.Int64N(int64(now-first)+1e9))
	}
	return min(now, m.marks[m.rnd.IntN(len(m.marks))]+belfry.Time(m.rnd.Int64N(8*60e6))-60e6)
}

func newMemory(t *testing.T, seed uint64) *memory {
	t.Helper()
	m := &memory{
		T: t, dir: t.TempDir(), rnd: rand.New(rand.NewPCG(seed, 4)), seen: map[facet]string{}, heard: map[string]belfry.Time{},
		now: time.Date(2026, 11, 10, 3, 0, 0, 0, time.UTC),
	}
	m.open()
	m.must(accounts.New(accounts.Config{Engine: m.seq}).Bootstrap("hash"))
	c, _ := m.tree.Access().CustomerNamed(belfry.DefaultCustomer)
	m.who, m.marks = engine.Sender{Scope: belfry.Whole(c.ID), Key: "k", Name: "op"}, []belfry.Time{belfry.At(m.now)}
	_, _, err := m.intake.Provision(t.Context(), m.who, "custom", strings.NewReader("name\nr0\nr1\n"), intake.Options{})
	m.must(err)
	m.look(belfry.At(m.now))
	return m
}

// TestAsOf lets things happen at random, in and out of order, with snapshots, removals and restarts between, and asks
// for moments among them.
func TestAsOf(t *testing.T) {
	seeds, steps := uint64(4), 50
	if testing.Short() {
		seeds, steps = 1, 8
	}
	for seed := range seeds {
		m := newMemory(t, seed)
		for step := range steps {
			m.step()
			at := m.moment()
			if d := cmp.Diff(m.want(at), m.got(at)); d != "" {
				t.Fatalf("seed %d, step %d, as of %s (-want +got):\n%s", seed, step, at, d)
			}
		}
		m.close()
	}
}

// TestLateRowUnderManagement: a row that is older than the management under which it arrives does not bring the management with it.
func TestLateRowUnderManagement(t *testing.T) {
	m := newMemory(t, 1)
	defer func() { m.close() }()
	morning := m.now
	m.set(morning.Add(8 * time.Hour))
	_, err := m.seq.Act(t.Context(), m.who, engine.Action{Kind: belfry.KindResource, List: engine.Names("r1"), Manage: &status.Order{Mode: belfry.UnmanagedKeep, By: "op"}})
	m.must(err)
	m.set(morning.Add(12 * time.Hour))
	m.send("type,resname,object,class,view,timestamp,i1\ndata,r1,o,c,r1,"+morning.Add(time.Hour).Format(time.RFC3339)+",1\n", morning.Add(time.Hour))
	for after, want := range map[time.Duration]string{
		4 * time.Hour:  "false false false false    ",
		12 * time.Hour: "true false true true " + belfry.At(morning.Add(8*time.Hour)).String() + "   ",
	} {
		got, err := m.asOf(belfry.At(morning.Add(after)), " WHERE object = 'o'")
		m.must(err)
		if len(got) != len(facets) {
			t.Errorf("after %s: %v", after, got)
		}
		for f, state := range got {
			if f.part == 2 && state != want {
				t.Errorf("after %s: %q, want %q", after, state, want)
			}
		}
	}
}

// TestSnapshots follows the days: when a snapshot is taken, what becomes of one that was interrupted, and how far back one
// can ask when events have been dropped.
func TestSnapshots(t *testing.T) {
	m := newMemory(t, 1)
	defer func() { m.close() }()
	s := func() *service {
		c := &core{Options: Options{Catalog: testCatalog(t), Log: slog.New(slog.DiscardHandler)}, Folder: &folder.Folder{Tree: m.tree}}
		return &service{core: c, rows: m.rows, store: m.mover, seq: m.seq}
	}
	day := func(n int) belfry.Time { return belfry.At(time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC)) }
	taken := func(n int, want bool) {
		t.Helper()
		got, err := m.past().Taken(t.Context(), m.who.Customer, day(n), m.seq.Now())
		m.must(err)
		if got != want {
			t.Errorf("snapshot since day %d: %t, want %t", n, got, want)
		}
	}
	f := func(n int, want bool) {
		t.Helper()
		if got := s().snapshots(t.Context(), day(n)); got != want {
			t.Errorf("snapshots of day %d: %t, want %t", n, got, want)
		}
	}
	silent := func() {
		t.Helper()
		row := &belfry.Row{Type: "data", Resource: "r0", Object: "o", Class: "c", View: "r0", NoResponse: true}
		_, _, err := m.intake.SendOne(t.Context(), m.who.Scope, row)
		m.must(err)
		m.look(belfry.At(m.now))
	}
	silent()
	f(10, true) // the day on which the customer was made needs none
	taken(10, false)

	m.set(day(11).Std().Add(time.Second))
	m.full = errors.New("no room")
	f(11, false)
	m.full = nil
	f(11, true)
	taken(11, true)
	records := m.tree.Tenant(m.who.Customer).NextRow
	m.close()
	m.open()
	f(11, true) // after a restart it is known that there is one
	if next := m.tree.Tenant(m.who.Customer).NextRow; next != records {
		t.Errorf("the day got another snapshot: the next row is %d, not %d", next, records)
	}
	taken(12, false)

	// A snapshot that was not finished counts for nothing, and what happened before it stays known.
	m.set(day(12).Std().Add(time.Second))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.seq.Snapshot(ctx, m.who.Customer, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted snapshot ends with %v", err)
	}
	taken(12, false)
	m.set(m.now.Add(time.Hour))
	same := func(at belfry.Time) {
		t.Helper()
		if d := cmp.Diff(m.want(at), m.got(at)); d != "" {
			t.Errorf("as of %s (-want +got):\n%s", at, d)
		}
	}
	same(belfry.At(m.now))

	m.must(m.rows.Drop(t.Context(), testCatalog(t).Collection("events"), day(11)))
	same(belfry.At(m.now)) // by the snapshot of the 11th
	_, err := m.asOf(day(10)+20*3600e6, "")
	if e, ok := errors.AsType[*belfry.Error](err); !ok || e.Code != belfry.BadQuery || !strings.Contains(e.Message, "before 2026-11-11") {
		t.Errorf("without events and snapshot: %v", err)
	}
}

// ever lists all items, removed ones included.
func (m *memory) ever() (nodes []*meta.Node) {
	for list, err := range m.tree.History().ItemsAt(m.Context(), m.who.Customer, 0) {
		m.must(err)
		nodes = append(nodes, list...)
	}
	return nodes
}
