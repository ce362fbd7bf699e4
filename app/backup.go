package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/backup"
	"belfry/config"
	"belfry/folder"
	"belfry/journal"
)

// faultBackup is the id of the fault of scheduled backups that fail.
const faultBackup = "backup"

// newKeeper creates what makes backups; nil if the store cannot be copied.
func (s *service) newKeeper() *backup.Keeper {
	if s.rows.copier == nil {
		return nil
	}
	return backup.NewKeeper(backup.KeeperConfig{
		Source:  &backup.Running{Folder: s.Folder, Rows: s.rows.copier, Mover: s.store, Journal: s.Journal, Meta: s.DB, Temp: s.cfg.Load().Inside("tmp"), Loss: s.journalLoss, Known: s.knownFiles},
		Rows:    s.rows.copier,
		Catalog: s.Catalog, Config: s.cfg.Load, Program: program(), Log: s.Log.With("part", "backup"), Now: time.Now,
		Exists:    func(c belfry.CustomerID) bool { return s.Tree.Access().CustomerName(c) != "" },
		Zone:      func() *time.Location { return s.zones.Load().instance },
		Deletions: s.deletions,
		Stop:      s.disk.Ready, // the journal grows while a backup holds its segments
		Report:    s.faults.report,
		Fault: func(message string) {
			if message == "" {
				s.faults.end(faultBackup)
			} else {
				s.faults.begin(faultBackup, false, message)
			}
		},
	})
}

// knownFiles returns the small files of the data folder that are written from memory.
func (s *service) knownFiles() map[string][]byte {
	known := map[string][]byte{folder.ClockFile: folder.ClockText(s.guard.known())}
	if text, err := s.faults.text(); err == nil {
		known[folder.FaultsFile] = journal.Checked(folder.FaultsFile, text)
	}
	return known
}

// journalLoss says that records of the journal were lost, unless there is no such loss or it was confirmed.
func (s *service) journalLoss() string {
	if !s.faults.isOpen(folder.FaultLoss) {
		return ""
	}
	return "records of the journal were lost; the fault " + folder.FaultLoss + " says when they arrived"
}

// program is the name and version for manifests of backups.
func program() string {
	v := Version()
	return v.Name + " " + v.Version
}

// Running reports whether a service, or a command, holds the data folder.
func Running(cfg *config.Config) (bool, error) {
	lock, err := journal.LockDir(cfg.Data)
	if errors.Is(err, journal.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Unlock()
}

// BackupStopped makes a backup of a folder that no service holds. It verifies the folder first: the backup of a damaged one must not
// count as a good one.
func BackupStopped(ctx context.Context, with Options, o backup.Options) (*backup.Manifest, error) {
	source, err := backup.StoppedSource(o.Config, func(ctx context.Context) ([]backup.Missing, error) { return unfit(ctx, with) })
	if err != nil {
		return nil, err
	}
	o.Program, o.Now = program(), time.Now
	m, err := backup.Create(ctx, source, o)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("the backup was stopped: %w", err)
	}
	return m, err
}

// unfit verifies a locked data folder and returns the files that are damaged or gone, by their names in a backup. The key file is
// left out, as backups have none.
func unfit(ctx context.Context, o Options) (list []backup.Missing, err error) {
	v, ofRows, err := verifyLocked(ctx, o)
	if err != nil && ctx.Err() == nil { // it is backed up all the same
		return []backup.Missing{{Name: "rows/instance", Reason: "the folder cannot be verified: " + err.Error()}}, nil
	}
	for _, p := range ofRows {
		list = append(list, backup.Missing{Name: "rows/" + filepath.ToSlash(p.File), Reason: p.Problem})
	}
	for _, p := range withoutKeyFile(o.Config, v.Problems) {
		list = append(list, backup.Missing{Name: nameInBackup(o.Config, p.File), Reason: filepath.Base(p.File) + ": " + p.Problem})
	}
	return list, err
}

// nameInBackup returns the name of a file, which may be gone, in a backup; that of a file that is always there, for a folder and for
// what is not in backups.
func nameInBackup(c *config.Config, path string) string {
	if path == c.Inside(c.Meta.SQLite.Path) {
		return "meta/meta.db"
	}
	if name, ok := strings.CutPrefix(path, c.RowsDir()+"/"); ok && name != "instance" {
		return "rows/" + filepath.ToSlash(name)
	}
	if name, ok := strings.CutPrefix(path, c.Inside("journal")+"/"); ok && strings.HasSuffix(name, ".journal") {
		return "journal/" + name
	}
	if name, ok := strings.CutPrefix(path, c.Data+"/"); ok && slices.Contains(folder.OwnFiles(), name) {
		return "data/" + name
	}
	return "data/instance"
}
