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

// A backup can be restored although the old disk still has later rows. Both then continue from the position of the backup, and give
// the same positions and row ids to different rows. So the file branches has a line for the first start and for each restore since:
//
//	5f0c9a1be2d34f77 0
//	a3b1c09d5e6f7788 4294967301
//	sum 1c291ca3
//
// It is in each backup. Rows of a backup can be added to a service only if the backup is of an earlier moment of the same line.

// BranchesFile is the name of that file in the data folder.
const BranchesFile = "branches"

// Branch is what an instance has done since its first start, or since a restore.
type Branch struct {
	ID    string
	Since belfry.Position // of the backup that was restored
}

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
	for _, b := range append(list, Branch{hex.EncodeToString(id[:]), since}) {
		fmt.Fprintf(&body, "%s %d\n", b.ID, uint64(b.Since))
	}
	return journal.WriteFile(path, []byte(body.String()+"sum "+branchSum(body.String())+"\n"))
}

// ensureBranch begins the first branch of an instance.
func (f *Folder) ensureBranch(fresh bool) error {
	path := filepath.Join(f.o.Config.Data, BranchesFile)
	_, err := ReadBranches(path)
	if err == nil {
		return nil
	}
	if !fresh {
		notice := fmt.Sprintf("%s, which says from which backups this service was restored, is missing or damaged and is begun again; rows of earlier backups cannot be added to this service", path)
		f.Notices = append(f.Notices, notice)
		f.o.Log.Warn(notice, "err", err)
	}
	return AddBranch(f.o.Config.Data, 0)
}

// CheckBranch returns an error unless a backup, up to a position, is of an earlier moment of an instance.
func CheckBranch(instance, backup []Branch, pos belfry.Position) error {
	last := backup[len(backup)-1].ID
	i := slices.IndexFunc(instance, func(b Branch) bool { return b.ID == last })
	switch {
	case i < 0:
		return errors.New("it was made by a copy of this service that went its own way: one that was restored from a backup and is not this one, or whose list of restores was lost")
	case i+1 < len(instance) && pos > instance[i+1].Since:
		return fmt.Errorf("it has rows up to position %s, and this service was restored from a backup that ends at %s", pos, instance[i+1].Since)
	}
	return nil
}
