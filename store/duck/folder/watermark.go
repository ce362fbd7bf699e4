package folder

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
)

// WatermarkFile has the watermark of a collection: the start of the oldest period that may have rows. It is one line, the
// watermark in microseconds and a checksum:
//
//	1763164800000000 5f1c09aa
//
// A start deletes files below a watermark, because a Drop was interrupted. So a watermark is trusted only if its
// checksum is right. A damaged one counts as none: nothing is deleted because of it, a fault is open, and the next Drop
// writes a new one.
const WatermarkFile = "watermark"

// watermark is the watermark of a collection as found at the start.
type watermark struct {
	at     belfry.Time // 0: none that can be used
	damage string      // why it cannot be used; empty: it can
}

func readWatermark(dir string, c *catalog.Collection) watermark {
	text, err := os.ReadFile(filepath.Join(dir, c.Name, WatermarkFile))
	if errors.Is(err, os.ErrNotExist) {
		return watermark{}
	}
	if err != nil {
		return watermark{damage: "it cannot be read: " + Cause(err).Error()}
	}
	return parseWatermark(c, string(text))
}

func parseWatermark(c *catalog.Collection, text string) watermark {
	number, sum, summed := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case text == "":
		return watermark{damage: "it is empty"}
	case err != nil:
		return watermark{damage: fmt.Sprintf("it begins with %.30q, which is not a number", number)}
	case !summed:
		return watermark{damage: fmt.Sprintf("it has no checksum (%.40q)", number)}
	case sum != markSum(c, n):
		return watermark{damage: fmt.Sprintf("its checksum does not match (%.40q)", strings.TrimSpace(text))}
	}
	return watermark{at: belfry.Time(n)}
}

// markSum covers the name of the collection, so that the file of another one is not valid.
func markSum(c *catalog.Collection, n int64) string {
	return LineSum(c.Name + " " + strconv.FormatInt(n, 10))
}

// writeWatermark writes a watermark durably.
func writeWatermark(dir string, c *catalog.Collection, mark belfry.Time) error {
	sub := filepath.Join(dir, c.Name)
	if err := os.Mkdir(sub, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := journal.WriteFile(filepath.Join(sub, WatermarkFile), []byte(watermarkText(c, mark))); err != nil {
		return err
	}
	return journal.SyncDir(dir)
}

func watermarkText(c *catalog.Collection, mark belfry.Time) string {
	return strconv.FormatInt(int64(mark), 10) + " " + markSum(c, int64(mark)) + "\n"
}

// oldestFile returns the start of the oldest period of a collection that has a file and for which counts is true.
func oldestFile(dir string, c *catalog.Collection, counts func(belfry.Span) bool) (first belfry.Time, any bool) {
	entries, _ := os.ReadDir(filepath.Join(dir, c.Name)) // the store reports what is wrong with the folder
	for _, e := range entries {
		p, ok := ParseFileName(c, e.Name())
		if ok && counts(p) && (!any || p.From < first) {
			first, any = p.From, true
		}
	}
	return first, any
}

// Watermarks are the watermarks of a store, by collection.
type Watermarks struct {
	dir     string
	at      atomic.Pointer[map[string]belfry.Time] // replaced, never changed
	damaged atomic.Pointer[map[string]string]      // what is wrong with damaged ones; replaced, never changed
}

// Read reads the watermarks of all collections.
func (w *Watermarks) Read(dir string, all []*catalog.Collection) {
	at, damaged := map[string]belfry.Time{}, map[string]string{}
	for _, c := range all {
		mark := readWatermark(dir, c)
		if mark.damage != "" {
			damaged[c.Name] = mark.damage
		}
		if mark.at != 0 {
			at[c.Name] = mark.at
		}
	}
	w.dir = dir
	w.at.Store(&at)
	w.damaged.Store(&damaged)
}

// At returns the watermark of a collection; 0 if there is none or it is damaged.
func (w *Watermarks) At(collection string) belfry.Time { return (*w.at.Load())[collection] }

// Text returns what the file of a watermark should have; empty: there is none.
func (w *Watermarks) Text(c *catalog.Collection) string {
	at := w.At(c.Name)
	if at == 0 {
		return ""
	}
	return watermarkText(c, at)
}

// Damaged returns what is wrong with damaged watermarks, by collection.
func (w *Watermarks) Damaged() map[string]string { return *w.damaged.Load() }

// Set replaces a watermark durably, and reports whether it was damaged.
func (w *Watermarks) Set(c *catalog.Collection, mark belfry.Time) (wasDamaged bool, err error) {
	if err := writeWatermark(w.dir, c, mark); err != nil {
		return false, err
	}
	at := maps.Clone(*w.at.Load())
	at[c.Name] = mark
	w.at.Store(&at)
	return w.clearDamage(c.Name), nil
}

func (w *Watermarks) clearDamage(collection string) bool {
	for {
		old := w.damaged.Load()
		if _, bad := (*old)[collection]; !bad {
			return false
		}
		left := maps.Clone(*old)
		delete(left, collection)
		if w.damaged.CompareAndSwap(old, &left) {
			return true
		}
	}
}

// ClearRemoved clears the damage of watermarks that an operator has removed, and reports whether there were any.
func (w *Watermarks) ClearRemoved() (any bool) {
	for name := range w.Damaged() {
		if _, err := os.Lstat(filepath.Join(w.dir, name, WatermarkFile)); errors.Is(err, os.ErrNotExist) {
			any = w.clearDamage(name) || any
		}
	}
	return any
}
