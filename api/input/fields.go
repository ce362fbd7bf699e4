package input

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
)

// field is a field of a struct that a body is read into.
type field struct {
	name     string
	into     any // pointer to a string, a *string or a list
	required bool
}

func fieldsOf(into any) []field {
	v := reflect.ValueOf(into).Elem()
	var list []field
	for i := range v.NumField() {
		f, at := v.Type().Field(i), v.Field(i).Addr().Interface()
		if f.Anonymous {
			list = append(list, fieldsOf(at)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(list, field{name, at, options != "omitempty"})
	}
	return list
}

func fieldNames(into any) (names []string) {
	for _, f := range fieldsOf(into) {
		names = append(names, f.name)
	}
	return names
}

// ReadFields reads a JSON object into a struct whose fields are texts, flags or lists of texts. Those without omitempty are
// required. Errors do not repeat values: one may be a password.
func ReadFields(text []byte, into any) error {
	known := fieldsOf(into)
	if err := CheckJSON(text); err != nil {
		return err
	}
	var given map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&given); err != nil || given == nil {
		return notObject(known)
	}
	if _, err := dec.Token(); err != io.EOF {
		return notObject(known)
	}
	for name := range given { // before one that is missing: it may be the same, misspelt
		if !slices.ContainsFunc(known, func(f field) bool { return f.name == name }) {
			return unknownField(name, known)
		}
	}
	for _, f := range known {
		value, ok := given[f.name]
		switch null := bytes.Equal(value, []byte("null")); {
		case f.required && (!ok || null):
			return belfry.Errorf(belfry.BadParameter, "the field %s is missing", f.name)
		case !ok || null:
			continue
		}
		if err := json.Unmarshal(value, f.into); err != nil {
			what := "a list of texts in quotes"
			switch f.into.(type) {
			case *string:
				what = "a text in quotes"
			case *bool:
				what = "true or false"
			}
			return belfry.Errorf(belfry.BadParameter, "the field %s must be %s", f.name, what)
		}
	}
	return nil
}

func notObject(known []field) error {
	return belfry.Errorf(belfry.BadJSON, `the body must be one JSON object, as in {%q: "…"}`, known[0].name)
}

// unknownField names the field, unless it may be a secret, and the one that was probably meant.
func unknownField(name string, known []field) error {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	if near := catalog.Nearest(name, names); near != "" {
		return belfry.Errorf(belfry.BadParameter, "unknown field %q; do you mean %q?", Mask(name), near)
	}
	return belfry.Errorf(belfry.BadParameter, "unknown field %.64q; known are %q", Mask(name), names)
}
