package query

import (
	"iter"
	"math/rand/v2"
	"slices"

	"belfry"
)

// PageRows finds the rows of a page with a large offset: it returns the marks of the rows that Eval would return for the
// plan, in order, and of the one after them. Eval holds every row up to the end of the page with all its fields;
// PageRows holds only the keys of the rows and never sorts those before the page. The plan has no groups.
func (e *Evaluator) PageRows(p *Plan, rows iter.Seq2[int, Row]) ([]int, error) {
	var marks []int
	var keys []belfry.Value // of all rows, concatenated
	for mark, r := range rows {
		matches := e.matches(p, r)
		if e.err != nil {
			return nil, e.err
		}
		if !matches {
			continue
		}
		marks = append(marks, mark)
		for _, o := range p.Order {
			keys = append(keys, o.Column.value(r))
		}
	}
	n := len(p.Order)
	compare := func(a, b int32) int { return p.compareKeys(keys[int(a)*n:], keys[int(b)*n:]) }
	page := make([]int32, len(marks))
	for i := range page {
		page[i] = int32(i)
	}
	first, last := min(p.Offset, len(page)), min(p.Offset+p.Limit+1, len(page))
	SelectFirst(page, first, compare)
	SelectFirst(page[first:], last-first, compare)
	page = page[first:last]
	slices.SortFunc(page, compare)
	found := make([]int, len(page))
	for i, row := range page {
		found[i] = marks[row]
	}
	return found, nil
}

// SelectFirst moves the first n elements of an order to the front of a list, unsorted (quickselect). Pivots are random,
// so that a client cannot choose names for which it is slow.
func SelectFirst[T any](list []T, n int, compare func(a, b T) int) {
	for n > 0 && n < len(list) {
		low := partition(list, compare)
		switch {
		case n <= low:
			list = list[:low]
		case n == low+1:
			return
		default:
			list, n = list[low+1:], n-low-1
		}
	}
}

// partition moves the elements that come before a random one to its left and the rest to its right, and returns the new
// index of that element.
func partition[T any](list []T, compare func(a, b T) int) int {
	end := len(list) - 1
	pick := rand.IntN(len(list))
	list[pick], list[end] = list[end], list[pick]
	low := 0
	for i := range end {
		if compare(list[i], list[end]) < 0 {
			list[i], list[low] = list[low], list[i]
			low++
		}
	}
	list[low], list[end] = list[end], list[low]
	return low
}
