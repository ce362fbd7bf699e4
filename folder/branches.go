package folder

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/journal"
)

// A backup can be restored, or a copy of the folder put back, although there are backups with later rows. The service then gives the same
// positions and row ids to other rows. So the file branches has a line for each start and each restore:
//
//	5f0c9a1be2d34f77 0
//	a3b1c09d5e6f7788 4294967301
//	sum 1c291ca3
//
// It is in each backup. Rows of a backup can be added to a service only if the backup is of an earlier moment of the same line.

// BranchesFile is the name of that file in the data folder.
const BranchesFile = "branches"

// Branch is what an instance has done from one start, or restore, to the next.
type Branch struct {
	ID    string
	Since belfry.Position // the last one before it
}

// mostBranches is how many are kept. Rows of backups that were made before so many starts cannot be added.
const mostBranches = 10_000

// ReadBranches reads the branches of a file, oldest first.
func ReadBranches(path string) ([]Branch, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	damaged := fmt.Errorf("%s is damaged", path)
	body, sum, ok := strings.Cut(string(text), "sum ")
	if !ok || strings.TrimSpace(sum) != branchSum(body) {
		return nil, damaged
	}
	var list []Branch
	for line := range strings.Lines(body) {
		var b Branch
		if n, err := fmt.Sscanf(line, "%s %d\n", &b.ID, &b.Since); err != nil || n != 2 {
			return nil, damaged
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return nil, damaged
	}
	return list, nil
}

func branchSum(body string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) }

// AddBranch begins a branch in a data folder. A damaged list is replaced: what came before is unknown then.
func AddBranch(dir string, since belfry.Position) error {
	path := filepath.Join(dir, BranchesFile)
	list, _ := ReadBranches(path)
	var id [8]byte
	rand.Read(id[:]) // never fails
	var body strings.Builder
	list = append(list, Branch{hex.EncodeToString(id[:]), since})
	for _, b := range list[max(0, len(list)-mostBranches):] {
		fmt.Fprintf(&body, "%s %d\n", b.ID, uint64(b.Since))
	}
	return journal.WriteFile(path, []byte(body.String()+"sum "+branchSum(body.String())+"\n"))
}

// beginBranch begins the branch of this start.
func (f *Folder) beginBranch() error {
	path, last := filepath.Join(f.o.Config.Data, BranchesFile), f.Journal.Last()
	if _, err := ReadBranches(path); err != nil && last > 0 {
		notice := fmt.Sprintf("%s, which has the starts of this service, is missing or damaged and is begun again; rows of earlier backups cannot be added to this service", path)
		f.Notices = append(f.Notices, notice)
		f.o.Log.Warn(notice, "err", err)
	}
	return AddBranch(f.o.Config.Data, last)
}

// CheckBranch returns an error unless a backup, up to a position, is of an earlier moment of an instance.
func CheckBranch(instance, backup []Branch, pos belfry.Position) error {
	last := backup[len(backup)-1].ID
	i := slices.IndexFunc(instance, func(b Branch) bool { return b.ID == last })
	switch {
	case i < 0:
		return errors.New("it was made after a start of which this service does not know: by a copy that went its own way, or before this folder was put back, or before the list of its starts was lost")
	case i+1 < len(instance) && pos > instance[i+1].Since:
		return fmt.Errorf("it has rows up to position %s, and this service was restored, or its folder put back, as of %s", pos, instance[i+1].Since)
	}
	return nil
}
