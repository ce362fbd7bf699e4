package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"belfry"
	"belfry/accounts"
	"belfry/api/input"
	"belfry/catalog"
	"belfry/engine"
)

var (
	className   = []Param{{Name: "name", Help: "Name of the class, URL-encoded; a slash as %2F."}}
	classRoutes = []Route{
		{
			Method: "GET", Path: "/api/classes", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).classes,
			ID: "classes", Tag: "kinds", Help: "Lists the classes of objects by name.",
			Params:  listParams,
			Answers: []Answer{answers(200, "A page of classes, by name.", classList{})},
		},
		{
			Method: "GET", Path: "/api/classes/{name...}", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).class,
			ID: "class", Tag: "kinds", Help: "Describes one class.",
			Wildcards: className,
			Answers:   []Answer{answers(200, "The class.", catalog.Listed{})},
			Errors:    []belfry.Code{belfry.UnknownItem},
		},
		{
			Method: "PUT", Path: "/api/classes/{name...}", Level: belfry.LevelReadWriteDelete, serve: (*Server).putClass,
			ID: "putClass", Tag: "kinds", Help: "Defines a class, in JSON or YAML.",
			Detail:    "The definition is the customer's own from now on. The type of an indicator never changes.",
			Wildcards: className,
			Body:      inYAML(catalog.Class{}),
			Answers: []Answer{
				answers(200, "The definition was changed, or was so already.", classAnswer{}),
				answers(201, "There was no such class before.", classAnswer{}),
			},
			Errors: []belfry.Code{belfry.UnknownItem, belfry.RateLimited},
		},
		{
			Method: "DELETE", Path: "/api/classes/{name...}", Level: belfry.LevelReadWriteDelete, serve: (*Server).deleteClass,
			ID: "deleteClass", Tag: "kinds", Help: "Removes the customer's own definition of a class.",
			Detail:    "Refused while objects have the class, unless another definition can take over.",
			Wildcards: className,
			Headers:   []Param{idempotencyKey},
			Answers:   []Answer{answers(200, "Removed. A built-in definition, or one from a file, counts again.", removed{})},
			Errors:    []belfry.Code{belfry.UnknownItem, belfry.RateLimited},
		},
	}
)

// classList is a page of classes, as writePage writes it.
type classList struct {
	Classes []catalog.Listed `json:"classes"`
	More    bool             `json:"more"`
}

// classAnswer is the answer to a definition.
type classAnswer struct {
	Result string         `json:"result" schema:"enum=created|updated|unchanged"`
	Class  catalog.Listed `json:"class"`
}

// maxClass is the longest body of a class or policy. Of YAML 64 KiB are read; the same as JSON, as an answer gives it, is longer.
const maxClass = 128 << 10

// classWeight is how many times the length of its text a definition takes, read as YAML.
const classWeight = 16

// maxPage is the size of a list in bytes; a page of long entries has fewer of them.
const maxPage = 4 << 20

func (s *Server) classes(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	list, more := s.Tree.Classes(r.customer, after, limit)
	for i := range list {
		s.recount(r, &list[i])
	}
	return writePage(w, "classes", list, more)
}

// writePage answers with a list under its name, as much of it as a page holds.
func writePage[T json.Marshaler](w *answer, name string, list []T, more bool) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	out := pieces(w)
	fmt.Fprintf(out, "{%q:[", name) // a failure shows at Flush
	size := 0
	for i, entry := range list {
		text, err := entry.MarshalJSON()
		if err != nil {
			return err
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		if size += len(text); size > maxPage && i > 0 {
			more = true
			break
		}
		if i > 0 {
			out.WriteByte(',')
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "],\"more\":%t}\n", more)
	return out.Flush()
}

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

func (s *Server) class(w *answer, r *request) error {
	name, err := r.named("class")
	if err != nil {
		return err
	}
	l, ok := s.Tree.ClassNamed(r.customer, name)
	if !ok {
		return s.Tree.Unknown(belfry.Whole(r.customer), belfry.DocClass, name)
	}
	s.recount(r, &l)
	writeJSON(w, http.StatusOK, l)
	return nil
}

// statusOf returns the status for a result of setting a class, policy or picture.
func statusOf(result string) int {
	if result == "created" {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (s *Server) putClass(w *answer, r *request) error {
	name, err := r.named("class")
	if err != nil {
		return err
	}
	def, err := readKind(w, r, "class", `{"indicators": [{"n": 1, "name": "Used", "unit": "%"}]}`, func(text []byte) (*catalog.Class, error) {
		def, err := catalog.ParseNamedClass(name, text)
		if err != nil {
			return nil, asParameter(err)
		}
		return def, sentBack(def)
	})
	if err != nil {
		return err
	}
	result, l, err := s.Engine.Definitions().PutClass(r.sender(), def)
	if err != nil {
		return err
	}
	writeJSON(w, statusOf(result), classAnswer{result, l})
	return nil
}

// sentBack refuses a class that would be too long to be sent back as it is listed. Indicators that it once had may still be added to it.
func sentBack(def *catalog.Class) error {
	const room = 4 << 10
	text, err := catalog.Listed{Class: def}.MarshalJSON()
	if err == nil && len(text) > maxClass-room {
		err = belfry.Errorf(belfry.BodyTooLarge, "written out in JSON the class is %d bytes long, and %d are allowed; leave out what it can do without", len(text), maxClass-room)
	}
	return err
}

// sender is the author of a command.
func (r *request) sender() engine.Sender {
	return r.senderOf(r.scope())
}

// readKind reads the body of a class or policy, JSON or YAML, and parses it. The example shows how one is written.
func readKind[T any](w *answer, r *request, what, example string, parse func(text []byte) (T, error)) (def T, err error) {
	typ, err := mediaType(r.Request, "application/json", "application/yaml", "application/x-yaml", "text/yaml")
	if err != nil {
		return def, err
	}
	text, err := readWhole(w, r, maxClass, classWeight)
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
	return r.stillMay()
}

// asParameter gives an error of the catalog the code of a request.
func asParameter(err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return belfry.Errorf(belfry.BadParameter, "%s", e.Message)
	}
	return err
}

// tooLong replaces the remedy for a body that cannot be sent in parts.
func tooLong(err error, what string) error {
	if belfry.CodeOf(err) == belfry.BodyTooLarge {
		return belfry.Errorf(belfry.BodyTooLarge, "a %s may be %d bytes long; leave out what it can do without", what, maxClass)
	}
	return err
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

func (s *Server) deleteClass(w *answer, r *request) error {
	return s.deleteDefinition(w, r, "class", s.Engine.Definitions().DeleteClass)
}
