// Package itemlist splits a text into the names of items that it lists. They are separated by bars, and may contain bars.
package itemlist

import "strings"

// Split splits a list. The longest of names, all of which contain bars, wins. Elsewhere a bar after a backslash belongs to its name.
func Split(list string, names []string) []string {
	root := &parts{}
	for _, name := range names {
		root.add(name)
	}
	return cut(list, root)
}

// parts is a trie of names that contain bars, keyed by the parts between bars. Finding names in a text takes as many steps as
// they have parts, so that no input can make it slow.
type parts struct {
	next map[string]*parts
	end  bool // of a name
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
