package status

import (
	"belfry"
	"belfry/meta"
)

// outsidePeriod is the info of an item that shows Unknown because it is not monitored at the moment.
const outsidePeriod = "outside its monitoring period"

// operatorFields are the fields of objectstatus that operators set. Flags are always present and false by default; the other
// fields are absent until they are set.
var operatorFields = map[string]func(*row) belfry.Value{
	"acknowledged": func(n *row) belfry.Value { return boolValue(n.State.Acknowledged()) },
	"isunmanaged":  func(n *row) belfry.Value { return boolValue(n.State.Unmanaged()) },
	// These show the mode even while it waits for the item to become unavailable.
	"unmanageifred":     func(n *row) belfry.Value { return boolValue(n.State.Mode.Flags().IfRed) },
	"collectunmanage":   func(n *row) belfry.Value { return boolValue(n.State.Mode.Flags().Collect) },
	"collectorunmanage": func(n *row) belfry.Value { return boolValue(n.State.Mode.Flags().Collector) },
	"ack":               ack(func(a *belfry.Ack) belfry.Value { return textValue(a.Text) }),
	"ackby":             ack(func(a *belfry.Ack) belfry.Value { return textValue(a.By) }),
	"acktime":           ack(func(a *belfry.Ack) belfry.Value { return timeValue(a.Time) }),
	"unmanagefrom": func(n *row) belfry.Value {
		from, _ := unmanagedTime(n.operator)
		return timeValue(from)
	},
	"unmanageto": func(n *row) belfry.Value {
		_, to := unmanagedTime(n.operator)
		return timeValue(to)
	},
	"unmanagenote": unmanageNote,
	"note": func(n *row) belfry.Value {
		if n.State.Operator == nil {
			return belfry.Value{}
		}
		return textValue(n.State.Operator.Note)
	},
}

func boolValue(b bool) belfry.Value {
	v := belfry.Value{Type: belfry.BoolValue}
	if b {
		v.Int = 1
	}
	return v
}

func ack(f func(*belfry.Ack) belfry.Value) func(*row) belfry.Value {
	return func(n *row) belfry.Value {
		if !n.State.Acknowledged() { // a sticky one may wait for the error to come back
			return belfry.Value{}
		}
		return f(n.State.Operator.Ack)
	}
}

// effectiveManagement returns what operators set about the management of an item: on the item itself, or on the nearest
// ancestor from which it inherits its mode. It returns nil if nothing was set.
func effectiveManagement(n *meta.Node) *belfry.OperatorState {
	if c := n.State.Operator; c != nil && (c.Mode != belfry.Managed || ShownWindow(c) != nil) {
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

// unmanageNote returns the note of the item, or of the ancestor that it inherits its management from.
func unmanageNote(n *row) belfry.Value {
	if c := n.State.Operator; c != nil && c.UnmanageNote != "" {
		return textValue(c.UnmanageNote)
	}
	if n.operator != nil {
		return textValue(n.operator.UnmanageNote)
	}
	return belfry.Value{}
}

// info returns why the item shows its status, if its data or its monitoring period are the reason.
func info(n *row) belfry.Value {
	if n.State.OffHours {
		return textValue(outsidePeriod)
	}
	return textValue(n.State.Info)
}
