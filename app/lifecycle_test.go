package app

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"belfry"
	"belfry/config"
)

// internals lists the texts of internal events, in their order.
func (r *running) internals(key string) string {
	r.t.Helper()
	q := url.Values{"q": {"SELECT info FROM events WHERE type='internal' ORDER BY id ASC"}, "rows": {"100"}, "apikey": {key}}
	_, res, text := r.do("GET", "/api/sql?"+q.Encode(), "")
	var answer struct {
		Rows []struct{ Info string }
	}
	if err := json.Unmarshal(text, &answer); err != nil || res.StatusCode != 200 {
		r.t.Fatalf("%d %s", res.StatusCode, text)
	}
	var list []string
	for _, row := range answer.Rows {
		list = append(list, row.Info)
	}
	return strings.Join(list, "\n")
}

// TestLifeEvents: start, reload and stop are events, and so is that a service ended without a stop.
func TestLifeEvents(t *testing.T) {
	dir := t.TempDir()
	var key, other string
	t.Run("first", func(t *testing.T) {
		r := startService(t, func(c *config.Config) { c.Data = dir })
		key = r.key("K", belfry.LevelRead, "default")
		if err := r.admin("default").CreateCustomer(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
		other = r.key("O", belfry.LevelRead, "acme")
		next := *r.options.Config
		next.Limits.Queries, next.LogLevel, next.Listen = 7, "debug", "127.0.0.1:1"
		r.file.Store(&next)
		r.reload <- syscall.SIGHUP
		r.await("configuration reloaded")
	})
	if _, err := os.Lstat(filepath.Join(dir, runningFile)); err == nil {
		t.Error("a service that was stopped has left its mark")
	}
	if err := os.WriteFile(filepath.Join(dir, runningFile), nil, 0o600); err != nil { // as one that is killed does
		t.Fatal(err)
	}
	t.Run("second", func(t *testing.T) {
		r := startService(t, func(c *config.Config) { c.Data = dir })
		got := r.internals(key)
		for _, want := range []string{"the service has started, version ", "the service has stopped", "the service ended without a stop: it was killed, or the machine went down; its last record was written at 20"} {
			if !strings.Contains(got, want) {
				t.Errorf("no event says %q:\n%s", want, got)
			}
		}
		for of, want := range map[string]string{
			key:   "the configuration was read again: log_level: info -> debug, limits.queries: 4 -> 7; from the next start on: listen",
			other: "the configuration was read again: limits.queries: 4 -> 7\n",
		} {
			if got := r.internals(of); !strings.Contains(got, want) {
				t.Errorf("no event says %q:\n%s", want, got)
			}
		}
	})
}

// TestReloadNamesFiles: what was imported from files is part of what a reload has changed.
func TestReloadNamesFiles(t *testing.T) {
	r := startService(t, nil)
	key := r.key("K", belfry.LevelRead, "default")
	folder := filepath.Join(r.options.Config.Data, "classes")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte("name: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.reload <- syscall.SIGHUP
	r.await("configuration reloaded")
	if got := r.internals(key); !strings.Contains(got, "the configuration was read again: classes: a") {
		t.Errorf("events:\n%s", got)
	}
}
