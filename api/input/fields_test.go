package input

import (
	"encoding/json"
	"testing"

	"belfry"
)

func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"user":"a","password":"b"}`, `{"user":"a","password":null}`, `{"usr":1}`, `[`, `{"user":"\ud800"}`, "{}x", `{"user":"a","user":"b","password":""}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var l struct {
			User     string `json:"user"`
			Password string `json:"password"`
			Customer string `json:"customer,omitempty"`
		}
		err := ReadFields(text, &l)
		var plain map[string]any
		whole := json.Unmarshal(text, &plain) == nil && plain != nil && CheckJSON(text) == nil
		if err == nil {
			if !whole || plain["user"] != l.User || plain["password"] != l.Password {
				t.Errorf("%q gave user %q, password %q", text, l.User, l.Password)
			}
			return
		}
		if code := belfry.CodeOf(err); code != belfry.BadJSON && code != belfry.BadParameter || whole && code == belfry.BadJSON {
			t.Errorf("%q: %v", text, err)
		}
	})
}
