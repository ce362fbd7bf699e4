package catalog

import "strings"

// Nearest returns the known name that a misspelt one most likely means: the one with the fewest edits (letters added,
// omitted, changed or swapped), ignoring case. It returns "" if no name is near enough to be useful.
func Nearest(name string, known []string) string {
	const longName = 64 // a longer one is no misspelling, and names come from clients
	if name == "" || len(name) > longName {
		return ""
	}
	a := []rune(strings.ToLower(name))
	best, bestEdits := "", -1
	for _, k := range known {
		if len(k) > longName {
			continue
		}
		b := []rune(strings.ToLower(k))
		e := editDistance(a, b)
		if len(a) >= 3 && len(b) >= 3 && (strings.HasPrefix(string(b), string(a)) || strings.HasPrefix(string(a), string(b))) {
			e = min(e, 2) // "time" for "timestamp"
		} else if 2*e > max(len(a), len(b)) {
			continue
		}
		if bestEdits < 0 || e < bestEdits {
			best, bestEdits = k, e
		}
	}
	return best
}

// editDistance returns the optimal string alignment distance.
func editDistance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
