package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"belfry"
	"belfry/api/input"
	"belfry/meta"
	"belfry/query"
)

var treeRoutes = []Route{{
	Method: "GET", Path: "/api/tree", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).tree,
	ID: "tree", Tag: "items",
	Help: "Shows one view: its status, and a page of what stands directly in it with place, status and counts; MAIN unless `view` says otherwise.",
	Params: []Param{
		{Name: "view", Schema: "default=MAIN", Help: "Name of the view, or of a resource."},
		{Name: "resource", Help: "Resource in which the view stands: names of views are unique within their resource only. Without `view`, the resource itself."},
		{Name: "limit", Schema: "type=integer,minimum=1,maximum=10000,default=1000", Help: "How many entries a page has at most."},
		{Name: "after", Help: "Begin after this entry: the value of `next` in the page before."},
	},
	Answers: []Answer{
		answers(200, "The view, and its content by kind (views, resources, objects, elements) and name.", treeBody{}),
		answers(409, "Several resources have a view of that name; say which with `resource`.", errorAnswer{}),
	},
	Errors: []belfry.Code{belfry.UnknownItem, belfry.AmbiguousName},
}}

// treeBody is the answer, as writeTree writes it.
type treeBody struct {
	View     treeItem       `json:"view"`
	Content  map[string]int `json:"content" help:"How many items of each kind stand directly in it." schema:"keys=view|resource|object|element,minimum=0"`
	Children []treeItem     `json:"children"`
	More     bool           `json:"more" help:"There are more after this page."`
	Next     string         `json:"next,omitempty" help:"What to give as after for the next page."`
}

const (
	treeDefault = 1000
	treeMost    = 10_000
)

// tree answers with one view: what it shows itself, and a page of what stands directly in it. Deeper levels are asked for
// one by one, so that nobody ever loads a whole customer.
//
// The lock on the tree is held to copy the list of what stands there, then for a few hundred entries of the page at a time.
// Names and kinds never change, so the page is picked between the two, without the lock.
func (s *Server) tree(w *answer, r *request) error {
	limit, err := r.pageSize(treeDefault, treeMost)
	if err != nil {
		return err
	}
	after, err := parseMark(r.params.Get("after"))
	if err != nil {
		return err
	}
	view, err := s.Tree.Place(r.scope(), r.params.Get("resource"), r.params.Get("view"))
	if err != nil {
		return err
	}
	content := s.Tree.Content(r.scope(), view)
	counts := countKinds(content)
	page, more := pageOf(content, after, limit)
	page = slices.Clone(page) // the list of a large view is not kept while the client reads
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead {
		return nil
	}
	out := s.compressors.Open(w, w.Header(), r.Header.Get("Accept-Encoding"))
	defer out.Release()
	if err := s.writeTree(out, r.scope(), view, counts, page, more); err != nil {
		return err
	}
	return out.Close()
}

// writeTree writes the answer in pieces, so that a client that does not read it keeps one piece in memory.
func (s *Server) writeTree(out io.Writer, scope belfry.Scope, view *meta.Node, counts map[string]int, page []*meta.Node, more bool) error {
	within := s.Tree.Within(scope)
	var piece bytes.Buffer
	enc := json.NewEncoder(&piece)
	enc.SetEscapeHTML(false)
	put := func(v any) error {
		err := enc.Encode(v)
		piece.Truncate(max(0, piece.Len()-1)) // the newline that Encode adds
		return err
	}
	var shown treeItem
	for n := range s.Tree.EachEver([]*meta.Node{view}) { // it may be gone meanwhile; then it is told as it was
		shown = s.treeItem(&within, n)
	}
	piece.WriteString(`{"view":`)
	if err := put(shown); err != nil {
		return err
	}
	piece.WriteString(`,"content":`)
	if err := put(counts); err != nil {
		return err
	}
	piece.WriteString(`,"children":[`)
	comma := false
	for rest := page; len(rest) > 0; {
		var items []treeItem
		items, rest = s.treeItems(within, rest)
		for i := range items {
			if comma {
				piece.WriteByte(',')
			}
			comma = true
			if err := put(&items[i]); err != nil {
				return err
			}
		}
		if piece.Len() >= answerPiece {
			if _, err := piece.WriteTo(out); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(&piece, `],"more":%t`, more)
	if more {
		piece.WriteString(`,"next":`)
		if err := put(markOf(page[len(page)-1]).String()); err != nil {
			return err
		}
	}
	piece.WriteString("}\n")
	_, err := piece.WriteTo(out)
	return err
}

// treeItems shows the first nodes of a list, about answerPiece of them, with the tree locked for that time.
func (s *Server) treeItems(within meta.Within, nodes []*meta.Node) (items []treeItem, rest []*meta.Node) {
	seen, size := 0, 0
	for n := range s.Tree.EachEver(nodes[:min(treePiece, len(nodes))]) {
		seen++
		if n.Removed != 0 || !within.Has(n) {
			continue // it has just left
		}
		i := s.treeItem(&within, n)
		items = append(items, i)
		if size += i.size(); size >= answerPiece {
			break
		}
	}
	return items, nodes[seen:]
}

// treePiece is how many items are shown under one lock.
const treePiece = 500

// countKinds counts by kind, naming every kind.
func countKinds(nodes []*meta.Node) map[string]int {
	var counts [belfry.Kinds]int
	for _, n := range nodes {
		counts[n.Kind]++
	}
	out := map[string]int{}
	for _, k := range treeOrder {
		out[k.String()] = counts[k]
	}
	return out
}

// treeOrder is the order in which the content of a view is listed: what can be entered comes first.
var treeOrder = []belfry.Kind{belfry.KindView, belfry.KindResource, belfry.KindObject, belfry.KindElement}

// treeMark is the place of an item in the list of its view. The zero mark is before the first.
type treeMark struct {
	rank int    // of its kind, from 1
	pkg  string // of an element: names of elements are unique within their package
	name string
}

func markOf(n *meta.Node) treeMark {
	m := treeMark{rank: 1 + slices.Index(treeOrder, n.Kind), name: n.Name}
	if n.Kind == belfry.KindElement {
		m.pkg = n.Package
	}
	return m
}

func (m treeMark) compare(o treeMark) int {
	return cmp.Or(cmp.Compare(m.rank, o.rank), strings.Compare(m.pkg, o.pkg), strings.Compare(m.name, o.name))
}

// String gives the form of the parameter after: kind/name, of an element element/package/name.
func (m treeMark) String() string {
	kind := treeOrder[m.rank-1]
	if kind == belfry.KindElement {
		return kind.String() + "/" + m.pkg + "/" + m.name
	}
	return kind.String() + "/" + m.name
}

// parseMark reads what String wrote; an empty text is the zero mark.
func parseMark(text string) (m treeMark, err error) {
	if text == "" {
		return m, nil
	}
	kind, name, ok := strings.Cut(text, "/")
	m.rank = 1 + slices.IndexFunc(treeOrder, func(k belfry.Kind) bool { return k.String() == kind })
	if ok && m.rank > 0 && treeOrder[m.rank-1] == belfry.KindElement {
		m.pkg, name, ok = strings.Cut(name, "/")
	}
	if m.name = name; !ok || m.rank == 0 {
		return treeMark{}, belfry.Errorf(belfry.BadParameter, "after must be the value of next in the page before, as object/cpu, got %.64q", input.Mask(text))
	}
	return m, nil
}

// pageOf picks the first entries after a mark, in order. It looks at each entry once and sorts the page alone: a view may
// hold a hundred thousand of them, and is read page by page.
func pageOf(nodes []*meta.Node, after treeMark, limit int) (page []*meta.Node, more bool) {
	rest := nodes[:0]
	for _, n := range nodes {
		if markOf(n).compare(after) > 0 {
			rest = append(rest, n)
		}
	}
	if len(rest) > limit {
		query.SelectFirst(rest, limit, byMark)
		rest, more = rest[:limit], true
	}
	slices.SortFunc(rest, byMark)
	return rest, more
}

func byMark(a, b *meta.Node) int { return markOf(a).compare(markOf(b)) }
