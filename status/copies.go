package status

import (
	"iter"

	"belfry/meta"
)

// copyBatch is how many items are copied while the tree is locked for reading, which takes a few microseconds.
const copyBatch = 128

// eachRow iterates over the items that still exist, each with its row as seen from a scope. The tree is not locked while
// the caller handles an item. The row is overwritten by the next step.
func eachRow(t *meta.Tree, nodes []*meta.Node, within *meta.Visibility) iter.Seq2[*meta.Node, *row] {
	return func(yield func(*meta.Node, *row) bool) {
		c := rowBuffer{rows: make([]row, min(len(nodes), copyBatch))}
		items := make([]*meta.Node, len(c.rows))
		for rest := nodes; len(rest) > 0; {
			part := rest[:min(copyBatch, len(rest))]
			rest = rest[len(part):]
			c.reset()
			for n := range t.Each(part) {
				items[c.n] = n
				c.add(within.Show(n))
			}
			for i := range c.n {
				if !yield(items[i], &c.rows[i]) {
					return
				}
			}
		}
	}
}

// rowBuffer holds rows and copies of their indicator values, which records overwrite in place.
type rowBuffer struct {
	rows    []row
	n       int
	numbers []float64
	texts   []string
}

func (c *rowBuffer) reset() { c.n, c.numbers, c.texts = 0, c.numbers[:0], c.texts[:0] }

// add copies an item. The caller holds the lock of the tree.
func (c *rowBuffer) add(n *meta.Node) {
	r := &c.rows[c.n]
	c.n++
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
