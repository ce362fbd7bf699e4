package docs_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMakeWithoutNode wants make run to say what to do on a machine without Node.
func TestMakeWithoutNode(t *testing.T) {
	make, err := exec.LookPath("make")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(make, "-W", "web/ui/package-lock.json", "web/ui/node_modules/.installed")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "PATH="+t.TempDir(), "MAKEFLAGS=")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "make build && bin/belfry serve") {
		t.Errorf("make said %v:\n%s", err, out)
	}
}
