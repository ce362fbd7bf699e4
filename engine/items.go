package engine

import (
	"strings"

	"belfry"
	"belfry/meta"
)

// parts is a trie of names that contain bars, keyed by the parts between bars. Finding names in a text takes as many steps as
// they have parts, so that no input can make it slow.
type parts struct {
	next map[string]*parts
	end  bool // of a name
}

// barred builds the trie of the names with bars that the action may refer to.
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

// longest returns the length of the longest name that a text begins with; -1: none.
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

// cut splits names at bars. A name may contain bars itself: the longest existing name wins. Elsewhere, a bar after a backslash
// is not a separator.
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

// plain returns the name before the first separating bar, and the position of the bar.
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

// named finds an item of an action by name, first among those of its kind, then among the others.
func (t *Tx) named(of Named) (*meta.Node, *belfry.Error) {
	name, resource, kind := of.Name, of.Resource, of.Kind
	if name == "" || name[0] == 0 { // no name begins with a control character
		return nil, belfry.Errorf(belfry.UnknownItem, "there is an empty name among the items; separate names with one bar")
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
