package meta

import (
	"belfry"
	"belfry/catalog"
)

// Items stay in memory for as long as they exist, with the last values of their indicators. The tree counts what they take
// while it applies records, so that it can be limited. Texts of operators and senders are counted separately, see Tree.TextMemory:
// long texts must not make data be refused.

// What an item takes, as measured: its node, and its places in maps and lists.
const (
	objectSize = 512
	placeSize  = 1024 // views, resources and elements, with the lists of their content
	taskSize   = 448  // of what a resource has a collector do, in package collect
	numberSize = 8
	textSize   = 16 // of the place of a text; see TextSize
	textStep   = 32
	markSize   = 16
)

// custom is the package of resources that nothing is collected for. Others may have a collector: whether they do can change with
// their package type, so it is counted for all of them.
const custom = "custom"

// mostMarks is how many thresholds an object can have: twenty for each indicator, whoever sets them.
const (
	mostThresholds = 20
	mostMarks      = mostThresholds * belfry.MaxIndicators
)

// ItemSize is the memory counted for an item without its last values. Only resources and elements have a package.
func ItemSize(k belfry.Kind, name, pkg string) int64 {
	switch {
	case k == belfry.KindObject:
		return objectSize + int64(len(name))
	case k == belfry.KindResource && pkg != custom:
		return placeSize + taskSize + 2*int64(len(name)) // the object of a collector is named after its resource
	}
	return placeSize + int64(len(name))
}

// TextSize is the memory counted for the last text of an indicator. It is rounded up, so that most successive texts count
// the same.
func TextSize(bytes int) int64 { return (int64(bytes) + textStep - 1) / textStep * textStep }

// WidthSize is the memory counted for room for so many last numbers and texts.
func WidthSize(numbers, texts int) int64 { return int64(numbers)*numberSize + int64(texts)*textSize }

// stateSize is the memory counted for the last values of an item.
func stateSize(s *belfry.ItemState) int64 {
	n := WidthSize(len(s.Numbers), len(s.Texts))
	for _, v := range s.Texts {
		n += TextSize(len(v))
	}
	return n
}

// MarksSize is the memory counted for met thresholds of one object of the class, as if all of them were met.
func (c *Class) MarksSize() int64 { return int64(c.marks) * markSize }

// Thresholds returns how many thresholds a class defines.
func Thresholds(def *catalog.Class) (n int) {
	if def == nil {
		return 0
	}
	for i := range def.Indicators {
		n += len(def.Indicators[i].Thresholds)
	}
	return n
}

// MarksGrowth returns by how much the objects of a class grow if it and its policies get more thresholds.
func (e *Tenant) MarksGrowth(class string, more int) int64 {
	c := e.classes[class]
	if c == nil {
		return 0
	}
	return int64(min(c.marks+more, mostMarks)-c.marks) * markSize * int64(c.count)
}

// recountThresholds updates the memory of a class after it or a policy has changed.
func (t *Tree) recountThresholds(e *Tenant, c *Class) {
	n := min(Thresholds(c.Def)+e.sets[c.Name], mostMarks)
	t.addMemory(e, int64(n-c.marks)*markSize*int64(c.count))
	c.marks = n
}

// recountPolicy adds (sign 1) or subtracts (sign -1) the thresholds that a policy sets.
func (t *Tree) recountPolicy(e *Tenant, p *Policy, sign int) {
	if p == nil {
		return
	}
	for i := range p.Thresholds {
		o := &p.Thresholds[i]
		if e.sets[o.Class] += sign * len(o.Thresholds); e.sets[o.Class] == 0 {
			delete(e.sets, o.Class)
		}
		if c := e.classes[o.Class]; c != nil {
			t.recountThresholds(e, c)
		}
	}
}

// ItemMemory is the memory counted for the items of the customer.
func (e *Tenant) ItemMemory() int64 { return e.memory }

// ItemMemory is the memory counted for the items of all customers.
func (t *Tree) ItemMemory() int64 { return t.memory.Load() }

// SingleCustomer reports whether there is at most one customer.
func (t *Tree) SingleCustomer() bool { return len(t.customers) <= 1 }

func (t *Tree) addMemory(e *Tenant, n int64) {
	e.memory += n
	t.memory.Add(n)
}
