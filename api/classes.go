package api

import (
	"encoding/json"
	"net/http"

	"belfry"
	"belfry/api/encode"
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
			Detail:    "The definition then belongs to the customer. The type of an indicator never changes.",
			Wildcards: className,
			Body:      inYAML(catalog.Class{}),
			Answers: []Answer{
				answers(200, "The definition was changed, or was the same already.", classAnswer{}),
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
			Answers:   []Answer{answers(200, "Removed. A built-in definition, or one from a file, applies again.", removed{})},
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

func (s *Server) classes(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	list, more := s.Tree.Documents().Classes(r.customer, after, limit)
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
	return encode.List(pieces(w), name, list, more)
}

func (s *Server) class(w *answer, r *request) error {
	name, err := r.named("class")
	if err != nil {
		return err
	}
	l, ok := s.Tree.Documents().ClassNamed(r.customer, name)
	if !ok {
		return s.Tree.Documents().Unknown(belfry.Whole(r.customer), belfry.DocClass, name)
	}
	s.recount(r, &l)
	writeJSON(w, http.StatusOK, l)
	return nil
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

// sentBack rejects a class whose JSON, as an answer lists it, would be too long to be sent again. Indicators that it once had may still be added to it.
func sentBack(def *catalog.Class) error {
	const room = 4 << 10
	text, err := catalog.Listed{Class: def}.MarshalJSON()
	if err == nil && len(text) > maxDefinition-room {
		err = belfry.Errorf(belfry.BodyTooLarge, "written out in JSON the class is %d bytes long, and %d are allowed; leave out what it can do without", len(text), maxDefinition-room)
	}
	return err
}

// sender is the author of a command.
func (r *request) sender() engine.Sender {
	return r.senderOf(r.scope())
}

func (s *Server) deleteClass(w *answer, r *request) error {
	return s.deleteDefinition(w, r, "class", s.Engine.Definitions().DeleteClass)
}
