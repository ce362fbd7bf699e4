package app

import (
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"strings"
	"time"
)

// reload imports classes and packages again, and reads the configuration again. What can change while the service runs
// does; one that is wrong is not used.
func (s *service) reload() {
	imported := s.importFiles()
	next, err := s.Load()
	if err == nil && s.listeners.cert != nil {
		err = s.listeners.cert.load(next, time.Now())
	}
	if err != nil {
		s.Log.Warn("configuration kept, the new one is wrong", "err", err)
		s.tellReloadFailed(err)
		return
	}
	changed, frozen := s.rebase(next)
	s.tellReload(changed, imported, frozen)
	s.Log.Info("configuration reloaded", "changed", strings.Join(append(changed, imported...), ", "))
}

// rebase makes what was written on this machine the ground on which the settings stand. It tells which settings differ now, with their
// values, and which will at the next start.
func (s *service) rebase(next *Config) (changed, frozen []string) {
	s.settings.mu.Lock()
	defer s.settings.mu.Unlock()
	_, frozen = differences(s.base, next)
	for _, path := range frozen {
		s.Log.Warn("a setting changes at the next start only", "setting", path)
	}
	use := *next
	use.freeze(s.base)
	s.base = &use
	return s.adopt(), frozen
}

// apply brings settings to those who do not look at the configuration themselves.
func (s *service) apply(c, old *Config) {
	if level, err := c.Level(); err == nil {
		s.Level.Set(level)
	}
	if s.api != nil { // else it begins with them
		s.api.SetLimits(c.apiLimits())
	}
	s.disk.minFree.Store(int64(c.Storage.MinFree))
	if c.Timezone != old.Timezone {
		s.rezone()
	}
	c.Runtime.apply(old.Runtime)
	select {
	case s.reloads <- struct{}{}:
	default:
	}
}

// apply tunes the Go runtime where the setting differs from before; where it never was set, the environment rules.
func (r Runtime) apply(before Runtime) {
	if r.MemoryLimit != before.MemoryLimit {
		limit := int64(r.MemoryLimit)
		if limit == 0 {
			limit = math.MaxInt64
		}
		debug.SetMemoryLimit(limit)
	}
	if r.GCPercent != before.GCPercent {
		percent := r.GCPercent
		if percent == 0 {
			percent = 100
		}
		debug.SetGCPercent(percent)
	}
}

// freeze takes over from old what cannot change.
func (c *Config) freeze(old *Config) {
	each(reflect.ValueOf(c).Elem(), reflect.ValueOf(old).Elem(), "", func(_ string, mine, theirs reflect.Value, f reflect.StructField) {
		if f.Tag.Get("reload") == "" {
			mine.Set(theirs)
		}
	})
}

// differences lists the settings that differ, with both values: those that can change and those that cannot.
func differences(old, next *Config) (changed, frozen []string) {
	each(reflect.ValueOf(old).Elem(), reflect.ValueOf(next).Elem(), "", func(path string, a, b reflect.Value, f reflect.StructField) {
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			return
		}
		if f.Tag.Get("reload") == "" {
			frozen = append(frozen, path)
			return
		}
		if ages, ok := a.Interface().(Ages); ok {
			changed = append(changed, ages.differences(b.Interface().(Ages))...)
			return
		}
		changed = append(changed, fmt.Sprintf("%s: %v -> %v", path, a.Interface(), b.Interface()))
	})
	return changed, frozen
}

func (a Ages) differences(next Ages) (changed []string) {
	for _, name := range sortedKeys(a) {
		if a[name] != next[name] {
			changed = append(changed, fmt.Sprintf("retention.%s: %v -> %v", name, a[name], next[name]))
		}
	}
	return changed
}

// each visits the settings of two configurations side by side. A setting is a field with a help text.
func each(a, b reflect.Value, prefix string, f func(path string, a, b reflect.Value, field reflect.StructField)) {
	for i := range a.NumField() {
		field := a.Type().Field(i)
		name := field.Tag.Get("yaml")
		switch {
		case name == "":
		case field.Tag.Get("help") != "":
			f(prefix+name, a.Field(i), b.Field(i), field)
		default:
			each(a.Field(i), b.Field(i), prefix+name+".", f)
		}
	}
}
