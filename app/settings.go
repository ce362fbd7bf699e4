package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/api"
	"belfry/config"
	"belfry/engine"
	"belfry/meta"
	"belfry/status/calendar"
)

// settings can be changed while the service runs. The configuration in force has three layers: defaults, settings stored through
// the API, and the file and flags of this machine, which win.
//
//	file, flags ──► base ──┐
//	                       ├─ With ─► the configuration in force
//	API ──► journal ─► tree┘
type settings struct {
	mu    sync.Mutex     // held from the check of a change until it is in force
	base  *config.Config // without stored settings
	zones atomic.Pointer[zones]
}

// zones are the time zones of times written without one.
type zones struct {
	instance *time.Location
	of       map[belfry.CustomerID]*time.Location // of customers with their own zone
}

// customerZone is the only setting that each customer has.
const customerZone = "customer.timezone"

// settingsStep applies the stored settings at the start.
func (s *service) settingsStep(context.Context) error {
	s.settings.mu.Lock()
	defer s.settings.mu.Unlock()
	s.base = s.cfg.Load()
	s.adopt()
	return nil
}

// adopt applies the stored settings to the base and returns what changed.
func (s *service) adopt() (changed []string) {
	old := s.cfg.Load()
	next := s.withStored(s.Tree.Documents().Settings(0))
	changed, _ = config.Differences(old, next)
	s.findZones(s.Tree, next)
	s.setConfig(next)
	s.apply(next, old)
	return changed
}

// withStored returns the base with the stored settings. Settings that no longer fit, because the file has changed, are logged and
// left out: the service must start anyway.
func (s *service) withStored(stored map[string]string) *config.Config {
	next, faults := s.base.With(stored)
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		s.Log.Warn("a stored setting is not used", "setting", name, "err", faults[name])
	}
	err := next.Check()
	if err == nil {
		return next
	}
	s.Log.Warn("stored settings are not used, because they do not fit the configuration", "err", err)
	return s.base
}

func (s *settings) findZones(tree *meta.Tree, c *config.Config) {
	z := &zones{of: map[belfry.CustomerID]*time.Location{}}
	var err error
	if z.instance, err = c.Zone(); err != nil {
		z.instance = time.Local // invalid zones were refused earlier
	}
	for c, name := range tree.Documents().CustomerSetting(customerZone) {
		if zone, err := calendar.ParseZone(name, z.instance); err == nil {
			z.of[c] = zone
		}
	}
	s.zones.Store(z)
}

// zoneOf returns the zone of a customer's times that have none.
func (s *settings) zoneOf(c belfry.CustomerID) *time.Location {
	z := s.zones.Load()
	if zone := z.of[c]; zone != nil {
		return zone
	}
	return z.instance
}

// rezone reads monitoring periods again in the new zone.
func (s *service) rezone() {
	if s.seq == nil {
		return // no period has been read yet
	}
	if err := s.seq.Rezone(); err != nil {
		s.Log.Warn("monitoring periods are read in the former zone until the next start", "err", err)
	}
}

// listSettings lists the settings that an administrator may see: all for the instance, otherwise those about customers' data.
func (s *service) listSettings(c belfry.CustomerID, l belfry.Level) (list []api.Setting) {
	cfg, stored := s.cfg.Load(), s.Tree.Documents().Settings(0)
	s.settings.mu.Lock()
	base := s.base
	s.settings.mu.Unlock()
	defaults := config.Default(s.Catalog)
	usual := defaults.Fields()
	fields := cfg.Fields()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f := fields[name]
		if l < belfry.LevelInstance && !concerns(name) {
			continue
		}
		set := api.Setting{
			Name: name, Value: f.Show(cfg), Default: usual[name].Show(defaults), From: config.FromDefault, Scope: "instance", Help: f.Help,
			Change: f.Live && base.Source(name) == "" && l >= belfry.LevelInstance,
		}
		if _, ok := stored[name]; ok {
			set.From = config.FromStore
		}
		if from := base.Source(name); from != "" {
			set.From = from
		}
		list = append(list, set)
	}
	return append(list, customerSetting(s.Tree, c))
}

// customerSetting returns the zone of a customer.
func customerSetting(tree *meta.Tree, c belfry.CustomerID) api.Setting {
	set := api.Setting{
		Name: customerZone, Value: "", Default: "", From: config.FromDefault, Change: true, Scope: "customer",
		Help: "time zone of times that users and keys of this customer send without one; empty: the zone of the instance",
	}
	if name, ok := tree.Documents().Settings(c)[customerZone]; ok {
		set.Value, set.From = name, config.FromStore
	}
	return set
}

// concerns reports whether a setting of the instance affects the data of its customers.
func concerns(name string) bool {
	return name == "timezone" || name == "strict_classes" || strings.HasPrefix(name, config.RetentionPrefix) || strings.HasPrefix(name, "limits.")
}

// putSettings changes all of the settings or none; nil resets one. They are in force when it returns.
func (s *service) putSettings(who engine.Sender, l belfry.Level, settings map[string]*string) error {
	s.settings.mu.Lock()
	defer s.settings.mu.Unlock()
	own, common := map[string]*string{}, map[string]*string{}
	for name, text := range settings {
		if name == customerZone {
			own[name] = text
		} else {
			common[name] = text
		}
	}
	if err := s.checkSettings(l, common); err != nil {
		return err
	}
	if text := own[customerZone]; text != nil {
		if _, err := calendar.ParseZone(*text, time.UTC); err != nil {
			return belfry.Errorf(belfry.BadParameter, "%s: %s", customerZone, message(err))
		}
	}
	if len(common) > 0 {
		if err := s.seq.Definitions().PutSettings(who, 0, common, valuesOf(s.cfg.Load(), common)); err != nil {
			return err
		}
		if changed := s.adopt(); len(changed) > 0 {
			s.Log.Info("settings changed", "changed", strings.Join(changed, ", "), "user", who.Name)
		}
	}
	if len(own) == 0 {
		return nil
	}
	if err := s.seq.Definitions().PutSettings(who, who.Customer, own, s.Tree.Documents().Settings(who.Customer)); err != nil {
		return err
	}
	s.findZones(s.Tree, s.cfg.Load())
	s.rezone()
	return nil
}

// valuesOf returns the current values of some settings.
func valuesOf(cfg *config.Config, settings map[string]*string) map[string]string {
	values, fields := map[string]string{}, cfg.Fields()
	for name := range settings {
		values[name] = fmt.Sprint(fields[name].Show(cfg))
	}
	return values
}

// checkSettings returns an error if changes of the instance's settings are not allowed or not valid.
func (s *service) checkSettings(l belfry.Level, changes map[string]*string) error {
	stored := s.Tree.Documents().Settings(0)
	if stored == nil {
		stored = map[string]string{}
	}
	fields := s.base.Fields()
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		f, ok := fields[name]
		switch {
		case !ok || !f.Live && l >= belfry.LevelInstance:
			return belfry.Errorf(belfry.BadParameter, "%s", config.NoSetting(name, withOwn(fields)))
		case l < belfry.LevelInstance:
			return belfry.Errorf(belfry.InsufficientLevel, "%s is a setting of the instance and needs a session of an instance administrator", name)
		case s.base.Source(name) == config.FromFlag:
			return belfry.Errorf(belfry.BadParameter, "%s is given on the command line or in the environment of the service, which takes precedence; change it there", name)
		case s.base.Source(name) != "":
			return belfry.Errorf(belfry.BadParameter, "%s is given in the configuration file, which takes precedence; change it there, or take it out of the file", name)
		}
		if delete(stored, name); changes[name] != nil {
			stored[name] = *changes[name]
		}
	}
	next, faults := s.base.With(stored)
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if err := faults[name]; err != nil {
			return belfry.Errorf(belfry.BadParameter, "%s", err)
		}
	}
	if err := next.Check(); err != nil {
		return belfry.Errorf(belfry.BadParameter, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// withOwn adds the customer's setting to the names suggested for a misspelt one.
func withOwn(fields map[string]config.Field) map[string]config.Field {
	fields = maps.Clone(fields)
	fields[customerZone] = config.Field{Live: true}
	return fields
}
