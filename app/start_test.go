package app

import (
	"runtime/debug"
	"testing"

	"belfry/config"
)

// TestCollectSeldom: during the start garbage is collected seldom, afterwards as configured. Not parallel: it is a setting of the process.
func TestCollectSeldom(t *testing.T) {
	limit := debug.SetMemoryLimit(1 << 40)
	usual := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(usual) })
	f := func(setting, during, after int) {
		t.Helper()
		debug.SetGCPercent(max(setting, 100))
		end := collectSeldom(config.Runtime{GCPercent: setting})
		got := debug.SetGCPercent(during)
		end()
		if then := debug.SetGCPercent(after); got != during || then != after {
			t.Errorf("set to %d: %d during the start and %d afterwards, want %d and %d", setting, got, then, during, after)
		}
	}
	f(0, startPercent, 100)
	f(150, 150, 150)
}
