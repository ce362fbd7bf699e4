package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry"
	"belfry/backup"
	"belfry/config"
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
		Source:  &backup.Running{Folder: s.Folder, Rows: s.rows.copier, Mover: s.store, Journal: s.Journal, Meta: s.DB, Temp: s.cfg.Load().Inside("tmp")},
		Rows:    s.rows.copier,
		Catalog: s.Catalog, Config: s.cfg.Load, Program: program(), Log: s.Log.With("part", "backup"), Now: time.Now,
		Exists:    func(c belfry.CustomerID) bool { return s.Tree.Access().CustomerName(c) != "" },
		Zone:      func() *time.Location { return s.zones.Load().instance },
		Deletions: &s.deletions,
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

// BackupStopped makes a backup of a folder that no service holds.
func BackupStopped(ctx context.Context, o backup.Options) (*backup.Manifest, error) {
	source, err := backup.StoppedSource(o.Config, storageEngines[usedEngine].notesLoss)
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
