package status

import (
	"belfry"
	"belfry/meta"
)

// outsidePeriod is why an item that is not monitored at the moment shows Unknown.
const outsidePeriod = "outside its monitoring period"

// careFields are the fields of objectstatus that operators set. Flags are always there, and false until something sets
// them; the others are absent.
var careFields = map[string]func(*row) belfry.Value{
	"acknowledged": func(n *row) belfry.Value { return truth(n.State.Acknowledged()) },
	"isunmanaged":  func(n *row) belfry.Value { return truth(n.State.Unmanaged()) },
	// These tell of the mode also while it waits for the item to be unavailable.
	"unmanageifred":     func(n *row) belfry.Value { return truth(n.State.Mode.Flags().IfRed) },
	"collectunmanage":   func(n *row) belfry.Value { return truth(n.State.Mode.Flags().Collect) },
	"collectorunmanage": func(n *row) belfry.Value { return truth(n.State.Mode.Flags().Collector) },
	"ack":               ack(func(a *belfry.Ack) belfry.Value { return text(a.Text) }),
	"ackby":             ack(func(a *belfry.Ack) belfry.Value { return text(a.By) }),
	"acktime":           ack(func(a *belfry.Ack) belfry.Value { return moment(a.Time) }),
	"unmanagefrom": func(n *row) belfry.Value {
		from, _ := unmanagedTime(n.care)
		return moment(from)
	},
	"unmanageto": func(n *row) belfry.Value {
		_, to := unmanagedTime(n.care)
		return moment(to)
	},
	"unmanagenote": unmanageNote,
	"note": func(n *row) belfry.Value {
		if n.State.Operator == nil {
			return belfry.Value{}
		}
		return text(n.State.Operator.Note)
	},
}

func truth(is bool) belfry.Value {
	v := belfry.Value{Type: belfry.BoolValue}
	if is {
		v.Int = 1
	}
	return v
}

func ack(f func(*belfry.Ack) belfry.Value) func(*row) belfry.Value {
	return func(n *row) belfry.Value {
		if !n.State.Acknowledged() { // it may wait for the error to come back
			return belfry.Value{}
		}
		return f(n.State.Operator.Ack)
	}
}

// careAbout is what was said about the management of an item: on the item itself, or on the nearest one around it that
// made its mode what it is. It is nil when nobody has said anything.
func careAbout(n *meta.Node) *belfry.OperatorState {
	if c := n.State.Operator; c != nil && (c.Mode != belfry.Managed || shownWindow(c) != nil) {
		return c
	}
	if n.State.Mode == belfry.Managed {
		return nil
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if c := p.State.Operator; c != nil && c.Mode == n.State.Mode {
			return c
		}
	}
	return nil
}

// unmanageNote is the note of the item, or of what it inherits its management from.
func unmanageNote(n *row) belfry.Value {
	if c := n.State.Operator; c != nil && c.UnmanageNote != "" {
		return text(c.UnmanageNote)
	}
	if n.care != nil {
		return text(n.care.UnmanageNote)
	}
	return belfry.Value{}
}

// info is why the item shows its status, as far as its data or the time of the day are the reason.
func info(n *row) belfry.Value {
	if n.State.OffHours {
		return text(outsidePeriod)
	}
	return text(n.State.Info)
}
