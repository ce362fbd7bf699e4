package folder

import (
	"os"
	"path/filepath"
	"testing"

	"belfry/journal"
)

// TestCheckRestored: a folder into which a restore has begun is refused, however early the restore was killed.
func TestCheckRestored(t *testing.T) {
	for name, refused := range map[string]bool{"lock": false, RestoringFile: true, RestoringFile + journal.TempSuffix: true} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckRestored(dir); (err != nil) != refused {
			t.Errorf("with %s: %v", name, err)
		}
	}
}
