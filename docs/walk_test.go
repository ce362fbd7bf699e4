// Package docs_test holds the documents to what the program does: it runs what the README and the guide tell people to
// type, and follows the links of every page.
package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWalk types what the documents show into a shell, page by page, each against a real server of its own.
func TestWalk(t *testing.T) {
	program := filepath.Join(t.TempDir(), "belfry")
	build(t, program)
	place := func(t *testing.T) string {
		t.Parallel()
		return folderWith(t, program)
	}
	t.Run("README", func(t *testing.T) { walkReadme(t, place(t)) })
	t.Run("minimal", func(t *testing.T) { runMinimal(t, place(t)) })
	t.Run("classes", func(t *testing.T) { walkClasses(t, place(t)) })
	for _, page := range guidePages(t) {
		if !slices.Contains(foreign, page) {
			t.Run(page, func(t *testing.T) { walkPage(t, place(t), filepath.Join("guide", page)) })
		}
	}
}

// foreign are pages with commands that not every machine has. TestPeerPages runs them.
var foreign = []string{"traps.md"}

// folderWith makes a folder with the program in it.
func folderWith(t *testing.T, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "bin", "belfry")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// walkReadme compares the answers with those the README shows. Then it ends the server as the README proposes, and
// repeats the last step.
func walkReadme(t *testing.T, dir string) {
	const page = "../README.md"
	steps := readSteps(t, page, "## Five minutes")
	if len(steps) < 5 || steps[0].commands != "make run\n" {
		t.Fatalf("the walk has %d steps and should begin with make run", len(steps))
	}
	steps = steps[1:]

	kill, at := serve(t, dir)
	check(t, page, steps, shell(t, dir, at, "", steps))
	key := strings.TrimSpace(run(t, dir, "cat key"))
	kill()

	_, at = serve(t, dir)
	again := steps[len(steps)-1:]
	check(t, page, again, shell(t, dir, at, "key="+key+"\n", again))
}

// runMinimal runs the example of that name.
func runMinimal(t *testing.T, dir string) {
	example, err := filepath.Abs("../examples/minimal")
	if err != nil {
		t.Fatal(err)
	}
	_, at := serve(t, dir, "--config", filepath.Join(example, "belfry.yaml"))
	got := run(t, dir, `set -e
export BELFRY_URL=http://`+at+`
export BELFRY_KEY=$(bin/belfry key create --config '`+example+`/belfry.yaml' --name minimal --level readwrite)
'`+example+`/feed.sh' 1
curl -s -G -H "x-api-key: $BELFRY_KEY" $BELFRY_URL/api/sql -d wt=csv -d span=5m \
	--data-urlencode "q=SELECT object FROM objectdata WHERE NOT i1 = 2147483647 ORDER BY object ASC"
`)
	if want := "object\nload\nmemory\n"; got != want { // some awks write more than 2 GiB as 2147483647
		t.Errorf("the example stored %q, want %q", got, want)
	}
}

// walkClasses types the worked example of that page: the first step before the service starts, the others after.
func walkClasses(t *testing.T, dir string) {
	const page = "guide/classes-and-packages.md"
	steps := readSteps(t, page, "## A worked example")
	if len(steps) < 4 {
		t.Fatalf("the example has %d steps", len(steps))
	}
	if out := run(t, dir, "set -e\n"+steps[0].commands); out != "" {
		t.Errorf("the first step printed %s", out)
	}
	_, at := serve(t, dir)
	check(t, page, steps[1:], shell(t, dir, at, "", steps[1:]))
}

// collecting are the pages that are about collectors; what they ask and what sends to them is on this machine.
var collecting = []string{"receivers.md", "traps.md"}

// walkPage runs a page of the guide from its first line to its last.
func walkPage(t *testing.T, dir, page string) {
	steps := readSteps(t, page, "")
	var flags []string
	if !slices.Contains(collecting, filepath.Base(page)) {
		flags = append(flags, "--no-collect") // addresses in examples are nobody's to be asked
	}
	_, at := serve(t, dir, flags...)
	check(t, page, steps, shell(t, dir, at, "", steps))
}

func check(t *testing.T, page string, steps []step, outputs []string) {
	t.Helper()
	for i, s := range steps {
		want, got := "", normal(outputs[i])
		if s.shown {
			want = normal(s.output)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:%d: the output is not as shown (-shown +real):\n%s\nreal, whole:\n%s", page, s.line, diff, outputs[i])
		}
	}
}
