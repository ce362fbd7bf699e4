// Package docs_test holds the documents to what the program does: it runs what the README tells people to type, and
// follows the links of every page.
package docs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// address is where the README says that the server is.
const address = "127.0.0.1:8080"

// step is a block of commands and the block of output that follows it, if one does.
type step struct {
	line     int // of the README, for messages
	commands string
	output   string
	shown    bool
}

// TestWalk types the walk of the README into a shell, against a real server, and compares the answers with those the
// README shows. Then it ends the server as the README proposes, and repeats the last step.
func TestWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	steps := readSteps(t, "../README.md", "## Five minutes")
	if len(steps) < 5 || steps[0].commands != "make run\n" {
		t.Fatalf("the walk has %d steps and should begin with make run", len(steps))
	}
	dir := t.TempDir()
	build(t, filepath.Join(dir, "bin", "belfry"))
	steps = steps[1:]

	kill, at := serve(t, dir)
	check(t, steps, shell(t, dir, at, "", steps))
	key := strings.TrimSpace(run(t, dir, "cat key"))
	kill()

	_, at = serve(t, dir)
	again := steps[len(steps)-1:]
	check(t, again, shell(t, dir, at, "key="+key+"\n", again))
}

// TestMinimal runs the example of that name.
func TestMinimal(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	example, err := filepath.Abs("../examples/minimal")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	build(t, filepath.Join(dir, "bin", "belfry"))
	_, at := serve(t, dir, "--config", filepath.Join(example, "belfry.yaml"))
	got := run(t, dir, `set -e
export BELFRY_URL=http://`+at+`
export BELFRY_KEY=$(bin/belfry key create --config '`+example+`/belfry.yaml' --name minimal --level readwrite)
'`+example+`/feed.sh' 1
curl -s -G -H "x-api-key: $BELFRY_KEY" $BELFRY_URL/api/sql -d wt=csv -d span=5m \
	--data-urlencode "q=SELECT object FROM objectdata ORDER BY object ASC"
`)
	if want := "object\nload\nmemory\n"; got != want {
		t.Errorf("the example stored %q, want %q", got, want)
	}
}

// build makes the program.
func build(t *testing.T, to string) {
	t.Helper()
	if out, err := exec.Command("go", "build", "-o", to, "../cmd/belfry").CombinedOutput(); err != nil {
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

func check(t *testing.T, steps []step, outputs []string) {
	t.Helper()
	for i, s := range steps {
		want, got := "", normal(outputs[i])
		if s.shown {
			want = normal(s.output)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("README.md:%d: the output is not as shown (-shown +real):\n%s", s.line, diff)
		}
	}
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)

// normal replaces what differs from run to run, and writes JSON without the blanks that make it readable.
func normal(text string) string {
	text = moment.ReplaceAllString(text, "TIME")
	at := strings.Index(text, "{")
	if at < 0 {
		return text
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text[at:])); err != nil {
		return text
	}
	return text[:at] + compact.String() + "\n"
}

// readSteps finds the blocks marked sh in one section of a page, each with the block after it when that is marked json
// or csv.
func readSteps(t *testing.T, file, section string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	inside, block := false, ""
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		mark, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && block != "":
			block = ""
		case fence:
			block = mark + "?"
			if inside && mark == "sh" {
				steps = append(steps, step{line: n})
			}
		case block == "" && strings.HasPrefix(line, "## "):
			inside = strings.HasPrefix(line, section)
		case !inside || len(steps) == 0:
		case block == "sh?":
			steps[len(steps)-1].commands += line
		case block == "json?" || block == "csv?":
			steps[len(steps)-1].output += line
			steps[len(steps)-1].shown = true
		}
	}
	return steps
}
