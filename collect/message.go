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

// longestText limits the texts of a message: a line of tcpLength NUL characters takes three bytes for each.
const longestText = 3 * tcpLength

// checkMessage validates a message that was made by a script or for a trial.
func checkMessage[M any](f messageFormat[M], m *M) error {
	if err := f.validate(m); err != nil {
		return err
	}
	return checkTexts(m)
}

// checkTexts limits the length of the texts of a message, and replaces NUL, which cannot be stored.
func checkTexts[M any](m *M) error {
	check := func(name string, text reflect.Value) error {
		if n := text.Len(); n > longestText {
			return fmt.Errorf("%s has %d bytes, and at most %d are kept", name, n, longestText)
		}
		if t := text.String(); strings.Contains(t, "\x00") {
			text.SetString(strings.ReplaceAll(t, "\x00", "\u2400"))
		}
		return nil
	}
	for field, v := range reflect.ValueOf(m).Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch v.Kind() {
		case reflect.String:
			if err := check(name, v); err != nil {
				return err
			}
		case reflect.Slice:
			for i := range v.Len() {
				if err := check(fmt.Sprintf("%s[%d]", name, i), v.Index(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copyMessage copies a message with its lists.
func copyMessage[M any](m *M) *M {
	changed := *m
	for _, v := range reflect.ValueOf(&changed).Elem().Fields() {
		if v.Kind() == reflect.Slice && !v.IsNil() {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		}
	}
	return &changed
}

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

// timeOf returns a device's time for a column.
func timeOf(t time.Time) int64 {
	if t.IsZero() {
		return belfry.AbsentInt
	}
	return int64(belfry.At(t))
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
