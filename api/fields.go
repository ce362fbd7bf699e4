package api

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"belfry"
	"belfry/catalog"
)

// smallBody is the longest JSON body of an administration path.
const smallBody = 4 << 10

// field is a text in a small JSON object, or a list of texts.
type field struct {
	name     string
	into     any // *string, *[]string or **[]string
	required bool
}

// listField is a list of texts; nil stays nil when it is not given.
func listField(name string, into **[]string) field { return field{name, into, false} }

// fields reads the body of a request, one JSON object whose fields are texts. What it holds is not repeated in an error:
// it may be a password.
func (s *Server) fields(w *answer, r *request, known ...field) error {
	if _, err := mediaType(r.Request, "application/json"); err != nil {
		return err
	}
	text, err := small(w, r)
	if err != nil {
		return err
	}
	return readFields(text, known)
}

// small reads a small body.
func small(w *answer, r *request) ([]byte, error) {
	text, err := readWhole(w, r, smallBody, 1)
	if belfry.CodeOf(err) == belfry.BadCSV { // it broke off
		return nil, belfry.Errorf(belfry.BadJSON, "the body broke off before its end; send it again")
	}
	return text, err
}

func readFields(text []byte, known []field) error {
	if err := checkJSON(text); err != nil {
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
			what := "a text in quotes"
			if _, text := f.into.(*string); !text {
				what = "a list of texts in quotes"
			}
			return belfry.Errorf(belfry.BadParameter, "the field %s must be %s", f.name, what)
		}
	}
	return nil
}

func notObject(known []field) error {
	return belfry.Errorf(belfry.BadJSON, `the body must be one JSON object, as in {%q: "…"}`, known[0].name)
}

// unknownField names the field, unless it may be a secret in the wrong place, and the one that was probably meant.
func unknownField(name string, known []field) error {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	if near := catalog.Nearest(name, names); near != "" {
		return belfry.Errorf(belfry.BadParameter, "unknown field %q; do you mean %q?", mask(name), near)
	}
	return belfry.Errorf(belfry.BadParameter, "unknown field %.64q; known are %q", mask(name), names)
}
