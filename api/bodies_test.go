package api

import (
	"testing"

	"belfry"
)

// TestHalfCharacters: a body with half a character as an escape is refused, also as YAML.
func TestHalfCharacters(t *testing.T) {
	if _, err := jsonParams([]byte(`{"q":"\ud800"}`)); belfry.CodeOf(err) != belfry.BadJSON {
		t.Errorf("a query: %v", err)
	}
	h := newBulkHouse(t)
	who := h.enter("admin")
	for path, body := range map[string]string{
		"/api/classes/x":  `{"indicators":[{"n":1,"name":"\ud800"}]}`,
		"/api/policies/x": `{"kind":"view","item":"\ud800","rollup":"2 of m"}`,
	} {
		h.want(400, "bad_json", "PUT", path, body, who)
		h.want(400, "bad_json", "PUT", path, body, who, "Content-Type: application/json")
		h.want(400, "bad_json", "PUT", path, "\n"+body+"\n", who, "Content-Type: application/yaml")
	}
}
