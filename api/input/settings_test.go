package input

import (
	"strings"
	"testing"

	"belfry"
)

func TestReadSettings(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		changes, err := ReadSettings([]byte(text))
		got := ""
		if err != nil {
			got = "! " + messageOf(err)
		}
		for _, name := range []string{"a", "b"} {
			if v, ok := changes[name]; ok && v == nil {
				got += name + "=null "
			} else if ok {
				got += name + "=" + *v + " "
			}
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	f(`{}`, "")
	f(`{"a": 1, "b": "x y "}`, "a=1 b=x y ")
	f(`{"a": 1e3, "b": true}`, "a=1e3 b=true")
	f(`{"a": null, "b": false}`, "a=null b=false")
	f(`{"a": 1, "a": 2}`, `! the setting "a" is given twice`)
	f(`{"a": [1]}`, "! the setting \"a\" must be a text")
	f(`{"a": {}}`, "! the setting \"a\" must be a text")
	f(`[]`, "! the body must be one JSON object")
	f(``, "! the body must be one JSON object")
	f(`{"a": 1`, "! the JSON object does not end")
	f(`{"a": 1} x`, "! there is something after")
	f(`{"a" 1}`, "! the body is not JSON")
}

func FuzzReadSettings(f *testing.F) {
	f.Add([]byte(`{"a": 1, "b": "x", "c": null, "d": true}`))
	f.Add([]byte(`{"a": [1], "a": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := ReadSettings(text); err != nil && belfry.CodeOf(err) != belfry.BadJSON && belfry.CodeOf(err) != belfry.BadParameter {
			t.Error(err)
		}
	})
}
