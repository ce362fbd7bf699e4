package audit

import (
	"fmt"
	"testing"
)

func TestDifferences(t *testing.T) {
	type indicator struct {
		N    int    `json:"n"`
		Name string `json:"name"`
	}
	type definition struct {
		Name       string      `json:"name"`
		Password   string      `json:"password,omitempty"`
		Indicators []indicator `json:"indicators"`
	}
	f := func(before, after any, fields, text string) {
		t.Helper()
		if got := fmt.Sprint(Differences(before, after)); got != fields {
			t.Errorf("fields %s, want %s", got, fields)
		}
		if got := DefinitionText(before, after); got != text {
			t.Errorf("text %q, want %q", got, text)
		}
	}
	cpu := definition{"cpu", "", []indicator{{1, "Used"}}}
	f(cpu, cpu, "[]", "")
	f(cpu, definition{"cpu", "", []indicator{{1, "Load"}, {7, "Idle"}}}, `[{i1.name "Used" "Load"} {i7.name  "Idle"}]`, `: i1.name: Used -> Load, i7.name: "" -> Idle`)
	f(nil, cpu, `[{i1.name  "Used"} {name  "cpu"}]`, ": i1.name = Used")
	f(cpu, nil, `[{i1.name "Used" } {name "cpu" }]`, ", was i1.name = Used")
	secret := Differences(definition{"a", "old", nil}, definition{"a", "new", nil}, "password")
	if got := fmt.Sprint(secret); got != `[{password "***" "***"}]` {
		t.Errorf("secrets: %s", got)
	}
}

func TestShown(t *testing.T) {
	f := func(v, want string) {
		t.Helper()
		if got := Shown(v); got != want {
			t.Errorf("%q: %s, want %s", v, got, want)
		}
	}
	f("web01", "web01")
	f("", `""`)
	f("a\nb", `"a\nb"`)
}
