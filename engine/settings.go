package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/engine/audit"
	"belfry/meta"
)

// PutSettings stores settings of a customer, or of the instance with customer 0; nil removes one. They have been checked. before
// has the values in effect, for the event.
func (d Definitions) PutSettings(who Sender, c belfry.CustomerID, settings map[string]*string, before map[string]string) error {
	return d.seq.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) error {
		have := d.seq.cfg.Tree.Documents().Settings(c)
		var changed []string
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			next := settings[name]
			was, set := have[name]
			switch {
			case next == nil && set:
				t.Document(belfry.Doc{Kind: belfry.DocSetting, Customer: c, Name: name})
				changed = append(changed, fmt.Sprintf("%s: %s -> default", name, audit.Shown(before[name])))
				t.auditSetting(name, audit.ActionRemoved, audit.Field{Name: "value", Before: audit.Quoted(before[name])})
			case next != nil && (!set || was != *next):
				t.Put(belfry.DocSetting, c, name, *next)
				changed = append(changed, fmt.Sprintf("%s: %s -> %s", name, audit.Shown(before[name]), audit.Shown(*next)))
				t.auditSetting(name, audit.ActionChanged, audit.TextField("value", before[name], *next, false))
			}
		}
		if len(changed) > 0 {
			t.Event("configuration", "configuration", "settings changed: "+strings.Join(changed, ", "), who.Name)
		}
		return nil
	}})
}

// auditSetting adds a row about a setting to the audit trail.
func (t *Tx) auditSetting(name, action string, value audit.Field) {
	t.Audit(audit.Change{Kind: belfry.DocSetting, Name: name, Action: action, Fields: []audit.Field{value}, Info: "setting " + name + " " + action})
}

// Zone returns the time zone for times that a customer gives without one.
func (s *Sequencer) Zone(c belfry.CustomerID) *time.Location {
	if s.cfg.ZoneOf != nil {
		return s.cfg.ZoneOf(c)
	}
	return s.cfg.Zone
}

// Rezone parses monitoring periods again, after the default time zone has changed.
func (s *Sequencer) Rezone() error {
	for _, c := range s.cfg.Tree.Access().Customers() {
		err := s.Do(&Command{Customer: c.ID, Alone: true, Decide: func(t *Tx) error {
			s.policyScopes.known = meta.SparseArray[*policyScope]{}
			s.policyScopes.watches = nil
			if s.cfg.Tree.Documents().CountPolicies() == 0 {
				return nil
			}
			t.Tenant.All(func(n *meta.Node) bool {
				if n.Kind == belfry.KindObject {
					t.s.wake = append(t.s.wake, n)
				}
				return true
			})
			return nil
		}})
		if err != nil {
			return err
		}
	}
	return nil
}
