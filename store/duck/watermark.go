package duck

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

// markFile has the watermark of a collection: the start of the oldest period that may have rows. It is one line, the
// watermark in microseconds and a checksum:
//
//	1763164800000000 5f1c09aa
//
// A start deletes files below a watermark, because a Drop was interrupted. So a watermark is trusted only if its
// checksum is right. A damaged one counts as none: nothing is deleted because of it, a fault is open, and the next Drop
// writes a new one.
const markFile = "watermark"

// watermark is the watermark of a collection as found at the start.
type watermark struct {
	at     belfry.Time // 0: none that can be used
	damage string      // why it cannot be used; empty: it can
}

func readMark(dir string, c *catalog.Collection) watermark {
	text, err := os.ReadFile(filepath.Join(dir, c.Name, markFile))
	if errors.Is(err, os.ErrNotExist) {
		return watermark{}
	}
	if err != nil {
		return watermark{damage: "it cannot be read: " + causeOf(err).Error()}
	}
	return parseMark(c, string(text))
}

func parseMark(c *catalog.Collection, text string) watermark {
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
	return lineSum(c.Name + " " + strconv.FormatInt(n, 10))
}

// writeMark writes a watermark durably.
func writeMark(dir string, c *catalog.Collection, mark belfry.Time) error {
	folder := filepath.Join(dir, c.Name)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	line := strconv.FormatInt(int64(mark), 10) + " " + markSum(c, int64(mark)) + "\n"
	if err := writeSynced(filepath.Join(folder, markFile), []byte(line)); err != nil {
		return err
	}
	return syncDir(dir)
}

// loadMarks reads the watermarks of all collections.
func (s *Store) loadMarks(all []*catalog.Collection) {
	marks, damaged := map[string]belfry.Time{}, map[string]string{}
	for _, c := range all {
		w := readMark(s.cfg.Dir, c)
		if w.damage != "" {
			damaged[c.Name] = w.damage
			s.cfg.Log.Error("a watermark is damaged and is not used", "file", filepath.Join(c.Name, markFile), "why", w.damage)
		}
		if w.at != 0 {
			marks[c.Name] = w.at
		}
	}
	s.watermarks.Store(&marks)
	s.damagedMarks.Store(&damaged)
}

// oldestFile returns the start of the oldest period of a collection that has a file and for which counts is true.
func oldestFile(dir string, c *catalog.Collection, counts func(belfry.Span) bool) (first belfry.Time, any bool) {
	entries, _ := os.ReadDir(filepath.Join(dir, c.Name)) // listFiles reports what is wrong with the folder
	for _, e := range entries {
		p, ok := parseFileName(c, e.Name())
		if ok && counts(p) && (!any || p.From < first) {
			first, any = p.From, true
		}
	}
	return first, any
}

// dropped reports whether a start may delete the file of a period, because a Drop of it was interrupted. A watermark in
// the future may be right, as the clock may be behind; then the next Drop deletes the file.
func (s *Store) dropped(c *catalog.Collection, p belfry.Span) bool {
	return !s.stores(c, p) && s.mark(c.Name) <= belfry.At(time.Now())
}

// mark returns the watermark of a collection; 0 if there is none or it is damaged.
func (s *Store) mark(collection string) belfry.Time { return (*s.watermarks.Load())[collection] }

// setMark replaces a watermark durably.
func (s *Store) setMark(c *catalog.Collection, mark belfry.Time) error {
	if err := writeMark(s.cfg.Dir, c, mark); err != nil {
		return err
	}
	marks := maps.Clone(*s.watermarks.Load())
	marks[c.Name] = mark
	s.watermarks.Store(&marks)
	s.clearDamagedMark(c.Name)
	return nil
}

func (s *Store) clearDamagedMark(collection string) {
	for {
		old := s.damagedMarks.Load()
		if _, bad := (*old)[collection]; !bad {
			return
		}
		left := maps.Clone(*old)
		delete(left, collection)
		if s.damagedMarks.CompareAndSwap(old, &left) {
			s.cfg.Changed()
			return
		}
	}
}

// checkWatermarks clears the faults of damaged watermarks that an operator has removed.
func (s *Store) checkWatermarks() {
	for name := range *s.damagedMarks.Load() {
		if _, err := os.Lstat(filepath.Join(s.cfg.Dir, name, markFile)); errors.Is(err, os.ErrNotExist) {
			s.clearDamagedMark(name)
		}
	}
}

// Oldest returns the start of the oldest period of a collection that can have rows: older ones have been dropped and
// are not stored again. While the watermark is damaged it is the oldest period that has a file, so that no one relies
// on rows that are gone.
func (s *Store) Oldest(collection string) belfry.Time {
	if _, bad := (*s.damagedMarks.Load())[collection]; !bad {
		return s.mark(collection)
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if list := s.files.byName[collection]; len(list) > 0 {
		return list[0].From
	}
	return 0
}

// Accepts returns the time before which rows of a collection are not stored.
func (s *Store) Accepts(collection string) belfry.Time { return s.mark(collection) }

// causeOf returns the system's error without the path, which callers report themselves.
func causeOf(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
