package docs_test

import (
	"path/filepath"
	"testing"
)

// TestClassesGuide types the worked example of the guide: the first step before the service starts, the others after.
func TestClassesGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	steps := readSteps(t, "guide/classes-and-packages.md", "## A worked example")
	if len(steps) < 4 {
		t.Fatalf("the example has %d steps", len(steps))
	}
	dir := t.TempDir()
	build(t, filepath.Join(dir, "bin", "belfry"))
	if out := run(t, dir, "set -e\n"+steps[0].commands); out != "" {
		t.Errorf("the first step printed %s", out)
	}
	_, at := serve(t, dir)
	check(t, steps[1:], shell(t, dir, at, "", steps[1:]))
}
