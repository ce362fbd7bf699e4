package status

import (
	"encoding/json"
	"strconv"
	"strings"

	"belfry"
	"belfry/meta"
)

// ListedWindow is a window that is open or comes, with the item it belongs to.
type ListedWindow struct {
	ID       string `json:"id"` // by which a list goes on
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Resource string `json:"resource,omitempty"`
	Window   string `json:"window,omitempty"`
	Mode     string `json:"mode"` // inside

	IsUnmanaged bool `json:"isunmanaged"`
	IfRed       bool `json:"unmanageifred"`
	Collect     bool `json:"collectunmanage"`
	Collector   bool `json:"collectorunmanage"`

	Open bool   `json:"open"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Rule string `json:"rrule,omitempty"`
	Zone string `json:"timezone,omitempty"`
	User string `json:"user,omitempty"` // who asked for it
	Note string `json:"unmanagenote,omitempty"`
}

// lookedAt is how many items are looked at while the tree is locked for reading.
const lookedAt = 1024

// ListWindows lists the windows of the items in a scope, those after the given id, in the order of the items' creation and by name. It tells
// whether there are more.
func ListWindows(t *meta.Tree, s belfry.Scope, after string, limit int) (list []ListedWindow, more bool, err error) {
	last, name, err := parseWindowID(after)
	if err != nil {
		return nil, false, err
	}
	list = []ListedWindow{}
	for from, found := t.NumberOf(s.Customer, last), true; found && len(list) <= limit; {
		found = false
		t.Read(s.Customer, func(e *meta.Estate) {
			if e == nil {
				return
			}
			within, looked := e.Within(s), 0
			for number, n := range e.From(from) {
				if looked++; looked > lookedAt {
					from, found = number, true
					return
				}
				if n.ID < last || n.Removed != 0 || n.State.Care == nil || !within.Has(n) {
					continue
				}
				for _, w := range Planned(n.State.Care) {
					if (n.ID > last || w.Name > name) && len(list) <= limit {
						list = append(list, listed(n, &w))
					}
				}
			}
		})
	}
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	return list, more, nil
}

// listed describes a window of an item.
func listed(n *meta.Node, w *belfry.Window) ListedWindow {
	f := w.Mode.Flags()
	out := ListedWindow{
		ID: belfry.RowID(n.ID).String() + ":" + w.Name, Name: n.Name, Kind: n.Kind.String(), Window: w.Name, Mode: w.Mode.String(),
		IsUnmanaged: f.IsUnmanaged, IfRed: f.IfRed, Collect: f.Collect, Collector: f.Collector,
		Open: w.Open, From: moments(w.From), To: moments(w.To), Zone: w.Zone, User: w.By, Note: n.State.Care.UnmanageNote,
	}
	if n.Resource != nil && n.Resource != n {
		out.Resource = n.Resource.Name
	}
	if w.Schedule != "" {
		var parts scheduleJSON
		if json.Unmarshal([]byte(w.Schedule), &parts) == nil {
			out.Rule, out.Zone = parts.Rule, parts.Zone
		}
	}
	return out
}

// parseWindowID reads where a list is to go on: the number of an item, and the name of a window.
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
