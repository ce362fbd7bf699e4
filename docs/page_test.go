package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is a block of commands and the block of output that follows it, if one does.
type step struct {
	line     int // of the page, for messages
	commands string
	output   string
	shown    bool
}

// outputs are the marks of blocks that show what the commands before them print.
var outputs = map[string]bool{"json": true, "csv": true, "text": true}

// readSteps finds the blocks marked sh in one section of a page, or in all of it when no section is named, each with
// the block of output after it.
func readSteps(t *testing.T, file, section string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	inside, block := section == "", ""
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
		case outputs[strings.TrimSuffix(block, "?")]:
			steps[len(steps)-1].output += line
			steps[len(steps)-1].shown = true
		}
	}
	return steps
}

// guidePages lists the pages of the guide that are run: those whose first commands make a key on the server of the
// README. The others show commands for servers that are not here.
func guidePages(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		steps := readSteps(t, file, "")
		if len(steps) > 0 && strings.HasPrefix(steps[0].commands, "key=$(bin/belfry key create ") {
			list = append(list, filepath.Base(file))
		}
	}
	if len(list) < 9 {
		t.Fatalf("only %v of the guide would be run", list)
	}
	return list
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)

// exact finds decimals beyond the tenth: an engine with several threads adds in any order, and the last ones differ.
var exact = regexp.MustCompile(`(\.\d{10})\d+`)

// normal replaces what differs from run to run, and writes JSON without the blanks that make it readable.
func normal(text string) string {
	text = moment.ReplaceAllString(text, "TIME")
	text = exact.ReplaceAllString(text, "$1")
	var out strings.Builder
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(line, "{") {
			d := json.NewDecoder(strings.NewReader(text))
			var value json.RawMessage
			var compact bytes.Buffer
			if d.Decode(&value) == nil && json.Compact(&compact, value) == nil {
				line, rest = compact.String(), strings.TrimPrefix(text[d.InputOffset():], "\n")
			}
		}
		out.WriteString(line + "\n")
		text = rest
	}
	return out.String()
}

func TestNormal(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := normal(text); got != want {
			t.Errorf("normal %q: %q, want %q", text, got, want)
		}
	}
	f("", "")
	f("a,b\n2026-11-15T09:30:12.481516Z,1\n", "a,b\nTIME,1\n")
	f("2026-11-15T09:30:00Z\n", "2026-11-15T09:30:00Z\n") // written by hand, so it stays
	f("200\n{\"a\":\n [1,\n  2]}\n{\"b\": 3}\n207\n", "200\n{\"a\":[1,2]}\n{\"b\":3}\n207\n")
	f("{not json\n", "{not json\n")
	f("82,0.8528028654224363\n1.5,0.1234567890\n", "82,0.8528028654\n1.5,0.1234567890\n")
}
