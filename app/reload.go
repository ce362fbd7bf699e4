package app

import (
	"math"
	"runtime/debug"
	"strings"
	"time"

	"belfry/config"
)

// reload imports classes and packages again, and reads the configuration again. What can change while the service runs
// does; one that is wrong is not used.
func (s *service) reload() {
	imported := s.importFiles()
	next, err := s.Load()
	if err == nil {
		err = s.listeners.Reload(next, time.Now())
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

// rebase makes the configuration of this machine the base under the stored settings. It returns the settings that have changed, with
// their values, and those that change at the next start.
func (s *service) rebase(next *config.Config) (changed, frozen []string) {
	s.settings.mu.Lock()
	defer s.settings.mu.Unlock()
	_, frozen = config.Differences(s.base, next)
	for _, path := range frozen {
		s.Log.Warn("a setting changes at the next start only", "setting", path)
	}
	use := *next
	use.Freeze(s.base)
	s.base = &use
	return s.adopt(), frozen
}

// apply passes settings to the parts that do not read the configuration themselves.
func (s *service) apply(c, old *config.Config) {
	if level, err := c.Level(); err == nil {
		s.Level.Set(level)
	}
	if s.api != nil { // else it begins with them
		s.api.SetLimits(apiLimits(c))
	}
	s.disk.minFree.Store(int64(c.Storage.MinFree))
	if c.Timezone != old.Timezone {
		s.rezone()
	}
	tuneRuntime(c.Runtime, old.Runtime)
	select {
	case s.reloads <- struct{}{}:
	default:
	}
}

// tuneRuntime tunes the Go runtime where the setting differs from before; where it never was set, the environment rules.
func tuneRuntime(r, before config.Runtime) {
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
