package engine

import (
	"strings"

	"belfry"
	"belfry/meta"
)

// parts is a tree of the names that hold bars, from one part between bars to the next. By it, finding names in a text
// takes as many steps as they have parts, whatever the text and the names are: no list can be made to take long.
type parts struct {
	next map[string]*parts
	end  bool // of a name
}

// barred gathers the names with bars that an action can mean, among those that there are.
func (p *acting) barred(nodes []*meta.Node) *parts {
	begins := map[string]bool{}
	for part := range strings.SplitSeq(p.Items, "|") {
		begins[strings.TrimLeft(part, " ")] = true
	}
	seen := map[string]bool{}
	var names []target
	for _, n := range nodes {
		if first, _, _ := strings.Cut(n.Name, "|"); begins[first] && !seen[n.Name] {
			seen[n.Name] = true
			names = append(names, target{Named: Named{n.Name, p.Resource, p.Kind}})
		}
	}
	root := &parts{}
	p.lookUp(names, func(i int, n *meta.Node, bad *belfry.Error) {
		if n != nil || bad.Code == belfry.AmbiguousName {
			root.add(names[i].Name)
		}
	})
	return root
}

func (p *parts) add(name string) {
	for part := range strings.SplitSeq(name, "|") {
		if p.next == nil {
			p.next = map[string]*parts{}
		}
		if p.next[part] == nil {
			p.next[part] = &parts{}
		}
		p = p.next[part]
	}
	p.end = true
}

// longest finds where the longest of the names ends that a text begins with; -1 when there is none.
func (p *parts) longest(text string) int {
	longest := -1
	for from := 0; ; {
		to := len(text)
		if bar := strings.IndexByte(text[from:], '|'); bar >= 0 {
			to = from + bar
		}
		part := text[from:to]
		if last := p.next[strings.TrimRight(part, " ")]; last != nil && last.end {
			longest = to
		}
		if p = p.next[part]; p == nil || to == len(text) {
			return longest
		}
		from = to + 1
	}
}

// cut separates names at bars. A name may hold bars itself: the longest one that exists as it stands wins. In what does
// not exist so, a bar with a backslash before it is no separator.
func cut(items string, barred *parts) (names []string) {
	for rest := items; ; {
		rest = strings.TrimLeft(rest, " ")
		end := barred.longest(rest)
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
func (t *Tx) named(of Named) (*meta.Node, *belfry.Error) {
	name, resource, kind := of.Name, of.Resource, of.Kind
	if name == "" || name[0] == 0 { // no name begins with a control character
		return nil, belfry.Errorf(belfry.UnknownItem, "there is an empty name among the items; names stand with one bar between two of them")
	}
	if n, bad := t.Tenant.Find(kind, resource, name, t.Sees); n != nil || bad != nil {
		return n, bad
	}
	where := ""
	if resource != "" {
		if t.only(t.Tenant.Resource(resource)) == nil {
			return nil, belfry.Errorf(belfry.UnknownItem, "there is no resource %q, which resname says %q is in", belfry.Clip(resource), belfry.Clip(name))
		}
		where = " in \"" + belfry.Clip(resource) + "\""
	}
	return nil, belfry.Errorf(belfry.UnknownItem, "there is no object, resource or view %q%s", belfry.Clip(name), where)
}
