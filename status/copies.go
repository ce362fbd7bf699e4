package status

import (
	"iter"

	"belfry/meta"
)

// copied is how many items are copied at a time while the tree is locked for reading, which takes a few microseconds.
const copied = 128

// eachRow gives the items that still exist, each with its row as it is seen from within a scope. The tree is not locked
// while the caller has one. The row is overwritten when the caller asks for more.
func eachRow(t *meta.Tree, nodes []*meta.Node, within *meta.Within) iter.Seq2[*meta.Node, *row] {
	return func(yield func(*meta.Node, *row) bool) {
		c := copies{rows: make([]row, min(len(nodes), copied))}
		of := make([]*meta.Node, len(c.rows))
		for rest := nodes; len(rest) > 0; {
			part := rest[:min(copied, len(rest))]
			rest = rest[len(part):]
			c.reset()
			for n := range t.Each(part) {
				of[c.used] = n
				c.add(within.Show(n))
			}
			for i := range c.used {
				if !yield(of[i], &c.rows[i]) {
					return
				}
			}
		}
	}
}

// copies holds rows, and the values of their indicators, which records overwrite in place.
type copies struct {
	rows    []row
	used    int
	numbers []float64
	texts   []string
}

func (c *copies) reset() { c.used, c.numbers, c.texts = 0, c.numbers[:0], c.texts[:0] }

// add copies an item. The tree is locked.
func (c *copies) add(n *meta.Node) {
	r := &c.rows[c.used]
	c.used++
	r.set(n)
	if len(n.State.Numbers) > 0 {
		from := len(c.numbers)
		c.numbers = append(c.numbers, n.State.Numbers...)
		r.State.Numbers = c.numbers[from:]
	}
	if len(n.State.Texts) > 0 {
		from := len(c.texts)
		c.texts = append(c.texts, n.State.Texts...)
		r.State.Texts = c.texts[from:]
	}
}
