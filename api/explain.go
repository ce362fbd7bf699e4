package api

import (
	"errors"
	"net/http"
	"strings"

	"belfry"
	"belfry/api/input"
	"belfry/catalog"
	"belfry/status/explain"
)

var explainRoutes = []Route{{
	Method: "GET", Path: "/api/explain/{kind}/{name...}", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).why,
	ID: "explainStatus", Tag: "items", Help: "Explains why an item has its status; the kind is `objects`, `resources` or `views`.",
	Detail: "Items of this kind are searched first, then items of the other kinds.",
	Wildcards: []Param{
		{Name: "kind", Schema: "pattern=^([oO][bB][jJ][eE][cC][tT]|[rR][eE][sS][oO][uU][rR][cC][eE]|[vV][iI][eE][wW])[sS]?$", Help: "Kind of the item, in any case."},
		{Name: "name", Help: "Name of the item, URL-encoded; a slash as %2F."},
	},
	Params: []Param{{Name: "resname", Help: "Resource of the item, where several have one of that name."}},
	Answers: []Answer{
		answers(200, "The reason.", explain.Explanation{}),
		answers(409, "Several items have the name; give resname.", errorAnswer{}),
	},
	Errors: []belfry.Code{belfry.UnknownKind, belfry.UnknownItem, belfry.AmbiguousName},
}}

// explainedKinds are the kinds accepted in the path, singular or plural, in any case.
var explainedKinds = map[string]belfry.Kind{
	"objects": belfry.KindObject, "object": belfry.KindObject,
	"resources": belfry.KindResource, "resource": belfry.KindResource,
	"views": belfry.KindView, "view": belfry.KindView,
}

// why explains the status of an item.
func (s *Server) why(w *answer, r *request) error {
	kind, ok := explainedKinds[strings.ToLower(r.PathValue("kind"))]
	if !ok {
		return unknownExplained(r.PathValue("kind"))
	}
	name := r.PathValue("name")
	if name == "" {
		return unknownPath(r.Request)
	}
	out, err := explain.Item(s.Tree, r.scope(), explain.Wanted{Kind: kind, Name: name, Resource: r.params.Get("resname")}, s.Engine.Since(), s.Engine.Now())
	if err != nil {
		return withoutKeys(err)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func unknownExplained(kind string) error {
	hint := ""
	if near := catalog.Nearest(kind, []string{"objects", "resources", "views"}); near != "" {
		hint = "; nearest is " + near
	}
	return belfry.Errorf(belfry.UnknownKind, "there is no kind %q; known are objects, resources and views%s", input.Mask(input.Clip(kind)), hint)
}

// withoutKeys hides keys in the message of an error: one may have been sent as a name.
func withoutKeys(err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return belfry.Errorf(e.Code, "%s", input.HideKeys(e.Message))
	}
	return err
}
