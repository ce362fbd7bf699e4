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
	"belfry/store"
)

// The data of an instance are in four places, which can be on different disks and can be lost, restored or mixed up separately:
// the data folder, the journal, the rows and the metadata. Each has the id of the instance:
//
//	DIR/instance   DIR/journal/instance   ROWS/instance   table instance in meta.db
//
// The first start writes the id in this order. So if meta.db has an id, all others had it, and a part without it was lost or does
// not belong here. The start then fails: rows contain item numbers, and with the metadata of another instance, or none, they
// would appear under the names of other items, even of other customers.

// Parts for Options.AcceptLoss.
const (
	LossJournal  = "journal"
	LossRows     = "rows"
	LossMetadata = "metadata"
	LossBranches = "branches"
)

// partState is the state of one part at the start.
type partState struct {
	name string // as in AcceptLoss; empty for the data folder
	path string
	id   string
	used bool // it is not empty
}

// parts are the states of all parts at the start.
type parts struct {
	dir, journal, rows partState
	meta               partState
}

// findParts inspects the parts, except for the content of the database.
func findParts(cfg *config.Config, rowFiles []string) (p parts, err error) {
	p.dir = partState{path: cfg.Data}
	p.journal = partState{name: LossJournal, path: filepath.Join(cfg.Data, "journal")}
	p.rows = partState{name: LossRows, path: cfg.RowsDir()}
	p.meta = partState{name: LossMetadata, path: cfg.Inside(cfg.Meta.SQLite.Path)}
	for _, part := range []*partState{&p.dir, &p.journal, &p.rows} {
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

// hasFiles reports whether a folder contains files of one of the patterns.
func hasFiles(dir string, patterns []string) (bool, error) {
	for _, pattern := range patterns {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) > 0 {
			return len(found) > 0, err
		}
	}
	return false, nil
}

// lostMetadata returns an error if there are rows or records but no metadata.
func (p *parts) lostMetadata() error {
	if p.meta.used || !p.journal.used && !p.rows.used {
		return nil
	}
	return fmt.Errorf("the metadata %s are missing or empty, but there are %s: without the metadata it is unknown which items these belong to, "+
		"and new items would get the numbers of old ones. Restore %s from a backup; the start replays later changes from the journal, and reports if some are missing. "+
		"The service cannot run without the metadata: to start afresh, use another data folder, or move these away first", p.meta.path, p.others(), filepath.Base(p.meta.path))
}

func (p *parts) others() string {
	var list []string
	if p.journal.used {
		list = append(list, "a journal in "+p.journal.path)
	}
	if p.rows.used {
		list = append(list, "rows in "+p.rows.path)
	}
	return strings.Join(list, " and ")
}

// Identify opens the database, and checks that the parts of the data folder belong together. It gives a new folder an id. The row store
// is not open yet; rows is what its folder says.
func (f *Folder) Identify(ctx context.Context, rows store.Noted) error {
	cfg := f.o.Config
	f.rows = rows
	p, err := findParts(cfg, f.o.RowFiles)
	if err != nil {
		return err
	}
	if err := p.finishReplacement(ctx, f.o.Log); err != nil {
		return err
	}
	if err := p.lostMetadata(); err != nil {
		return err
	}
	if err := f.checkMetaBranch(ctx, &p); err != nil {
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
	return f.assignID(ctx, &p)
}

// finishReplacement completes an interrupted replacement of the metadata: a previous process had made the copy, but not moved it into
// place.
func (p *parts) finishReplacement(ctx context.Context, log *slog.Logger) error {
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
	log.Warn("the metadata were missing; they were replaced with the copy that the last run made", "file", p.meta.path)
	p.meta.used = true
	return nil
}

func statError(path string) error {
	_, err := os.Stat(path)
	return err
}

// compare checks the ids of the parts against that of the metadata.
func (f *Folder) compare(ctx context.Context, p *parts) error {
	if p.dir.id != "" && p.dir.id != p.meta.id {
		return mixed(p.meta, p.dir, "Restore the metadata of this folder from a backup, or name the folder to which they belong")
	}
	for _, part := range []*partState{&p.journal, &p.rows} {
		if part.id == p.meta.id {
			continue
		}
		if err := f.replace(ctx, part, p.meta); err != nil {
			return err
		}
	}
	if p.dir.id == "" {
		if err := journal.WriteInstance(p.dir.path, p.meta.id); err != nil {
			return err
		}
	}
	if err := f.loadBranches(ctx); err != nil {
		return err
	}
	return f.checkRowsBranch(ctx, p)
}

// replace moves a part that does not belong here aside and creates an empty one, if that loss was accepted.
func (f *Folder) replace(ctx context.Context, part *partState, of partState) error {
	if !slices.Contains(f.o.AcceptLoss, part.name) {
		return f.refusal(part, of)
	}
	notice := fmt.Sprintf("started without its %s, because --accept-loss=%s was given", part.name, part.name)
	if part.used || part.id != "" {
		aside := part.path + ".unfit-" + time.Now().UTC().Format("20060102-150405")
		if err := os.Rename(part.path, aside); err != nil {
			return fmt.Errorf("move the %s that do not belong here aside: %w; move them yourself, and start again", part.name, err)
		}
		notice += "; the files found in their place were moved to " + aside
	}
	if part.name == LossRows {
		f.rows = store.Noted{}
		if err := f.DB.ForgetRows(ctx); err != nil {
			return err
		}
	}
	if err := journal.WriteInstance(part.path, of.id); err != nil {
		return err
	}
	f.accepted[part.name] = true
	f.notice(notice)
	return nil
}

// accepting returns the flag of a start that accepts a loss beside those that this one accepts.
func (f *Folder) accepting(part string) string {
	list := append(slices.Clone(f.o.AcceptLoss), part)
	slices.Sort(list)
	return "--accept-loss=" + strings.Join(slices.Compact(list), ",")
}

const lostHistory = "all history except what is still in the journal"

// refusal returns what is wrong with the journal or the rows, and how to continue.
func (f *Folder) refusal(part *partState, of partState) error {
	lost := "acknowledged rows that were not stored yet"
	if part.name == LossRows {
		lost = lostHistory
	}
	accept := fmt.Sprintf("To continue without it, which loses %s, start once with %s", lost, f.accepting(part.name))
	switch {
	case part.id != "":
		return mixed(*part, of, "Restore the folder that belongs here. "+accept)
	case part.used:
		return fmt.Errorf("%s holds %s but has no file named instance, so it is unknown whether it belongs to %s. If you are sure that it does, "+
			"write %s into that file. Otherwise restore the folder that belongs here. %s", part.path, part.name, of.path, of.id, accept)
	}
	return fmt.Errorf("%s is missing or empty, but %s says that instance %s keeps its %s there. Restore the folder, or mount its disk. %s",
		part.path, of.path, of.id, part.name, accept)
}

func mixed(a, b partState, remedy string) error {
	return fmt.Errorf("%s belongs to instance %s, but %s belongs to instance %s. %s", a.path, a.id, b.path, b.id, remedy)
}

// For metadata with content but without an id.
const (
	noInstance       = "no id of an instance, which the first start writes before anything else: they are damaged, or were written before the first release"
	noInstanceRemedy = "Restore them from a backup, or start afresh in another data folder"
)

// assignID gives a new instance an id. It continues an interrupted attempt.
func (f *Folder) assignID(ctx context.Context, p *parts) error {
	id := p.dir.id
	for _, part := range []partState{p.journal, p.rows} {
		switch {
		case id == "":
			id = part.id
		case part.id != "" && part.id != id:
			return mixed(part, partState{path: p.dir.path, id: id}, "Restore the folder that belongs here")
		}
	}
	if id == "" {
		id = newInstance()
	}
	f.Instance = id
	for _, part := range []partState{p.dir, p.journal, p.rows} {
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
