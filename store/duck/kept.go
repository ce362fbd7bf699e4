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

// keptPeriods are the periods before a watermark that are kept, with a bound on the arrival time of their rows. Such a
// period is dropped when rows of that time are: its rows are as old as those, whatever the clock said.
//
// While the list of a collection cannot be trusted the collection is held: every period counts as kept, so nothing of
// it is deleted. The next Drop writes a new list, see rebuildKept.
type keptPeriods struct {
	instance string

	mu       sync.Mutex
	list     map[keptPeriod]belfry.Time
	versions map[string]uint64 // of the lists, by collection; 0: there is none
	held     map[string]string // what is wrong with the lists of held collections
}

type keptPeriod struct {
	collection string
	from       belfry.Time
}

// Keep makes the store accept rows of time t although their period has been dropped. It is for a clock that is far
// behind: rows that arrive then are acknowledged, and must be kept as long as others that arrive now, which is the
// right time as far as is known. It does nothing for times after the watermark.
func (s *Store) Keep(c *catalog.Collection, t, now belfry.Time) (added bool, err error) {
	p := c.PeriodOf(t)
	if p.From >= s.mark(c.Name) {
		return false, nil
	}
	added, version, err := s.kept.add(s.cfg.Dir, c, p, now)
	if err == nil {
		err = s.files.noteKept(c, version)
	}
	if err != nil {
		return false, fmt.Errorf("keep rows of %s of %s: %w", c.Name, p.From, err)
	}
	return added, nil
}

// stores reports whether rows of a period are stored.
func (s *Store) stores(c *catalog.Collection, p belfry.Span) bool {
	return p.From >= s.mark(c.Name) || s.kept.has(c, p)
}

func (k *keptPeriods) add(dir string, c *catalog.Collection, p belfry.Span, now belfry.Time) (added bool, version uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := keptPeriod{c.Name, p.From}
	until, known := k.list[at]
	_, held := k.held[c.Name]
	if held || known && now <= until { // rebuildKept adds what is stored while a collection is held
		return false, k.versions[c.Name], nil
	}
	next := maps.Clone(k.list)
	next[at] = max(until, now+belfry.Day)
	err = k.write(dir, c, next)
	return !known && err == nil, k.versions[c.Name], err
}

func (k *keptPeriods) has(c *catalog.Collection, p belfry.Span) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, held := k.held[c.Name]
	_, ok := k.list[keptPeriod{c.Name, p.From}]
	return held || ok
}

// until reports whether a period is kept when rows before t are dropped.
func (k *keptPeriods) until(c *catalog.Collection, p belfry.Span, t belfry.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, held := k.held[c.Name]
	return held || k.list[keptPeriod{c.Name, p.From}] > t
}

// forget removes the periods of c whose rows arrived before t.
func (k *keptPeriods) forget(dir string, c *catalog.Collection, t belfry.Time) (version uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := maps.Clone(k.list)
	maps.DeleteFunc(next, func(at keptPeriod, until belfry.Time) bool { return at.collection == c.Name && until <= t })
	if len(next) != len(k.list) {
		err = k.write(dir, c, next)
	}
	return k.versions[c.Name], err
}

// forgetKept removes the periods of a collection that are no longer kept.
func (s *Store) forgetKept(c *catalog.Collection, t belfry.Time) error {
	version, err := s.kept.forget(s.cfg.Dir, c, t)
	if err != nil {
		return err
	}
	return s.files.noteKept(c, version)
}

// write replaces the list of a collection, durably. The mutex is held.
func (k *keptPeriods) write(dir string, c *catalog.Collection, next map[keptPeriod]belfry.Time) error {
	f := keptList{version: k.versions[c.Name] + 1, until: map[belfry.Time]belfry.Time{}}
	for at, until := range next {
		if at.collection == c.Name {
			f.until[at.from] = until
		}
	}
	folder := filepath.Join(dir, c.Name)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := writeSynced(filepath.Join(folder, keptFile), []byte(f.text(c, k.instance))); err != nil {
		return err
	}
	k.versions[c.Name] = f.version
	k.list = next
	return syncDir(dir)
}

// read reads the lists of all collections. The manifest says which of them must exist.
func (k *keptPeriods) read(dir, instance string, all []*catalog.Collection, m *manifest) {
	*k = keptPeriods{instance: instance, list: map[keptPeriod]belfry.Time{}, versions: map[string]uint64{}, held: map[string]string{}}
	for _, c := range all {
		noted := m.pos[keptKey(c)]
		f := readKept(dir, c, instance, noted)
		if f.damage != "" {
			k.held[c.Name] = f.damage
		}
		if version := max(f.version, noted); version > 0 {
			k.versions[c.Name] = version
		}
		for from, until := range f.until {
			k.list[keptPeriod{c.Name, from}] = until
		}
	}
}

// loadKept reads the watermarks and the lists of periods that are kept below them.
func (s *Store) loadKept(all []*catalog.Collection) {
	m := readManifest(s.cfg.Dir)
	s.kept.read(s.cfg.Dir, s.cfg.Instance, all, m)
	s.loadMarks(all)
	s.kept.holdUnlisted(s.cfg.Dir, all, m, s.mark)
	for name, why := range s.kept.damaged() {
		s.cfg.Log.Error("a list of days that are kept is damaged; nothing of the collection is deleted", "file", filepath.Join(name, keptFile), "why", why)
	}
}

// holdUnlisted holds the collections that may have lost their list together with the manifest: they have no list, but
// files below the watermark, which an interrupted Drop leaves, too.
func (k *keptPeriods) holdUnlisted(dir string, all []*catalog.Collection, m *manifest, mark func(string) belfry.Time) {
	if m.fault == nil && m.damage() == "" {
		return
	}
	for _, c := range all {
		if _, held := k.held[c.Name]; held || k.versions[c.Name] > 0 {
			continue
		}
		if first, any := oldestFile(dir, c, func(belfry.Span) bool { return true }); any && first < mark(c.Name) {
			k.held[c.Name] = "it is missing or was never written, which cannot be told without a whole " + manifestFile
		}
	}
}

// noted returns the versions that the manifest must have. That of a held list is at least 1, so that the next start
// notices its absence, too.
func (k *keptPeriods) noted() map[string]uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	noted := maps.Clone(k.versions)
	for name := range k.held {
		noted[name] = max(noted[name], 1)
	}
	return noted
}

// damaged returns what is wrong with damaged lists, by collection.
func (k *keptPeriods) damaged() map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.held)
}

func (k *keptPeriods) isHeld(c *catalog.Collection) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, held := k.held[c.Name]
	return held
}

// rebuildKept writes a new list for a held collection, which is then no longer held. Any file below the watermark may
// have rows that arrived lately, so all of them are kept as long as rows that arrive now. Without a watermark these are
// the files that a Drop up to mark would delete. The clock is right and write is held.
func (s *Store) rebuildKept(c *catalog.Collection, mark, t belfry.Time) error {
	below := s.mark(c.Name)
	if below == 0 {
		below = mark
	}
	if !s.kept.isHeld(c) || below == 0 {
		return nil
	}
	if err := s.files.checkFolder(); err != nil {
		return err
	}
	version, err := s.kept.rebuild(s.cfg.Dir, c, s.files.before(c, below), max(t, belfry.At(s.files.now()))+belfry.Day)
	if err == nil {
		err = s.files.noteKept(c, version)
	}
	if err != nil {
		return fmt.Errorf("write the list of days that are kept: %w", err)
	}
	s.cfg.Changed()
	return nil
}

func (k *keptPeriods) rebuild(dir string, c *catalog.Collection, periods []belfry.Span, until belfry.Time) (version uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := maps.Clone(k.list)
	for _, p := range periods {
		at := keptPeriod{c.Name, p.From}
		next[at] = max(next[at], until)
	}
	if err := k.write(dir, c, next); err != nil {
		return 0, err
	}
	delete(k.held, c.Name)
	return k.versions[c.Name], nil
}

// before returns the periods before t that have a file or are incomplete.
func (fs *files) before(c *catalog.Collection, t belfry.Time) (list []belfry.Span) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.byName[c.Name] {
		list = append(list, f.Span)
	}
	for _, l := range fs.lost[c.Name] {
		list = append(list, l.Span)
	}
	return slices.DeleteFunc(list, func(p belfry.Span) bool { return p.From >= t })
}

// keptKey returns the name of a collection's list in the manifest.
func keptKey(c *catalog.Collection) string { return c.Name + "/" + keptFile }

// noteKept records in the manifest that the list of a collection must exist in this version or a later one. A manifest
// that cannot be read is updated once it can be.
func (fs *files) noteKept(c *catalog.Collection, version uint64) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	m, key := fs.manifest, keptKey(c)
	if m.pos[key] >= version {
		return nil
	}
	m.pos[key] = version
	if m.fault != nil {
		return nil
	}
	return m.append(manifestLine(key, fmt.Sprint(version)), true)
}

// isKeptKey reports whether a manifest key names a list of kept periods.
func isKeptKey(key string) bool { return strings.HasSuffix(key, "/"+keptFile) }
