package meta

import "belfry"

// Items stay in memory for as long as they exist, with the last values of their indicators. The tree counts what they take
// while it applies records, so that somebody can limit it. What operators and senders have set up about them is counted
// apart, see Tree.Texts: data must not be refused because somebody has written much.

// What an item takes, as measured: its node, and its places in maps and lists.
const (
	objectSize = 512
	placeSize  = 1024 // views, resources and elements, with the lists of what stands in them
	numberSize = 8
	textSize   = 16 // of the place of a text; see TextSize
	textStep   = 32
)

// ItemSize is what an item counts for without its last values.
func ItemSize(k belfry.Kind, name string) int64 {
	if k == belfry.KindObject {
		return objectSize + int64(len(name))
	}
	return placeSize + int64(len(name))
}

// TextSize is what the last text of an indicator counts for. It is rounded up, so that most texts that follow one another count the same.
func TextSize(bytes int) int64 { return (int64(bytes) + textStep - 1) / textStep * textStep }

// WidthSize is what the places of so many last numbers and texts count for.
func WidthSize(numbers, texts int) int64 { return int64(numbers)*numberSize + int64(texts)*textSize }

// stateSize is what the last values of an item count for.
func stateSize(s *belfry.State) int64 {
	n := WidthSize(len(s.Numbers), len(s.Texts))
	for _, v := range s.Texts {
		n += TextSize(len(v))
	}
	return n
}

// Memory is what all items of the customer count for.
func (e *Estate) Memory() int64 { return e.memory }

// Memory is the same of all customers; for the goroutine that applies records.
func (t *Tree) Memory() int64 { return t.memory }

// Alone tells that there is one customer only.
func (t *Tree) Alone() bool { return len(t.customers) <= 1 }

// MemoryNow is the same for everyone else.
func (t *Tree) MemoryNow() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.memory
}

func (t *Tree) addMemory(e *Estate, n int64) {
	e.memory += n
	t.memory += n
}
