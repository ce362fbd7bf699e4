package ingest

import (
	"strings"
	"unicode/utf8"

	"belfry"
	"belfry/meta"
)

// names gives the names of the items of an action, one by one.
func (t *tx) names(a Action) []string {
	if a.List != nil {
		return a.List
	}
	if t.estate.Barred() == 0 && !strings.Contains(a.Items, `\`) {
		return strings.Split(a.Items, "|")
	}
	return t.cut(a)
}

// cut separates names at bars. A name may hold bars itself: the longest one that exists as it stands wins. In what does
// not exist so, a bar with a backslash before it is no separator.
func (t *tx) cut(a Action) (names []string) {
	for rest := a.Items; ; {
		end := t.whole(a, rest)
		name := rest[:max(end, 0)]
		if end < 0 {
			name, end = plain(rest)
		}
		names = append(names, name)
		if end == len(rest) {
			return names
		}
		rest = rest[end+1:]
	}
}

// whole finds the longest name with bars that text begins with and an item has; -1 when there is none.
func (t *tx) whole(a Action, text string) int {
	longest := -1
	for i := 0; i < len(text) && i <= maxName*utf8.UTFMax; {
		next := strings.IndexByte(text[i:], '|')
		end := len(text)
		if next >= 0 {
			end = i + next
		}
		if name := text[:end]; i > 0 && end <= maxName*utf8.UTFMax {
			if n, bad := t.named(a, name); n != nil || bad.Code == belfry.AmbiguousName {
				longest = end
			}
		}
		i = end + 1
	}
	return longest
}

// plain gives the name before the first bar that separates, and where that is.
func plain(text string) (name string, end int) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '|':
			return b.String(), i
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '|':
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), len(text)
}

// named finds the item of an action that has a name: among those of its kind, or else among the others.
func (t *tx) named(a Action, name string) (*meta.Node, *belfry.Error) {
	name = strings.TrimSpace(name)  // as no name has blanks at its ends, they belong to the bars
	if name == "" || name[0] == 0 { // no name begins with a control character
		return nil, belfry.Errorf(belfry.UnknownItem, "there is an empty name among the items; names stand with one bar between two of them")
	}
	for _, k := range [...]belfry.Kind{a.Kind, belfry.KindObject, belfry.KindResource, belfry.KindView} {
		switch found := t.ofKind(k, a.Resource, name); {
		case len(found) > 1:
			bad := ambiguous("items", name, found)
			return nil, belfry.Errorf(belfry.AmbiguousName, "%s", bad.Message)
		case len(found) == 1:
			return found[0], nil
		}
	}
	where := ""
	if a.Resource != "" {
		if t.estate.Resource(a.Resource) == nil {
			return nil, belfry.Errorf(belfry.UnknownItem, "there is no resource %q, which resname says %q is in", clip([]byte(a.Resource)), clip([]byte(name)))
		}
		where = " in \"" + clip([]byte(a.Resource)) + "\""
	}
	return nil, belfry.Errorf(belfry.UnknownItem, "there is no object, resource or view %q%s", clip([]byte(name)), where)
}

// ofKind lists the items of a kind that have a name, in one resource or in all.
func (t *tx) ofKind(k belfry.Kind, resource, name string) (found []*meta.Node) {
	if resource != "" {
		return t.inResource(k, resource, name)
	}
	add := func(n *meta.Node) { found = append(found, n) }
	switch p := t.estate.Place(name); {
	case k == belfry.KindObject:
		t.estate.ObjectsNamed(name, add)
	case p != nil && p.Kind == k:
		add(p)
	case k == belfry.KindView:
		t.estate.ViewsNamed(name, add)
	}
	return found
}

func (t *tx) inResource(k belfry.Kind, resource, name string) []*meta.Node {
	r := t.estate.Resource(resource)
	if r == nil {
		return nil
	}
	var n *meta.Node
	switch k {
	case belfry.KindObject:
		n = r.Object(name)
	case belfry.KindResource:
		if name == resource {
			n = r
		}
	case belfry.KindView:
		if n = r.View(name); n == r {
			n = nil
		}
	}
	if n == nil {
		return nil
	}
	return []*meta.Node{n}
}
