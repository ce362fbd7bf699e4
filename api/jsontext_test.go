package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry"
)

// TestHalfCharacters: every reader of JSON refuses bodies of which the decoder would make something else: half a character as an escape,
// and bytes that are not UTF-8.
func TestHalfCharacters(t *testing.T) {
	var text string
	readers := map[string]func(value string) error{
		"action": func(value string) error {
			_, err := readAction([]byte(`{"items":"jt","note":"`+value+`"}`), time.UTC)
			return err
		},
		"fields": func(value string) error {
			return readFields([]byte(`{"name":"`+value+`"}`), []field{{"name", &text, true}})
		},
		"settings": func(value string) error {
			_, err := readSettings([]byte(`{"retention.syslog":"` + value + `"}`))
			return err
		},
		"query": func(value string) error {
			_, err := jsonParams([]byte(`{"q":"` + value + `"}`))
			return err
		},
	}
	for name, read := range readers {
		for _, value := range []string{"plain", `\ud83d\ude00`, `x\uD83D\uDE00\n`, `\\ud800`, `\\\\ud800`, "\U0001F600", `\ufffd`, "\uFFFD"} {
			if err := read(value); err != nil {
				t.Errorf("%s: %s: %v", name, value, err)
			}
		}
		for _, value := range []string{`\ud800`, `\udc00`, `x\ude00\ud83d`, `\ud800x`, `\\\ud800`, `\ud800\ud800\udc00`, `\ud800\n`, "\xff", "gr\xfc\xdfe"} {
			err := read(value)
			if belfry.CodeOf(err) != belfry.BadJSON || !strings.Contains(fmt.Sprint(err), "UTF-8") {
				t.Errorf("%s: %s: %v", name, value, err)
			}
		}
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
