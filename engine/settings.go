package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/meta"
)

// PutSettings keeps settings, of a customer or with customer 0 of the instance; nil forgets one. What they mean has been
// checked. Of what is in force before, the event tells.
func (d Definitions) PutSettings(who Sender, c belfry.CustomerID, settings map[string]*string, before map[string]string) error {
	return d.seq.Do(&Command{Customer: who.Customer, Alone: true, Decide: func(t *Tx) error {
		have := d.seq.cfg.Tree.Settings(c)
		var told []string
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			next := settings[name]
			was, set := have[name]
			switch {
			case next == nil && set:
				t.Document(belfry.Doc{Kind: belfry.DocSetting, Customer: c, Name: name})
				told = append(told, fmt.Sprintf("%s: %s -> what it is without a setting", name, shownValue(before[name])))
			case next != nil && (!set || was != *next):
				t.Put(belfry.DocSetting, c, name, *next)
				told = append(told, fmt.Sprintf("%s: %s -> %s", name, shownValue(before[name]), shownValue(*next)))
			}
		}
		if len(told) > 0 {
			t.Configured("settings changed: "+strings.Join(told, ", "), who.Name)
		}
		return nil
	}})
}

// Zone is the time zone of times that a customer gives without one.
func (s *Sequencer) Zone(c belfry.CustomerID) *time.Location {
	if s.cfg.ZoneOf != nil {
		return s.cfg.ZoneOf(c)
	}
	return s.cfg.Zone
}

// Rezone lets monitoring periods that name no zone be read in the one that counts now.
func (s *Sequencer) Rezone() error {
	for _, c := range s.cfg.Tree.Customers() {
		err := s.Do(&Command{Customer: c.ID, Alone: true, Decide: func(t *Tx) error {
			s.policyScopes.known = meta.Sparse[*policyScope]{}
			s.policyScopes.watches = nil
			if s.cfg.Tree.Policed() == 0 {
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
