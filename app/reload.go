package app

import (
	"math"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"belfry/config"
)

// reload imports classes and packages and reads the configuration again. Settings that can change while the service runs take
// effect; a wrong configuration is ignored.
func (s *service) reload() {
	imported := s.importFiles()
	next, err := s.Load()
	if err == nil {
		err = s.listeners.Reload(next, time.Now())
	}
	if err != nil {
		s.Log.Warn("configuration not changed, the new one is wrong", "err", err)
		s.reportReloadFailed(err)
		return
	}
	changed, frozen := s.rebase(next)
	s.reportReload(changed, imported, frozen)
	s.Log.Info("configuration reloaded", "changed", strings.Join(append(changed, imported...), ", "))
}

// rebase makes next the base under the stored settings. It returns the changed settings with their values, and those that take
// effect at the next start.
func (s *service) rebase(next *config.Config) (changed, frozen []string) {
	s.settings.mu.Lock()
	defer s.settings.mu.Unlock()
	_, frozen = config.Differences(s.base, next)
	for _, path := range frozen {
		s.Log.Warn("a setting takes effect at the next start", "setting", path)
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
	if s.api != nil { // a new api starts with the settings
		s.api.SetLimits(apiLimits(c))
	}
	s.disk.minFree.Store(int64(c.Storage.MinFree))
	if c.Timezone != old.Timezone {
		s.rezone()
	}
	tuneRuntime(c.Runtime, old.Runtime)
	if s.backups != nil {
		s.backups.Changed()
	}
	select {
	case s.reloads <- struct{}{}:
	default:
	}
}

// tuneRuntime applies changed settings to the Go runtime. A setting that was never set leaves GOMEMLIMIT and GOGC in force.
func tuneRuntime(r, before config.Runtime) {
	if r.MemoryLimit != before.MemoryLimit {
		limit := int64(r.MemoryLimit)
		if limit == 0 {
			limit = math.MaxInt64
		}
		debug.SetMemoryLimit(limit)
	}
	if r.GCPercent != before.GCPercent {
		debug.SetGCPercent(gcPercent(r))
	}
}

// gcPercent returns the setting, or the default of the Go runtime.
func gcPercent(r config.Runtime) int {
	if r.GCPercent == 0 {
		return 100
	}
	return r.GCPercent
}

// startPercent is GOGC while the service starts. Nearly all that is allocated then is kept, so collecting as usual would take two
// fifths of the time. The memory limit holds as always.
const startPercent = 400

// collectSeldom raises GOGC until end is called, unless it is set.
func collectSeldom(r config.Runtime) (end func()) {
	if r.GCPercent != 0 || os.Getenv("GOGC") != "" || debug.SetMemoryLimit(-1) == math.MaxInt64 {
		return func() {}
	}
	debug.SetGCPercent(startPercent)
	return func() { debug.SetGCPercent(gcPercent(r)) }
}
