package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake"
	"belfry/status"
)

// pass moves the clock, and waits until what fell due has happened. A command is decided after a look at the clock, or
// there is one before the next.
func (m *memory) pass(d time.Duration) {
	m.Helper()
	m.set(m.now.Add(d))
	m.must(m.seq.Settle())
	m.must(m.seq.Settle())
}

// furnish makes an inventory with rules: r0 in MAIN, r1 in the view v, a class with thresholds, one that waits and one that
// holds on, and an interval.
func (m *memory) furnish() {
	m.Helper()
	def, err := catalog.ParseNamedClass("k", []byte(`
indicators: [{n: 1, name: Load, thresholds: [{when: ">= 5", status: 1}, {when: ">= 8", status: 3, recover: "< 6", after: 2}]}]
interval: 30m
`))
	m.must(err)
	_, _, err = m.seq.Definitions().PutClass(m.who, def)
	m.must(err)
	m.provision("view", "name,view\nv,MAIN\n")
	m.provision("custom", "name,view\nr1,v\n")
	m.provision("object", "name,resname,view,class\na,r0,r0,k\nb,r0,r0,k\nc,r1,r1,k\nd,r1,r1,k\n")
}

// operate runs an action, all of which must succeed.
func (m *memory) operate(a engine.Action) {
	m.Helper()
	if out, err := m.seq.Act(m.Context(), m.who, a); err != nil || len(out.Errors) > 0 {
		m.Fatalf("%+v %v", out, err)
	}
}

func (m *memory) fine(code int, answer []byte, err error) {
	m.Helper()
	if m.must(err); code != 200 {
		m.Fatalf("%d: %s", code, answer)
	}
}

func (m *memory) provision(pkg, csv string) {
	m.Helper()
	code, body, err := m.intake.Provision(m.Context(), m.who, pkg, strings.NewReader(csv), intake.Options{})
	m.fine(code, body, err)
}

func (m *memory) value(object string, i1 ...int) {
	m.Helper()
	body := "type,object,i1\n"
	for _, v := range i1 {
		body += fmt.Sprintf("data,%s,%d\n", object, v)
	}
	code, answer, err := m.intake.Send(m.Context(), m.who, strings.NewReader(body), intake.Options{})
	m.fine(code, answer, err)
}

func (m *memory) silent(object string) {
	m.Helper()
	resource := map[string]string{"a": "r0", "b": "r0", "c": "r1", "d": "r1"}[object]
	code, body, err := m.intake.SendOne(m.Context(), m.who.Scope, &belfry.Row{Type: "data", Resource: resource, Object: object, NoResponse: true})
	m.fine(code, body, err)
}

// stir lets one thing of many happen.
func (m *memory) stir(moves bool) {
	m.Helper()
	object := []string{"a", "b", "c", "d"}[m.rnd.IntN(4)]
	item := []string{belfry.Main, "v", "r0", "r1", object}[m.rnd.IntN(5)]
	text := fmt.Sprintf("text %d", m.rnd.IntN(100))
	a := engine.Action{Kind: belfry.KindView, List: engine.Names(item)}
	hours := func(n int) belfry.Time { return belfry.At(m.now) + belfry.Time(m.rnd.IntN(n*60)+1)*60e6 }
	switch m.rnd.IntN(12) {
	case 0, 1, 2, 3:
		var values []int
		for range 1 + m.rnd.IntN(4) { // of one record
			values = append(values, m.rnd.IntN(12))
		}
		m.value(object, values...)
		return
	case 4, 5:
		m.silent(object)
		return
	case 6:
		if moves {
			m.provision("custom", "name,view\nr1,"+[]string{"v", belfry.Main}[m.rnd.IntN(2)]+"\n")
		}
		return
	case 7:
		a.Note = []*string{new(string), &text}[m.rnd.IntN(2)]
	case 8, 9:
		a.Ack = &belfry.Ack{Text: text, By: "op", UntilWorse: m.rnd.IntN(2) == 0}
		if m.rnd.IntN(2) == 0 {
			a.Ack.Sticky, a.Ack.Until = belfry.Time(m.rnd.IntN(2))*3600e6, hours(4)
		}
	case 10:
		a.Manage = &status.Order{By: "op"}
	case 11:
		a.Manage = &status.Order{Mode: belfry.Mode(m.rnd.IntN(3)), By: "op", Note: []*string{nil, &text}[m.rnd.IntN(2)]}
		if m.rnd.IntN(2) == 0 {
			a.Manage.From = hours(2)
			a.Manage.To = a.Manage.From + belfry.Time(m.rnd.IntN(120)+1)*60e6
		}
	}
	_, err := m.seq.Act(m.Context(), m.who, a) // it may not be in error, or not take the mode
	m.must(err)
}

// TestAsOfCare notes what all items show while things happen in their order: data, silence, thresholds, management at
// once and in windows, acknowledgments that end in all ways, notes, moves, snapshots and restarts. Later each moment is
// asked for. How management came down to an item is asked only where nothing has moved since: places are of now.
func TestAsOfCare(t *testing.T) {
	seeds, steps := uint64(4), 60
	if testing.Short() {
		seeds, steps = 2, 6
	}
	for seed := range seeds {
		m := newMemory(t, seed)
		m.furnish()
		moves := seed%2 == 1
		type moment struct {
			at  belfry.Time
			all map[facet]string
		}
		var moments []moment
		for range steps {
			m.pass(time.Duration(m.rnd.Int64N(int64(25*time.Minute))) + time.Second)
			m.stir(moves)
			switch m.rnd.IntN(20) {
			case 0:
				m.must(m.seq.Snapshot(t.Context(), m.who.Customer, 3))
			case 1:
				m.close()
				m.open()
			}
			m.pass(time.Microsecond)
			all, err := m.ask("", "")
			m.must(err)
			moments = append(moments, moment{belfry.At(m.now), all})
		}
		m.pass(time.Hour)
		for i, was := range moments {
			if i%3 != 0 && i < len(moments)-3 {
				continue // all of them would take a while
			}
			got, err := m.asOf(was.at, "")
			m.must(err)
			if moves {
				for f := range got {
					if f.part == 2 {
						got[f], was.all[f] = flagsOnly(got[f]), flagsOnly(was.all[f])
					}
				}
			}
			if d := cmp.Diff(was.all, got); d != "" {
				t.Fatalf("seed %d, moment %d, as of %s (-was +as of):\n%s", seed, i, was.at, d)
			}
		}
		m.close()
	}
}

// flagsOnly leaves out what an item may have from what it stands in.
func flagsOnly(state string) string { return strings.Join(strings.Fields(state)[:4], " ") }

// TestAsOfManaged follows one view and one object through management, a window, an acknowledgment and a note, and asks
// for moments between, by events alone and then by snapshots, before and after a restart.
func TestAsOfManaged(t *testing.T) {
	m := newMemory(t, 1)
	defer func() { m.close() }()
	m.furnish()
	type moment struct {
		at      belfry.Time
		name    string
		columns string
		want    string
	}
	var moments []moment
	note := func(name, columns, want string) {
		m.pass(time.Minute)
		moments = append(moments, moment{belfry.At(m.now), name, columns, want})
		m.pass(time.Minute)
	}
	check := func() {
		t.Helper()
		for _, x := range moments {
			rows, err := m.rowsOf("SELECT " + x.columns + " FROM objectstatus AS OF '" + x.at.String() + "' WHERE name = '" + x.name + "'")
			m.must(err)
			row, err := rows.Next()
			if err != nil {
				t.Fatalf("%s as of %s: %v", x.name, x.at, err)
			}
			got := ""
			for _, v := range row {
				got += v.String() + "|"
			}
			rows.Close()
			if got != x.want {
				t.Errorf("%s of %s as of %s: %s, want %s", x.columns, x.name, x.at, got, x.want)
			}
		}
	}
	act := func(item string, a engine.Action) {
		a.Kind, a.List = belfry.KindView, engine.Names(item)
		m.operate(a)
	}
	const managed, acked = "status, statusname, isunmanaged, collectunmanage, unmanagenote", "status, acknowledged, ack, ackby"
	why, about := "new disks", "call Ann"
	m.value("c", 6)
	note("c", managed, "1|Warning|false|false||")
	act("v", engine.Action{Manage: &status.Order{Mode: belfry.UnmanagedKeep, By: "op", Note: &why}})
	note("c", managed, "?|Unknown (Unmanaged)|true|true|new disks|") // it wrote no event
	note("v", managed, "?|Unknown (Unmanaged)|true|true|new disks|")
	note("MAIN", managed, "?|Unknown|false|false||")
	m.value("c", 1)
	note("c", managed, "?|Unknown (Unmanaged)|true|true|new disks|")
	m.value("c", 6)
	act("v", engine.Action{Manage: &status.Order{By: "op", Note: new(string)}})
	note("c", managed, "1|Warning|false|false||") // as the last alarm said, so there is no event
	act("c", engine.Action{Ack: &belfry.Ack{Text: "on it", By: "op"}})
	note("c", acked, "1|true|on it|op|")
	note("v", acked, "1|false|||")
	m.value("c", 1)
	note("c", acked, "0|false|||")
	act("c", engine.Action{Note: &about})
	note("c", "note", "call Ann|")
	now := belfry.At(m.now)
	act("v", engine.Action{Manage: &status.Order{Mode: belfry.UnmanagedDrop, By: "op", From: now + 3*60e6, To: now + 6*60e6}})
	note("c", "status, isunmanaged, collectunmanage, note", "0|false|false|call Ann|")
	m.pass(2 * time.Minute)
	note("c", "status, isunmanaged, collectunmanage, note", "?|true|false|call Ann|")
	m.pass(time.Minute)
	act("c", engine.Action{Note: new(string)})
	note("c", "status, isunmanaged, collectunmanage, note", "0|false|false||")
	check()
	m.close()
	m.open()
	check()
	m.must(m.seq.Snapshot(t.Context(), m.who.Customer, 2))
	m.pass(20 * time.Minute)
	moments = append(moments, moment{belfry.At(m.now), "c", "status, isunmanaged, note", "0|false||"})
	check()
}
