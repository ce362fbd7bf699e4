package input

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
	readers := map[string]func(value string) error{
		"action": func(value string) error {
			_, err := ReadAction([]byte(`{"items":"jt","note":"`+value+`"}`), time.UTC)
			return err
		},
		"fields": func(value string) error {
			return ReadFields([]byte(`{"name":"`+value+`"}`), &struct {
				Name string `json:"name"`
			}{})
		},
		"settings": func(value string) error {
			_, err := ReadSettings([]byte(`{"retention.syslog":"` + value + `"}`))
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
}
