package api

import (
	"net/http"

	"belfry"
	"belfry/api/tree"
)

var treeRoutes = []Route{{
	Method: "GET", Path: "/api/tree", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).tree,
	ID: "tree", Tag: "items",
	Help: "Shows one view: its status, and a page of its direct content with position, status and counts; MAIN by default.",
	Params: []Param{
		{Name: "view", Schema: "default=MAIN", Help: "Name of the view, or of a resource."},
		{Name: "resource", Help: "Resource of the view: names of views are unique only within their resource. Without `view`, the resource itself."},
		{Name: "limit", Schema: "type=integer,minimum=1,maximum=10000,default=1000", Help: "Maximum number of entries per page."},
		{Name: "after", Help: "Start after this entry: the value of `next` in the previous page."},
	},
	Answers: []Answer{
		answers(200, "The view, and its content by kind (views, resources, objects, elements) and name.", tree.Body{}),
		answers(409, "Several resources have a view of that name; give `resource`.", errorAnswer{}),
	},
	Errors: []belfry.Code{belfry.UnknownItem, belfry.AmbiguousName},
}}

const (
	treeDefault = 1000
	treeMost    = 10_000
)

// tree answers with one view: its own status, and a page of what is directly in it. Clients ask for deeper levels one by one, so
// that no request loads a whole customer.
func (s *Server) tree(w *answer, r *request) error {
	limit, err := r.pageSize(treeDefault, treeMost)
	if err != nil {
		return err
	}
	after, err := tree.ParseMark(r.params.Get("after"))
	if err != nil {
		return err
	}
	view, err := s.Tree.Container(r.scope(), r.params.Get("resource"), r.params.Get("view"))
	if err != nil {
		return err
	}
	page := tree.NewPage(s.Tree, r.scope(), view, after, limit)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead {
		return nil
	}
	out := s.compressors.Open(w, h, r.Header.Get("Accept-Encoding"))
	defer out.Release()
	if err := page.Write(out); err != nil {
		return err
	}
	return out.Close()
}
