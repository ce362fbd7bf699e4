//go:build peers

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// TestPeerDist makes the archive that make dist makes, of this test's own binary: it runs, and every module in it has its licence.
func TestPeerDist(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("belfry")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	dist := exec.Command("scripts/dist", binary, out)
	dist.Dir = "../.."
	dist.Env = append(os.Environ(), "LEVEL=1")
	if said, err := dist.CombinedOutput(); err != nil {
		t.Fatalf("scripts/dist: %v\n%s", err, said)
	}
	name := "belfry-0.1.0-" + runtime.GOOS + "-" + runtime.GOARCH
	for _, command := range [][]string{{"sha256sum", "--check", "--quiet", "SHA256SUMS"}, {"tar", "-xzf", name + ".tar.gz"}} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = out
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, said)
		}
	}
	root := filepath.Join(out, name)
	said, err := exec.Command(filepath.Join(root, "belfry"), "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "belfry 0.1.0, ") {
		t.Errorf("belfry --version: %v, %s", err, said)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) < 20 {
		t.Fatal("the test's binary does not name its modules")
	}
	for _, m := range info.Deps {
		if files, err := os.ReadDir(filepath.Join(root, "licences/modules", m.Path)); err != nil || len(files) == 0 {
			t.Errorf("no licence of %s: %v", m.Path, err)
		}
	}
	for _, file := range []string{
		"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "docs/guide/security.md", "licences/go/LICENSE", "licences/npm/react/LICENSE",
		"licences/npm/wouter/LICENSE", "man/man1/belfry.1", "man/man1/belfry-key-create.1", "completions/belfry.bash",
	} {
		if text, err := os.ReadFile(filepath.Join(root, file)); err != nil || len(text) == 0 {
			t.Errorf("the archive has no %s: %v", file, err)
		}
	}
	checkSums(t, root)
}

// checkSums compares a few files of the archive with its list of sums.
func checkSums(t *testing.T, root string) {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(root, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"./belfry", "./LICENSE", "./licences/modules/golang.org/x/net/LICENSE"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if line := hex.EncodeToString(sum[:]) + "  " + file + "\n"; !strings.Contains(string(sums), line) {
			t.Errorf("SHA256SUMS does not have %s", line)
		}
	}
}

// TestPeerDistMissingLicence: a module without a licence file stops the release, and is named.
func TestPeerDistMissingLicence(t *testing.T) {
	binary, err := exec.LookPath("belfry")
	if err != nil {
		t.Fatal(err)
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // the source of x/net, as this go tells it: an empty folder
	fake := "#!/bin/sh\n" + goCommand + " \"$@\" | sed 's|^golang.org/x/net .*|golang.org/x/net " + dir + "/empty|'\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("scripts/licences", binary, t.TempDir())
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "no licence file found of: modules/golang.org/x/net\n") {
		t.Errorf("scripts/licences: %v, %s", err, said.String())
	}
}
