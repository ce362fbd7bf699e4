package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"belfry"
	"belfry/meta"
)

var treeParams = []string{"view", "resource", "limit", "after"}

const (
	treeDefault = 1000
	treeMost    = 10_000
)

// tree answers with one view: what it shows itself, and a page of what stands directly in it. Deeper levels are asked for
// one by one, so that nobody ever loads a whole estate.
//
// The lock on the tree is held to copy the list of what stands there, then for a thousand entries of the page at a time.
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
	within := s.Tree.Within(r.scope())
	content := s.Tree.Content(r.scope(), view)
	out := treeAnswer{Content: countKinds(content), Children: []treeItem{}}
	page, more := pageOf(content, after, limit)
	for n := range s.Tree.EachEver([]*meta.Node{view}) { // it may be gone meanwhile; then it is told as it was
		out.View = s.treeItem(within.Show(n))
	}
	for n := range s.Tree.Each(page) {
		if !within.Has(n) {
			continue // it has just left
		}
		out.Children = append(out.Children, s.treeItem(within.Show(n)))
	}
	if out.More = more; more {
		out.Next = markOf(page[len(page)-1]).String()
	}
	return s.writePacked(w, r, out)
}

// writePacked answers with a body that may be long.
func (s *Server) writePacked(w *answer, r *request, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead {
		return nil
	}
	out := s.packers.open(w, w, r.Header.Get("Accept-Encoding"))
	defer out.release()
	if _, err := out.Write(text.Bytes()); err != nil {
		return err
	}
	return out.Close()
}

// treeAnswer is one view with a page of its content.
type treeAnswer struct {
	View     treeItem       `json:"view"`
	Content  map[string]int `json:"content"` // how many of each kind stand in it
	Children []treeItem     `json:"children"`
	More     bool           `json:"more"`
	Next     string         `json:"next,omitempty"` // what to give as after
}

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
		return treeMark{}, belfry.Errorf(belfry.BadParameter, "after must be the value of next in the page before, as object/cpu, got %.64q", mask(text))
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
		firstOf(rest, limit)
		rest, more = rest[:limit], true
	}
	slices.SortFunc(rest, byMark)
	return rest, more
}

func byMark(a, b *meta.Node) int { return markOf(a).compare(markOf(b)) }

// firstOf moves the first limit entries of an order to the front of a list, in no order among themselves: a heap of them,
// with the last on top, meets every other entry.
func firstOf(nodes []*meta.Node, limit int) {
	heap := nodes[:limit]
	for i := limit/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for i := limit; i < len(nodes); i++ {
		if byMark(nodes[i], heap[0]) < 0 {
			nodes[i], heap[0] = heap[0], nodes[i]
			sink(heap, 0)
		}
	}
}

// sink lets an entry of the heap go down to its place.
func sink(heap []*meta.Node, i int) {
	for {
		last := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if byMark(heap[child], heap[last]) > 0 {
				last = child
			}
		}
		if last == i {
			return
		}
		heap[i], heap[last] = heap[last], heap[i]
		i = last
	}
}
