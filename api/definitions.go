package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"belfry"
	"belfry/accounts"
	"belfry/api/input"
	"belfry/engine"
)

// Classes, policies and pictures are named in the path, and set and removed in the same way.

// maxDefinition is the longest body of a class or policy. Of YAML 64 KiB are read; the same as JSON, as an answer gives it, is longer.
const maxDefinition = 128 << 10

// definitionWeight is how many times the length of its text a definition takes, read as YAML.
const definitionWeight = 16

// named returns the name in the path of a request, of a class or a policy. One that looks like a key was sent by mistake, and must
// not get into an event or an error.
func (r *request) named(what string) (string, error) {
	switch name := r.PathValue("name"); {
	case name == "":
		return "", unknownPath(r.Request)
	case input.LooksLikeKey(name):
		return "", belfry.Errorf(belfry.UnknownItem, "there is no %s %q, and none can be named like a key", what, input.HideKeys(input.Clip(name)))
	default:
		return name, nil
	}
}

// readKind reads the body of a class or policy, JSON or YAML, and parses it. The example shows how one is written.
func readKind[T any](w *answer, r *request, what, example string, parse func(text []byte) (T, error)) (def T, err error) {
	typ, err := mediaType(r.Request, "application/json", "application/yaml", "application/x-yaml", "text/yaml")
	if err != nil {
		return def, err
	}
	text, err := readWhole(w, r, maxDefinition, definitionWeight)
	if err != nil {
		return def, tooLong(err, what)
	}
	if err := r.awaitRoom(len(text) / definitionItem); err != nil {
		return def, err
	}
	return compute(r, func() (T, error) {
		if json.Valid(text) { // the parser of YAML refuses halves of characters itself
			if err := input.CheckJSON(text); err != nil {
				return def, err
			}
		} else if typ == "application/json" && r.Header.Get("Content-Type") != "" {
			return def, belfry.Errorf(belfry.BadJSON, "the body is not JSON, as in %s; for YAML send Content-Type: application/yaml", example)
		}
		return parse(text)
	})
}

// definitionItem is how many bytes of a definition count as an item that is created: the sequencer writes, keeps and applies them.
const definitionItem = 64

// awaitRoom waits until the customer may create so many items.
func (r *request) awaitRoom(items int) error {
	if items == 0 {
		return nil
	}
	if err := r.server.Intake.ReserveItems(r.ctx(), r.customer, items); err != nil {
		return err
	}
	return r.checkRights()
}

// asParameter turns an error of the catalog into a bad parameter.
func asParameter(err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return belfry.Errorf(belfry.BadParameter, "%s", e.Message)
	}
	return err
}

// tooLong replaces the advice to send a body in parts, which does not apply here.
func tooLong(err error, what string) error {
	if belfry.CodeOf(err) == belfry.BodyTooLarge {
		return belfry.Errorf(belfry.BodyTooLarge, "a %s may be %d bytes long; leave out what it can do without", what, maxDefinition)
	}
	return err
}

// statusOf returns the status for a result of setting a class, policy or picture.
func statusOf(result string) int {
	if result == "created" {
		return http.StatusCreated
	}
	return http.StatusOK
}

// deleteDefinition removes the class, policy or picture that the path names.
func (s *Server) deleteDefinition(w *answer, r *request, what string, remove func(engine.Sender, string, engine.Repeat) error) error {
	name, err := r.named(what)
	if err != nil {
		return err
	}
	c, err := s.caller(w, r)
	if err != nil {
		return err
	}
	reply, err := s.once(r, c, removedAnswer(name), func(c accounts.Caller) error { return remove(r.sender(), name, c.Repeat) })
	if err != nil {
		return err
	}
	writeBody(w, reply.Status, reply.Body)
	return nil
}
