package docs_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// address is where the documents say that the server is.
const address = "127.0.0.1:8080"

// build makes the program.
func build(t *testing.T, to string) {
	t.Helper()
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", to, "../cmd/belfry").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
}

// serve starts the program as make run does, on a free port, and waits until it is ready.
func serve(t *testing.T, dir string, flags ...string) (kill func(), at string) {
	t.Helper()
	cmd := exec.Command("bin/belfry", append([]string{"serve", "--data", "./belfry-data", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Dir = dir
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	hung := time.AfterFunc(time.Minute, kill) // only to end a test that hangs
	defer hung.Stop()
	listening := regexp.MustCompile(`msg=listening .*addr=(\S+)`)
	lines := bufio.NewScanner(log)
	var seen strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&seen, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			at = m[1]
		}
		if strings.Contains(lines.Text(), "msg=ready") {
			go io.Copy(io.Discard, log)
			return kill, at
		}
	}
	t.Fatalf("the server ended before it was ready:\n%s", seen.String())
	return nil, ""
}

// between separates the output of one step from that of the next.
const between = "=== next step ==="

// shell runs the steps in one shell, so that variables last, and gives the output of each.
func shell(t *testing.T, dir, at, before string, steps []step) []string {
	t.Helper()
	text := "set -e\n" + before
	for _, s := range steps {
		text += strings.ReplaceAll(s.commands, address, at) + "echo '" + between + "'\n"
	}
	text += "printf %s \"$key\" >key\n"
	outputs := strings.Split(run(t, dir, text), between+"\n")
	if len(outputs) != len(steps)+1 {
		t.Fatalf("%d steps gave %d outputs", len(steps), len(outputs)-1)
	}
	return outputs
}

func run(t *testing.T, dir, text string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	return out.String()
}
