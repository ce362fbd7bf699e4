package meta

import (
	"belfry"
)

// Texts that a customer has set up stay in memory for as long as they exist: details of items, what operators have written,
// and documents. The tree counts their bytes while it applies records, so that they can be limited and the count is right
// after a restart. Items themselves are counted separately, see Tree.ItemMemory.

// perWindow is counted for each window, beside its texts.
const perWindow = 128

// perText is counted for each answer, beside its bytes.
const perText = 32

// DetailsSize is the memory counted for the details of an item.
func DetailsSize(d *belfry.Details) (n int64) {
	if d == nil {
		return 0
	}
	n = int64(len(d.IP) + len(d.Host))
	for _, c := range d.Constants {
		n += int64(len(c))
	}
	for column, text := range d.Answers {
		n += int64(perText + len(column) + len(text))
	}
	if d.Author != nil {
		n += int64(len(d.Author.User))
		for _, v := range d.Author.Views {
			n += int64(perText + len(v))
		}
	}
	return n
}

// OperatorStateSize is the memory counted for what operators have written about an item.
func OperatorStateSize(c *belfry.OperatorState) (n int64) {
	if c == nil {
		return 0
	}
	n = int64(len(c.Note) + len(c.UnmanageNote))
	if c.Ack != nil {
		n += int64(len(c.Ack.Text))
	}
	for i := range c.Windows {
		w := &c.Windows[i]
		n += int64(perWindow + len(w.Name) + len(w.Schedule) + len(w.Zone) + len(w.By))
	}
	return n
}

// DocSize is the memory counted for a document of a customer.
func DocSize(kind, name string, body int) int64 {
	if k := kindNamed(kind); k != nil {
		return k.weight * int64(len(name)+body)
	}
	return 0
}

// textOf names a document of a customer.
type textOf struct{ kind, name string }

// TextMemory is the memory counted for the texts of the customer.
func (e *Tenant) TextMemory() int64 { return e.texts }

// DocMemory is the memory counted for a document.
func (e *Tenant) DocMemory(kind, name string) int64 { return e.docTexts[textOf{kind, name}] }

// TextMemory is the memory counted for the texts of all customers.
func (t *Tree) TextMemory() int64 { return t.texts.Load() }

func (t *Tree) addTexts(e *Tenant, n int64) {
	e.texts += n
	t.texts.Add(n)
}

// countDoc counts a document instead of the one it replaces.
func (t *Tree) countDoc(d *belfry.Doc) {
	e := t.customers[d.Customer]
	if e == nil {
		return
	}
	key, n := textOf{d.Kind, d.Name}, int64(0)
	if d.Body != nil {
		n = DocSize(d.Kind, d.Name, len(d.Body))
	}
	t.addTexts(e, n-e.docTexts[key])
	if n > 0 {
		e.docTexts[key] = n
	} else {
		delete(e.docTexts, key)
	}
}

// setOperatorState counts what operators have written about an item, instead of what they had written before, and indexes
// whether it has windows.
func (t *Tree) setOperatorState(n *Node, to *belfry.OperatorState) {
	if n.State.Operator == to || n.Removed != 0 {
		return
	}
	if e := t.customers[n.Customer]; e != nil {
		t.addTexts(e, OperatorStateSize(to)-OperatorStateSize(n.State.Operator))
		if n.State.Operator.HasWindows() || to.HasWindows() {
			e.windowed.Set(uint64(n.Number), to.HasWindows())
		}
	}
}

// forgetTexts stops counting the texts of an item that is removed, and drops it from the items with windows.
func (t *Tree) forgetTexts(n *Node) {
	e := t.customers[n.Customer]
	t.addTexts(e, -DetailsSize(n.Details)-OperatorStateSize(n.State.Operator))
	if n.State.Operator.HasWindows() {
		e.windowed.Set(uint64(n.Number), false)
	}
}
