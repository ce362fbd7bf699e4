package duck

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"belfry"
	"belfry/catalog"
)

// keptFile lists the periods of a collection that are kept though they lie before its watermark.
const keptFile = "kept"

// keptPeriods are the periods before a watermark that are kept, with the time until which rows came for them. Such a
// period goes when rows of that time go: its rows are as old as those, whatever the clock said.
type keptPeriods struct {
	mu   sync.Mutex
	list map[keptPeriod]belfry.Time
}

type keptPeriod struct {
	collection string
	from       belfry.Time
}

// Keep has rows of the moment t stored though everything around it has been dropped. It is for a clock that is far behind:
// rows that arrive then are acknowledged, and must be kept as long as others that arrive now, which is the right time as
// far as it is known. For a moment after the watermark there is nothing to do.
func (s *Store) Keep(c *catalog.Collection, t, now belfry.Time) (added bool, err error) {
	p := periodOf(c, t)
	if p.from >= s.mark(c.Name) {
		return false, nil
	}
	if added, err = s.kept.add(s.cfg.Dir, c, p, now); err != nil {
		return false, fmt.Errorf("keep rows of %s of %s: %w", c.Name, p.from, err)
	}
	return added, nil
}

// stores tells whether rows of a period are stored.
func (s *Store) stores(c *catalog.Collection, p period) bool {
	return p.from >= s.mark(c.Name) || s.kept.has(c, p)
}

func (k *keptPeriods) add(dir string, c *catalog.Collection, p period, now belfry.Time) (added bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := keptPeriod{c.Name, p.from}
	until, known := k.list[at]
	if known && now <= until {
		return false, nil
	}
	next := maps.Clone(k.list)
	if next == nil {
		next = map[keptPeriod]belfry.Time{}
	}
	next[at] = max(until, now+dayLength)
	if err := writeKept(dir, c, next); err != nil {
		return false, err
	}
	k.list = next
	return !known, nil
}

func (k *keptPeriods) has(c *catalog.Collection, p period) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.list[keptPeriod{c.Name, p.from}]
	return ok
}

// until tells whether a period is kept while rows from the moment t on are.
func (k *keptPeriods) until(c *catalog.Collection, p period, t belfry.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.list[keptPeriod{c.Name, p.from}] > t
}

// forget removes the periods that are not kept any more.
func (k *keptPeriods) forget(dir string, c *catalog.Collection, t belfry.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := maps.Clone(k.list)
	maps.DeleteFunc(next, func(at keptPeriod, until belfry.Time) bool { return at.collection == c.Name && until <= t })
	if len(next) == len(k.list) {
		return nil
	}
	k.list = next
	return writeKept(dir, c, next)
}

func writeKept(dir string, c *catalog.Collection, list map[keptPeriod]belfry.Time) error {
	folder := filepath.Join(dir, c.Name)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	var lines []string
	for at, until := range list {
		if at.collection == c.Name {
			lines = append(lines, fmt.Sprintf("%d %d\n", at.from, until))
		}
	}
	slices.Sort(lines)
	if err := writeSynced(filepath.Join(folder, keptFile), []byte(strings.Join(lines, ""))); err != nil {
		return err
	}
	return syncDir(dir)
}

func (k *keptPeriods) read(dir string, collections []*catalog.Collection) error {
	k.list = map[keptPeriod]belfry.Time{}
	for _, c := range collections {
		path := filepath.Join(dir, c.Name, keptFile)
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			at := keptPeriod{collection: c.Name}
			var until belfry.Time
			if _, err := fmt.Sscanf(line, "%d %d\n", &at.from, &until); err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
			k.list[at] = until
		}
	}
	return nil
}
