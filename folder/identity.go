package folder

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"belfry/config"
	"belfry/journal"
	"belfry/meta/sqlite"
)

// What an instance keeps lies in four places, which can be on different disks and can be lost, restored or mixed up one by
// one: the data folder, the journal, the rows and the metadata. Each has the id of the instance:
//
//	DIR/instance   DIR/journal/instance   ROWS/instance   table instance in meta.db
//
// The id is written in this order at the first start. So when meta.db has one, all others had one, and a part without it
// has been lost or does not belong here. A start that finds such a part refuses: rows carry numbers of items, and
// metadata of another instance, or of none, would give them the names of other items, even of other customers.

// The parts that Options.AcceptLoss may name.
const (
	LossJournal  = "journal"
	LossRows     = "rows"
	LossMetadata = "metadata"
)

// place is one of the parts, as it is found at the start.
type place struct {
	name string // as AcceptLoss has it; empty for the data folder
	path string
	id   string
	used bool // there is something in it
}

// places are what a start finds.
type places struct {
	dir, journal, rows place
	meta               place
}

// findPlaces looks at everything but the content of the database.
func findPlaces(cfg *config.Config, rowFiles []string) (p places, err error) {
	p.dir = place{path: cfg.Data}
	p.journal = place{name: LossJournal, path: filepath.Join(cfg.Data, "journal")}
	p.rows = place{name: LossRows, path: cfg.RowsDir()}
	p.meta = place{name: LossMetadata, path: cfg.Inside(cfg.Meta.SQLite.Path)}
	for _, part := range []*place{&p.dir, &p.journal, &p.rows} {
		if part.id, err = journal.ReadInstance(part.path); err != nil {
			return p, err
		}
	}
	oldest, _, err := journal.Segments(p.journal.path)
	if err != nil {
		return p, err
	}
	p.journal.used = oldest != 0
	if p.rows.used, err = hasFiles(p.rows.path, rowFiles); err != nil {
		return p, err
	}
	info, err := os.Stat(p.meta.path)
	p.meta.used = err == nil && info.Size() > 0
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return p, err
}

// hasFiles reports whether a folder has files of one of the patterns in it.
func hasFiles(dir string, patterns []string) (bool, error) {
	for _, pattern := range patterns {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) > 0 {
			return len(found) > 0, err
		}
	}
	return false, nil
}

// lostMetadata refuses when there are rows or records but no metadata.
func (p *places) lostMetadata() error {
	if p.meta.used || !p.journal.used && !p.rows.used {
		return nil
	}
	return fmt.Errorf("the metadata %s are missing or empty, but there are %s: without the metadata nobody knows what these are about, "+
		"and new items would get the numbers of old ones. Restore %s from a backup; the start brings in what the journal has of later changes, and says so if that is not all of them. "+
		"There is no way to go on without the metadata: to begin again, use another data folder, or move these away first", p.meta.path, p.others(), filepath.Base(p.meta.path))
}

func (p *places) others() string {
	var list []string
	if p.journal.used {
		list = append(list, "a journal in "+p.journal.path)
	}
	if p.rows.used {
		list = append(list, "rows in "+p.rows.path)
	}
	return strings.Join(list, " and ")
}

// Identify makes sure that the parts of the data folder belong together, and gives those of a new one their id. It opens
// the database.
func (f *Folder) Identify(ctx context.Context) error {
	cfg := f.o.Config
	p, err := findPlaces(cfg, f.o.RowFiles)
	if err != nil {
		return err
	}
	if err := p.useSaved(ctx, f.o.Log); err != nil {
		return err
	}
	if err := p.lostMetadata(); err != nil {
		return err
	}
	if f.DB, err = sqlite.Open(ctx, p.meta.path, f.o.Log.With("part", "meta")); err != nil {
		return err
	}
	if p.meta.id, err = f.DB.Instance(ctx); err != nil {
		return err
	}
	if p.meta.used, err = f.DB.Used(ctx); err != nil {
		return err
	}
	if f.Instance = p.meta.id; f.Instance != "" {
		return f.compare(ctx, &p)
	}
	if p.meta.used {
		return fmt.Errorf("the metadata %s have content, but %s. %s", p.meta.path, noInstance, noInstanceRemedy)
	}
	if err := p.lostMetadata(); err != nil {
		return err
	}
	return f.adopt(ctx, &p)
}

// useSaved finishes the replacement of the metadata that an earlier process began: it had made the copy, and ended before
// moving it into place.
func (p *places) useSaved(ctx context.Context, log *slog.Logger) error {
	if p.meta.used || p.dir.id == "" {
		return nil
	}
	saved := p.meta.path + sqlite.SavedSuffix
	switch part, err := sqlite.ReadFacts(ctx, saved); {
	case errors.Is(statError(saved), fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", saved, err)
	case part.Instance != p.dir.id:
		return nil
	}
	if err := sqlite.Adopt(p.meta.path); err != nil {
		return fmt.Errorf("put the copy of the metadata in their place: %w", err)
	}
	log.Warn("the metadata were missing; a copy that the last run made has taken their place", "file", p.meta.path)
	p.meta.used = true
	return nil
}

func statError(path string) error {
	_, err := os.Stat(path)
	return err
}

// compare checks the parts against the id of the metadata.
func (f *Folder) compare(ctx context.Context, p *places) error {
	if p.dir.id != "" && p.dir.id != p.meta.id {
		return mixed(p.meta, p.dir, "Restore the metadata of this folder from a backup, or name the folder to which they belong")
	}
	for _, part := range []*place{&p.journal, &p.rows} {
		if part.id == p.meta.id {
			continue
		}
		if err := f.replace(ctx, part, p.meta); err != nil {
			return err
		}
	}
	if p.dir.id == "" {
		return journal.WriteInstance(p.dir.path, p.meta.id)
	}
	return nil
}

// replace puts an empty folder in the place of one that was lost or does not belong here, if that has been accepted.
func (f *Folder) replace(ctx context.Context, part *place, of place) error {
	if !slices.Contains(f.o.AcceptLoss, part.name) {
		return refusal(part, of)
	}
	told := fmt.Sprintf("started without the %s that belong to it, as --accept-loss=%s was given", part.name, part.name)
	if part.used || part.id != "" {
		aside := part.path + ".unfit-" + time.Now().UTC().Format("20060102-150405")
		if err := os.Rename(part.path, aside); err != nil {
			return fmt.Errorf("move the %s that do not belong here aside: %w; move them yourself, and start again", part.name, err)
		}
		told += "; what was found in its place is in " + aside
	}
	if part.name == LossRows {
		if err := f.DB.ForgetRows(ctx); err != nil {
			return err
		}
	}
	if err := journal.WriteInstance(part.path, of.id); err != nil {
		return err
	}
	f.accepted[part.name] = true
	f.Notices = append(f.Notices, told)
	f.o.Log.Warn(told)
	return nil
}

// refusal says what is wrong with the journal or the rows, and how to go on.
func refusal(part *place, of place) error {
	lost := "rows that were acknowledged but not stored yet"
	if part.name == LossRows {
		lost = "all history but what the journal still has"
	}
	accept := fmt.Sprintf("To go on without it, which loses %s, start once with --accept-loss=%s", lost, part.name)
	switch {
	case part.id != "":
		return mixed(*part, of, "Put the folder back that belongs here. "+accept)
	case part.used:
		return fmt.Errorf("%s holds %s but has no file named instance, so nobody knows whether it belongs to %s. If you know that it does, "+
			"write %s into that file. Otherwise put the folder back that belongs here. %s", part.path, part.name, of.path, of.id, accept)
	}
	return fmt.Errorf("%s is missing or empty, but %s says that instance %s keeps its %s there. Restore the folder, or mount its disk. %s",
		part.path, of.path, of.id, part.name, accept)
}

func mixed(a, b place, remedy string) error {
	return fmt.Errorf("%s belongs to instance %s, but %s belongs to instance %s. %s", a.path, a.id, b.path, b.id, remedy)
}

// Of metadata that are in use and have no id.
const (
	noInstance       = "no id of an instance, which the first start writes before anything else: they are damaged, or were written before the first release"
	noInstanceRemedy = "Restore them from a backup, or begin again in another data folder"
)

// adopt gives an id to a new instance. An interrupted attempt is continued.
func (f *Folder) adopt(ctx context.Context, p *places) error {
	id := p.dir.id
	for _, part := range []place{p.journal, p.rows} {
		switch {
		case id == "":
			id = part.id
		case part.id != "" && part.id != id:
			return mixed(part, place{path: p.dir.path, id: id}, "Put the folder back that belongs here")
		}
	}
	if id == "" {
		id = newInstance()
	}
	f.Instance = id
	for _, part := range []place{p.dir, p.journal, p.rows} {
		if part.id == "" {
			if err := journal.WriteInstance(part.path, id); err != nil {
				return err
			}
		}
	}
	return f.DB.SetInstance(ctx, id)
}

func newInstance() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
