// Package tree shows a view of the tree and what is in it, page by page, as JSON.
package tree

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"belfry"
	"belfry/api/input"
	"belfry/meta"
	"belfry/query"
)

// Body describes the answer, as Write writes it.
type Body struct {
	View     Item           `json:"view"`
	Content  map[string]int `json:"content" help:"Number of direct items by kind." schema:"keys=view|resource|object|element,minimum=0"`
	Children []Item         `json:"children"`
	More     bool           `json:"more" help:"There are more entries after this page."`
	Next     string         `json:"next,omitempty" help:"The value of after for the next page."`
}

// Page is a view with a page of what is directly in it.
//
// The lock on the tree is held to copy the list of the content, then for a few hundred entries of the page at a time. Names and
// kinds never change, so the page is selected in between without the lock.
type Page struct {
	tree     *meta.Tree
	within   meta.Visibility
	view     *meta.Node
	counts   map[string]int // of the content, by kind
	children []*meta.Node
	more     bool
}

// NewPage returns the page of a view, as a scope shows it, that begins after a mark.
func NewPage(t *meta.Tree, scope belfry.Scope, view *meta.Node, after Cursor, limit int) *Page {
	content := t.Content(scope, view)
	p := &Page{tree: t, within: t.Visibility(scope), view: view, counts: countKinds(content)}
	first, more := pageOf(content, after, limit)
	p.children, p.more = slices.Clone(first), more // the list of a large view is not kept while the client reads
	return p
}

// Write writes the page in pieces, so that a client that does not read it keeps one piece in memory.
func (p *Page) Write(out io.Writer) error {
	var piece bytes.Buffer
	enc := json.NewEncoder(&piece)
	enc.SetEscapeHTML(false)
	put := func(v any) error {
		err := enc.Encode(v)
		piece.Truncate(max(0, piece.Len()-1)) // the newline that Encode adds
		return err
	}
	var shown Item
	for n := range p.tree.EachWithRemoved([]*meta.Node{p.view}) { // one that was removed during the request is shown as it was
		shown = p.item(n)
	}
	piece.WriteString(`{"view":`)
	if err := put(shown); err != nil {
		return err
	}
	piece.WriteString(`,"content":`)
	if err := put(p.counts); err != nil {
		return err
	}
	piece.WriteString(`,"children":[`)
	comma := false
	for rest := p.children; len(rest) > 0; {
		var items []Item
		items, rest = p.items(rest)
		for i := range items {
			if comma {
				piece.WriteByte(',')
			}
			comma = true
			if err := put(&items[i]); err != nil {
				return err
			}
		}
		if piece.Len() >= pieceSize {
			if _, err := piece.WriteTo(out); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(&piece, `],"more":%t`, p.more)
	if p.more {
		piece.WriteString(`,"next":`)
		if err := put(cursorOf(p.children[len(p.children)-1]).String()); err != nil {
			return err
		}
	}
	piece.WriteString("}\n")
	_, err := piece.WriteTo(out)
	return err
}

// items shows the first nodes of a list, about a piece of them, under the lock of the tree.
func (p *Page) items(nodes []*meta.Node) (items []Item, rest []*meta.Node) {
	seen, size := 0, 0
	for n := range p.tree.EachWithRemoved(nodes[:min(itemsPerLock, len(nodes))]) {
		seen++
		if n.Removed != 0 || !p.within.Has(n) {
			continue // it is no longer there
		}
		i := p.item(n)
		items = append(items, i)
		if size += i.size(); size >= pieceSize {
			break
		}
	}
	return items, nodes[seen:]
}

const (
	itemsPerLock = 500      // how many items are shown under one lock
	pieceSize    = 64 << 10 // bytes that are written at a time
)

// countKinds counts nodes by kind; every kind is there.
func countKinds(nodes []*meta.Node) map[string]int {
	var counts [belfry.Kinds]int
	for _, n := range nodes {
		counts[n.Kind]++
	}
	out := map[string]int{}
	for _, k := range kindOrder {
		out[k.String()] = counts[k]
	}
	return out
}

// kindOrder is the order in which the content of a view is listed: containers come first.
var kindOrder = []belfry.Kind{belfry.KindView, belfry.KindResource, belfry.KindObject, belfry.KindElement}

// Cursor is the position of an item in the list of its view. The zero cursor is before the first.
type Cursor struct {
	rank int    // of its kind, from 1
	pkg  string // of an element: names of elements are unique within their package
	name string
}

func cursorOf(n *meta.Node) Cursor {
	m := Cursor{rank: 1 + slices.Index(kindOrder, n.Kind), name: n.Name}
	if n.Kind == belfry.KindElement {
		m.pkg = n.Package
	}
	return m
}

func (m Cursor) compare(o Cursor) int {
	return cmp.Or(cmp.Compare(m.rank, o.rank), strings.Compare(m.pkg, o.pkg), strings.Compare(m.name, o.name))
}

// String is kind/name, of an element element/package/name.
func (m Cursor) String() string {
	kind := kindOrder[m.rank-1]
	if kind == belfry.KindElement {
		return kind.String() + "/" + m.pkg + "/" + m.name
	}
	return kind.String() + "/" + m.name
}

// ParseMark reads what String writes; an empty text is the zero mark.
func ParseMark(text string) (m Cursor, err error) {
	if text == "" {
		return m, nil
	}
	kind, name, ok := strings.Cut(text, "/")
	m.rank = 1 + slices.IndexFunc(kindOrder, func(k belfry.Kind) bool { return k.String() == kind })
	if ok && m.rank > 0 && kindOrder[m.rank-1] == belfry.KindElement {
		m.pkg, name, ok = strings.Cut(name, "/")
	}
	if m.name = name; !ok || m.rank == 0 {
		return Cursor{}, belfry.Errorf(belfry.BadParameter, "after must be the value of next in the previous page, as object/cpu, got %.64q", input.Mask(text))
	}
	return m, nil
}

// pageOf selects the first entries after a mark, in order. It looks at each entry once and sorts only the page: a view may hold
// a hundred thousand of them, and is read page by page.
func pageOf(nodes []*meta.Node, after Cursor, limit int) (page []*meta.Node, more bool) {
	rest := nodes[:0]
	for _, n := range nodes {
		if cursorOf(n).compare(after) > 0 {
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

func byMark(a, b *meta.Node) int { return cursorOf(a).compare(cursorOf(b)) }
