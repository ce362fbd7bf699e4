package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFolderAway moves the journal, and then the whole folder, away under the running service: an administrator can log in
// and see what is wrong.
func TestFolderAway(t *testing.T) {
	t.Parallel()
	rows := t.TempDir() // stays; the row store has a fault of its own when its folder goes
	d := newParts(t, func(p *process) {
		config := fmt.Sprintf("limits: {stop: 5m}\nstorage: {duckdb: {dir: %q}}\n", rows)
		if err := os.WriteFile(p.config, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	for _, name := range []string{"journal", ""} {
		path, away := strings.TrimSuffix(d.file(name), "/"), d.data+".away"
		if err := os.Rename(path, away); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(hang); ; time.Sleep(20 * time.Millisecond) {
			if res := d.ask("GET", "/readyz", ""); res.StatusCode == 503 && strings.Contains(res.body, d.data) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s is away, and the service is ready", path)
			}
		}
		cookie := d.logIn("default", "admin", adminPassword)
		if res := d.ask("GET", "/api/health", "", cookie); res.StatusCode != 200 || !strings.Contains(res.body, `"blocks":true`) {
			t.Errorf("%s is away: health %d %s", path, res.StatusCode, res.body)
		}
		if err := os.Rename(away, path); err != nil {
			t.Fatal(err)
		}
		d.awaitCreate()
		if res := d.ask("GET", "/api/health", "", cookie); res.StatusCode != 200 {
			t.Errorf("the session has ended: %d %s", res.StatusCode, res.body)
		}
	}
	// The event of the beginning is of the time of the beginning, though it was written at the end.
	d.awaitEvents("over after", "was removed or replaced")
	d.stop()
}
