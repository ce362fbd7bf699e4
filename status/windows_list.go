package status

import (
	"strconv"
	"strings"

	"belfry"
	"belfry/meta"
	"belfry/status/calendar"
)

// ListedWindow is a window that is open or planned, with its item.
type ListedWindow struct {
	ID       string `json:"id" help:"Value for after."`
	Name     string `json:"name" help:"Of the item."`
	Kind     string `json:"kind" schema:"enum=object|view|resource"`
	Resource string `json:"resource,omitempty" help:"Of an object, and of a view inside a resource."`
	Window   string `json:"window,omitempty" help:"Name of the window."`
	Mode     string `json:"mode" help:"How the item is managed inside the window, in words."`

	IsUnmanaged bool `json:"isunmanaged"`
	IfRed       bool `json:"unmanageifred"`
	Collect     bool `json:"collectunmanage"`
	Collector   bool `json:"collectorunmanage"`

	Open bool   `json:"open"`
	From string `json:"from" help:"Of the occurrence that is open or comes next." schema:"format=date-time"`
	To   string `json:"to,omitempty" help:"Its end, if it has one." schema:"format=date-time"`
	Rule string `json:"rrule,omitempty" help:"Recurrence rule of the window."`
	Zone string `json:"timezone,omitempty" help:"Time zone of its times: UTC for times with an offset; absent for the local time of a server whose zone has no name."`
	User string `json:"user,omitempty" help:"Key or user that created it."`
	Note string `json:"unmanagenote,omitempty"`
}

// windowBatch is how many items with windows are examined while the tree is locked for reading.
const windowBatch = 1024

// ListWindows lists the windows of the items in a scope that follow the given id, in order of the items' creation and by
// name. It reports whether there are more.
func ListWindows(t *meta.Tree, s belfry.Scope, after string, limit int) (list []ListedWindow, more bool, err error) {
	last, name, err := parseWindowID(after)
	if err != nil {
		return nil, false, err
	}
	list = []ListedWindow{}
	for from, further := t.NumberOf(s.Customer, last), true; further && len(list) <= limit; {
		var items []itemOperatorState
		items, from, further = itemsWithWindows(t, s, from, windowBatch)
		for _, c := range items {
			if c.item.ID < last || len(list) > limit {
				continue
			}
			for _, w := range Planned(c.operator) {
				if c.item.ID > last || w.Name > name {
					list = append(list, describeWindow(c, &w))
				}
			}
		}
	}
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	return list, more, nil
}

// itemOperatorState is an item with what operators set on it.
type itemOperatorState struct {
	item     *meta.Node
	operator *belfry.OperatorState
}

// itemsWithWindows examines up to limit items that have windows, from a number on, and returns those in the scope. If
// there are more, next is the number to continue at.
func itemsWithWindows(t *meta.Tree, s belfry.Scope, from uint64, limit int) (list []itemOperatorState, next uint64, more bool) {
	t.Read(s.Customer, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		within, scanned := e.Visibility(s), 0
		for number, n := range e.Windowed(from) {
			if scanned++; scanned > limit {
				next, more = number, true
				return
			}
			if within.Has(n) {
				list = append(list, itemOperatorState{n, n.State.Operator})
			}
		}
	})
	return list, next, more
}

// describeWindow returns the list entry of a window.
func describeWindow(c itemOperatorState, w *belfry.Window) ListedWindow {
	n, f := c.item, w.Mode.Flags()
	out := ListedWindow{
		ID: belfry.RowID(n.ID).String() + ":" + w.Name, Name: n.Name, Kind: n.Kind.String(), Window: w.Name, Mode: w.Mode.String(),
		IsUnmanaged: f.IsUnmanaged, IfRed: f.IfRed, Collect: f.Collect, Collector: f.Collector,
		Open: w.Open, From: formatTime(w.From), To: formatTime(w.To), User: w.By, Note: c.operator.UnmanageNote,
	}
	if n.Resource != nil && n.Resource != n {
		out.Resource = n.Resource.Name
	}
	out.Rule, out.Zone = RuleOf(w)
	return out
}

// RuleOf returns the recurrence rule of a window and the zone of its times, if that has a name.
func RuleOf(w *belfry.Window) (rule, zone string) {
	if rule, zone, ok := calendar.RuleAndZone(w.Schedule); ok {
		return rule, zone
	}
	return "", w.Zone
}

// parseWindowID reads the cursor of a list: the id of an item and the name of a window.
func parseWindowID(text string) (item belfry.ID, name string, err error) {
	if text == "" {
		return 0, "", nil
	}
	number, name, ok := strings.Cut(text, ":")
	id, err := strconv.ParseUint(number, 16, 64)
	if !ok || err != nil {
		return 0, "", belfry.Errorf(belfry.BadParameter, "after must be the id of a window in the list, as 0000000000000012:backup, got %.64q", text)
	}
	return belfry.ID(id), name, nil
}

// formatTime formats a time for an answer; it returns "" for zero.
func formatTime(t belfry.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}
