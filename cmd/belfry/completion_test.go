//go:build peers

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func completion(t *testing.T, shell string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run([]string{"completion", shell}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	path := filepath.Join(t.TempDir(), "belfry."+shell)
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPeerCompletionSyntax lets the shells themselves read the scripts.
func TestPeerCompletionSyntax(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path := completion(t, shell)
			bin, err := exec.LookPath(shell)
			if err != nil {
				t.Fatalf("%v; make setup installs it", err)
			}
			if out, err := exec.Command(bin, "-n", path).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	// Whatever shells are here: every command and every flag is in each of them.
	parser, err := newParser(&commands{}, new(bytes.Buffer), new(bytes.Buffer), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for shell, long := range map[string]string{"bash": "--", "zsh": "--", "fish": "-l "} {
		text, err := os.ReadFile(completion(t, shell))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes(parser.Model.Node) {
			for _, f := range flagsOf(n) {
				if !strings.Contains(string(text), long+f.Name) {
					t.Errorf("%s: no %s", shell, f.Name)
				}
			}
			if !strings.Contains(string(text), n.Name) {
				t.Errorf("%s: no %s", shell, n.Name)
			}
		}
	}
}

// TestPeerBash completes in a real bash.
func TestPeerBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("%v; make setup installs it", err)
	}
	path := completion(t, "bash")
	bin := filepath.Join(t.TempDir(), "belfry")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n[ \"$*\" = 'export --list --retry 0s' ] && printf 'custom\\nnetwork-ping\\nview\\n'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	complete := func(key string, words ...string) []string {
		t.Helper()
		cmd := exec.Command(bash, append([]string{
			"-c",
			`source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _belfry; printf '%s\n' "${COMPREPLY[@]}"`, "bash", path, bin,
		}, words...)...)
		cmd.Env = append(os.Environ(), "BELFRY_KEY="+key, "BELFRY_KEY_FILE=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.Fields(string(out))
	}
	f := func(line, want string) {
		t.Helper()
		if got := complete("", strings.Split(line, " ")...); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q is completed to %q, want %q", line, got, want)
		}
	}
	f("se", "serve send")
	f("key ", "create list rotate revoke")
	f("key c", "create")
	f("key create --na", "--name")
	f("send --key", "--key --key-file")
	f("send --no", "--no-compress")
	f("send --key-file ", "")
	f("send rows", "") // left to the shell, which knows files
	f("send --rows ", "")
	f("remove view --rec", "--recursive")
	f("completion ", "bash zsh fish")
	f("provision ", "")
	f("export --help --d", "--dir")
	if got := complete("x", "provision", ""); !slices.Equal(got, []string{"custom", "network-ping", "view"}) {
		t.Errorf("packages: %q", got)
	}
	if got := complete("x", "provision", "network-ping", ""); len(got) != 0 {
		t.Errorf("after the package: %q", got)
	}
}

// TestPeerFish completes in a real fish.
func TestPeerFish(t *testing.T) {
	cmd := exec.Command("fish", "--no-config", "-c", `source $argv[1]; complete -C "belfry se"`, completion(t, "fish"))
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "send\t") || !strings.Contains(string(out), "\nserve\t") {
		t.Errorf("%v: %s", err, out)
	}
}
