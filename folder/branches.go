package folder

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/config"
	"belfry/journal"
	"belfry/meta/sqlite"
)

// A backup can be restored, or a copy of the folder put back, although there are backups with later rows. The service then gives the same
// positions and row ids to other rows. So the file branches has a line for each start and each restore:
//
//	5f0c9a1be2d34f77 0
//	a3b1c09d5e6f7788 4294967301
//	sum 1c291ca3
//
// It is in each backup. Rows of a backup can be added to a service only if the backup is of an earlier moment of the same line. Each
// part has the id of the start in which it was written last, so that one of another branch is noticed:
//
//	meta.db, table position   ROWS/manifest   table instance of each day file   ROWS/removed.duckdb   header of each segment of the journal
//
// The list is on disk before its last id is written anywhere. The metadata have it too: if the file is lost, they tell which other parts
// belong here.

// BranchesFile is the name of that file in the data folder.
const BranchesFile = "branches"

// mostBranches is how many are kept. Rows of backups that were made before so many starts cannot be added.
const mostBranches = 10_000

// ReadBranches reads the branches of a file, oldest first.
func ReadBranches(path string) ([]belfry.Branch, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	damaged := fmt.Errorf("%s is damaged", path)
	body, sum, ok := strings.Cut(string(text), "sum ")
	if !ok || strings.TrimSpace(sum) != branchSum(body) {
		return nil, damaged
	}
	var list []belfry.Branch
	for line := range strings.Lines(body) {
		id, since, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseUint(since, 10, 64)
		if err != nil {
			return nil, damaged
		}
		list = append(list, belfry.Branch{ID: id, Since: belfry.Position(n)})
	}
	if len(list) == 0 {
		return nil, damaged
	}
	return list, nil
}

// KnownBranches returns the list of starts, or if it cannot be used that of the metadata. No process may have the folder open.
func KnownBranches(ctx context.Context, cfg *config.Config) []belfry.Branch {
	list, err := ReadBranches(cfg.Inside(BranchesFile))
	if err != nil {
		facts, _ := sqlite.ReadFacts(ctx, cfg.Inside(cfg.Meta.SQLite.Path))
		return facts.Branches
	}
	return list
}

func branchSum(body string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) }

// branchesText returns the content of a file.
func branchesText(list []belfry.Branch) []byte {
	var body strings.Builder
	for _, b := range list {
		body.WriteString(b.ID + " " + strconv.FormatUint(uint64(b.Since), 10) + "\n")
	}
	return []byte(body.String() + "sum " + branchSum(body.String()) + "\n")
}

// withBranch returns a list with a new branch. The oldest may be left out.
func withBranch(list []belfry.Branch, since belfry.Position) []belfry.Branch {
	var id [8]byte
	rand.Read(id[:]) // never fails
	list = append(slices.Clone(list), belfry.Branch{ID: hex.EncodeToString(id[:]), Since: since})
	return list[max(0, len(list)-mostBranches):]
}

// AddBranch begins a branch in a data folder. A damaged list is replaced: what came before is unknown then.
func AddBranch(dir string, since belfry.Position) error {
	path := filepath.Join(dir, BranchesFile)
	list, _ := ReadBranches(path)
	return journal.WriteFile(path, branchesText(withBranch(list, since)))
}

func (f *Folder) branchesPath() string { return filepath.Join(f.o.Config.Data, BranchesFile) }

// loadBranches reads the starts from their file, or if that cannot be used from the metadata, which have them too.
func (f *Folder) loadBranches(ctx context.Context) error {
	if f.accepted[LossBranches] {
		return nil
	}
	list, err := ReadBranches(f.branchesPath())
	if err != nil {
		why := err
		if list, err = f.DB.Branches(ctx); err != nil {
			return err
		}
		if len(list) > 0 {
			f.notice(f.branchesPath() + ", which has the starts of this service, is missing or damaged and is written again from the metadata")
			f.o.Log.Warn("the list of starts cannot be used", "err", why)
		}
	}
	f.Branches.Set(list)
	return nil
}

// beginBranch begins the branch of this start.
func (f *Folder) beginBranch(ctx context.Context) error {
	list := f.Branches.List()
	if f.otherRows != nil {
		list = nil // the rows are of a later start than those it has
	}
	since := f.reached()
	if since > 0 { // the rows may have come farther than anything shows so far, if the end of the journal was lost; see endBranch
		_, _, next := f.Journal.Bounds()
		since = max(since, next-1)
	}
	f.Branches.Set(withBranch(list, since))
	return f.writeBranches(ctx)
}

// writeBranches writes the list into its file first. The rows have a copy, which tells whether rows of a later start continue this service.
func (f *Folder) writeBranches(ctx context.Context) error {
	if err := f.WriteAgain(BranchesFile); err != nil {
		return fmt.Errorf("note this start: %w", err)
	}
	if err := f.DB.SetBranches(ctx, f.Branches.List()); err != nil {
		return err
	}
	if err := journal.WriteFile(f.rowsBranches(), branchesText(f.Branches.List())); err != nil {
		f.o.Log.Warn("the copy of the list of starts beside the rows is not written; it is needed only if all else is lost", "err", err)
	}
	return nil
}

func (f *Folder) rowsBranches() string { return filepath.Join(f.o.Config.RowsDir(), BranchesFile) }

// continued reports whether rows of a start that the list does not have are of a later one of this service, so that the rest is an older
// copy: their own list has the last start of the rest, and that start did not end before what the rest has.
func (f *Folder) continued() bool {
	later, err := ReadBranches(f.rowsBranches())
	if err != nil || later[len(later)-1].ID != f.rows.Branch {
		return false
	}
	_, reached, _ := f.Journal.Bounds()
	return branchProblem(belfry.NewBranches(later), f.Branches.Current(), max(reached, f.Stored)) == nil
}

// reached returns the last position of this instance, of what is known before the row store is open.
func (f *Folder) reached() belfry.Position {
	_, reached, _ := f.Journal.Bounds()
	return max(reached, f.Stored, f.noted, f.rows.Reached)
}

// endBranch corrects the last position before this start, once the row store shows that the journal has all records.
func (f *Folder) endBranch(ctx context.Context) error {
	list := slices.Clone(f.Branches.List())
	last := &list[len(list)-1]
	if since := f.reached(); len(list) > 1 && since < last.Since {
		last.Since = since
		f.Branches.Set(list)
		return f.writeBranches(ctx)
	}
	return nil
}

// branchProblem returns an error if a part, which has the records up to pos, was not written last in one of the starts. A part
// without records says nothing.
func branchProblem(b *belfry.Branches, id string, pos belfry.Position) error {
	if pos == 0 {
		return nil
	}
	return b.Check(id, pos)
}

// branchesRemedy is for a list that is to blame. Its arguments are its path and the flag for LossBranches.
const branchesRemedy = "If all parts belong together and the list of starts is what is wrong (%s, and its copy in the metadata), start once with %s: it begins the list again"

// olderListRemedy is for a list that alone is to blame. Its argument is its path.
const olderListRemedy = "If %s is an older copy, remove it: the start takes the list from the metadata"

// otherBranch returns an error for a part of another branch, which has a remedy: what to restore. It returns nil if the operator has said
// that the list of starts is what is wrong. The list is begun again then.
func (f *Folder) otherBranch(err error, remedy string) error {
	if !slices.Contains(f.o.AcceptLoss, LossBranches) {
		return fmt.Errorf("%w. %s. "+branchesRemedy, err, remedy, f.branchesPath(), f.accepting(LossBranches))
	}
	if !f.accepted[LossBranches] {
		f.accepted[LossBranches] = true
		f.notice(fmt.Sprintf("started without the list of its starts, because --accept-loss=%s was given (%v); rows of earlier backups cannot be added to this service", LossBranches, err))
	}
	f.Branches.Set(nil)
	return nil
}

func (f *Folder) notice(text string) {
	f.Notices = append(f.Notices, text)
	f.o.Log.Warn(text)
}

// checkMetaBranch checks that the metadata were written last in a start of this instance. It comes before the database is opened,
// which takes in its log. Without the file it is known only later; what cannot be read, those report who need it.
func (f *Folder) checkMetaBranch(ctx context.Context, p *parts) error {
	list, err := ReadBranches(f.branchesPath())
	if err != nil || !p.meta.used {
		return nil
	}
	facts, err := sqlite.ReadFacts(ctx, p.meta.path)
	if err != nil || facts.Instance != p.dir.id {
		return nil
	}
	if err := branchProblem(belfry.NewBranches(list), facts.Branch, max(facts.Stored, facts.Rows)); err != nil {
		return f.otherBranch(fmt.Errorf("%s is of another branch of this instance: %w", p.meta.path, err),
			"Restore the metadata of this folder from a backup; the start replays later changes from the journal. "+fmt.Sprintf(olderListRemedy, f.branchesPath()))
	}
	return nil
}

// checkRowsBranch does the same for the rows. If they are of a later start than the metadata and the journal, these may be an older
// copy, with their list; openJournal decides about that.
func (f *Folder) checkRowsBranch(ctx context.Context, p *parts) error {
	if f.accepted[LossRows] {
		return nil
	}
	why := branchProblem(f.Branches, f.rows.Branch, f.rows.Reached)
	switch {
	case why == nil:
		return nil
	case slices.Contains(f.o.AcceptLoss, LossRows):
		return f.replace(ctx, &p.rows, p.meta)
	}
	f.otherRows = f.otherBranch(fmt.Errorf("%s is of another branch of this instance: %w", p.rows.path, why),
		fmt.Sprintf("Restore the folder that belongs here; if only its file manifest is from elsewhere, move that file away, and the start lists the files again. To continue without it, which loses %s, start once with %s", lostHistory, f.accepting(LossRows)))
	return nil
}

// otherJournal is for a journal that is not, or not all, of this branch. It moves the journal aside if that loss was accepted.
func (f *Folder) otherJournal(ctx context.Context, err error) error {
	if slices.Contains(f.o.AcceptLoss, LossJournal) {
		return f.replace(ctx, &partState{name: LossJournal, path: f.JournalDir(), used: true}, partState{id: f.Instance})
	}
	return f.otherBranch(err, fmt.Sprintf("To continue without the journal, which loses acknowledged rows that were not stored yet, start once with %s", f.accepting(LossJournal)))
}

// CheckBranch returns an error unless a backup, up to a position, is of an earlier moment of an instance.
func CheckBranch(instance, backup []belfry.Branch, pos belfry.Position) error {
	last := backup[len(backup)-1].ID
	i := slices.IndexFunc(instance, func(b belfry.Branch) bool { return b.ID == last })
	switch {
	case i < 0:
		return errors.New("it was made after a start of which this service does not know: by a copy that went its own way, or before this folder was put back, or before the list of its starts was lost")
	case i+1 < len(instance) && pos > instance[i+1].Since:
		return fmt.Errorf("it has rows up to position %s, and this service was restored, or its folder put back, as of %s", pos, instance[i+1].Since)
	}
	return nil
}
