package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"belfry"
)

// message is implemented by *Syslog and *Trap.
type message interface {
	// sender is the field with the address of the sender.
	sender() *string
	// size is the total length of the texts in bytes.
	size() int
	// blank sets the numbers to "unknown".
	blank()
	// unshare copies what a copy of the message shares with it.
	unshare()
	// check validates a message that was made by a script or for a trial.
	check() error
}

// longestText limits the fields of a message: a line of tcpLength NUL characters takes three bytes for each.
const longestText = 3 * tcpLength

func checkRange(name string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s is %d; it is a number from %d to %d", name, n, low, high)
	}
	return nil
}

// textColumn returns one field of all messages as a column.
func textColumn[M any](name string, messages []M, of func(*M) string) belfry.Column {
	c := belfry.Column{Name: name, Texts: make([]string, len(messages))}
	for i := range messages {
		c.Texts[i] = of(&messages[i])
	}
	return c
}

// intColumn is textColumn for numbers.
func intColumn[M any](name string, messages []M, of func(*M) int64) belfry.Column {
	c := belfry.Column{Name: name, Ints: make([]int64, len(messages))}
	for i := range messages {
		c.Ints[i] = of(&messages[i])
	}
	return c
}

// textField is a field and its name.
type textField struct {
	name  string
	value *string
}

// checkTexts limits the length of texts, and replaces NUL, which cannot be stored.
func checkTexts(all ...textField) error {
	for _, t := range all {
		if len(*t.value) > longestText {
			return fmt.Errorf("%s has %d bytes, and at most %d are kept", t.name, len(*t.value), longestText)
		}
		*t.value = strings.ReplaceAll(*t.value, "\x00", "\u2400")
	}
	return nil
}

// describeJSONError explains in terms of the fields why JSON does not fit a message.
func describeJSONError(err error) error {
	if at, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Errorf("devicetime must be a time such as 2026-11-15T10:00:00Z%s", at.Message)
	}
	at, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	name, want := at.Field, "a text"
	if name == "" {
		name = "it"
	}
	switch at.Type.Kind() {
	case reflect.Int:
		want = "a whole number"
	case reflect.Slice:
		want = "a list of texts"
	case reflect.Struct:
		want = "an object"
	}
	have, _, _ := strings.Cut(at.Value, " ") // "number 2.5" contains the value
	have = map[string]string{"string": "text", "array": "list", "bool": "true or false"}[have]
	if have == "" {
		have = at.Value
	}
	return fmt.Errorf("%s is a %s, and must be %s", name, have, want)
}
