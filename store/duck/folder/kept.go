package folder

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
)

// Kept has the periods before a watermark that are kept, with a bound on the arrival time of their rows. Such a
// period is dropped when rows of that time are: its rows are as old as those, whatever the clock said.
//
// While the list of a collection cannot be trusted the collection is held: every period counts as kept, so nothing of
// it is deleted. The next Drop writes a new list, see Rebuild.
type Kept struct {
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

// Read reads the lists of all collections. The manifest says which of them must exist.
func (k *Kept) Read(dir, instance string, all []*catalog.Collection, m *Manifest) {
	*k = Kept{instance: instance, list: map[keptPeriod]belfry.Time{}, versions: map[string]uint64{}, held: map[string]string{}}
	for _, c := range all {
		noted := m.Pos[KeptKey(c)]
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

// HoldUnlisted holds the collections that may have lost their list together with the manifest: they have no list, but
// files below the watermark, which an interrupted Drop leaves, too.
func (k *Kept) HoldUnlisted(dir string, all []*catalog.Collection, m *Manifest, marks *Watermarks) {
	if m.Fault == nil && m.Damage() == "" {
		return
	}
	for _, c := range all {
		if _, held := k.held[c.Name]; held || k.versions[c.Name] > 0 {
			continue
		}
		if first, any := oldestFile(dir, c, func(belfry.Span) bool { return true }); any && first < marks.At(c.Name) {
			k.held[c.Name] = "it is missing or was never written, which cannot be told without a whole " + ManifestFile
		}
	}
}

// Add keeps a period until rows that arrive now are dropped, and returns the version of the list.
func (k *Kept) Add(dir string, c *catalog.Collection, p belfry.Span, now belfry.Time) (added bool, version uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := keptPeriod{c.Name, p.From}
	until, known := k.list[at]
	_, held := k.held[c.Name]
	if held || known && now <= until { // Rebuild adds what is stored while a collection is held
		return false, k.versions[c.Name], nil
	}
	next := maps.Clone(k.list)
	next[at] = max(until, now+belfry.Day)
	err = k.write(dir, c, next)
	return !known && err == nil, k.versions[c.Name], err
}

// Has reports whether a period is kept.
func (k *Kept) Has(c *catalog.Collection, p belfry.Span) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, held := k.held[c.Name]
	_, ok := k.list[keptPeriod{c.Name, p.From}]
	return held || ok
}

// Until reports whether a period is kept when rows before t are dropped.
func (k *Kept) Until(c *catalog.Collection, p belfry.Span, t belfry.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, held := k.held[c.Name]
	return held || k.list[keptPeriod{c.Name, p.From}] > t
}

// Forget removes the periods of c whose rows arrived before t.
func (k *Kept) Forget(dir string, c *catalog.Collection, t belfry.Time) (version uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := maps.Clone(k.list)
	maps.DeleteFunc(next, func(at keptPeriod, until belfry.Time) bool { return at.collection == c.Name && until <= t })
	if len(next) != len(k.list) {
		err = k.write(dir, c, next)
	}
	return k.versions[c.Name], err
}

// Rebuild writes a new list for a held collection, with some periods more.
func (k *Kept) Rebuild(dir string, c *catalog.Collection, periods []belfry.Span, until belfry.Time) (version uint64, err error) {
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

// write replaces the list of a collection, durably. The mutex is held.
func (k *Kept) write(dir string, c *catalog.Collection, next map[keptPeriod]belfry.Time) error {
	f := listOf(c, k.versions[c.Name]+1, next)
	sub := filepath.Join(dir, c.Name)
	if err := os.Mkdir(sub, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := journal.WriteFile(filepath.Join(sub, KeptFile), []byte(f.text(c, k.instance))); err != nil {
		return err
	}
	k.versions[c.Name] = f.version
	k.list = next
	return journal.SyncDir(dir)
}

func listOf(c *catalog.Collection, version uint64, all map[keptPeriod]belfry.Time) keptList {
	f := keptList{version: version, until: map[belfry.Time]belfry.Time{}}
	for at, until := range all {
		if at.collection == c.Name {
			f.until[at.from] = until
		}
	}
	return f
}

// Text returns what the file of a list should have; empty: there is none.
func (k *Kept) Text(c *catalog.Collection) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	version := k.versions[c.Name]
	if version == 0 {
		return ""
	}
	f := listOf(c, version, k.list)
	return f.text(c, k.instance)
}

// Noted returns the versions that the manifest must have. That of a held list is at least 1, so that the next start
// notices its absence, too.
func (k *Kept) Noted() map[string]uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	noted := maps.Clone(k.versions)
	for name := range k.held {
		noted[name] = max(noted[name], 1)
	}
	return noted
}

// Damaged returns what is wrong with damaged lists, by collection.
func (k *Kept) Damaged() map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.held)
}

// IsHeld reports whether the list of a collection cannot be trusted.
func (k *Kept) IsHeld(c *catalog.Collection) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, held := k.held[c.Name]
	return held
}

// KeptKey returns the name of a collection's list in the manifest.
func KeptKey(c *catalog.Collection) string { return c.Name + "/" + KeptFile }

// IsKeptKey reports whether a manifest key names a list of kept periods.
func IsKeptKey(key string) bool { return strings.HasSuffix(key, "/"+KeptFile) }
