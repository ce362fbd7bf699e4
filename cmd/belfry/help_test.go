package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHelpAlone: the program by itself says what it can do.
func TestHelpAlone(t *testing.T) {
	var alone, asked, wrong bytes.Buffer
	if code := run(nil, &alone, &wrong); code != 0 || wrong.Len() > 0 {
		t.Errorf("exit status %d: %s", code, wrong.String())
	}
	run([]string{"--help"}, &asked, &wrong)
	if alone.String() != asked.String() || !strings.Contains(alone.String(), "\n  serve  ") || !strings.Contains(alone.String(), "\n    belfry serve\n") {
		t.Error(alone.String())
	}
}

// TestHelpAsked: what other programs are asked for help with works here, too, and a wrong word gets a pointer.
func TestHelpAsked(t *testing.T) {
	f := func(code int, want string, args ...string) {
		t.Helper()
		var out, wrong bytes.Buffer
		if got := run(args, &out, &wrong); got != code || !strings.Contains(out.String()+wrong.String(), want) {
			t.Errorf("belfry %s: exit status %d\n%s%s", strings.Join(args, " "), got, out.String(), wrong.String())
		}
	}
	f(0, "\n  serve  ", "help")
	f(0, "Usage: belfry serve ", "help", "serve")
	f(0, "Usage: belfry key create ", "help", "key", "create")
	f(0, "\n  serve  ", "-help")
	f(0, "belfry 0.", "--version")
	f(2, "see belfry --help", "hlep")
	f(2, "see belfry --help", "help", "hlep")
	f(2, "--listen: a value is missing after it; see belfry serve --help", "serve", "--listen")
	f(2, `--format must be one of "table","csv","json","ndjson" but got "xml"; see belfry sql --help`, "sql", "--format", "xml", "x")
}

// TestFolderRefused: who names what cannot be a data folder is told what to do.
func TestFolderRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"verify"}, {"key", "list"}, {"key", "create", "--name", "x", "--level", "read"}} {
		var wrong bytes.Buffer
		cmd := exec.Command("belfry", append(args, "--data", file)...)
		cmd.Stderr = &wrong
		if err := cmd.Run(); err == nil || !strings.Contains(wrong.String(), "belfry: "+file+" is a file, not a folder; name a folder with --data") {
			t.Errorf("%q: %v, %s", args, err, wrong.String())
		}
	}
}

// TestHelp: the help of a command begins with an example and its own flags. Those that many commands share follow.
func TestHelp(t *testing.T) {
	parser, err := newParser(&commands{}, new(bytes.Buffer), new(bytes.Buffer), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		var out, wrong bytes.Buffer
		if code := run(append(strings.Fields(commandPath(leaf)), "--help"), &out, &wrong); code != 0 {
			t.Fatalf("%s: %d %s", leaf.Path(), code, wrong.String())
		}
		example := strings.Index(out.String(), "\n\n    ")
		flags := strings.Index(out.String(), "\nFlags:\n")
		if example < 0 || flags < example {
			t.Errorf("%s: no example before the flags:\n%s", leaf.Path(), out.String())
		}
		for _, f := range leaf.Flags {
			at := strings.Index(out.String(), "--"+f.Name)
			for _, title := range []string{"\nServer:\n", "\nData folder:\n"} {
				if shared := strings.Index(out.String()[flags:], title); f.Group == nil && shared >= 0 && at > flags+shared {
					t.Errorf("%s: --%s is below %q", leaf.Path(), f.Name, title)
				}
			}
		}
	}
}

// TestPortInUse: who cannot listen is told why, and what to change.
func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := func(want string, flags ...string) {
		t.Helper()
		var wrong bytes.Buffer
		cmd := exec.Command("belfry", append([]string{"serve", "--data", t.TempDir()}, flags...)...) // which sets the mask of new files: not in this process
		cmd.Stderr = &wrong
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("it ended with %v", err)
		}
		last := wrong.String()[strings.LastIndex(strings.TrimSpace(wrong.String()), "\n")+1:]
		if last != want+"\n" {
			t.Errorf("%q, want %q", last, want)
		}
	}
	addr := l.Addr().String()
	f("belfry: cannot listen on "+addr+": another program has this port; stop it or choose another port (--listen)", "--listen", addr)
	f("belfry: cannot listen on "+addr+": another program has this port; stop it or choose another port (--admin-listen)", "--listen", "127.0.0.1:0", "--admin-listen", addr)
}

// TestExamplesFit: the examples of the manual fit on a screen of 100 columns, where they are indented by four.
func TestExamplesFit(t *testing.T) {
	for path, about := range manuals {
		for _, e := range about.examples {
			for line := range strings.Lines(e.command) {
				if n := len(strings.TrimSuffix(line, "\n")) + 4; n > 99 {
					t.Errorf("an example of %q has %d columns: %s", path, n, line)
				}
			}
		}
	}
}
