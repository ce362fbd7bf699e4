package demo

import (
	"context"
	"fmt"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/status"
	"belfry/status/calendar"
)

// people are the operators.
var people = []string{"anna", "ben", "chiara"}

// noticed is how long it takes until an operator reacts to an incident.
const noticed = 75 * time.Second

// furnish adds what operators set to a new inventory: a maintenance, a weekly window, an object that may be off, and notes.
func (d *Demo) furnish(ctx context.Context) error {
	now := d.Now().In(d.Zone)
	sunday := now.AddDate(0, 0, -int(now.Weekday())).Format(time.DateOnly)
	weekly, err := calendar.ParseSchedule(sunday+"T02:00", sunday+"T04:00", "FREQ=WEEKLY;BYDAY=SU", d.Zone)
	if err != nil {
		return fmt.Errorf("weekly window of the demo: %w", err)
	}
	for _, a := range []struct {
		by string
		engine.Action
	}{
		{"anna", manage(belfry.KindResource, "hil-srv3", belfry.UnmanagedKeep, "new memory is being put in", until(now.Add(4*time.Hour)))},
		{"ben", manage(belfry.KindView, "Lakeside rack 1", belfry.UnmanagedKeep, "weekly updates", &weekly)},
		{"ben", manage(belfry.KindObject, "sou-prn1", belfry.UnmanagedIfDown, "switched off outside office hours", nil)},
		{"chiara", note(belfry.KindResource, "cap-db01", "primary; cap-db02 and cap-db03 follow it")},
		{"chiara", note(belfry.KindView, "Northport", "key to the server room is with the front desk")},
		{"anna", note(belfry.KindObject, "Backup mail", "the tape drive has been ordered")},
	} {
		if err := d.act(ctx, a.by, a.Action); err != nil {
			return err
		}
	}
	return nil
}

func manage(kind belfry.Kind, name string, mode belfry.Mode, why string, w *calendar.Schedule) engine.Action {
	return engine.Action{Kind: kind, List: engine.Names(name), Manage: &status.Order{Mode: mode, Note: &why}, Window: w}
}

func note(kind belfry.Kind, name, text string) engine.Action {
	return engine.Action{Kind: kind, List: engine.Names(name), Note: &text}
}

func until(t time.Time) *calendar.Schedule {
	s, err := calendar.ParseSchedule("", t.Format(time.RFC3339), "", t.Location())
	if err != nil {
		panic(err) // the time was written by us
	}
	return &s
}

// act runs an action. It ignores items that are not in error or do not exist.
func (d *Demo) act(ctx context.Context, by string, a engine.Action) error {
	out, err := d.Seq.Act(ctx, d.sender(by), a)
	if err != nil {
		return fmt.Errorf("operator of the demo: %w", err)
	}
	for _, e := range out.Errors {
		if e.Code != belfry.NotInError && e.Code != belfry.UnknownItem {
			return fmt.Errorf("operator of the demo: %s: %s", e.Name, e.Message)
		}
	}
	return nil
}

// operate handles the incidents that operators have noticed: of five, two are acknowledged, one gets a note, one is put under
// maintenance until it is over, and one is ignored.
func (d *Demo) operate(ctx context.Context, m *mood) error {
	standing := []string{"Backup mail", "pay.example"}
	if !d.seen[standing[0]] {
		d.seen[standing[0]] = true
		ack := engine.Action{Kind: belfry.KindObject, List: engine.Names(standing...), Ack: &belfry.Ack{Text: "known since Monday, will be fixed this week"}}
		if err := d.act(ctx, "anna", ack); err != nil {
			return err
		}
	}
	for _, i := range m.open {
		if d.seen[i.id] || m.at.Sub(i.from) < noticed {
			continue
		}
		d.seen[i.id] = true
		if err := d.deal(ctx, &i); err != nil {
			return err
		}
	}
	return nil
}

func (d *Demo) deal(ctx context.Context, i *incident) error {
	by := people[i.chance%uint64(len(people))]
	name := i.cause.name
	a := engine.Action{Kind: belfry.KindObject, List: engine.Names(name), Resource: i.cause.resource}
	switch i.chance % 5 {
	case 0, 1:
		a.Ack = &belfry.Ack{Text: "looking into it, " + i.id}
	case 2:
		text := "see " + i.id + ": it was the same last month"
		a.Note = &text
	case 3:
		a = manage(belfry.KindObject, name, belfry.UnmanagedKeep, "being repaired, "+i.id, until(i.to))
		a.Resource = i.cause.resource
	default:
		return nil
	}
	return d.act(ctx, by, a)
}
