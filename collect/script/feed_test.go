package script

import (
	"fmt"
	"testing"
)

func TestFeed(t *testing.T) {
	f := func(feed Feed, want string) {
		t.Helper()
		row, err := feed.row("R")
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s %s %s %s %v", row.Type, row.Resource, row.Object, row.Log, row.Indicators)
		}
		if got != want {
			t.Errorf("got %s", got)
		}
	}
	f(Feed{Object: "o", Values: map[string]any{"i1": 3.5}}, "data R o  [{1 3.5}]")
	f(Feed{Object: "o", Values: map[string]any{"i12": "on"}, Resource: "S"}, "data S o  [{12 on}]")
	f(Feed{Object: "o", Log: true, Text: "line"}, "log R o line []")
	f(Feed{Object: "o", Values: map[string]any{"x": 1.0}}, `data("o", …): there is no indicator "x"; they are i1, i2, …`)
	f(Feed{Object: "o", Values: map[string]any{"i1": nil}}, `data("o", …): i1 is neither a number nor a text`)
}
